"""Plans: what the four algorithms of ACL 2012 §4 do between epochs.

A plan says which weights each shard starts an epoch from and how the shards' results become the epoch's model:

    sgd           one shard; it goes on from its own weights; model: mean over its epochs so far
    mix_sgd       every shard goes on from its own weights; model: mean over shards of the mean over epochs so far
    iter_mix_sgd  all shards start from the last model; model: mean over shards
    iter_sel_sgd  the same, with only the best columns kept

So the first two differ in the number of shards only, and every model is a selection and mean over rows, one a shard:
its weights, or, where shards go on from their own, the mean of these over the epochs so far
(itersel.mapreduce.work_item)."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.base.errors import ConfigError
from itersel.learn.mixing import Selection


@dataclass(frozen=True)
class Plan:
    """One algorithm."""

    name: str
    own_weights: bool = False
    """A shard goes on from its own weights; otherwise all shards start from the last epoch's model."""
    selects: bool = False
    """Columns are selected before they are averaged."""
    one_shard: bool = False

    def check(self, shards: int) -> None:
        """Raise ConfigError if the plan cannot work with that many shards."""
        if self.one_shard and shards != 1:
            raise ConfigError(
                f"{self.name} trains on one shard, but there are {shards}",
                hint="Set layout.kind=random to make one shard of all files, or choose another algorithm.",
            )

    def selection(self, wanted: Selection) -> Selection:
        """The selection to apply: the wanted one, or none if the plan does not select."""
        return wanted if self.selects else Selection()


PLANS = {
    plan.name: plan
    for plan in (
        Plan("sgd", own_weights=True, one_shard=True),
        Plan("mix_sgd", own_weights=True),
        Plan("iter_mix_sgd"),
        Plan("iter_sel_sgd", selects=True),
    )
}


def plan_of_name(name: str) -> Plan:
    """The plan; an unknown name is a ConfigError that lists them."""
    if name not in PLANS:
        raise ConfigError(f"algorithm is {name!r}", hint=f"Choose one of {', '.join(PLANS)}.")
    return PLANS[name]

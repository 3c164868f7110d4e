"""The four algorithms of ACL 2012 §4: epochs over shards, and what becomes of the shards' weights between them.

    sgd           one shard; it continues from its own weights; model: mean over its epochs so far
    mix_sgd       every shard continues from its own weights; model: mean over shards of the mean over epochs so far
    iter_mix_sgd  all shards start from the last model; model: mean over shards
    iter_sel_sgd  the same, with only the best columns kept

Every model is a selection and mean over rows, one per shard: its weights or, where shards continue from their own, the
mean of these over the epochs so far (itersel.algorithms.epoch_job).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from itersel.algorithms.base import Algorithm, Model, Round, RunContext
from itersel.algorithms.epoch_job import ACCOUNT, START, EpochJob, collect
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Figure, Statistic
from itersel.learn.domain_rows import DomainRows
from itersel.learn.epoch import EpochConfig
from itersel.learn.figures import FIGURES, STATISTICS
from itersel.learn.learner import RUN
from itersel.learn.mixing import Columns, SelectionConfig
from itersel.lists.source import is_shard
from itersel.mapreduce.shard_item import domain_of
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem

ACCOUNT_FILE = "account.vec"
"""In the folder of an epoch: what AdaGrad has added up, if it lasts."""


class EpochAlgorithm(Algorithm):
    """An algorithm whose rounds are epochs: one job over all shards, after which the driver only merges."""

    statistics: ClassVar[tuple[Statistic, ...]] = STATISTICS
    figures: ClassVar[tuple[Figure, ...]] = FIGURES
    job_class: ClassVar[type[EpochJob]] = EpochJob
    carry: ClassVar[bool] = False
    """Shards continue from their own weights."""
    keeps_account: ClassVar[bool] = True
    """What AdaGrad has added up can last from file to file, and from epoch to epoch."""

    def selection(self) -> SelectionConfig:
        """Which columns are kept: all, unless an algorithm says otherwise."""
        return SelectionConfig(norm=self.settings.selection.norm)

    def job_fields(self) -> Mapping[str, Any]:
        """Further fields of the algorithm's own `job_class`."""
        return {}

    def side_files(self) -> Mapping[str, SideFile]:
        """Further side files of the job."""
        return {}

    def epoch_config(self) -> EpochConfig:
        """How a shard is learned from."""
        return self.settings.epoch

    def check(self, items: Sequence[WorkItem]) -> None:
        epoch = self.settings.epoch
        learn, adagrad = epoch.learn, epoch.learn.schedule == "adagrad"
        if epoch.rates and not learn.batch:
            raise ConfigError("rates needs batch: true", hint="A factor multiplies what a list adds to a weight.")
        if learn.account == RUN and not adagrad:
            raise ConfigError("account is 'run', which needs schedule: adagrad", hint="Leave out account.")
        kept = self.keeps_account and all(is_shard(item.files[0].path) for item in items[:1])
        if learn.account == RUN and not kept:
            raise ConfigError("account is 'run', which is for the four algorithms on shards", hint="Leave it out.")
        if adagrad and not kept and any(len(item.files) > 1 for item in items):
            raise ConfigError(
                "the schedule adagrad needs shards that are whole files: what it knows of a feature ends with the file",
                hint="Use layout.kind: files, or another schedule.",
            )

    def round(self, number: int, model: Model, run: RunContext) -> Round:
        items = list(run.items(number))
        side = {**run.models, **self.side_files()}
        if model.states:
            items = [_with_state(item, model) for item in items]
        if model.file is not None and not (self.carry and model.states):
            side[START] = SideFile(str(model.file))
        lasting = self.settings.epoch.learn.account == RUN
        if lasting and number > 0 and not self.carry and model.file is not None:
            side[ACCOUNT] = SideFile(str(model.file.parent / ACCOUNT_FILE))
        selection, domains = self.selection(), [domain_of(item) for item in items]
        by_domain = not self.carry and all(domains) and len(set(domains)) == len(domains) > 1
        job = self.job_class(
            partitions=run.reducers,
            epoch=self.epoch_config(),
            number=number,
            carry=self.carry,
            selection=selection,
            rows=by_domain,
            account=lasting,
            **self.job_fields(),
        )
        made = collect(run.run(job, items, side), selection, model.names)
        vector = made.columns.vector()
        files = {"norms.vec": made.columns.to_bytes()}
        files |= {} if made.account is None else {ACCOUNT_FILE: made.account.to_bytes()}
        if by_domain:
            cancelled = made.names(made.columns.ids[made.columns.means == 0])
            files |= DomainRows.collect(domains, made.rows, made.columns.ids, cancelled).files()
        total = self.declaration().combine(made.statistics)
        return Round(
            vector,
            made.names,
            made.statistics,
            facts={
                "weights": len(vector),
                "updates": total["updates"],
                "columns": len(made.columns),
                "norm": selection.norm,
            },
            states=made.states,
            files=files,
            warnings=tuple(self.concerns(total, made.columns)),
        )

    def concerns(self, total: Mapping[str, Any], columns: Columns) -> list[str]:
        """What looks wrong with an epoch; without any pair there is nothing to learn from, which is an error."""
        if total["pairs"] == 0 and self.settings.epoch.learn.uses_pairs:
            raise InputError(
                "in the whole epoch, no two hypotheses of a list differ in the metric: nothing can be learned",
                hint="Are references and translations in the same tokenisation, and is k large enough?",
            )
        found = []
        if total["updates"] == 0:
            found.append("no update in the whole epoch: all pairs are ranked as they should be")
        if total["best_metric"] == 0:
            found.append("the best translation of every sentence has a metric of 0")
        top = self.selection().top
        if top is not None and len(columns) < top:
            found.append(f"selection.top is {top}, but only {len(columns)} features have weights")
        return found


class Sgd(EpochAlgorithm):
    """Algorithm 1."""

    name, label, number = "sgd", "SGD", 1
    settings_by_data = True
    carry = True
    one_shard = True
    small_set = True

    def check(self, items: Sequence[WorkItem]) -> None:
        if len(items) != 1:
            raise ConfigError(
                f"{self.name} trains on one shard, but there are {len(items)}",
                hint="Set layout.kind=random to make one shard of all files, or choose another algorithm.",
            )
        super().check(items)


class MixSgd(EpochAlgorithm):
    """Algorithm 2."""

    name, label, number = "mix_sgd", "MixSGD", 2
    settings_by_data = True
    carry = True


class IterMixSgd(EpochAlgorithm):
    """Algorithm 3."""

    name, label, number = "iter_mix_sgd", "IterMixSGD", 3
    settings_by_data = True


class IterSelSgd(EpochAlgorithm):
    """Algorithm 4."""

    name, label, number = "iter_sel_sgd", "IterSelSGD", 4
    settings_by_data = True

    def selection(self) -> SelectionConfig:
        return self.settings.selection

    def kept(self) -> int | None:
        return self.settings.selection.top


def _with_state(item: WorkItem, model: Model) -> WorkItem:
    return replace(item, state=str(model.states[item.number]))

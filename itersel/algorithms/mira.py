"""Batch k-best MIRA (Cherry & Foster 2012): passes of hope/fear updates over the collected lists.

    k-best  →  passes over each shard's lists (map)  →  for each pass, the mean over the shards' averaged weights
            →  the pass with the best score on all lists

With one shard this is the paper's algorithm; with several, each shard learns on its own within a round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgpack
import numpy as np

from itersel import _kernel
from itersel.algorithms.candidates_job import Candidates, best_candidate
from itersel.algorithms.epoch_job import START
from itersel.algorithms.line_search_job import lists_of
from itersel.algorithms.tuner import Tuned, Tuner, TunerConfig, Tuning, generator
from itersel.base.config import Range
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Figure
from itersel.mapreduce.job import DRIVER, Job, Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.metrics.sentence import ORDER
from itersel.model.vectors import Vector, feature_ids


@dataclass(frozen=True)
class MiraConfig(TunerConfig):
    """How MIRA learns."""

    c: Annotated[float, Range(above=0)] = 0.01
    """The largest step."""
    decay: Annotated[float, Range(0, 1)] = 0.999
    """What remains per list of the statistics that BLEU is computed in the context of."""
    passes: Annotated[int, Range(1, 1000)] = 30
    """Over the lists in a round; one of them is chosen."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if [name for name, _ in self.objective().terms] != ["bleu"]:
            raise ConfigError(f"metric is {self.metric!r}", hint="MIRA learns from BLEU in context: leave it bleu.")


@dataclass(frozen=True)
class MiraJob(Job):
    """Passes over a shard's lists: for the driver, the averaged weights after each."""

    number: int = 0
    """The round's."""
    c: float = 0.01
    decay: float = 0.999
    passes: int = 30
    seed: int = 1

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        start = Vector.read(side.path(START))
        lists = lists_of(item)
        native = _kernel.MiraLists(lists.offsets, lists.starts, lists.features, lists.values, lists.statistics)
        mira = _kernel.Mira(start.values_of(feature_ids(lists.names)), ORDER, self.c, self.decay)
        averages, counts = [], list[dict[str, float]]()
        for number in range(self.passes):
            order = generator(self.seed, self.number, item.number, number).permutation(len(lists))
            counts.append(mira.run(native, order.astype(np.uint32)))
            averages.append(mira.average.astype("<f8").tobytes())
            tell(item.size * (number + 1) / self.passes, {})
        yield DRIVER, msgpack.packb([lists.names, averages, counts])


class Mira(Tuner):
    """Batch k-best MIRA."""

    name, label = "mira", "MIRA"
    config_class = MiraConfig
    figures = (
        *Tuner.figures,
        Figure("updates", "updates", "updates", form="count"),
        Figure("loss", "loss per list", "loss", "lists", about="Hope's loss against fear in the chosen pass."),
        Figure("chosen_pass", "chosen pass", "chosen_pass", form="count"),
    )

    def tune(self, tuning: Tuning) -> Tuned:
        config = self.config
        job = MiraJob(number=tuning.number, c=config.c, decay=config.decay, passes=config.passes, seed=config.seed)
        records = tuning.start(job, {START: Vector.of_names(tuning.weights).to_bytes()})
        shards = [msgpack.unpackb(record.value) for record in records]
        candidates = mixed(tuning.weights, [(names, averages) for names, averages, _ in shards])
        counts = [[one[k] for _, _, one in shards] for k in range(config.passes)]
        if not any(one["updates"] for several in counts for one in several):
            raise InputError(
                "no list has a hypothesis that is better by BLEU and not by the model: nothing can be learned",
                hint="Are references and translations in the same tokenisation, and is k large enough?",
            )
        chosen, score = best_candidate(tuning, candidates, config.objective())
        facts = {
            "chosen_pass": chosen + 1,
            "updates": sum(int(one["updates"]) for one in counts[chosen]),
            "loss": sum(one["loss"] for one in counts[chosen]),
        }
        return Tuned(candidates.weights(chosen), score, facts)


def mixed(start: Mapping[str, float], shards: Sequence[tuple[Sequence[str], Sequence[bytes]]]) -> Candidates:
    """For each pass, the mean over the shards' weights; a shard without a feature leaves its weight as it was."""
    names = sorted({name for own, _ in shards for name in own} | set(start))
    number = {name: k for k, name in enumerate(names)}
    before = np.array([start.get(name, 0.0) for name in names])
    sums = np.zeros((len(shards[0][1]), len(names)))
    for own, passes in shards:
        places = np.array([number[name] for name in own], dtype=np.intp)
        elsewhere = np.ones(len(names), dtype=bool)
        elsewhere[places] = False
        for row, content in zip(sums, passes, strict=True):
            row[places] += np.frombuffer(content, "<f8")
            row[elsewhere] += before[elsewhere]
    return Candidates(names, sums / len(shards))

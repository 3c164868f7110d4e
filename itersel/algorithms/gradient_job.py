"""The job of a gradient: the soft ramp loss of all lists, differentiated by the sparse features (NAACL 2013 §4, §5.2).

    map     shard, weights → for each range: sums, list counts and examples of the shard's features, and their names;
                             for the driver: statistics
    reduce  all shards' sums of a range → the range's gradient, divided by counts if it is conditioned, and examples

The kernel decodes and adds up; no list reaches Python. Sums over shards are taken in shard order, so the result is the
same for any number of ranges.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import msgpack
import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.algorithms.epoch_job import START, language_models
from itersel.base.errors import InputError
from itersel.learn.epoch import EpochConfig
from itersel.lists.source import ShardSource
from itersel.lm.model import LanguageModels
from itersel.mapreduce.job import DRIVER, Job, Record, Tell
from itersel.mapreduce.shard_item import Part, open_parts
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.feature_names import NameTable, join_names, select_names, split_names
from itersel.model.features import PREFIXES
from itersel.model.vectors import Ids, Values, Vector, even_bounds, pack, unpack

COUNTS = ("lists", "hypotheses", "loss")
CONDITIONINGS = ("lists", "extraction", "none")
PIECE, REDUCED = 5, 5
"""Columns beside the ids in what mappers and reducers send."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What is known of some features, by id in ascending order."""

    ids: Ids
    gradient: Values
    """Negative: the direction in which the loss falls."""
    lists: Values
    """In how many lists the feature is not 0."""
    extracted: Values
    """How often the feature's rule was extracted; 1 where nobody asked."""
    largest: Values
    """What the list with the largest part adds to the gradient."""
    item: Values
    """The number of the work item that has this list."""
    sentence: Values
    """The list's number among those of its item."""

    @classmethod
    def added(cls, several: Sequence[Sums]) -> Sums:
        """Sums over the parts, in their order; of lists with equally large parts in a gradient, the first counts."""
        ids, member = np.unique(np.concatenate([one.ids for one in several]), return_inverse=True)

        def column(name: str) -> Values:
            return np.concatenate([getattr(one, name) for one in several])

        extracted = np.zeros(len(ids))
        np.maximum.at(extracted, member, column("extracted"))
        largest = column("largest")
        order = np.lexsort((np.arange(len(member)), -np.abs(largest), member))
        first = order[np.searchsorted(member[order], np.arange(len(ids)))]
        gradient, lists = (
            np.bincount(member, column(name), minlength=len(ids)).astype(np.float64) for name in ("gradient", "lists")
        )
        return cls(
            ids,
            gradient,
            lists,
            extracted,
            largest[first],
            column("item")[first],
            column("sentence")[first],
        )


@dataclass(frozen=True)
class GradientJob(Job):
    """One pass over the sentences of all items."""

    number: int = 0
    """The round's."""
    epoch: EpochConfig = field(default_factory=lambda: EpochConfig(k=1000, metric="fixed_stupid_bleu"))
    """How sentences are decoded and scored; what it says of learning has no effect."""
    cost_scale: float = 20.0
    """A hypothesis costs this times (1 − metric)."""
    score_scale: float = 1.0
    """Model scores are multiplied by this before they meet costs."""
    groups: tuple[str, ...] = ("id",)
    """The feature groups to differentiate by (itersel.model.features)."""
    conditioning: str = "lists"
    """What each component is divided by: the number of lists in which its feature is not 0, the number of times that
    its rule was extracted (extraction), or nothing (none)."""

    counts: ClassVar[Mapping[str, str]] = dict.fromkeys(COUNTS, "sum")

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        weights = Vector.read(side.path(START), mapped=True) if START in side else Vector.of([], [])
        models = language_models(side)
        total, began = dict.fromkeys(COUNTS, 0.0), time.thread_time()
        seconds, files, names = dict[str, float](), list[Sums](), set[str]()
        for source, parts in open_parts(item):
            if not isinstance(source, ShardSource):
                raise InputError("a gradient needs shards, not lists", where=source.path)
            sums, known, here, spent = self.of_file(source, parts, weights, models, total, tell)
            files.append(sums)
            names.update(known)
            total = {key: total[key] + here[key] for key in COUNTS}
            seconds = {key: seconds.get(key, 0.0) + spent[key] for key in ("decode", "kbest", "metric")}
        yield from self.pieces(Sums.added(files), names)
        seconds["gradient"] = time.thread_time() - began - sum(seconds.values())
        tell(item.size, total)
        yield DRIVER, msgpack.packb({**total, "seconds": seconds})

    def of_file(
        self,
        source: ShardSource,
        parts: Sequence[Part],
        weights: Vector,
        models: LanguageModels,
        before: Mapping[str, float],
        tell: Tell,
    ) -> tuple[Sums, list[str], dict[str, float], dict[str, float]]:
        """Sums over some sentences of a shard, names of their features, statistics and seconds; `before` has the
        statistics of the item's files before this one."""

        def progress(here: dict[str, float]) -> None:
            so_far = {key: before[key] + here[key] for key in COUNTS}
            tell(so_far["lists"], so_far)

        prefixes = [prefix for group in self.groups for prefix in PREFIXES[group]]
        options = _kernel.GradientOptions(
            cost_scale=self.cost_scale,
            score_scale=self.score_scale,
            prefixes=prefixes,
            extraction_counts=self.conditioning == "extraction",
        )
        chosen = []
        for part in parts:
            model = models.open(part.fold)
            chosen.append((None if model is None else model.native, part.sentences))
        try:
            ids, names, gradient, lists, extracted, largest, number, statistics, seconds = _kernel.shard_gradient(
                source.data.native, chosen, self.epoch.options(0), options, weights.ids, weights.values, progress
            )
        except InputError as error:
            raise InputError(error.message, where=error.where or source.path, hint=error.hint) from None
        sentence = number.astype(np.float64) + before["lists"]
        sums = Sums(ids, gradient, lists, extracted, largest, np.zeros(len(ids)), sentence)
        return sums, split_names(names.decode()), statistics, seconds

    def pieces(self, sums: Sums, names: Iterable[str]) -> Iterable[tuple[int, bytes]]:
        """For each range, its part of the shard's sums, and the names of its features."""
        ordered = select_names(sorted(names), sums.ids)
        bounds = np.array(even_bounds(self.partitions)[1:-1], dtype=np.uint64)
        cuts = [0, *np.searchsorted(sums.ids, bounds).tolist(), len(sums.ids)]
        columns = (sums.gradient, sums.lists, sums.extracted, sums.largest, sums.sentence)
        for key, (low, high) in enumerate(pairwise(cuts)):
            yield key, pack(sums.ids[low:high], *(column[low:high] for column in columns))
            yield key, join_names(ordered[low:high]).encode()

    def reduce(self, key: int, values: Sequence[bytes], side: Side) -> Iterable[bytes]:
        del key, side
        several = []
        for number, value in enumerate(values[::2]):
            ids, (gradient, lists, extracted, largest, sentence) = unpack(value, PIECE)
            item = np.full(len(ids), float(number))
            several.append(Sums(ids, gradient, lists, extracted, largest, item, sentence))
        sums = Sums.added(several)
        divisors = {"lists": sums.lists, "extraction": sums.extracted, "none": np.ones(len(sums.ids))}
        components = sums.gradient / divisors[self.conditioning]
        yield pack(sums.ids, components, sums.lists, sums.largest, sums.item, sums.sentence)
        names = {name for value in values[1::2] for name in split_names(bytes(value).decode())}
        yield join_names(sorted(names)).encode()

    def warm(self, side: Side) -> None:
        language_models(side).open_all()


@dataclass(frozen=True)
class Example:
    """The list with the largest part in a feature's gradient."""

    part: float
    """What it adds to the sum."""
    item: int
    sentence: int
    """Its number among those of the item."""


@dataclass(frozen=True, eq=False)
class Gradient:
    """What a gradient job came to."""

    components: Mapping[str, float]
    """The direction in which the loss falls, by feature, in code point order; components of 0 are left out."""
    lists: Mapping[str, int]
    """For each of them, the lists in which its feature is not 0."""
    examples: Mapping[str, Example]
    statistics: list[dict[str, Any]]
    """By item, in order."""

    def largest(self, count: int) -> list[str]:
        """The features with the largest components, of equals the first by name."""
        return sorted(self.components, key=lambda name: (-abs(self.components[name]), name))[:count]


def collect(records: Iterable[Record]) -> Gradient:
    """The gradient of all records for the driver."""
    statistics, names = list[dict[str, Any]](), list[str]()
    ranges = list[tuple[Ids, list[Values]]]()
    for record in records:
        if record.key == DRIVER:
            statistics.append(msgpack.unpackb(record.value))
        elif record.sequence == 0:
            ranges.append(unpack(record.value, REDUCED))
        else:
            names += split_names(bytes(record.value).decode())
    ids: Ids = np.concatenate([ids for ids, _ in ranges])
    columns: list[npt.NDArray[Any]] = [
        np.concatenate(several) for several in zip(*(one for _, one in ranges), strict=True)
    ]
    rows = zip(NameTable(names)(ids), *(column.tolist() for column in columns), strict=True)
    found = sorted(row for row in rows if row[1])
    return Gradient(
        {name: value for name, value, *_ in found},
        {name: int(lists) for name, _, lists, *_ in found},
        {name: Example(part, int(item), int(sentence)) for name, _, _, part, item, sentence in found},
        statistics,
    )

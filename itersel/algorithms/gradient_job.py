"""The job of a gradient: the soft ramp loss of all lists, differentiated by the sparse features.

    map     shard, weights → for each range: sums and list counts of the shard's features, and their names;
                             for the driver: statistics
    reduce  all shards' sums of a range → the range's gradient, divided by list counts if it is conditioned

Sums over shards are taken in shard order, so the result is the same for any number of ranges.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import msgpack
import numpy as np

from itersel import _kernel
from itersel.algorithms.epoch_job import START, language_models
from itersel.algorithms.kbest_job import numbers_of
from itersel.base.errors import InputError
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lists.source import ShardSource
from itersel.mapreduce.job import DRIVER, Job, Record, Tell
from itersel.mapreduce.shard_item import open_parts
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.metrics.sentence import sentence_values
from itersel.model.feature_names import NameTable, join_names, select_names, split_names
from itersel.model.features import PREFIXES
from itersel.model.vectors import Ids, Values, Vector, even_bounds, feature_ids, pack, unpack
from itersel.tune.soft_ramp import GradientSums, soft_ramp

Columns = tuple[Ids, list[Values]]
"""Ids of features with two columns beside them: sums of the negative gradient, and list counts."""
COUNTS = ("lists", "hypotheses", "loss")


@dataclass(frozen=True)
class GradientJob(Job):
    """One pass over the sentences of all items."""

    number: int = 0
    """The round's."""
    k: int = 1000
    unique: bool = True
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    metric: str = "fixed_stupid_bleu"
    cost_scale: float = 20.0
    """A hypothesis costs this times (1 − metric)."""
    score_scale: float = 1.0
    """Model scores are multiplied by this before they meet costs."""
    groups: tuple[str, ...] = ("id",)
    """The feature groups to differentiate by (itersel.model.features)."""
    conditioned: bool = True
    """Divide each component by the number of lists in which its feature is not 0."""

    counts: ClassVar[Mapping[str, str]] = dict.fromkeys(COUNTS, "sum")

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        weights = Vector.read(side.path(START), mapped=True) if START in side else Vector.of([], [])
        models = language_models(side)
        statistics, began = dict.fromkeys(COUNTS, 0.0), time.thread_time()
        files, known = list[Columns](), set[str]()
        for source, parts in open_parts(item):
            if not isinstance(source, ShardSource):
                raise InputError("a gradient needs shards, not lists", where=source.path)
            names = source.data.feature_names()
            ids, wanted = feature_ids(names), self.wanted(names)
            by_feature = weights.values_of(ids)
            sums = GradientSums(len(names))
            for part in parts:
                decoder = ShardDecoder(source.data, weights, models.open(part.fold), self.decoder)
                for number in numbers_of(source, part):
                    texts, starts, features, values = _kernel.kbest_arrays(decoder.native, number, self.k, self.unique)
                    scores = np.add.reduceat(values * by_feature[features], starts[:-1])  # every row has a feature
                    quality = sentence_values(
                        self.metric,
                        [text.split(" ") for text in texts],
                        [text.split(" ") for text in source.references(number)],
                    )
                    loss, shares = soft_ramp(self.score_scale * scores, self.cost_scale * (1 - quality))
                    sums.add(shares, starts, features, np.where(wanted[features], values, 0.0))
                    statistics["lists"] += 1
                    statistics["hypotheses"] += len(texts)
                    statistics["loss"] += loss
                    tell(statistics["lists"], statistics)
            used = np.flatnonzero(sums.lists)
            known.update(names[k] for k in used.tolist())
            files.append((ids[used], [sums.gradient[used], sums.lists[used]]))
        yield from self.pieces(_added(files), known)
        seconds = {"gradient": time.thread_time() - began}
        yield DRIVER, msgpack.packb({**statistics, "seconds": seconds})

    def wanted(self, names: Sequence[str]) -> np.ndarray:
        """Which of the features belong to the groups."""
        prefixes = tuple(prefix for group in self.groups for prefix in PREFIXES[group])
        return np.array([name.startswith(prefixes) for name in names], dtype=bool)

    def pieces(self, sums: Columns, names: Iterable[str]) -> Iterable[tuple[int, bytes]]:
        """For each range, its part of the shard's sums and counts, and the names of its features."""
        ids, columns = sums
        ordered = select_names(sorted(names), ids)
        bounds = np.array(even_bounds(self.partitions)[1:-1], dtype=np.uint64)
        cuts = [0, *np.searchsorted(ids, bounds).tolist(), len(ids)]
        for key, (low, high) in enumerate(pairwise(cuts)):
            yield key, pack(ids[low:high], *(column[low:high] for column in columns))
            yield key, join_names(ordered[low:high]).encode()

    def reduce(self, key: int, values: Sequence[bytes], side: Side) -> Iterable[bytes]:
        del key, side
        ids, (gradient, lists) = _added([unpack(value, 2) for value in values[::2]])
        yield pack(ids, gradient / lists if self.conditioned else gradient, lists)
        names = {name for value in values[1::2] for name in split_names(bytes(value).decode())}
        yield join_names(sorted(names)).encode()

    def warm(self, side: Side) -> None:
        language_models(side).open_all()


@dataclass(frozen=True, eq=False)
class Gradient:
    """What a gradient job came to."""

    components: Mapping[str, float]
    """The direction in which the loss falls, by feature, in code point order; components of 0 are left out."""
    lists: Mapping[str, int]
    """For each of them, the lists in which its feature is not 0."""
    statistics: list[dict[str, Any]]
    """By item, in order."""

    def largest(self, count: int) -> list[str]:
        """The features with the largest components, of equals the first by name."""
        return sorted(self.components, key=lambda name: (-abs(self.components[name]), name))[:count]


def collect(records: Iterable[Record]) -> Gradient:
    """The gradient of all records for the driver."""
    statistics, ranges, names = list[dict[str, Any]](), list[Columns](), list[str]()
    for record in records:
        if record.key == DRIVER:
            statistics.append(msgpack.unpackb(record.value))
        elif record.sequence == 0:
            ranges.append(unpack(record.value, 2))
        else:
            names += split_names(bytes(record.value).decode())
    ids, (components, lists) = _added(ranges)
    found = sorted(zip(NameTable(names)(ids), components.tolist(), lists.astype(int).tolist(), strict=True))
    return Gradient(
        {name: value for name, value, _ in found if value},
        {name: count for name, value, count in found if value},
        statistics,
    )


def _added(parts: Sequence[Columns]) -> Columns:
    """The columns of several parts, those of an id added in the order of the parts."""
    ids = np.concatenate([one for one, _ in parts])
    made = [_kernel.column_sums(ids, np.concatenate([columns[k] for _, columns in parts]), "l1") for k in range(2)]
    order = np.argsort(made[0][0])
    return made[0][0][order], [sums[order] for _, _, sums, _ in made]

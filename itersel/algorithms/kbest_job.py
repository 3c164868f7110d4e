"""The job that decodes: each shard's sentences with the weights, and every new hypothesis added to the shard's lists.

    map     shard, weights, lists so far → for the driver: statistics, and the lists as they are now

Where a shard has tables of lists instead of sentences to decode, the tables are the lists: nothing is new after the
first time. There is nothing to reduce.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgpack
import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.algorithms.epoch_job import START, language_models
from itersel.base.errors import InputError
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lists.accumulated import AccumulatedLists, NewList
from itersel.lists.source import ShardSource, TableSource
from itersel.lm.model import LanguageModels
from itersel.mapreduce.job import DRIVER, Job, Record, Tell
from itersel.mapreduce.shard_item import Part, open_parts
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.vectors import Vector, feature_ids
from itersel.tune.objective import Objective

COUNTS = ("lists", "hypotheses", "new_hypotheses")


@dataclass(frozen=True)
class KBestJob(Job):
    """Decodes every sentence once."""

    number: int = 0
    """How often the sentences were decoded before."""
    k: int = 100
    unique: bool = True
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    objective: Objective = field(default_factory=Objective)
    keep: bool = True
    """Add the hypotheses to the shard's lists; otherwise they are counted and forgotten."""
    leave_out: tuple[str, ...] = ()
    """Features that lists of shards shall not have; R:* leaves out all that begin so (EpochConfig.leave_out)."""
    only_drawn: tuple[str, ...] = ()
    """Features that lists of shards have nonetheless, for cross-sections; they do not tell hypotheses apart."""

    counts: ClassVar[Mapping[str, str]] = dict.fromkeys(COUNTS, "sum")

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        weights = Vector.read(side.path(START), mapped=True) if START in side else Vector.of([], [])
        models = language_models(side)
        sentences, new = list[str](), list[NewList]()
        first = np.zeros(self.objective.width)
        words = np.zeros(2)
        began = time.thread_time()
        for place, found, best, references in self.decode(item, weights, models):
            found = self.listed(found, side)
            sentences.append(place)
            first += found.statistics[best]
            reference = np.mean([len(line.split()) for line in references])
            words += np.array([len(found.texts[best].split()), reference])
            new.append(found)
            tell(len(sentences), {"lists": len(sentences)})
        decoded = time.thread_time()
        before = self.known(item, sentences)
        lists = before.extended(new)
        counts = {"lists": len(sentences), "hypotheses": lists.rows, "new_hypotheses": lists.rows - before.rows}
        seconds = {"decode": decoded - began, "accumulate": time.thread_time() - decoded}
        tell(item.size, counts)
        yield (
            DRIVER,
            msgpack.packb(
                {
                    "statistics": counts | {"seconds": seconds},
                    "sums": first.tolist(),
                    "words": words.tolist(),
                    "names": lists.names,
                    "spread": lists.spread().tolist(),
                }
            ),
        )
        if self.keep:
            yield DRIVER, lists.to_bytes()

    def listed(self, found: NewList, side: Side) -> NewList:
        """The hypotheses as they are collected."""
        del side
        return found

    def known(self, item: WorkItem, sentences: Sequence[str]) -> AccumulatedLists:
        """The shard's lists so far."""
        content = item.read_state() if self.keep else None
        if content is None:
            return AccumulatedLists.empty(sentences, self.objective.width)
        lists = AccumulatedLists.from_bytes(content)
        if lists.sentences != list(sentences):
            raise InputError(
                "the collected lists belong to other sentences than the shard has now",
                hint="Tuners collect lists over the rounds: choose a layout other than reshard.",
            )
        return lists

    def decode(
        self, item: WorkItem, weights: Vector, models: LanguageModels
    ) -> Iterator[tuple[str, NewList, int, Sequence[str]]]:
        """For each sentence: what identifies it, its hypotheses, which of them is ranked first, its references."""
        for source, parts in open_parts(item):
            lists = (
                self.decode_shard(source, parts, weights, models)
                if isinstance(source, ShardSource)
                else self.read_table(source, parts, weights)
            )
            for number, found, best in lists:
                yield f"{source.checksum}/{number}", found, best, source.references(number)

    def decode_shard(
        self, source: ShardSource, parts: Sequence[Part], weights: Vector, models: LanguageModels
    ) -> Iterator[tuple[int, NewList, int]]:
        only_drawn, kept = frozenset(self.only_drawn), None
        if self.leave_out:
            kept = ~source.data.features_matching(self.leave_out)
            if only_drawn:
                kept |= np.isin(source.data.feature_hashes(), feature_ids(sorted(only_drawn)))
        for part in parts:
            decoder = ShardDecoder(source.data, weights, models.open(part.fold), self.decoder)
            for number in numbers_of(source, part):
                texts, starts, features, values = _kernel.kbest_arrays(decoder.native, number, self.k, self.unique)
                if kept is not None:
                    stay = kept[features]
                    starts = np.concatenate([[0], np.cumsum(stay)])[starts]
                    features, values = features[stay], values[stay]
                used, local = np.unique(features, return_inverse=True)
                statistics = self.objective.statistics(texts, source.references(number))
                here = source.data.feature_names_of(used)
                found = NewList(texts, here, starts, local.astype(np.uint32), values, statistics, only_drawn)
                yield number, found, 0

    def read_table(
        self, source: TableSource, parts: Sequence[Part], weights: Vector
    ) -> Iterator[tuple[int, NewList, int]]:
        best = source.data.best(weights)[0].tolist()
        for part in parts:
            for number in numbers_of(source, part):
                texts = source.data.texts(number)
                if not texts:
                    raise InputError(f"list {source.id(number)} is empty", where=source.path)
                statistics = self.objective.statistics(texts, source.references(number))
                yield number, NewList.of(texts, source.data.features(number), statistics), best[number]

    def warm(self, side: Side) -> None:
        language_models(side).open_all()


@dataclass(frozen=True, eq=False)
class Decoded:
    """The result over all shards."""

    statistics: list[dict[str, Any]]
    states: list[bytes]
    sums: npt.NDArray[np.float64]
    """Statistics of what the decoder ranked first."""
    length_ratio: float
    """Words of what was ranked first over the references' mean length."""
    names: list[str]
    """Of all features in the lists, in code point order."""
    spread: dict[str, float]
    """For each feature, its standard deviation within the lists; 0: it never varies."""

    @property
    def new(self) -> int:
        return int(sum(one["new_hypotheses"] for one in self.statistics))

    @property
    def hypotheses(self) -> int:
        return int(sum(one["hypotheses"] for one in self.statistics))


def collect(records: Iterable[Record]) -> Decoded:
    """The result of all records for the driver."""
    shards, states = list[dict[str, Any]](), list[bytes]()
    for record in records:
        if record.sequence == 0:
            shards.append(msgpack.unpackb(record.value))
        else:
            states.append(bytes(record.value))
    squares: dict[str, float] = {}
    for shard in shards:  # in the order of the items, so that sums are the same everywhere
        for name, value in zip(shard["names"], shard["spread"], strict=True):
            squares[name] = squares.get(name, 0.0) + value
    rows = sum(shard["statistics"]["hypotheses"] for shard in shards)
    words = np.sum([shard["words"] for shard in shards], axis=0)
    return Decoded(
        [shard["statistics"] for shard in shards],
        states,
        np.sum([shard["sums"] for shard in shards], axis=0),
        float(words[0] / words[1]) if words[1] else 0.0,
        sorted(squares),
        {name: float(np.sqrt(value / max(rows, 1))) for name, value in squares.items()},
    )


def is_left_out(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern is the feature's name, or its beginning with `*` after it."""
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in patterns)


def numbers_of(source: ShardSource | TableSource, part: Part) -> Sequence[int]:
    """The sentences of a part."""
    return range(len(source)) if part.sentences is None else part.sentences

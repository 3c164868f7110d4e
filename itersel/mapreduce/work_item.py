"""A map task: one shard, one epoch, from its start weights to the row it adds to W.

A shard is a list of parts, each some sentences of one compiled file, so that sentences can be dealt out anew without
compiling anything again (itersel.run.layout), and decoded with a language model that lacks their references. The
parts are learned from one after the other. Shards that go on from their own weights (sgd, mix_sgd) carry a state from
epoch to epoch; their row is the mean over the epochs so far.

A task is a pure function of what it is given: engines may run it anywhere, twice, and in any order.
"""

from __future__ import annotations

import base64
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import msgpack
import numpy as np

from itersel.base.errors import InputError
from itersel.learn.epoch import EpochConfig, EpochResult, Progress, run_epoch_in_parts
from itersel.learn.list_epoch import run_list_epoch
from itersel.learn.mixing import total
from itersel.lists.source import Source, open_source
from itersel.lists.table import ListTable
from itersel.lm.model import LanguageModels
from itersel.model.vectors import Vector, feature_ids

Opener = Callable[["Part"], Source]
COUNTS = ("lists", "updates", "pairs", "rank_errors", "best_metric", "nonzero")
"""What progress is told of: sums so far, and the number of weights now."""


@dataclass(frozen=True)
class Part:
    """Sentences of one shard file, in the order they are learned from."""

    path: str
    """A path, or an address that a worker can fetch (itersel.mapreduce.fetch)."""
    checksum: int
    """The shard's own, so that a worker notices another file of the same name."""
    sentences: tuple[int, ...] | None = None
    """None: all."""
    fold: int | None = None
    """Which of the run's language models by fold the sentences are decoded with; none: the run's one model."""

    def open(self) -> Source:
        """The shard or table of lists, if it is the one that is meant."""
        shard = open_source(self.path)
        check_shard(shard, self)
        return shard


@dataclass(frozen=True)
class MapTask:
    """What one mapper has to do."""

    number: int
    """The shard's, from 0: the row of W."""
    parts: tuple[Part, ...]
    size: int
    """Number of sentences."""
    label: str = ""
    """The task label that all sentences share, where shards are made by label."""

    def to_json(self) -> dict[str, Any]:
        parts = [[part.path, f"{part.checksum:016x}", part.sentences, part.fold] for part in self.parts]
        return {"number": self.number, "size": self.size, "label": self.label, "parts": parts}

    @classmethod
    def from_json(cls, values: Any) -> MapTask:
        """Reads what `to_json` made; InputError for anything else."""
        try:
            parts = tuple(
                Part(
                    str(path),
                    int(checksum, 16),
                    None if numbers is None else tuple(map(int, numbers)),
                    None if fold is None else int(fold),
                )
                for path, checksum, numbers, fold in values["parts"]
            )
            return cls(int(values["number"]), parts, int(values["size"]), str(values["label"]))
        except (KeyError, TypeError, ValueError):
            raise InputError(f"not a map task: {str(values)[:200]}") from None

    @property
    def name(self) -> str:
        """For people: the shard's number and file."""
        paths = {part.path for part in self.parts}
        files = self.parts[0].path if len(paths) == 1 else f"{len(paths)} files"
        return f"shard {self.number} ({f'{self.label}, ' if self.label else ''}{files})"


@dataclass(frozen=True, eq=False)
class State:
    """What a shard that goes on from its own weights carries: these, and the sum of its weights over the epochs."""

    weights: Vector
    sums: Vector
    names: list[str]
    """Of the shard's features among both: a weight whose sum is 0 may come to count in a later epoch."""

    def to_bytes(self) -> bytes:
        fields = {"weights": self.weights.to_bytes(), "sums": self.sums.to_bytes(), "names": "\n".join(self.names)}
        return msgpack.packb(fields)

    @classmethod
    def from_bytes(cls, data: bytes, source: str | os.PathLike[str] | None = None) -> State:
        try:
            fields = msgpack.unpackb(data)
            names = [name for name in fields["names"].split("\n") if name]
            return cls(Vector.from_bytes(fields["weights"]), Vector.from_bytes(fields["sums"]), names)
        except (ValueError, KeyError, TypeError, AttributeError, InputError) as error:
            raise InputError(f"damaged state of a shard: {error}", where=source, hint="Start again.") from None

    def to_text(self) -> str:
        return base64.b64encode(self.to_bytes()).decode()


@dataclass(frozen=True, eq=False)
class MapResult:
    """What a mapper hands over."""

    row: Vector
    names: list[str]
    """Of the shard's features among the row's, in the order of their ids."""
    statistics: dict[str, Any] = field(default_factory=dict)
    """Sums over the sentences, and `seconds` of processor time by stage."""
    state: State | None = None


def run_map_task(
    task: MapTask,
    start: Vector | None,
    state: State | None,
    models: LanguageModels,
    config: EpochConfig,
    *,
    epoch: int,
    own_weights: bool,
    opener: Opener = Part.open,
    progress: Progress | None = None,
) -> MapResult:
    """Train on the shard once. `start` are the epoch's start weights, `state` those of a shard that has its own."""
    begin = start if state is None else state.weights
    result = _learn(task, begin, models, config, epoch, opener, progress)
    statistics = result.statistics | {"seconds": result.seconds}
    if not own_weights:
        names = result.names if result.average is None else _by_id(set(result.names), result.row)
        return MapResult(result.row, names, statistics)
    sums = result.row if state is None else total([state.sums, result.row])
    known = set(result.names) | set(() if state is None else state.names)
    row, goes_on = Vector.of(sums.ids, sums.values / (epoch + 1)), _by_id(known, result.weights, sums)
    return MapResult(row, _by_id(known, row), statistics, State(result.weights, sums, goes_on))


def check_shard(shard: Source, part: Part) -> None:
    if shard.checksum != part.checksum:
        raise InputError(
            f"another shard than the driver's: checksum {shard.checksum:016x} instead of {part.checksum:016x}",
            where=part.path,
            hint="Let all machines see the same file, or give it another name.",
        )


def _learn(
    task: MapTask,
    start: Vector | None,
    models: LanguageModels,
    config: EpochConfig,
    epoch: int,
    opener: Opener,
    progress: Progress | None,
) -> EpochResult:
    weights, names, averages = start, set[str](), list[Vector]()
    statistics, seconds = dict[str, float](), dict[str, float]()

    def tell(part: dict[str, float]) -> None:
        if progress is not None:
            sums = {key: statistics.get(key, 0) + part[key] for key in COUNTS}
            progress(sums | {"nonzero": part["nonzero"]})

    files = [list(parts) for _, parts in groupby(task.parts, key=lambda part: (part.path, part.checksum))]
    for parts in files:  # sentences of several folds lie side by side in one file
        before = epoch * task.size + int(statistics.get("lists", 0))
        source = opener(parts[0])
        if isinstance(source, ListTable):
            every = range(len(source))
            lists = [k for part in parts for k in (every if part.sentences is None else part.sentences)]
            result = run_list_epoch(
                source, weights, config, number=epoch, lists=lists, lists_before=before, progress=tell
            )
        else:
            chosen = [(models.open(part.fold), part.sentences) for part in parts]
            result = run_epoch_in_parts(
                source, weights, chosen, config, number=epoch, lists_before=before, progress=tell
            )
        weights = result.weights
        names.update(result.names)
        if result.average is not None:  # of the file's sentences; below, of all
            share = result.statistics["lists"] / task.size
            averages.append(Vector(result.average.ids, result.average.values * share))
        for sums, more in ((statistics, result.statistics), (seconds, result.seconds)):
            for key, value in more.items():
                sums[key] = sums.get(key, 0) + value
    assert weights is not None
    average = total(averages) if averages else None
    row = weights if average is None else average
    statistics["nonzero"] = len(row)
    known = result.names if len(files) == 1 else _by_id(names, weights, row)
    return EpochResult(weights, known, statistics, seconds, average)


def _by_id(names: set[str], *vectors: Vector) -> list[str]:
    """The names of the vectors' features, in the order of their ids."""
    return select_names(sorted(names), functools.reduce(np.union1d, (vector.ids for vector in vectors)))


def select_names(names: Sequence[str], ids: np.ndarray) -> list[str]:
    """Those of the names whose ids are among the given (ascending) ones, in the order of their ids."""
    if not names:
        return []
    mine = feature_ids(list(names))
    order = np.argsort(mine, kind="stable")
    at = np.searchsorted(ids, mine[order])
    known = at < len(ids)
    known[known] = ids[at[known]] == mine[order][known]
    return [names[k] for k in order[known].tolist()]

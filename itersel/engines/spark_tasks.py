"""What Spark's workers run: the map and reduce functions of itersel.mapreduce.records over a partition's records.

Instances are pickled, so they hold what is small; the weights come as a broadcast, configuration and language models as
files that Spark keeps once on each executor. A process that Spark uses again for the next task keeps its model.
"""

from __future__ import annotations

import functools
import json
import socket
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from itersel.algorithms.plan import plan_of_name
from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.learn.mixing import Selection
from itersel.lm.model import LanguageModels
from itersel.mapreduce.fetch import open_part
from itersel.mapreduce.records import (
    SHARD,
    BlockTranslator,
    Record,
    map_records,
    parse_task_line,
    read_configuration,
    reduce_pieces,
)
from itersel.mapreduce.work_item import run_map_task
from itersel.model.vectors import Vector

MARK = "itersel task failed: "
KINDS = {kind.__name__: kind for kind in (InputError, ConfigError, ResourceError)}


class TaskError(Exception):
    """A UserError on its way through Spark, which hands over nothing but an exception's text."""

    def __init__(self, error: UserError, task: str):
        fields = Failure(type(error).__name__, error.message, error.where, error.hint, task, socket.gethostname())
        super().__init__(MARK + json.dumps(asdict(fields)))


@dataclass(frozen=True)
class Failure:
    """What the driver reads out of a TaskError's text."""

    kind: str
    message: str
    where: str | None
    hint: str | None
    task: str
    host: str

    @classmethod
    def find(cls, text: str) -> Failure | None:
        """The first one in what Spark says of a failed job."""
        _, mark, rest = text.partition(MARK)
        return cls(**json.JSONDecoder().raw_decode(rest)[0]) if mark else None

    def error(self) -> UserError:
        kind = KINDS.get(self.kind, InputError)
        return kind(f"{self.task} on {self.host}: {self.message}", where=self.where, hint=self.hint)


@dataclass(frozen=True)
class SideFiles:
    """Files that all tasks read, by the names under which Spark has them."""

    configuration: str
    model: str | None
    fold_models: tuple[str, ...] = ()

    def models(self) -> LanguageModels:
        return _models(None if self.model is None else _place(self.model), tuple(map(_place, self.fold_models)))


class Largest:
    """How Spark adds to an accumulator that keeps the largest value."""

    def zero(self, value: float) -> float:
        return value

    def addInPlace(self, one: float, other: float) -> float:  # noqa: N802
        return max(one, other)


@dataclass(frozen=True)
class MapLines:
    """The map side of an epoch: each line is a shard's task."""

    files: SideFiles
    weights: Any
    """Broadcast of the start vector's bytes; none: all weights 0, or the shards' own."""
    epoch: int
    reducers: int
    counts: dict[str, Any]
    """Accumulators that tell the driver what finished shards came to."""

    def __call__(self, lines: Iterable[str]) -> Iterator[Record]:
        task_name = "a map task"
        try:
            config = read_configuration(_place(self.files.configuration))
            start = None if self.weights is None else Vector.from_bytes(self.weights.value)
            own = plan_of_name(config.algorithm).own_weights
            for line in lines:
                task, state = parse_task_line(line)
                task_name = task.name
                result = run_map_task(
                    task,
                    start,
                    state,
                    self.files.models(),
                    config.epoch,
                    epoch=self.epoch,
                    own_weights=own,
                    opener=open_part,
                )
                for key, accumulator in self.counts.items():
                    accumulator.add(float(result.statistics[key]))
                yield from map_records(task.number, result, self.reducers)
        except UserError as error:
            raise TaskError(error, task_name) from None


@dataclass(frozen=True)
class Partitioner:
    """Range k of feature ids goes to partition k; what is for the driver only, to one more."""

    reducers: int

    def __call__(self, key: str) -> int:
        return self.reducers if key == SHARD else int(key)


@dataclass(frozen=True)
class ReduceRange:
    """The reduce side: a partition holds all shards' pieces of one range."""

    shards: int
    reducers: int
    selection: Selection

    def __call__(self, partition: int, records: Iterable[Record]) -> Iterator[Record]:
        key = SHARD if partition == self.reducers else str(partition)
        try:
            yield from reduce_pieces(key, (value for _, value in records), self.shards, self.selection)
        except UserError as error:
            raise TaskError(error, f"reducer {partition}") from None


@dataclass(frozen=True)
class TranslateLines:
    """Devtest: each line is a block of sentences."""

    files: SideFiles
    weights: Any

    def __call__(self, lines: Iterable[str]) -> Iterator[Record]:
        try:
            config = read_configuration(_place(self.files.configuration))
            vector = Vector.from_bytes(self.weights.value)
            yield from map(BlockTranslator(vector, self.files.models().open(), config), lines)
        except UserError as error:
            raise TaskError(error, "devtest translation") from None


def _place(name: str) -> str:
    from pyspark import SparkFiles

    place = SparkFiles.get(name)
    assert isinstance(place, str)
    return place


@functools.lru_cache(maxsize=1)
def _models(main: str | None, folds: tuple[str, ...]) -> LanguageModels:
    return LanguageModels(main, folds)

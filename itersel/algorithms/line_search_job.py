"""The job of a line search: error surfaces of a set of lines, merged over the shards, and the best step on each.

    map     a shard's lists (or its forests), lines → for each range: the surfaces of its lines
    reduce  all shards' surfaces of a range's lines → for each line: the best step

If there is one shard, its mapper finds the best steps: surfaces do not travel.
Line q belongs to range q mod partitions. A line is an origin and a direction in a space of few dimensions
(itersel.tune.space).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgpack
import numpy as np
import numpy.typing as npt

from itersel.algorithms.epoch_job import START, language_models
from itersel.algorithms.kbest_job import numbers_of
from itersel.base.errors import InputError
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lists.accumulated import AccumulatedLists
from itersel.lists.source import ShardSource
from itersel.mapreduce.job import Job, Record, Tell
from itersel.mapreduce.shard_item import open_parts
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.vectors import Vector
from itersel.tune.forest import forest_surfaces
from itersel.tune.objective import Objective
from itersel.tune.space import Lines, SearchSpace
from itersel.tune.surface import Step, StepRange, Surface, list_surfaces, merge

LISTS = "lists"
"""The value of a work item that has the checksum of its lists."""
LINES = "lines"
"""The side file of the lines."""


@dataclass(frozen=True)
class LineSearchJob(Job):
    """Surfaces of the lists that shards have collected."""

    number: int = 0
    """The round's."""
    step: int = 0
    """Which line search of the round."""
    objective: Objective = field(default_factory=Objective)
    least_width: float = 1e-6
    reach: float = 0.1
    one_shard: bool = False
    """Whether there is one work item, so that its surfaces are those of all lists."""

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        lines = lines_of(side)
        surfaces = self.surfaces(item, lines, side, tell)
        tell(item.size, {})
        for key in range(self.partitions):
            for number in range(key, len(lines), self.partitions):
                surface = surfaces[number]
                yield key, self.outcome(number, surface, lines) if self.one_shard else surface.to_bytes()

    def surfaces(self, item: WorkItem, lines: Lines, side: Side, tell: Tell) -> list[Surface]:
        """The shard's surface of each line."""
        del side, tell
        found = projections.of(item, lines.space)
        return list_surfaces(found.features, found.offsets, found.statistics, lines.origins, lines.directions)

    def reduce(self, key: int, values: Sequence[bytes], side: Side) -> Iterable[bytes]:
        if self.one_shard:
            yield from values
            return
        lines = lines_of(side)
        numbers = range(key, len(lines), self.partitions)
        for place, number in enumerate(numbers):
            surface = merge([Surface.from_bytes(value) for value in values[place :: len(numbers)]])
            yield self.outcome(number, surface, lines)

    def outcome(self, number: int, surface: Surface, lines: Lines) -> bytes:
        """What the driver gets of a line, given its surface over all lists: here its number and the best step."""
        low, high = lines.ranges[number].tolist()
        found = surface.best_step(self.objective, StepRange(low, high, self.least_width, self.reach))
        packed: bytes = msgpack.packb([number, found.step, found.score, found.before, found.sums.tolist()])
        return packed


@dataclass(frozen=True)
class ForestSearchJob(LineSearchJob):
    """Surfaces of the forests that the decoder builds with the start weights."""

    decoder: DecoderConfig = field(default_factory=DecoderConfig)

    def surfaces(self, item: WorkItem, lines: Lines, side: Side, tell: Tell) -> list[Surface]:
        weights = Vector.read(side.path(START), mapped=True) if START in side else Vector.of([], [])
        models = language_models(side)
        collected: list[list[Surface]] = [[] for _ in range(len(lines))]
        done = 0
        for source, parts in open_parts(item):
            if not isinstance(source, ShardSource):
                raise InputError(
                    "a table of lists has no forests", where=source.path, hint="Set mert.space: list, the default."
                )
            matrix = lines.space.matrix(source.data.feature_names())
            origins, directions = lines.origins @ matrix.T, lines.directions @ matrix.T
            for part in parts:
                decoder = ShardDecoder(source.data, weights, models.open(part.fold), self.decoder)
                for number in numbers_of(source, part):
                    references = source.references(number)
                    found = forest_surfaces(decoder, number, references, origins, directions, self.objective)
                    for several, surface in zip(collected, found, strict=True):
                        several.append(surface)
                    tell(done := done + 1, {})
        return [merge(several) for several in collected]

    def warm(self, side: Side) -> None:
        language_models(side).open_all()


@dataclass(frozen=True, eq=False)
class Projection:
    """A shard's lists in the space of a search."""

    space: SearchSpace
    features: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]
    statistics: npt.NDArray[np.float32]

    @property
    def size(self) -> int:
        return self.features.nbytes + self.offsets.nbytes + self.statistics.nbytes


class Projections:
    """The projections that a process used last, one for each work item: all steps of a round search the same lists in
    the same space."""

    def __init__(self, limit: int = 256 * 2**20):
        self.limit = limit
        """Bytes that are kept at most, besides the newest one."""
        self._known: dict[int, tuple[str, Projection]] = {}

    def of(self, item: WorkItem, space: SearchSpace) -> Projection:
        key = item.values.get(LISTS)
        known = self._known.get(item.number)
        if known is not None and known[0] == key and known[1].space == space:
            return known[1]
        self._known.pop(item.number, None)  # of an earlier round, or of another space
        lists = lists_of(item)
        made = Projection(space, space.project(lists), lists.offsets, lists.statistics)
        if key is not None:
            while self._known and made.size + sum(one.size for _, one in self._known.values()) > self.limit:
                del self._known[next(iter(self._known))]  # the oldest
            self._known[item.number] = key, made
        return made


projections = Projections()


def steps_of(records: Iterable[Record]) -> list[Step]:
    """The best step on each line, in the lines' order."""
    found: dict[int, Step] = {}
    for record in records:
        number, step, score, before, sums = msgpack.unpackb(record.value)
        found[number] = Step(step, score, before, np.array(sums))
    return [found[number] for number in sorted(found)]


def lines_of(side: Side) -> Lines:
    """The lines of a job, read once per process."""
    return side.cached("lines of a line search", (LINES,), lambda path: Lines.from_bytes(Path(path).read_bytes()))


class LastLists:
    """The lists that a process read last: the jobs of a round use the same ones. Only one shard's are kept."""

    def __init__(self) -> None:
        self._known: tuple[str, AccumulatedLists] | None = None

    def of(self, item: WorkItem) -> AccumulatedLists:
        key = item.values.get(LISTS)
        if key is not None and self._known is not None and self._known[0] == key:
            return self._known[1]
        self._known = None  # its memory is free before the next one takes some
        content = item.read_state()
        if content is None:
            raise InputError("the shard has no lists yet")
        lists = AccumulatedLists.from_bytes(content)
        if key is not None:
            self._known = key, lists
        return lists


last_lists = LastLists()


def lists_of(item: WorkItem) -> AccumulatedLists:
    """The lists that a shard has collected."""
    return last_lists.of(item)


def with_lists(items: Sequence[WorkItem], states: Sequence[bytes]) -> Iterator[WorkItem]:
    """The shards with their lists, by content; a job over other lists is another job."""
    for item, state in zip(items, states, strict=True):
        values = {**item.values, LISTS: hashlib.sha256(state).hexdigest()}
        yield replace(item, values=values, state=None, state_content=state)

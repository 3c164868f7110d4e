"""How long an epoch takes on a cluster: a model of few terms, to size shards, slots and reducers before renting them.

    map      the tasks on the slots, largest first; a task costs its start and its sentences' processor time
    reduce   the reducers' rows: every shard's entries are read and added once
    engine   what the engine needs to start a job and to end it
    driver   reading what the reducers kept

itersel.run.estimate gets the two figures that depend on data and options, seconds per sentence and entries per shard,
from some sentences of a real shard; `benchmarks/cost_model.py` compares the model's epochs with runs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from itersel.base.errors import ConfigError

REDUCE_SECONDS = 9e-7
"""A reducer's time for an entry of W: decoding, adding, ranking (benchmarks/cost_model.py measures it)."""
COLUMN_SECONDS = 2e-6
"""The driver's time for a column that a reducer kept, with its name."""


@dataclass(frozen=True)
class Measured:
    """What a sentence costs, and what a shard brings, with given data and options."""

    sentence_seconds: float
    """Processor time for one sentence in one epoch."""
    entries: float
    """Non-zero weights that one sentence's features add to its shard's row, at most."""
    load_seconds: float
    """Time to load the language model, or the models of all folds."""


@dataclass(frozen=True)
class Workload:
    """What a run asks of an engine."""

    files: tuple[str, ...]
    """Data and models that workers read."""
    sizes: tuple[int, ...]
    """Sentences of each shard."""
    rounds: int
    jobs: int
    """Jobs of all rounds, including devtest."""
    reducers: int
    measured: Measured
    kept: int | None
    """The most columns that a round's model keeps; None: no limit."""


@dataclass(frozen=True)
class Slots:
    """Where tasks run."""

    count: int
    """Tasks at once."""
    task_seconds: float = 1.0
    """Time to start a task's process, without loading the language model."""
    job_seconds: float = 20.0
    """Time to start and end a job, without any task."""
    speed: float = 1.0
    """Speed of a slot, relative to the processor that `Measured` was measured on."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.speed <= 0:
            raise ConfigError(f"{self.count} slots of speed {self.speed}", hint="Give at least one, faster than 0.")


@dataclass(frozen=True)
class EpochCost:
    """Seconds on the clock, and of all processors."""

    map: float
    reduce: float
    engine: float
    driver: float
    cpu: float

    @property
    def total(self) -> float:
        return self.map + self.reduce + self.engine + self.driver


def epoch_cost(
    sizes: Sequence[int],
    measured: Measured,
    slots: Slots,
    *,
    reducers: int = 1,
    start_weights: int = 0,
    kept: int | None = None,
) -> EpochCost:
    """The model's epoch over shards of these numbers of sentences.

    `start_weights` are carried through every shard, so each has at least that many entries; `kept` is the number of
    columns that survive (selection.top), none for all, of which there are at most as many as entries.
    """
    tasks = [(slots.task_seconds + measured.load_seconds + n * measured.sentence_seconds) / slots.speed for n in sizes]
    entries = sum(start_weights + n * measured.entries for n in sizes)
    waves = -(-reducers // slots.count)
    reduce = waves * (slots.task_seconds + entries / reducers * REDUCE_SECONDS) / slots.speed
    columns = entries if kept is None else min(entries, kept * reducers)
    driver = columns * COLUMN_SECONDS
    cpu = sum(tasks) + reducers * slots.task_seconds + entries * REDUCE_SECONDS + driver
    return EpochCost(makespan(tasks, slots.count), reduce, slots.job_seconds, driver, cpu)


def makespan(seconds: Sequence[float], slots: int) -> float:
    """When the last task ends, if each slot takes the largest task left as soon as it is free."""
    free = [0.0] * min(slots, max(len(seconds), 1))
    for one in sorted(seconds, reverse=True):
        heapq.heapreplace(free, free[0] + one)
    return max(free)

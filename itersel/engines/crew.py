"""Processes of this machine that stay for the jobs of a run, over whatever work items.

They are forked when a job has loaded what its mappers share; jobs that need the same, or nothing, find it there. An
item travels to a process with its first task there, and is forgotten when a job has other items.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itersel.base.shared_table import shared_table
from itersel.base.workers import Workers
from itersel.engines.file_work import map_to_file, mapped_path, reduce_to_file, reduced_path
from itersel.mapreduce.job import Job, describe_job, load_job
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import WorkItem

ROOM = 1 << 16
"""Numbers on a board, unless a job needs more."""


@dataclass(frozen=True)
class Task:
    """What a process is told to do."""

    job: Job | Mapping[str, Any]
    """Or its description, in another process."""
    side: Side
    folder: Path
    number: int
    """Of an item, or of a range."""
    item: WorkItem | None = None
    """To be mapped. None: a range is reduced, or the process has the item already."""
    mapped: tuple[int, ...] | None = None
    """Numbers of all items, if a range is reduced."""

    def run(self, board: ProgressBoard | None = None, tick: Callable[[], None] | None = None) -> None:
        """Do it. A mapper writes its progress on the board, and then calls `tick`."""
        side, folder, number = self.side, self.folder, self.number
        job = self.job if isinstance(self.job, Job) else load_job(self.job)  # here, so that an error is the task's
        if self.mapped is not None:
            mapped = [mapped_path(folder, item) for item in self.mapped]
            reduce_to_file(job, number, mapped, side, reduced_path(folder, number), sync=False)
            return
        assert board is not None and self.item is not None

        def progress(done: float, counts: Mapping[str, float]) -> None:
            board.write(job, number, done, counts)
            if tick is not None:
                tick()

        map_to_file(job, self.item, side, mapped_path(folder, number), progress, sync=False)
        board.finish(job, self.item)

    def __getstate__(self) -> dict[str, Any]:
        # A job itself may hold objects that cannot travel.
        return vars(self) | {"job": describe_job(self.job) if isinstance(self.job, Job) else self.job}

    def home(self) -> tuple[object, ...]:
        """Tasks of several jobs that have the same one need the same data."""
        return self.mapped is not None, self.number, *(() if self.item is None else self.item.files[:1])

    def describe(self) -> str:
        """What it is, in messages."""
        return f"range {self.number}" if self.item is None else self.item.name


class ProgressBoard:
    """Units of work and counts by item, in memory that forked processes share: each writes its own line."""

    def __init__(self, least: int):
        """With room for at least so many numbers; memory that is not used is not taken."""
        self.numbers = shared_table(max(least, ROOM)).reshape(-1)

    def has_room(self, job: Job, items: int) -> bool:
        return numbers_of(job, items) <= len(self.numbers)

    def clear(self, job: Job, items: int) -> None:
        """For another job."""
        self.numbers[: numbers_of(job, items)] = 0

    def write(self, job: Job, number: int, done: float, counts: Mapping[str, float]) -> None:
        self._lines(job)[number] = [done, *(counts.get(key, 0.0) for key in job.counts)]

    def finish(self, job: Job, item: WorkItem) -> None:
        self._lines(job)[item.number, 0] = item.size

    def sums(self, job: Job, items: int) -> tuple[float, dict[str, float]]:
        """Progress and counts of all items, combined as the job says."""
        lines = self._lines(job)[:items]
        sums, largest = lines.sum(axis=0).tolist(), lines.max(axis=0, initial=0.0).tolist()
        ways = enumerate(job.counts.items(), 1)
        return sums[0], {key: largest[column] if how == "max" else sums[column] for column, (key, how) in ways}

    def _lines(self, job: Job) -> NDArray[np.float64]:
        width = numbers_of(job, 1)
        return self.numbers[: len(self.numbers) // width * width].reshape(-1, width)


def numbers_of(job: Job, items: int) -> int:
    """How many a board has for a job."""
    return items * (1 + len(job.counts))


@dataclass(frozen=True)
class Order:
    """A task as it travels."""

    task: Task
    edition: int
    """Of the items; those of another one are of no use any more."""


class Hand:
    """What a process of a crew does, and the items that it has."""

    def __init__(self, board: ProgressBoard):
        self.board, self.edition = board, 0
        self.items = dict[int, WorkItem]()

    def __call__(self, order: Order) -> None:
        task = order.task
        if order.edition != self.edition:
            self.edition, self.items = order.edition, {}
        if task.item is not None:
            self.items[task.number] = task.item
        elif task.mapped is None:
            task = replace(task, item=self.items[task.number])
        task.run(self.board)


class Crew:
    """Processes with what was loaded before they were forked."""

    def __init__(self, size: int, loaded: Mapping[object, object], board: ProgressBoard):
        """Forks them. `loaded` is what `Loaded` knows at that time."""
        self.size, self.loaded, self.board = size, dict(loaded), board
        self.items = list[WorkItem]()
        self.edition = 0
        self.sent: set[tuple[Connection, int]] = set()
        self.workers: Workers[Any, None] = Workers(Hand(board), size)

    def can_map(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> bool:
        """Whether it has what the job loads, if that is anything, and room for its progress."""
        known = not loads_anything(job) or self.loaded.get(type(job).warm) == what_lasts(side)
        return known and self.board.has_room(job, len(items))

    def grow(self, size: int) -> None:
        """Be at least so many."""
        if size > self.size:
            self.workers.grow(size - self.size)
            self.size = size

    def run(self, items: Sequence[WorkItem], tasks: Sequence[Task], tick: Callable[[], None] | None = None) -> None:
        """Do all tasks of a job over these items."""
        if self.items != list(items):
            self.items, self.edition, self.sent = list(items), self.edition + 1, set()
        results = self.workers.map_at_home(tasks, Task.home, self._order, describe=Task.describe, tick=tick)
        with contextlib.closing(results):
            for _ in results:
                if tick is not None:
                    tick()

    def _order(self, task: Task, process: Connection) -> Order:
        """The task as this process gets it: an item that it has does not travel again, as its state may be large."""
        if task.item is not None:
            if (process, task.number) in self.sent:
                task = replace(task, item=None)
            self.sent.add((process, task.number))
        return Order(task, self.edition)

    def close(self) -> None:
        self.workers.close()


def loads_anything(job: Job) -> bool:
    """Whether there is anything that processes should share."""
    return type(job).warm is not Job.warm


def what_lasts(side: Mapping[str, SideFile]) -> dict[str, str]:
    """The side files that a job may have loaded for all processes, such as language models."""
    return {name: one.path for name, one in side.items() if one.lasting}

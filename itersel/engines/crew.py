"""Processes of this machine that stay for several jobs over the same work items, such as the steps of a line search.

They are forked when a job has loaded what its mappers share; the next jobs that need the same find it there.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.shared_table import shared_table
from itersel.base.workers import Workers
from itersel.engines.file_work import map_to_file, mapped_path, reduce_to_file, reduced_path
from itersel.mapreduce.job import Job, Tell, describe_job, load_job
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem


@dataclass(frozen=True)
class Task:
    """What a process is told to do; it has the items itself, since their states may be large."""

    job: Job | Mapping[str, Any]
    """Or its description, in another process."""
    side: Side
    folder: Path
    number: int
    """Of an item, or of a range."""
    of_reducer: bool

    def run(self, items: Mapping[int, WorkItem], board: ProgressBoard | None = None, tell: Tell | None = None) -> None:
        """Do it. A mapper writes its progress on the board, and tells that of all items if `tell` is given."""
        side, folder, number = self.side, self.folder, self.number
        job = self.job if isinstance(self.job, Job) else load_job(self.job)  # here, so that an error is the task's
        if self.of_reducer:
            mapped = [mapped_path(folder, item) for item in sorted(items)]
            reduce_to_file(job, number, mapped, side, reduced_path(folder, number), sync=False)
            return
        assert board is not None

        def progress(done: float, counts: Mapping[str, float]) -> None:
            board.write(job, number, done, counts)
            if tell is not None:
                tell(*board.sums(job))

        map_to_file(job, items[number], side, mapped_path(folder, number), progress, sync=False)
        board.finish(items[number])

    def __getstate__(self) -> dict[str, Any]:
        # A job itself may hold objects that cannot travel.
        return vars(self) | {"job": describe_job(self.job) if isinstance(self.job, Job) else self.job}

    def home(self) -> tuple[bool, int]:
        """Tasks of several jobs that have the same one need the same data."""
        return self.of_reducer, self.number

    def describe(self, items: Mapping[int, WorkItem]) -> str:
        """What it is, in messages."""
        return f"range {self.number}" if self.of_reducer else items[self.number].name


class ProgressBoard:
    """Units of work and counts by item, in memory that forked processes share: each writes its own line."""

    def __init__(self, items: Sequence[WorkItem], columns: int):
        self.lines = shared_table(len(items), 1 + columns)

    def clear(self) -> None:
        """For another job."""
        self.lines[:] = 0

    def write(self, job: Job, number: int, done: float, counts: Mapping[str, float]) -> None:
        self.lines[number, : 1 + len(job.counts)] = [done, *(counts.get(key, 0.0) for key in job.counts)]

    def finish(self, item: WorkItem) -> None:
        self.lines[item.number, 0] = item.size

    def sums(self, job: Job) -> tuple[float, dict[str, float]]:
        """Progress and counts of all items, combined as the job says."""
        sums, largest = self.lines.sum(axis=0).tolist(), self.lines.max(axis=0, initial=0.0).tolist()
        ways = enumerate(job.counts.items(), 1)
        return sums[0], {key: largest[column] if how == "max" else sums[column] for column, (key, how) in ways}


class Crew:
    """Processes with work items, and with what a kind of job loads for them."""

    def __init__(self, job: Job | None, items: Sequence[WorkItem], size: int):
        """Forks them. `job` has loaded what its mappers share; None: nothing is loaded."""
        self.items, self.size = by_number(items), size
        self.loaded = None if job is None else loads(job)
        self.board = ProgressBoard(items, 0 if job is None else len(job.counts))
        self.workers: Workers[Task, None] = Workers(lambda task: task.run(self.items, self.board), size)

    def can_map(self, job: Job, items: Sequence[WorkItem], size: int) -> bool:
        """Whether it has these items, what the job loads, and as many processes."""
        return self.loaded == loads(job) and self.can_reduce(items, size)

    def can_reduce(self, items: Sequence[WorkItem], size: int) -> bool:
        """Whether it knows how many files there are to reduce, and has as many processes."""
        return self.size >= size and self.items == by_number(items)

    def run(self, tasks: Sequence[Task], tick: Callable[[], None] | None = None) -> None:
        """Do all tasks."""
        describe = operator.methodcaller("describe", self.items)
        with contextlib.closing(self.workers.map(tasks, describe=describe, tick=tick, home=Task.home)) as results:
            for _ in results:
                if tick is not None:
                    tick()

    def close(self) -> None:
        self.workers.close()


def loads(job: Job) -> tuple[object, ...]:
    """What tells whether two jobs load the same things: how they do it, and how much there is to count."""
    return type(job).warm, len(job.counts)


def by_number(items: Sequence[WorkItem]) -> dict[int, WorkItem]:
    """The items as tasks look for them."""
    return {item.number: item for item in items}

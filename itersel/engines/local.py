"""This machine: work in this process (inline) or in forked ones that share what the job loads (local).

Results are files of records in the engine's folder, so an interrupted job resumes with the missing items.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.base.spare_processes import borrowed
from itersel.base.workers import process_count
from itersel.engines.base import Engine
from itersel.engines.config import INLINE, RunConfig
from itersel.engines.crew import Crew, ProgressBoard, Task, loads_anything, numbers_of, what_lasts
from itersel.engines.file_work import JOBS, counts_of, driver_records, is_whole, mapped_path, reduced_path
from itersel.mapreduce.execution import assemble
from itersel.mapreduce.fingerprint import fingerprint
from itersel.mapreduce.job import Job, Record, Tell
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import WorkItem, largest_first


class LocalEngine(Engine):
    """The engines inline and local."""

    def __init__(self, config: RunConfig, folder: Path):
        super().__init__(config, folder)
        self._crew: Crew | None = None
        self._loaded: dict[object, object] = {}
        self._borrowed = contextlib.ExitStack()
        self._has_borrowed = False
        self._finished: list[Path] = []

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        folder = self.folder / JOBS / fingerprint(job, items, side)
        if folder in self._finished:
            self._tidy()
        try:
            self._map(job, items, side, folder, tell)
            self._reduce(job, items, side, folder)
        except BaseException:
            self.rest()
            raise
        mapped = [mapped_path(folder, item.number) for item in items]
        reduced = [reduced_path(folder, key) for key in range(job.partitions)]
        yield from assemble(job, driver_records(mapped, reduced), len(items))
        self._finished.append(folder)

    def rest(self) -> None:
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()
        self._borrowed.close()
        self._has_borrowed = False
        self._tidy()

    def pause(self) -> None:
        if self._has_borrowed:
            self.rest()
        self._finished.clear()
        shutil.rmtree(self.folder / JOBS, ignore_errors=True)  # also what a killed run left of finished jobs

    def close(self) -> None:
        self.rest()

    def _tidy(self) -> None:
        """Remove what finished jobs left, while processes work if possible: they would wait for it otherwise."""
        while self._finished:
            shutil.rmtree(self._finished.pop(), ignore_errors=True)

    def _map(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], folder: Path, tell: Tell) -> None:
        count = len(items)
        waiting = [item for item in largest_first(items) if not is_whole(mapped_path(folder, item.number))]
        crew = self._mapping_crew(job, items, waiting, side) if waiting else None
        board = ProgressBoard(numbers_of(job, count)) if crew is None else crew.board
        board.clear(job, count)
        missing = {item.number for item in waiting}
        for item in items:
            if item.number not in missing:
                board.write(job, item.number, item.size, counts_of(mapped_path(folder, item.number)))

        def tick() -> None:
            self._tidy()
            tell(*board.sums(job, count))

        tell(*board.sums(job, count))
        tasks = [Task(job, _files(side), folder, item.number, item) for item in waiting]
        if crew is not None:
            crew.run(items, tasks, tick)
            return
        for task in tasks:
            task.run(board, tick)
            tick()

    def _mapping_crew(
        self, job: Job, items: Sequence[WorkItem], waiting: Sequence[WorkItem], side: Mapping[str, SideFile]
    ) -> Crew | None:
        """The processes for what is waiting: those that are there if they fit; None: this one does it."""
        if self._crew is None or not self._crew.can_map(job, items, side):
            self.rest()
            job.warm(_files(side))  # before any process is forked, so that all share what it loads
            if loads_anything(job):
                self._loaded[type(job).warm] = what_lasts(side)
        size = process_count(self.config.processes, len(waiting))
        if self._crew is not None:
            size = max(size, self._crew.size)
        further = 0 if self.config.runner == INLINE else len(waiting) - size
        if further > 0:
            size = process_count(size + self._borrow(further))
        return None if size == 1 else self._crew_of(size, numbers_of(job, len(items)))

    def _borrow(self, most: int) -> int:
        """How many idle processes of others this engine may use, until it rests."""
        count = self._borrowed.enter_context(borrowed(most))
        self._has_borrowed = self._has_borrowed or count > 0
        return count

    def _crew_of(self, size: int, numbers: int) -> Crew:
        """The processes that are there, at least so many; new ones have a board with room for these numbers."""
        if self._crew is None:
            self._crew = Crew(size, self._loaded, ProgressBoard(numbers))
        self._crew.grow(size)
        return self._crew

    def _reduce(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], folder: Path) -> None:
        missing = [key for key in range(job.partitions) if not is_whole(reduced_path(folder, key))]
        mapped = tuple(sorted({item.number for item in items}))
        tasks = [Task(job, _files(side), folder, key, mapped=mapped) for key in missing]
        own = process_count(self.config.processes, len(tasks))
        if own <= 1:
            for task in tasks:
                task.run()
            return
        self._crew_of(own, 0).run(items, tasks, self._tidy)


def _files(side: Mapping[str, SideFile]) -> Side:
    """The side files as processes of this machine see them."""
    return Side({name: one.path for name, one in side.items()})

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
from itersel.engines.crew import Crew, ProgressBoard, Task, by_number
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
        self._borrowed = contextlib.ExitStack()

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        folder = self.folder / JOBS / fingerprint(job, items, side)
        files = Side({name: one.path for name, one in side.items()})
        try:
            self._map(job, items, files, folder, tell)
            self._reduce(job, items, files, folder)
        except BaseException:
            self.rest()
            raise
        mapped = [mapped_path(folder, item.number) for item in items]
        reduced = [reduced_path(folder, key) for key in range(job.partitions)]
        yield from assemble(job, driver_records(mapped, reduced), len(items))
        shutil.rmtree(folder, ignore_errors=True)

    def rest(self) -> None:
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.close()
        self._borrowed.close()

    def close(self) -> None:
        self.rest()

    def _map(self, job: Job, items: Sequence[WorkItem], side: Side, folder: Path, tell: Tell) -> None:
        waiting = [item for item in largest_first(items) if not is_whole(mapped_path(folder, item.number))]
        crew = self._mapping_crew(job, items, waiting, side) if waiting else None
        board = ProgressBoard(items, len(job.counts)) if crew is None else crew.board
        board.clear()
        missing = {item.number for item in waiting}
        for item in items:
            if item.number not in missing:
                board.write(job, item.number, item.size, counts_of(mapped_path(folder, item.number)))
        tell(*board.sums(job))
        tasks = [Task(job, side, folder, item.number, of_reducer=False) for item in waiting]
        if crew is not None:
            crew.run(tasks, lambda: tell(*board.sums(job)))
            return
        numbered = by_number(items)
        for task in tasks:
            task.run(numbered, board, tell)
            tell(*board.sums(job))

    def _mapping_crew(
        self, job: Job, items: Sequence[WorkItem], waiting: Sequence[WorkItem], side: Side
    ) -> Crew | None:
        """The processes for what is waiting: those of the last job if they fit; None: this one does it."""
        own = process_count(self.config.processes, len(waiting))
        if self._crew is not None and self._crew.can_map(job, items, own):
            return self._crew
        self.rest()
        job.warm(side)  # before any process is forked, so that all share what it loads
        further = 0 if self.config.runner == INLINE else len(waiting) - own
        size = process_count(own + self._borrowed.enter_context(borrowed(further)))
        if size == 1:
            return None
        self._crew = Crew(job, items, size)
        return self._crew

    def _reduce(self, job: Job, items: Sequence[WorkItem], side: Side, folder: Path) -> None:
        missing = [key for key in range(job.partitions) if not is_whole(reduced_path(folder, key))]
        tasks = [Task(job, side, folder, key, of_reducer=True) for key in missing]
        own = process_count(self.config.processes, len(tasks))
        if own <= 1:
            numbered = by_number(items)
            for task in tasks:
                task.run(numbered)
            return
        if self._crew is None or not self._crew.can_reduce(items, own):
            self.rest()
            self._crew = Crew(None, items, own)
        self._crew.run(tasks)

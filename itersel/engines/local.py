"""This machine: work in this process (inline) or in forked ones that share what the job loads (local).

Results are files of records in the engine's folder, so an interrupted job resumes with the missing items.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.base.shared_table import shared_table
from itersel.base.spare_processes import borrowed
from itersel.base.workers import ordered_map
from itersel.engines.base import Engine
from itersel.engines.config import INLINE
from itersel.engines.file_work import (
    JOBS,
    counts_of,
    driver_records,
    map_to_file,
    mapped_path,
    reduce_to_file,
    reduced_path,
)
from itersel.mapreduce.execution import assemble
from itersel.mapreduce.fingerprint import fingerprint
from itersel.mapreduce.job import Job, Record, Tell
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import WorkItem, largest_first


class LocalEngine(Engine):
    """The engines inline and local."""

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        folder = self.folder / JOBS / fingerprint(job, items, side)
        files = Side({name: one.path for name, one in side.items()})
        self._map(job, items, files, folder, tell)
        self._reduce(job, items, files, folder)
        mapped = [mapped_path(folder, item.number) for item in items]
        reduced = [reduced_path(folder, key) for key in range(job.partitions)]
        yield from assemble(job, driver_records(mapped, reduced), len(items))
        shutil.rmtree(folder, ignore_errors=True)

    def _map(self, job: Job, items: Sequence[WorkItem], side: Side, folder: Path, tell: Tell) -> None:
        board = ProgressBoard(job, items)
        waiting = []
        for item in largest_first(items):
            path = mapped_path(folder, item.number)
            if path.exists():
                board.write(item.number, item.size, counts_of(path))
            else:
                waiting.append(item)
        tell(*board.sums())

        def run(number: int) -> None:
            item = waiting[number]  # inherited, not sent: its state may be large

            def progress(done: float, counts: Mapping[str, float]) -> None:
                board.write(item.number, done, counts)
                if jobs == 1:
                    tell(*board.sums())

            map_to_file(job, item, side, mapped_path(folder, item.number), progress)
            board.finish(item)

        if waiting:
            job.warm(side)  # before any process is forked, so that all share what it loads
        own = min(self.config.processes, max(len(waiting), 1))
        further = 0 if self.config.runner == INLINE else len(waiting) - own
        with borrowed(further) as spare:
            jobs = own + spare
            if jobs > 1:
                job.warm_items(waiting, side)
            results = ordered_map(
                run,
                range(len(waiting)),
                jobs,
                describe=lambda number: waiting[number].name,
                tick=lambda: tell(*board.sums()),
            )
            with contextlib.closing(results):
                for _ in results:
                    tell(*board.sums())

    def _reduce(self, job: Job, items: Sequence[WorkItem], side: Side, folder: Path) -> None:
        mapped = [mapped_path(folder, item.number) for item in items]

        def run(key: int) -> None:
            reduce_to_file(job, key, mapped, side, reduced_path(folder, key))

        missing = [key for key in range(job.partitions) if not reduced_path(folder, key).exists()]
        jobs = min(self.config.processes, max(len(missing), 1))
        results = ordered_map(run, missing, jobs, describe=lambda key: f"range {key}")
        with contextlib.closing(results):
            for _ in results:
                pass


class ProgressBoard:
    """Units of work and counts by item, in memory that forked processes share: each writes its own line."""

    def __init__(self, job: Job, items: Sequence[WorkItem]):
        self.job, self.keys = job, list(job.counts)
        self.lines = shared_table(len(items), 1 + len(self.keys))

    def write(self, number: int, done: float, counts: Mapping[str, float]) -> None:
        self.lines[number] = [done, *(counts.get(key, 0.0) for key in self.keys)]

    def finish(self, item: WorkItem) -> None:
        self.lines[item.number, 0] = item.size

    def sums(self) -> tuple[float, dict[str, float]]:
        """Progress and counts of all items, combined as the job says."""
        sums, largest = self.lines.sum(axis=0).tolist(), self.lines.max(axis=0, initial=0.0).tolist()
        ways = enumerate(self.job.counts.items(), 1)
        return sums[0], {key: largest[column] if how == "max" else sums[column] for column, (key, how) in ways}

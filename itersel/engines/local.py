"""This machine: map and reduce tasks in this process (inline) or in forked ones that share the language models (local).

Results of map tasks are files in the run's directory, so an interrupted epoch goes on with the shards that are missing.
"""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from itersel.base.workers import ordered_map
from itersel.engines.base import Engine, EpochOutcome, EpochWork, Tell, TranslateWork, summary
from itersel.engines.file_tasks import FileMapTask, FileReduceTask, read_names, read_statistics
from itersel.learn.mixing import Columns, merge
from itersel.lm.model import LanguageModels
from itersel.mapreduce.work_item import COUNTS
from itersel.model.feature_names import NameTable
from itersel.model.vectors import even_bounds
from itersel.run.config import TrainConfig, fold_model_paths
from itersel.run.devtest import translate_shards
from itersel.run.directory import RunDirectory


class LocalEngine(Engine):
    """The engines inline and local."""

    def __init__(self, config: TrainConfig, directory: RunDirectory):
        super().__init__(config, directory)
        self.jobs = config.run.processes
        self.models = LanguageModels(config.language_model, fold_model_paths(config))

    def train_epoch(self, work: EpochWork, tell: Tell) -> EpochOutcome:
        self._map(work, tell)
        rows = [os.fspath(self.directory.shard(work.epoch, task.number)) for task in work.tasks]
        names = NameTable(work.names.union(*map(read_names, rows)))
        return EpochOutcome(self._reduce(rows, work, names), names, [read_statistics(row) for row in rows])

    def translate(self, work: TranslateWork) -> list[str]:
        return translate_shards(work.shards, work.weights, self.models.open(), self.config.epoch.decoder, self.jobs)

    def _map(self, work: EpochWork, tell: Tell) -> None:
        """All tasks of which there is no vector yet, largest first, so that none is left for the end."""
        board = ProgressBoard(len(work.tasks))
        waiting = list(missing_tasks(work, self.directory))
        left = {one.task.number for one in waiting}
        for task in work.tasks:
            if task.number not in left:
                board.write(task.number, read_statistics(self.directory.shard(work.epoch, task.number)))
        tell(board.sums())

        def run(one: FileMapTask) -> None:
            def progress(sums: dict[str, float]) -> None:
                board.write(one.task.number, sums)
                if jobs == 1:
                    tell(board.sums())

            one.run(self.models, self.config.epoch, progress)
            board.write(one.task.number, read_statistics(one.output))

        if waiting:
            self.models.open_all()  # before any process is forked, so that all share them
        jobs = min(self.jobs, max(len(waiting), 1))
        results = ordered_map(run, waiting, jobs, describe=lambda one: one.task.name, tick=lambda: tell(board.sums()))
        with contextlib.closing(results):
            for _ in results:
                tell(board.sums())

    def _reduce(self, rows: Sequence[str], work: EpochWork, names: NameTable) -> Columns:
        bounds = even_bounds(self.config.run.reducers)
        tasks = [FileReduceTask(rows, low, high) for low, high in pairwise(bounds)]
        selection = work.selection
        parts = ordered_map(lambda task: task.run(selection).to_bytes(), tasks, min(self.jobs, len(tasks)))
        with contextlib.closing(parts):
            return merge([Columns.from_bytes(part) for part in parts], selection, names=names)


def missing_tasks(work: EpochWork, directory: RunDirectory) -> Iterator[FileMapTask]:
    """The map tasks that have no result in the run's directory yet, largest first."""
    for task in sorted(work.tasks, key=lambda task: (-task.size, task.number)):
        output = directory.shard(work.epoch, task.number)
        if not output.exists():
            start = None if work.start is None else os.fspath(work.start)
            state = None if work.states is None else os.fspath(work.states[task.number])
            yield FileMapTask(task, work.epoch, start, state, work.own_weights, os.fspath(output))


class ProgressBoard:
    """Counts by shard in memory that forked processes share: each writes its own line, the driver adds them up."""

    def __init__(self, tasks: int):
        memory = mmap.mmap(-1, max(tasks, 1) * len(COUNTS) * 8)
        self.lines = np.frombuffer(memory, dtype=np.float64).reshape(-1, len(COUNTS))

    def write(self, task: int, sums: dict[str, float]) -> None:
        self.lines[task] = [sums[key] for key in COUNTS]

    def sums(self) -> dict[str, float]:
        return summary(dict(zip(COUNTS, line, strict=True)) for line in self.lines.tolist())

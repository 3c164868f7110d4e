"""Batch queues: map tasks as an array job, reduce tasks as a second one that starts when the first has succeeded.

Everything travels by files in a folder that all nodes see, the run's directory, so an interrupted epoch goes on with
the shards that are missing. One task a shard, one a range of features, one for some hundred devtest sentences.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.files import read_lines
from itersel.base.resources import resource
from itersel.engines.base import Engine, EpochOutcome, EpochWork, Tell, TranslateWork, summary
from itersel.engines.batch import Batch, BatchTask, Stage
from itersel.engines.batch_queue import BatchQueue
from itersel.engines.file_tasks import read_names, read_statistics
from itersel.learn.mixing import Columns, merge
from itersel.mapreduce.work_item import MapTask
from itersel.model.feature_names import NameTable
from itersel.model.vectors import even_bounds
from itersel.run.config import TrainConfig, fold_model_paths
from itersel.run.directory import RunDirectory

SCRIPTS_VARIABLE, PYTHON_VARIABLE = "ITERSEL_BATCH_SCRIPTS", "ITERSEL_PYTHON"
ROOT = Path(__file__).resolve().parents[2]
TRANSLATE_SENTENCES = 250
"""A task's share of the devtest: worth the start of a process, and enough tasks to go round."""


class BatchEngine(Engine):
    """What Slurm and Grid Engine have in common."""

    folder_name: str
    """Of the queue's scripts, in conf/."""
    suffix: str
    """Of their names."""
    queue_class: type[BatchQueue]

    def __init__(self, config: TrainConfig, directory: RunDirectory):
        super().__init__(config, directory)
        scripts = self._scripts()
        run = directory.path.resolve()
        # The run's directory is locked, and other runs' jobs have other names: jobs of this name are leftovers.
        name = f"itersel-{hashlib.sha256(os.fsencode(run)).hexdigest()[:12]}"
        self.folder = run / "batch"
        self.queue = self.queue_class(name, self.folder, config.run.options, _environment())
        self.queue.cancel_all()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.failed = False
        self.batch = Batch(
            self.queue,
            scripts,
            python=os.environ.get(PYTHON_VARIABLE, sys.executable),
            limit=config.run.jobs if config.run.jobs > 1 else None,
            warn=events.warn,
        )

    def train_epoch(self, work: EpochWork, tell: Tell) -> EpochOutcome:
        rows = [self.directory.shard(work.epoch, task.number).resolve() for task in work.tasks]
        sums = summary([])
        tell(sums)

        def done(task: BatchTask) -> None:
            nonlocal sums
            if task.output.suffix == ".vec":
                sums = summary([sums, read_statistics(task.output)])
                tell(sums)

        parts = [self.folder / f"{number:05d}.columns" for number in range(self.config.run.reducers)]
        self._run([self._map(work, rows), self._reduce(work, rows, parts)], done)
        names = NameTable(work.names.union(*map(read_names, rows)))
        columns = merge([Columns.from_bytes(part.read_bytes()) for part in parts], work.selection, names=names)
        self._tidy()
        return EpochOutcome(columns, names, [read_statistics(row) for row in rows])

    def translate(self, work: TranslateWork) -> list[str]:
        tasks: list[BatchTask] = []
        for shard in work.shards:
            for first in range(0, len(shard), TRANSLATE_SENTENCES):
                last = min(first + TRANSLATE_SENTENCES, len(shard))
                output = self.folder / f"{len(tasks):05d}.lines"
                path = os.path.abspath(shard.path)
                values = {"shard": path, "first": first, "last": last, "output": os.fspath(output)}
                tasks.append(BatchTask(values, output, f"{shard.path}, sentences {first + 1} to {last}"))
        settings = self._decoding() | {"weights": os.fspath(work.file.resolve())}
        self._run([Stage("translate", tasks, settings)], lambda _: None)
        lines = [line for task in tasks for line in read_lines(task.output)]
        self._tidy()
        return lines

    def close(self) -> None:
        try:
            self.queue.cancel_all()
        except ResourceError as error:
            self.batch.warn(f"the run's jobs may still be there. {error}")
        if not self.failed:  # an error points to a log there
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, stages: Sequence[Stage], done: Callable[[BatchTask], None]) -> None:
        try:
            self.batch.run(stages, done)
        except UserError:
            self.failed = True
            raise

    def _map(self, work: EpochWork, rows: Sequence[Path]) -> Stage:
        """Largest first, so that none is left for the end."""
        start = None if work.start is None else os.fspath(work.start.resolve())
        tasks = []
        for task in sorted(work.tasks, key=lambda task: (-task.size, task.number)):
            values = {
                "task": _absolute(task).to_json(),
                "epoch": work.epoch,
                "start": start,
                "state": None if work.states is None else os.fspath(work.states[task.number].resolve()),
                "own_weights": work.own_weights,
                "output": os.fspath(rows[task.number]),
            }
            tasks.append(BatchTask(values, rows[task.number], task.name))
        return Stage("map", tasks, self._decoding())

    def _reduce(self, work: EpochWork, rows: Sequence[Path], parts: Sequence[Path]) -> Stage:
        bounds = pairwise(even_bounds(len(parts)))
        tasks = [
            BatchTask({"low": low, "high": high, "output": os.fspath(part)}, part, f"features {number} of {len(parts)}")
            for number, (part, (low, high)) in enumerate(zip(parts, bounds, strict=True), 1)
        ]
        return Stage("reduce", tasks, {"rows": list(map(os.fspath, rows)), "selection": asdict(work.selection)})

    def _decoding(self) -> dict[str, object]:
        """What map and translate tasks share."""
        model = self.config.language_model
        return {
            "epoch": asdict(self.config.epoch),
            "language_model": None if model is None else os.path.abspath(model),
            "fold_models": list(map(os.path.abspath, fold_model_paths(self.config))),
        }

    def _scripts(self) -> dict[str, Path]:
        named = os.environ.get(SCRIPTS_VARIABLE)
        folder = resource(f"conf/{self.folder_name}") if named is None else Path(named).resolve()
        scripts = {
            kind: folder / f"{'reduce' if kind == 'reduce' else 'map'}{self.suffix}"
            for kind in ("map", "reduce", "translate")
        }
        for script in scripts.values():
            if not script.is_file():
                raise ConfigError(
                    "there is no such batch script",
                    where=script,
                    hint=f"{SCRIPTS_VARIABLE} must name {resource(f'conf/{self.folder_name}')}, or a copy of it.",
                )
        return scripts

    def _tidy(self) -> None:
        """Remove what the finished tasks left; the last of them may still be ending."""
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                path.unlink()


def _absolute(task: MapTask) -> MapTask:
    """The same for a worker in another folder."""
    return replace(task, parts=tuple(replace(part, path=os.path.abspath(part.path)) for part in task.parts))


def _environment() -> dict[str, str]:
    """A worker that has the driver's own Python finds the package where the driver does."""
    if PYTHON_VARIABLE in os.environ:
        return {}
    places = [os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(places)}

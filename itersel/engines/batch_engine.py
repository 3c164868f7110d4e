"""Batch queues: a job's mappers as an array job, its reducers as a second one that starts when the first has succeeded.

    work items → array job, one task per item → NNNNN.mapped → array job, one task per range → NNNNN.reduced → driver

Everything travels by files that driver and nodes see under the same paths. Results are where the local engine has them
(itersel.engines.file_work), so an interrupted job resumes with the missing items, on either engine.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from itersel.base import events
from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.resources import resource
from itersel.engines.base import Engine
from itersel.engines.batch import ArrayStage, ArrayTask, Batch
from itersel.engines.batch_queue import BatchQueue
from itersel.engines.config import RunConfig
from itersel.engines.file_work import JOBS, counts_of, driver_records, mapped_path, reduced_path
from itersel.mapreduce import source_code
from itersel.mapreduce.execution import assemble
from itersel.mapreduce.fingerprint import fingerprint
from itersel.mapreduce.job import Job, Record, Tell, describe_job
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem, largest_first

SCRIPTS_VARIABLE, PYTHON_VARIABLE = "ITERSEL_BATCH_SCRIPTS", "ITERSEL_PYTHON"
ROOT = Path(__file__).resolve().parents[2]
CONTROL = "batch"
"""The folder, in the engine's own, of task files, logs and errors."""


class BatchEngine(Engine):
    """What Slurm and Grid Engine have in common."""

    folder_name: str
    """The folder in conf/ that has the queue's scripts."""
    suffix: str
    """How the names of these scripts end."""
    queue_class: type[BatchQueue]

    def __init__(self, config: RunConfig, folder: Path):
        super().__init__(config, folder.resolve())
        scripts = self._scripts()
        # Only this engine works in the folder, and others' jobs have other names: jobs of this name are leftovers.
        name = f"itersel-{hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]}"
        self.control = self.folder / CONTROL
        self.queue = self.queue_class(name, self.control, config.options, _environment())
        self.queue.cancel_all()
        shutil.rmtree(self.control, ignore_errors=True)
        self.control.mkdir(parents=True, exist_ok=True)
        self.failed = False
        self.batch = Batch(
            self.queue,
            scripts,
            python=os.environ.get(PYTHON_VARIABLE, sys.executable),
            limit=config.jobs if config.jobs > 1 else None,
            warn=events.warn,
        )

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        folder = self.folder / JOBS / fingerprint(job, items, side)
        folder.mkdir(parents=True, exist_ok=True)
        mapped = [mapped_path(folder, item.number) for item in items]
        reduced = [reduced_path(folder, key) for key in range(job.partitions)]
        shared = {"job": describe_job(job), "side": self._side_paths(side)}
        stages = [_map_stage(items, folder, shared), _reduce_stage(reduced, mapped, shared)]
        self._run(stages, _Listener(job, items, folder, tell))
        yield from assemble(job, driver_records(mapped, reduced), len(items))
        shutil.rmtree(folder, ignore_errors=True)
        self._tidy()

    def close(self) -> None:
        try:
            self.queue.cancel_all()
        except ResourceError as error:
            self.batch.warn(f"the run's jobs may still be in the queue. {error}")
        if not self.failed:  # an error points to a log there
            shutil.rmtree(self.control, ignore_errors=True)

    def _run(self, stages: Sequence[ArrayStage], done: Callable[[ArrayTask], None]) -> None:
        try:
            self.batch.run(stages, done)
        except UserError:
            self.failed = True
            raise

    def _side_paths(self, side: Mapping[str, SideFile]) -> dict[str, str]:
        """Where the nodes find the side files. The code is a temporary file of this machine, so they get a copy."""
        paths = {name: os.path.abspath(one.path) for name, one in side.items()}
        if source_code.SIDE_NAME in paths:
            copy = self.control / f"{source_code.SIDE_NAME}.zip"
            shutil.copyfile(paths[source_code.SIDE_NAME], copy)
            paths[source_code.SIDE_NAME] = os.fspath(copy)
        return paths

    def _scripts(self) -> dict[str, Path]:
        named = os.environ.get(SCRIPTS_VARIABLE)
        folder = resource(f"conf/{self.folder_name}") if named is None else Path(named).resolve()
        scripts = {kind: folder / f"{kind}{self.suffix}" for kind in ("map", "reduce")}
        for script in scripts.values():
            if not script.is_file():
                raise ConfigError(
                    "there is no such batch script",
                    where=script,
                    hint=f"Let {SCRIPTS_VARIABLE} name the repository's conf/{self.folder_name}, or a copy of it.",
                )
        return scripts

    def _tidy(self) -> None:
        """Remove what the finished tasks left; the last of them may still be ending."""
        for path in self.control.iterdir():
            with contextlib.suppress(OSError):
                path.unlink()


class _Listener:
    """Notices finished tasks, and reports the units of work and the counts of all mapped items so far."""

    def __init__(self, job: Job, items: Sequence[WorkItem], folder: Path, tell: Tell):
        self.job, self.tell = job, tell
        self.sizes = {mapped_path(folder, item.number): item.size for item in items}
        self.done, self.counts = 0.0, job.combine([])
        tell(self.done, self.counts)

    def __call__(self, task: ArrayTask) -> None:
        if task.output in self.sizes:  # not a reducer's
            self.done += self.sizes[task.output]
            self.counts = self.job.combine([self.counts, counts_of(task.output)])
            self.tell(self.done, self.counts)


def _map_stage(items: Sequence[WorkItem], folder: Path, shared: Mapping[str, Any]) -> ArrayStage:
    """Largest first, so that none is left for the end."""
    tasks = []
    for item in largest_first(items):
        output = mapped_path(folder, item.number)
        values = {"item": item.absolute().to_json(), "output": os.fspath(output)}
        tasks.append(ArrayTask(values, output, item.name))
    return ArrayStage("map", tasks, shared)


def _reduce_stage(reduced: Sequence[Path], mapped: Sequence[Path], shared: Mapping[str, Any]) -> ArrayStage:
    tasks = [
        ArrayTask({"key": key, "output": os.fspath(output)}, output, f"range {key} of {len(reduced)}")
        for key, output in enumerate(reduced)
    ]
    return ArrayStage("reduce", tasks, {**shared, "mapped": list(map(os.fspath, mapped))})


def _environment() -> dict[str, str]:
    """A worker that has the driver's own Python finds the package where the driver does."""
    if PYTHON_VARIABLE in os.environ:
        return {}
    places = [os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(places)}

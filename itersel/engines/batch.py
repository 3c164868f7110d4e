"""Work by a batch queue: tasks go out as files in a folder that all nodes see, and results come back as files.

    tasks of a stage → FILE → array job: `python -m itersel.engines.batch_worker FILE INDEX` → each task's output

A task is done when its output exists; the queue is asked only about the others. A task that failed is tried
again a few times, unless it found its input bad; what it said on standard error is the error of the run.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError, ResourceError
from itersel.base.files import read_bytes
from itersel.engines.batch_queue import SILENCE_SECONDS, ArrayJob, BatchQueue, Place, TaskState
from itersel.engines.batch_worker import error_file, read_error, write_tasks

ATTEMPTS = 3
"""How often a task may run."""
SHORTEST_PAUSE, LONGEST_PAUSE, PAUSE_SHARE = 0.3, 15.0, 0.05
"""Seconds between looks at folder and queue; the share is of the time waited so far."""
GRACE_SECONDS = 60.0
"""How long a finished task's output may take to be seen here: network file systems show it late."""
TAIL_LINES = 30


@dataclass(frozen=True)
class ArrayTask:
    """One task of an array job: a work item to map, or a range to reduce."""

    values: Mapping[str, Any]
    """What batch_worker needs to know about it."""
    output: Path
    """The file that exists, and is complete, when the task is done."""
    name: str
    """What messages call it: the item or the range."""


class ArrayStage:
    """Tasks of one kind that may run at the same time."""

    def __init__(self, kind: str, tasks: Sequence[ArrayTask], settings: Mapping[str, Any]):
        self.kind, self.tasks, self.settings = kind, tasks, settings
        self.missing = set(range(len(tasks)))
        self.placed: dict[int, Place] = {}
        """Where the queue has the task."""
        self.submitted: dict[int, ArrayJob] = {}
        """Array jobs by number."""
        self.held = False
        """The jobs wait for those of the stage before."""
        self.attempts: Counter[int] = Counter()
        self.ended: dict[int, float] = {}
        """Task → when it was first seen to have ended without output."""

    @property
    def jobs(self) -> list[int]:
        return sorted({job for job, _ in self.placed.values()})

    def collect(self) -> list[ArrayTask]:
        """The tasks that were done since the last call."""
        # Listing a folder, unlike asking for a name that was absent, makes a network file system look again.
        folders = {self.tasks[number].output.parent for number in self.missing}
        present = {folder: _names(folder) for folder in folders}
        outputs = {number: self.tasks[number].output for number in self.missing}
        done = sorted(number for number, output in outputs.items() if output.name in present[output.parent])
        for number in done:
            self.missing.discard(number)
            self.ended.pop(number, None)
        return [self.tasks[number] for number in done]


class Batch:
    """Runs stages, one after the other, in the queue's folder."""

    def __init__(
        self,
        queue: BatchQueue,
        scripts: dict[str, Path],
        *,
        python: str,
        limit: int | None,
        warn: Callable[[str], None],
    ):
        self.queue, self.scripts, self.python, self.limit, self.warn = queue, scripts, python, limit, warn
        self.files = 0
        self.told: set[str] = set()

    def run(self, stages: Sequence[ArrayStage], done: Callable[[ArrayTask], None]) -> None:
        """Return when all tasks of all stages are done. `done` is called for each, also if its output was there before.

        All stages are submitted at once, each to start when the one before has succeeded. After a failure the later
        ones are taken back, and submitted when it is their turn.
        """
        before: list[int] = []
        for stage in stages:
            for task in stage.collect():
                done(task)
            self._submit(stage, sorted(stage.missing), after=before)
            before = stage.jobs
        begin = answered = time.monotonic()
        while any(stage.missing for stage in stages):
            # In this order: what has ended when the queue is asked has left its output when the folder is looked at.
            states = self.queue.states(job for stage in stages for job in stage.jobs)
            now = time.monotonic()
            for stage in stages:
                for task in stage.collect():
                    done(task)
            if states is not None:
                answered = now
                self._look(stages, states)
            elif now - answered > SILENCE_SECONDS:
                raise ResourceError(
                    f"the queue has not answered for {now - answered:.0f} seconds",
                    hint="Run the same command again to resume.",
                )
            time.sleep(min(max(SHORTEST_PAUSE, PAUSE_SHARE * (now - begin)), LONGEST_PAUSE))

    def _look(self, stages: Sequence[ArrayStage], states: dict[Place, TaskState]) -> None:
        """Deal with tasks that failed, and submit again what the queue does not have."""
        for position, stage in enumerate(stages):
            if any(earlier.missing for earlier in stages[:position]):
                return  # nothing is expected of it yet
            if self._failures(stage, states):
                for later in stages[position + 1 :]:
                    self.queue.cancel(later.jobs)
                    later.placed.clear()
            self._submit(stage, sorted(stage.missing - stage.placed.keys()))
            for concern in sorted({states[place].concern for place in stage.placed.values() if place in states}):
                if concern and concern not in self.told:
                    self.told.add(concern)
                    self.warn(f"tasks wait in the queue: {concern}")

    def _failures(self, stage: ArrayStage, states: dict[Place, TaskState]) -> bool:
        """Whether tasks failed. They are not placed any more then, so that they are submitted again."""
        failed = False
        for number, place in sorted(stage.placed.items()):
            state = states.get(place)
            if number not in stage.missing:
                # Its output is there, but if its end was a failure, what depends on it would wait for ever.
                if state is not None and state.failed:
                    failed = True
                    del stage.placed[number]
            elif state is None or state.complete:
                # Over, without output: perhaps that is only not visible here yet.
                first = stage.ended.setdefault(number, time.monotonic())
                if time.monotonic() - first >= GRACE_SECONDS:
                    failed = True
                    self._fail(stage, number, state)
            elif state.failed and state.cancelled and stage.held:
                del stage.placed[number]  # by the queue, because of a failure in the stage before
            elif state.failed:
                failed = True
                self._fail(stage, number, state)
            else:
                stage.ended.pop(number, None)
        return failed

    def _fail(self, stage: ArrayStage, number: int, state: TaskState | None) -> None:
        """Make the task ready for one more attempt, or raise its error."""
        place = stage.placed.pop(number)
        stage.ended.pop(number, None)
        stage.attempts[number] += 1
        task, job, tried = stage.tasks[number], stage.submitted[place[0]], stage.attempts[number]
        error = read_error(error_file(self._file(job.log), place[1]))
        if error is not None and error.exit_code == InputError.exit_code:
            raise error
        how = self.queue.explain(place)
        failure = f"the {stage.kind} task failed. {_tail(self.queue.log(job, place[1]))}"
        if tried >= ATTEMPTS or (state is not None and state.cancelled):
            if error is not None:
                raise error
            times = "" if tried == 1 else f" It was tried {tried} times."
            raise ResourceError(failure, where=task.name, hint=f"{how}.{times}")
        self.warn(f"{task.name}: {failure}\n  {how}; attempt {tried + 1} of {ATTEMPTS}")

    def _file(self, name: str) -> Path:
        """The file of a job's tasks."""
        return self.queue.folder / f"{name}.json"

    def _submit(self, stage: ArrayStage, numbers: Sequence[int], after: Sequence[int] = ()) -> None:
        """Hand tasks to the queue, in as many array jobs as it takes."""
        if numbers:
            stage.held = bool(after)
        for first in range(0, len(numbers), self.queue.array_size):
            chunk = numbers[first : first + self.queue.array_size]
            self.files += 1
            name = f"{stage.kind}-{self.files}"
            file = self._file(name)
            write_tasks(file, stage.kind, stage.settings, [stage.tasks[number].values for number in chunk])
            arguments = [self.python, os.fspath(file)]
            job = ArrayJob(self.scripts[stage.kind], arguments, len(chunk), name, self.limit, after)
            number = self.queue.submit(job)
            stage.submitted[number] = job
            stage.placed |= {task: (number, index) for index, task in enumerate(chunk)}


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except FileNotFoundError:
        return set()


def _tail(log: Path) -> str:
    """The last lines of a task's output."""
    try:
        lines = read_bytes(log).decode(errors="replace").rstrip().split("\n")[-TAIL_LINES:]
    except InputError:
        lines = [""]
    return "It said nothing." if lines == [""] else "It said:\n" + "\n".join(f"    {line}" for line in lines)

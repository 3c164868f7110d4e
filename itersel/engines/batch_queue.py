"""What a batch queue can do for an engine: accept array jobs, report the state of their tasks, cancel them.

All jobs of a queue object have one name, which belongs to one run's directory: what a killed driver left can be found
and cancelled by it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import ConfigError, ResourceError

COMMAND_SECONDS = 300.0
"""A command that takes longer has lost the queue's server."""
SILENCE_SECONDS, RETRY_SECONDS = 900.0, 5.0
"""How long the server may be away before the run gives up, and how often it is tried."""
UNREACHABLE = re.compile(r"unable to (contact|send)|timed out|temporarily|had no answer", re.IGNORECASE)
"""What commands say when it is."""
CANCEL_SECONDS = 60.0
"""How long cancelled jobs may take to leave the queue before we continue without them gone."""

Place = tuple[int, int]
"""A task in the queue: its job's number, and its own from 0."""


@dataclass(frozen=True)
class TaskState:
    """What the queue says about a task."""

    text: str
    failed: bool = False
    """It is over, without success; a task that the queue itself starts again is not."""
    complete: bool = False
    cancelled: bool = False
    """It failed because somebody cancelled it."""
    concern: str = ""
    """Why it waits, if that is unusual."""


@dataclass(frozen=True)
class ArrayJob:
    """What is submitted: a script that is started for each of the tasks 0 … tasks-1 with the same arguments."""

    script: Path
    arguments: Sequence[str]
    tasks: int
    log: str
    """Beginning of the name of the tasks' output, see BatchQueue.log."""
    limit: int | None = None
    """The most tasks that may run at once."""
    after: Sequence[int] = ()
    """Jobs that must succeed first."""


class BatchQueue(ABC):
    """The jobs of one name, which start and leave what they say in one folder, with the site's options for each."""

    submit_command: str
    first_task = 0
    """How the queue numbers tasks; everywhere else they count from 0."""
    forbidden: str
    """A character that the path of a job's folder cannot have, because the queue would interpret it."""
    private: tuple[str, ...]
    """Beginnings of the names of environment variables that a job must not inherit from one that the driver runs in."""
    kept: tuple[str, ...]
    """Variables among these that commands need to find the queue."""

    def __init__(self, name: str, folder: Path, options: Sequence[str] = (), environment: dict[str, str] | None = None):
        if shutil.which(self.submit_command) is None:
            raise ConfigError(
                f"there is no {self.submit_command} on this machine's PATH",
                hint="Start the run where jobs are submitted; docs/engines-batch.md has one for a single machine.",
            )
        if self.forbidden in os.fspath(folder):
            raise ConfigError(f"a folder for this queue cannot have {self.forbidden!r} in its path", where=folder)
        self.name, self.options, self.folder = name, list(options), folder
        inherited = {
            key: value for key, value in os.environ.items() if key in self.kept or not key.startswith(self.private)
        }
        self.environment = inherited | (environment or {})

    def log(self, job: ArrayJob, task: int) -> Path:
        """The file of a task's output."""
        return self.folder / f"{job.log}-{task + self.first_task}.log"

    @property
    @abstractmethod
    def array_size(self) -> int:
        """The most tasks that an array job may have here."""

    @abstractmethod
    def submit(self, job: ArrayJob) -> int:
        """Submit the job; its number."""

    @abstractmethod
    def states(self, jobs: Iterable[int]) -> dict[Place, TaskState] | None:
        """The states of the jobs' tasks, without those that the queue has forgotten; None: it does not answer."""

    @abstractmethod
    def explain(self, place: Place) -> str:
        """How a task ended, for people: state, exit code or signal, node."""

    @abstractmethod
    def cancel(self, jobs: Iterable[int]) -> None:
        """Cancel the jobs, whatever their state; those that are over are left as they are."""

    @abstractmethod
    def named(self) -> list[int]:
        """The numbers of this name's jobs that are in the queue."""

    def cancel_all(self) -> None:
        """Cancel every job of this name, and wait until they are gone; ResourceError if the queue does not answer."""
        deadline, pause = time.monotonic() + CANCEL_SECONDS, 0.1
        while time.monotonic() < deadline and (left := self.named()):
            self.cancel(left)
            pause = min(2 * pause, 5.0)
            time.sleep(pause)

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run one of the queue's commands; one that does not end is a failed one."""
        try:
            return subprocess.run(  # noqa: S603
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=COMMAND_SECONDS,
            )
        except subprocess.TimeoutExpired:
            silence = f"{command[0]} had no answer for {COMMAND_SECONDS:.0f} seconds"
            return subprocess.CompletedProcess(command, 1, "", silence)
        except OSError as error:
            raise ResourceError(f"cannot run {command[0]}: {error.strerror}") from None

    def persist(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command, again and again while it cannot reach the queue's server, which may be starting anew."""
        deadline = time.monotonic() + SILENCE_SECONDS
        while True:
            done = self.run(command)
            if not done.returncode or not UNREACHABLE.search(done.stderr) or time.monotonic() > deadline:
                return done
            time.sleep(RETRY_SECONDS)

    def silent(self, done: subprocess.CompletedProcess[str]) -> ResourceError:
        """The error of a queue that does not answer."""
        return ResourceError(
            f"the queue does not answer: {said(done)}", hint=f"The run's jobs have the name {self.name}."
        )

    def refused(self, done: subprocess.CompletedProcess[str]) -> ConfigError:
        """The error of a job that was not taken."""
        return ConfigError(
            f"the queue does not take the job: {said(done)}",
            hint="What the site wants to know (partition or queue, account, time, memory) goes into run.options.",
        )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The message of a command that failed."""
    return (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"

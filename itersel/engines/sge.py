"""Grid Engine: array jobs by its commands, with the scripts of conf/sge. docs/engines-batch.md describes the set-up.

A job may wait for another, but not for its success: the scripts turn every failure into the exit code 100, which
puts a task into the state of error, where it stays in the queue, so the jobs that depend on it keep waiting.
"""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from itersel.base.errors import ConfigError
from itersel.engines.batch_engine import BatchEngine
from itersel.engines.batch_queue import ArrayJob, BatchQueue, Place, TaskState

UNLIMITED = 75_000
"""Tasks that a job gets at most where Grid Engine has no limit."""
OURS = re.compile(r"-(@|N|S|V|b|cwd|e|hold_jid(_ad)?|i|j|now|o|sync|t|tc|terse|wd)")
"""Options of qsub that are not the user's to set, because the engine depends on them."""


class SgeQueue(BatchQueue):
    """qsub, qstat, qdel, qacct."""

    submit_command = "qsub"
    first_task = 1
    forbidden = "$"
    private = ("SGE_", "JOB_", "BASH_FUNC_")
    kept = ("SGE_ROOT", "SGE_CELL", "SGE_ARCH", "SGE_QMASTER_PORT", "SGE_EXECD_PORT", "SGE_CLUSTER_NAME")

    def __init__(self, name: str, folder: Path, options: Sequence[str] = (), environment: dict[str, str] | None = None):
        check_options(options)
        super().__init__(name, folder, options, environment)
        self.user = pwd.getpwuid(os.getuid()).pw_name
        self._array_size: int | None = None

    @property
    def array_size(self) -> int:
        if self._array_size is None:
            found = re.search(r"^max_aj_tasks\s+(\d+)", self.run(["qconf", "-sconf"]).stdout, re.MULTILINE)
            self._array_size = min(int(found[1]), UNLIMITED) if found and int(found[1]) else UNLIMITED
        return self._array_size

    def submit(self, job: ArrayJob) -> int:
        # The log's name is relative to the folder, because Grid Engine would take what is before a colon for a host.
        command = ["qsub", "-terse", "-N", self.name, "-wd", os.fspath(self.folder), "-j", "y", "-S", "/bin/sh", "-V"]
        command += ["-o", f"{job.log}-$TASK_ID.log", "-r", "y", "-t", f"1-{job.tasks}"]
        if job.limit is not None:
            command += ["-tc", str(job.limit)]
        if job.after:
            command += ["-hold_jid", ",".join(map(str, job.after))]
        done = self.persist([*command, *self.options, os.fspath(job.script), *job.arguments])
        number = done.stdout.strip().split(".")[0]  # `7.1-4:1`
        if done.returncode or not number.isdecimal():
            raise self.refused(done)
        return int(number)

    def states(self, jobs: Iterable[int]) -> dict[Place, TaskState] | None:
        shown, wanted = self._show(), set(jobs)
        if shown.returncode:
            return None
        tasks = _tasks(shown.stdout)
        return {place: TaskState(state, failed="E" in state) for place, _, state in tasks if place[0] in wanted}

    def explain(self, place: Place) -> str:
        task = place[1] + self.first_task
        text = f"Grid Engine task {place[0]}.{task}"
        shown = self.run(["qacct", "-j", str(place[0]), "-t", str(task)])  # known some seconds after the end
        facts = dict(line.split(maxsplit=1) for line in shown.stdout.splitlines() if len(line.split()) > 1)
        if "exit_status" in facts:
            text += f": exit status {facts['exit_status'].split()[0]}, on {facts.get('hostname', 'an unknown host')}"
        return text

    def cancel(self, jobs: Iterable[int]) -> None:
        numbers = sorted(set(map(str, jobs)))
        if numbers:
            self.run(["qdel", *numbers])

    def named(self) -> list[int]:
        shown = self._show()
        if shown.returncode:
            raise self.silent(shown)
        return sorted({place[0] for place, name, _ in _tasks(shown.stdout) if name == self.name})

    def _show(self) -> subprocess.CompletedProcess[str]:
        return self.run(["qstat", "-u", self.user, "-g", "d", "-xml"])


class SgeEngine(BatchEngine):
    """The engine sge."""

    folder_name = "sge"
    suffix = ".sh"
    queue_class = SgeQueue


def check_options(options: Sequence[str]) -> None:
    """Refuse what qsub would take for a script, and what the engine sets."""
    for before, option in zip(["", *options], options, strict=False):
        if not option.startswith("-") and not before.startswith("-"):
            raise ConfigError(
                f"run.options: {option!r} is not an option of qsub",
                hint="Write option and value as two texts: [-q, NAME].",
            )
        if OURS.fullmatch(option):
            raise ConfigError(f"run.options: {option!r} is set by itersel itself", hint="Leave it out.")


def _tasks(document: str) -> list[tuple[Place, str, str]]:
    """The tasks that qstat shows: place, name of the job, letters of the state."""
    tasks = []
    for entry in ElementTree.fromstring(document).iter("job_list"):  # noqa: S314 (the queue's own)
        job, task = entry.findtext("JB_job_number", ""), entry.findtext("tasks", "1")
        if job.isdecimal() and task.isdecimal():
            place = (int(job), int(task) - SgeQueue.first_task)
            tasks.append((place, entry.findtext("JB_name", ""), entry.findtext("state", "")))
    return tasks

"""Slurm: array jobs by its commands, with the scripts of conf/slurm; docs/engines-batch.md says how to set up a site.

Nothing here needs Slurm's accounting: the controller itself knows a job while it waits, runs and for some minutes after
(its `MinJobAge`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from itersel.base.errors import ConfigError, ResourceError
from itersel.engines.batch_engine import BatchEngine
from itersel.engines.batch_queue import ArrayJob, BatchQueue, Place, TaskState, said

FAILED = frozenset(
    ("BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT")
)
"""States of jobs that failed; a job that Slurm itself puts back into the queue is PENDING again instead."""
PATIENT = frozenset(
    ("None", "Resources", "Priority", "Dependency", "JobArrayTaskLimit", "BeginTime", "Cleaning", "Prolog")
)
"""Why a task may wait without anything being wrong."""
OURS = ("array", "chdir", "dependency", "error", "export", "input", "job-name", "output", "parsable", "wait", "wrap")
SHORT = {"a": "array", "D": "chdir", "d": "dependency", "e": "error", "i": "input", "J": "job-name", "o": "output"}
"""Options of sbatch that are not the user's to set, because the engine depends on them."""


class SlurmQueue(BatchQueue):
    """sbatch, squeue, scontrol, scancel."""

    submit_command = "sbatch"
    forbidden = "\\"
    private = ("SLURM_", "SQUEUE_", "SCANCEL_")
    kept = ("SLURM_CONF",)

    def __init__(self, name: str, folder: Path, options: Sequence[str] = (), environment: dict[str, str] | None = None):
        check_options(options)
        super().__init__(name, folder, options, environment)
        self._array_size: int | None = None

    @property
    def array_size(self) -> int:
        if self._array_size is None:
            shown = self.run(["scontrol", "show", "config"])
            found = re.search(r"^MaxArraySize\s*=\s*(\d+)", shown.stdout, re.MULTILINE)
            if shown.returncode or found is None or int(found[1]) < 1:
                raise ResourceError(
                    f"Slurm does not report its MaxArraySize: {said(shown)}", hint="Are array jobs switched off here?"
                )
            self._array_size = int(found[1])
        return self._array_size

    def submit(self, job: ArrayJob) -> int:
        log = f"{self.folder}/{job.log}".replace("%", "%%") + "-%a.log"
        command = ["sbatch", "--parsable", f"--job-name={self.name}", f"--chdir={self.folder}", f"--output={log}"]
        command += ["--input=/dev/null", "--export=ALL", "--requeue", *self.options]
        command.append(f"--array=0-{job.tasks - 1}" + ("" if job.limit is None else f"%{job.limit}"))
        if job.after:
            command += [f"--dependency=afterok:{':'.join(map(str, job.after))}", "--kill-on-invalid-dep=yes"]
        done = self.persist([*command, os.fspath(job.script), *job.arguments])
        number = done.stdout.strip().split(";")[0]  # a cluster's name may follow
        if done.returncode or not number.isdecimal():
            raise self.refused(done)
        return int(number)

    def states(self, jobs: Iterable[int]) -> dict[Place, TaskState] | None:
        numbers = ",".join(map(str, jobs))
        command = ["squeue", "--noheader", "--array", "--states=all", f"--jobs={numbers}", "--format=%F|%K|%T|%r"]
        shown = self.run(command)
        if shown.returncode:
            return {} if "Invalid job id" in shown.stderr else None
        states = {}
        for line in shown.stdout.splitlines():
            job, task, state, reason = line.strip().split("|", 3)
            if task.isdecimal():
                states[int(job), int(task)] = TaskState(
                    state,
                    failed=state in FAILED,
                    complete=state == "COMPLETED",
                    cancelled=state == "CANCELLED",
                    concern="" if state != "PENDING" or reason in PATIENT else reason,
                )
        return states

    def explain(self, place: Place) -> str:
        task = f"{place[0]}_{place[1]}"
        shown = self.run(["scontrol", "--oneliner", "show", "job", task])
        facts = dict(word.split("=", 1) for word in shown.stdout.split() if "=" in word)
        state = facts.get("JobState", "state unknown")
        text = f"Slurm task {task}: {state}"
        code, _, signal = facts.get("ExitCode", "0:0").partition(":")
        if signal not in ("", "0"):
            text += f", killed by signal {signal}"
        elif code != "0":
            text += f", exit code {code}"
        node = facts.get("BatchHost") or facts.get("NodeList", "")
        text += f", on {node}" if node not in ("", "(null)") else ""
        advice = {"OUT_OF_MEMORY": "more memory: --mem=8G", "TIMEOUT": "more time: --time=04:00:00"}.get(state)
        return text if advice is None else f"{text}; run.options may ask for {advice}"

    def cancel(self, jobs: Iterable[int]) -> None:
        numbers = list(map(str, jobs))
        if numbers:
            self.run(["scancel", "--quiet", *numbers])

    def named(self) -> list[int]:
        command = ["squeue", "--noheader", f"--user={os.getuid()}", f"--name={self.name}", "--format=%F"]
        shown = self.run(command)
        if shown.returncode:
            raise self.silent(shown)
        return sorted(set(map(int, shown.stdout.split())))


class SlurmEngine(BatchEngine):
    """The engine slurm."""

    folder_name = "slurm"
    suffix = ".sbatch"
    queue_class = SlurmQueue


def check_options(options: Sequence[str]) -> None:
    """Refuse what is not an option of sbatch by itself, and what the engine sets."""
    for option in options:
        if not re.fullmatch(r"-([A-Za-z].*|-[a-z][a-z-]*(=.*)?)", option, re.DOTALL):
            raise ConfigError(
                f"run.options: {option!r} is not an option of sbatch",
                hint="Write each as one text with its value, such as --partition=NAME.",
            )
        name = option[2:].partition("=")[0] if option.startswith("--") else SHORT.get(option[1], "")
        if name and any(own.startswith(name) for own in OURS):  # sbatch takes abbreviations
            raise ConfigError(f"run.options: {option!r} is set by itersel itself", hint="Leave it out.")

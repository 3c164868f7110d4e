"""Hadoop: a job is a streaming job on YARN, with the files of its work items and of the whole run in HDFS.

These files are put into HDFS once, by the checksum of their content. Side files, such as language models, reach the
nodes through the distributed cache, once per node; an item's file is copied by the node that works on the item
(itersel.mapreduce.fetch). One input file holds all work items, and each of its lines is a map task; with `run.tasks`,
several lines are. What a run keeps in HDFS for a time lies in a folder per job, and its folders and applications carry
its tag: a run that is interrupted, or resumed after its driver was killed, ends those applications and removes those
folders.
"""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import itertools
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from itersel.base.errors import ResourceError, UserError
from itersel.engines.config import RunConfig
from itersel.engines.hadoop_client import HadoopClient
from itersel.engines.mrjob import MrjobEngine, Shipment
from itersel.engines.mrjob_launch import StepFailedError, job_script, python_path, run_script
from itersel.engines.mrjob_log import MrjobLog
from itersel.engines.task_errors import describe, is_telling
from itersel.mapreduce.fingerprint import content_checksum
from itersel.mapreduce.job import Record

ATTEMPTS = 3
"""Times that a task is tried before the job fails."""
LOG_PATIENCE = 120.0
"""Seconds to wait until YARN has collected the logs of a failed job."""
FOLDERS = 8
"""Finished jobs whose data may lie in HDFS until it is removed: each removal starts a Java machine."""
SETTINGS: dict[str, object] = {
    "mapreduce.map.maxattempts": ATTEMPTS,
    "mapreduce.reduce.maxattempts": ATTEMPTS,
    # A mapper sees the lines of its work items alone.
    "stream.map.input.ignoreKey": "true",
}
LINE_INPUT = "-inputformat org.apache.hadoop.mapred.lib.NLineInputFormat"
LOG = ".hadoop.log"
SCRIPT, JOB, ITEMS = "map_reduce.py", "job.json", "items.jsonl"
"""A job's own files in its folder in HDFS."""


class HadoopEngine(MrjobEngine):
    """The engine hadoop. `run.store` is a folder in HDFS (default: itersel in the user's own)."""

    one_input = True

    def __init__(self, config: RunConfig, folder: Path):
        super().__init__(config, folder)
        self.client = HadoopClient.find()
        user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        store = (config.store or f"hdfs:///user/{user}/itersel").rstrip("/")
        place = f"{socket.gethostname()}:{os.path.abspath(folder)}"
        self.tag = f"itersel-{hashlib.sha256(place.encode()).hexdigest()[:16]}"
        self.files, self.runs = f"{store}/files", f"{store}/runs"
        self.numbers = itertools.count()
        self.at_work, self.finished = False, list[str]()
        stored, runs = self.client.listing(self.files, self.runs)
        if stored is None or runs is None:
            self.client.fs("-mkdir", "-p", self.files, self.runs)
        self.stored = set(stored or ())
        if any(name.startswith(self.tag) for name in runs or ()):  # left by a driver that was killed
            self.at_work = True
            self._clean()

    def stage(self, paths: Sequence[str]) -> dict[str, str]:
        """The files' addresses in HDFS, by content; one command uploads what is missing."""
        names = {path: stored_name(path) for path in paths}
        missing = {name: path for path, name in names.items() if name not in self.stored}
        if missing:
            self.client.put(missing, self.files)
            self.stored.update(missing)
        return {path: f"{self.files}/{name}" for path, name in names.items()}

    def job_options(self, partitions: int, items_per_task: int = 1) -> list[str]:
        """Options of mrjob's runner."""
        options = ["--no-conf", "--no-bootstrap-mrjob", "--no-read-logs", "--no-check-input-paths"]
        options += ["--hadoop-bin", self.client.hadoop]
        options += ["--cleanup", "LOCAL_TMP", "--cleanup-on-failure", "LOCAL_TMP"]  # HDFS is cleaned here
        options += ["--python-bin", sys.executable, "--cmdenv", f"PYTHONPATH={python_path()}"]
        options += ["--hadoop-args", LINE_INPUT]
        for key, value in (settings_of(partitions, items_per_task) | {"mapreduce.job.tags": self.tag}).items():
            options += ["--jobconf", f"{key}={value}"]
        return [*options, *self.config.options]

    def launch(self, shipment: Shipment, share: Callable[[float], None]) -> Iterator[Record]:
        folder = f"{self.runs}/{self.tag}-{next(self.numbers)}-{shipment.name}"
        words = ["--hadoop-tmp-dir", folder, "--output-dir", f"{folder}/output", *self._put(shipment, folder)]
        self.at_work = True
        with MrjobLog(self.folder / LOG, share) as log:
            try:
                yield from run_script(
                    [*self.job_options(shipment.partitions, shipment.items_per_task), *words, f"{folder}/{ITEMS}"],
                    self.runner,
                    output=lambda place: self.client.cat(f"{place}/part-*"),
                    script=f"{folder}/{SCRIPT}",
                )
            except StepFailedError:
                raise self.explain(shipment.name, log) from None
            except (OSError, subprocess.CalledProcessError) as error:
                raise ResourceError(f"Hadoop cannot run the job {shipment.name}: {error}", hint=self._hint()) from None
        self.at_work = False
        self._forget(folder)

    def _put(self, shipment: Shipment, folder: str) -> list[str]:
        """Put the job's own files into its folder by one command; the script's arguments."""
        [items] = shipment.inputs
        files = {SCRIPT: os.fspath(job_script()), JOB: shipment.job, ITEMS: items}
        names = {side: f"side-{number}-{safe(side)}" for number, side in enumerate(shipment.passing)}
        files |= {names[side]: path for side, path in shipment.passing.items()}
        self.client.put(files, folder, new=True)
        return shipment.arguments(f"{folder}/{JOB}", {side: f"{folder}/{name}" for side, name in names.items()})

    def _forget(self, folder: str) -> None:
        self.finished.append(folder)
        if len(self.finished) == FOLDERS:
            self.client.remove(*self.finished)
            self.finished.clear()

    def explain(self, name: str, log: MrjobLog) -> UserError:
        """The failing task's own message comes first."""
        if log.application is None:
            return ResourceError(f"the job {name} could not be started on Hadoop", hint=self._hint())
        self.at_work = False
        until, errors = time.monotonic() + LOG_PATIENCE, self.client.task_errors(log.application)
        complete = False
        while not any(map(is_telling, errors)) and not complete and time.monotonic() < until:
            time.sleep(1)
            complete = self.client.has_all_logs(log.application)  # asked first: what is read then is all there is
            errors = self.client.task_errors(log.application)
        return describe(errors, self._hint(log.application), name, log.failures)

    def _hint(self, application: str | None = None) -> str:
        more = "" if application is None else f"; all of its tasks' words: yarn logs -applicationId {application}"
        return f"Hadoop's messages are in {self.folder / LOG}{more}"

    def close(self) -> None:
        """End the application that is under way, if any, and remove the run's temporary data from HDFS."""
        self._clean()

    def _clean(self) -> None:
        # Hadoop may be gone, and that is what the user hears about.
        if self.at_work:
            with contextlib.suppress(UserError):
                self.client.kill(self.tag)
        with contextlib.suppress(UserError):
            self.client.remove(f"{self.runs}/{self.tag}-*")
        self.at_work = False


def settings_of(partitions: int, items_per_task: int = 1) -> dict[str, object]:
    """Hadoop's settings of a job with this many ranges; without any, mrjob itself asks for no reducers. A map task gets
    as many lines of the input as it takes items."""
    lines = {"mapreduce.input.lineinputformat.linespermap": items_per_task}
    return SETTINGS | lines | ({"mapreduce.job.reduces": partitions} if partitions else {})


def stored_name(path: str) -> str:
    """A file's name in HDFS: by its content, and for people."""
    return f"{content_checksum(path)[:16]}-{safe(os.path.basename(path))}"


def safe(name: str) -> str:
    """The name without letters that mean something to Hadoop."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)

"""Hadoop: an epoch is a streaming job on YARN, with shards and language model in HDFS.

Shards and model are put into HDFS once, by the checksum of their content; the model reaches the nodes through the
distributed cache, once a node, and each shard is copied by the node that trains on it (itersel.fetch). One input file
holds all tasks, a line each, and every line is a map task. What a run leaves in HDFS for a time lies in a folder of its
own, and its applications carry its tag: a run that is interrupted, or taken up after its driver was killed, ends those
applications and removes that folder.
"""

from __future__ import annotations

import contextlib
import getpass
import hashlib
import itertools
import logging
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from itersel.engines.base import EpochOutcome, EpochWork, Tell, TranslateWork
from itersel.engines.hadoop_client import HadoopClient
from itersel.engines.map_reduce import MapReduceEngine
from itersel.errors import InputError, ResourceError, UserError
from itersel.launch import ROOT, run_job
from itersel.mapreduce import Record
from itersel.run_directory import RunDirectory
from itersel.train_config import TrainConfig, file_checksum

ATTEMPTS = 3
"""Times that a task is tried before the job fails."""
LOG_PATIENCE = 20.0
"""Seconds to wait until YARN has collected the logs of a failed job."""
SETTINGS = {
    "mapreduce.map.maxattempts": ATTEMPTS,
    "mapreduce.reduce.maxattempts": ATTEMPTS,
    # Each line of the input is a map task, and its mapper sees the line alone.
    "mapreduce.input.lineinputformat.linespermap": 1,
    "stream.map.input.ignoreKey": "true",
}
LINE_INPUT = "-inputformat org.apache.hadoop.mapred.lib.NLineInputFormat"
LOG = ".hadoop.log"


class HadoopEngine(MapReduceEngine):
    """The engine hadoop. `run.store` is a folder in HDFS (default: itersel in the user's own)."""

    def __init__(self, config: TrainConfig, directory: RunDirectory):
        super().__init__(config, directory)
        self.client = HadoopClient.find()
        user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        store = (config.run.store or f"hdfs:///user/{user}/itersel").rstrip("/")
        place = f"{socket.gethostname()}:{os.path.abspath(directory.path)}"
        self.tag = f"itersel-{hashlib.sha256(place.encode()).hexdigest()[:16]}"
        self.files, self.temporary = f"{store}/files", f"{store}/tmp/{self.tag}"
        self.removals: list[subprocess.Popen[bytes]] = []
        self.at_work = False
        found = self.client.listing(self.files, self.temporary)
        self.stored = {os.path.basename(path) for path in found[self.files]}
        self.numbers = itertools.count()
        if found[self.temporary]:
            self._clean()

    def train_epoch(self, work: EpochWork, tell: Tell) -> EpochOutcome:
        self._stage_all(part.path for task in work.tasks for part in task.parts)
        return super().train_epoch(work, tell)

    def translate(self, work: TranslateWork) -> list[str]:
        self._stage_all(shard.path for shard in work.shards)
        return super().translate(work)

    def stage(self, path: str) -> str:
        self._stage_all([path])
        return self.staged[path]

    def _stage_all(self, paths: Iterable[str]) -> None:
        """Put into HDFS what is not there yet, at once."""
        missing = {}
        for path in paths:
            if path not in self.staged:
                name = f"{file_checksum(path)[:16]}-{os.path.basename(path)}"
                self.staged[path] = f"{self.files}/{name}"
                if name not in self.stored:
                    missing[name] = path
        if missing:
            self.client.put(missing, self.files)
            self.stored.update(missing)

    def job_options(self) -> list[str]:
        places = [os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        options = ["--no-conf", "--no-bootstrap-mrjob", "--no-read-logs", "--hadoop-bin", self.client.hadoop]
        options += ["--cleanup", "LOCAL_TMP", "--cleanup-on-failure", "LOCAL_TMP"]
        options += ["--python-bin", sys.executable, "--cmdenv", f"PYTHONPATH={os.pathsep.join(places)}"]
        options += ["--hadoop-args", LINE_INPUT]
        for key, value in (SETTINGS | {"mapreduce.job.tags": self.tag}).items():
            options += ["--jobconf", f"{key}={value}"]
        return [*options, *self.config.run.options]

    def run_job(self, name: str, arguments: Sequence[str], inputs: Sequence[str]) -> Iterator[Record]:
        folder = f"{self.temporary}/{name}-{next(self.numbers)}-{os.getpid()}"
        arguments, tasks = self._put_side_files(list(arguments), inputs, folder)
        arguments += ["--hadoop-tmp-dir", folder, "--output-dir", f"{folder}/output"]
        if name == "train_epoch":
            arguments += ["--jobconf", f"mapreduce.job.reduces={self.config.run.reducers}"]
        self.at_work = True
        words = [*self.job_options(), *arguments, tasks]
        with log_of_mrjob(self.directory.path / LOG):
            try:
                yield from run_job(name, words, self.runner, output=lambda place: self.client.cat(f"{place}/part-*"))
            except ResourceError:
                raise self.explain(name) from None
            except (OSError, subprocess.CalledProcessError) as error:
                raise ResourceError(f"Hadoop cannot run the job {name}: {error}", hint=self._log_hint()) from None
        self.at_work = False
        self.removals.append(self.client.remove_later(folder))

    def _put_side_files(self, arguments: list[str], inputs: Sequence[str], folder: str) -> tuple[list[str], str]:
        """Put the job's input, its weights and the configuration into the job's folder, by one command."""
        with tempfile.TemporaryDirectory(prefix="itersel-job-") as temporary:
            tasks = Path(temporary) / "tasks.jsonl"
            tasks.write_bytes(b"".join(Path(path).read_bytes() for path in inputs))
            files = {tasks.name: os.fspath(tasks)}
            for flag in ("--configuration", "--weights"):
                if flag in arguments:
                    at = arguments.index(flag) + 1
                    name = os.path.basename(arguments[at])
                    files[name], arguments[at] = arguments[at], f"{folder}/{name}"
            self.client.fs("-mkdir", "-p", folder)
            self.client.put(files, folder)
        return arguments, f"{folder}/{tasks.name}"

    def explain(self, name: str) -> UserError:
        """What the failing task itself said, first of all."""
        self.at_work = False
        applications = self.client.applications(self.tag, "FAILED,FINISHED,KILLED")
        if not applications:
            return ResourceError(f"the job {name} could not be started on Hadoop", hint=self._log_hint())
        errors = self._task_errors(applications[-1])
        return describe(errors, self._log_hint(applications[-1]), name)

    def _task_errors(self, application: str) -> list[str]:
        until = time.monotonic() + LOG_PATIENCE
        while not (errors := self.client.task_errors(application)) and time.monotonic() < until:
            time.sleep(1)
        return errors

    def _log_hint(self, application: str | None = None) -> str:
        more = "" if application is None else f"; those of its tasks: yarn logs -applicationId {application}"
        return f"Hadoop's messages are in {self.directory.path / LOG}{more}"

    def close(self) -> None:
        """End applications of this run that are still at work, and remove its temporary data from HDFS."""
        for removal in self.removals:
            removal.wait()
        self._clean()

    def _clean(self) -> None:
        with contextlib.suppress(ResourceError):  # Hadoop may be gone, and that is what the user hears about
            self.client.kill(self.client.applications(self.tag))
            self.client.remove(self.temporary)


def describe(errors: Sequence[str], hint: str, name: str) -> UserError:
    """An error of the job in the words of the tasks that failed.

    A task that ends with one of our own errors has said all; of any other the last lines are shown.
    """
    for text in errors:
        found = re.search(r"^itersel\.errors\.(\w+): (.*)\Z", text, re.MULTILINE | re.DOTALL)
        if found:
            kind = InputError if found[1] == "InputError" else ResourceError
            return kind(found[2].strip(), hint=hint)
    for text in errors:
        if "Traceback" in text:
            return ResourceError("a task failed:\n" + "\n".join(text.splitlines()[-20:]), hint=hint)
    if errors:
        return ResourceError("a task failed; the last words of tasks were:\n" + "\n".join(errors)[-2000:], hint=hint)
    return ResourceError(f"the job {name} failed on Hadoop, and its tasks said nothing", hint=hint)


@contextlib.contextmanager
def log_of_mrjob(path: Path) -> Iterator[None]:
    """Send what mrjob and Hadoop's client say to a file instead of the terminal."""
    logger, handler = logging.getLogger("mrjob"), logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.level, logger.propagate = before
        logger.removeHandler(handler)
        handler.close()

"""Hadoop: an epoch is a streaming job on YARN, with shards and language model in HDFS.

Shards and model are put into HDFS once, by the checksum of their content; the model reaches the nodes through the
distributed cache, once a node, and each shard is copied by the node that trains on it (itersel.mapreduce.fetch). One
input file holds all tasks, and each of its lines is a map task. What a run keeps in HDFS for a time lies in a folder of
its own, and its applications carry its tag: a run that is interrupted, or taken up after its driver was killed, ends
those applications and removes that folder."""

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
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.base.files import file_checksum
from itersel.engines.base import EpochOutcome, EpochWork, Tell, TranslateWork
from itersel.engines.hadoop_client import HadoopClient
from itersel.engines.mrjob import MapReduceEngine
from itersel.engines.mrjob_launch import ROOT, run_job
from itersel.engines.mrjob_log import MrjobLog
from itersel.mapreduce.records import FINISHED, Record
from itersel.mapreduce.work_item import COUNTS
from itersel.run.config import TrainConfig, fold_model_paths
from itersel.run.directory import RunDirectory

ATTEMPTS = 3
"""Times that a task is tried before the job fails."""
LOG_PATIENCE = 120.0
"""Seconds to wait until YARN has collected the logs of a failed job."""
FOLDERS = 8
"""Finished jobs whose data may lie in HDFS until it is removed: each removal starts a Java machine."""
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
        self.files, self.temporary = f"{store}/files", f"{store}/runs/{self.tag}"
        self.numbers = itertools.count()
        self.tell: Callable[[float], None] | None = None
        self.at_work, self.finished = False, list[str]()
        stored, left = self.client.listing(self.files, self.temporary)
        self.stored = set(stored)
        if left:  # by a driver that was killed
            self.at_work = True
            self._clean()
        self.client.fs("-mkdir", "-p", self.files, self.temporary)

    def train_epoch(self, work: EpochWork, tell: Tell) -> EpochOutcome:
        self._stage_all([*fold_model_paths(self.config), *(part.path for task in work.tasks for part in task.parts)])
        sentences = sum(task.size for task in work.tasks)
        self.tell = lambda share: tell(dict.fromkeys(COUNTS, 0.0) | {"lists": share * sentences})
        try:
            return super().train_epoch(work, tell)
        finally:
            self.tell = None

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
                name = stored_name(path)
                self.staged[path] = f"{self.files}/{name}"
                if name not in self.stored:
                    missing[name] = path
        if missing:
            self.client.put(missing, self.files)
            self.stored.update(missing)

    def job_options(self) -> list[str]:
        places = [os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        options = ["--no-conf", "--no-bootstrap-mrjob", "--no-read-logs", "--hadoop-bin", self.client.hadoop]
        options += ["--cleanup", "LOCAL_TMP", "--cleanup-on-failure", "LOCAL_TMP"]  # HDFS is cleaned here
        options += ["--python-bin", sys.executable, "--cmdenv", f"PYTHONPATH={os.pathsep.join(places)}"]
        options += ["--hadoop-args", LINE_INPUT]
        for key, value in (SETTINGS | {"mapreduce.job.tags": self.tag}).items():
            options += ["--jobconf", f"{key}={value}"]
        return [*options, *self.config.run.options]

    def run_job(self, name: str, arguments: Sequence[str], inputs: Sequence[str]) -> Iterator[Record]:
        folder = f"{self.temporary}/{name}-{next(self.numbers)}"
        words, tasks = self._put_side_files(arguments, inputs, folder)
        words += ["--hadoop-tmp-dir", folder, "--output-dir", f"{folder}/output"]
        if name == "train_epoch":
            words += ["--jobconf", f"mapreduce.job.reduces={self.config.run.reducers}"]
        self.at_work = True
        with MrjobLog(self.directory.path / LOG, self.tell) as log:
            try:
                yield from run_job(
                    name,
                    [*self.job_options(), *words, tasks],
                    self.runner,
                    output=lambda place: self.client.cat(f"{place}/part-*"),
                )
            except ResourceError:
                raise self.explain(name, log) from None
            except (OSError, subprocess.CalledProcessError) as error:
                raise ResourceError(f"Hadoop cannot run the job {name}: {error}", hint=self._hint()) from None
        self.at_work = False
        self._forget(folder)

    def _put_side_files(self, arguments: Sequence[str], inputs: Sequence[str], folder: str) -> tuple[list[str], str]:
        """Put the job's input, weights and configuration into its folder by one command; its arguments, input last."""
        words = list(arguments)
        with tempfile.TemporaryDirectory(prefix="itersel-job-") as temporary:
            tasks = Path(temporary) / "tasks.jsonl"
            tasks.write_bytes(b"".join(Path(path).read_bytes() for path in inputs))
            files = {tasks.name: os.fspath(tasks)}
            for flag in ("--configuration", "--weights"):
                if flag in words:
                    at = words.index(flag) + 1
                    name = os.path.basename(words[at])
                    files[name], words[at] = words[at], f"{folder}/{name}"
            self.client.put(files, folder, new=True)
        return words, f"{folder}/{tasks.name}"

    def _forget(self, folder: str) -> None:
        self.finished.append(folder)
        if len(self.finished) == FOLDERS:
            self.client.remove(*self.finished)
            self.finished.clear()

    def explain(self, name: str, log: MrjobLog) -> UserError:
        """What the failing task itself said, first of all."""
        if log.application is None:
            return ResourceError(f"the job {name} could not be started on Hadoop", hint=self._hint())
        self.at_work = False
        until, complete, errors = time.monotonic() + LOG_PATIENCE, False, list[str]()
        while not any(map(is_telling, errors)) and not complete and time.monotonic() < until:
            time.sleep(1)
            complete = self.client.has_all_logs(log.application)  # asked first: what is read then is all there is
            errors = self.client.task_errors(log.application)
        return describe(errors, self._hint(log.application), name, log.failures)

    def _hint(self, application: str | None = None) -> str:
        more = "" if application is None else f"; all of its tasks' words: yarn logs -applicationId {application}"
        return f"Hadoop's messages are in {self.directory.path / LOG}{more}"

    def close(self) -> None:
        """End the application that is under way, if any, and remove the run's temporary data from HDFS."""
        self._clean()

    def _clean(self) -> None:
        # Hadoop may be gone, and that is what the user hears about.
        if self.at_work:
            with contextlib.suppress(UserError):
                self.client.kill(self.tag)
        with contextlib.suppress(UserError):
            self.client.remove(self.temporary)
        self.at_work = False


def stored_name(path: str) -> str:
    """A file's name in HDFS: by its content, and for people, without letters that mean something to Hadoop."""
    return f"{file_checksum(path)[:16]}-{re.sub(r'[^A-Za-z0-9._-]', '_', os.path.basename(path))}"


def is_telling(text: str) -> bool:
    """Whether a task's log ends with an error, and does not just break off."""
    return "Traceback" in text


def describe(errors: Sequence[str], hint: str, name: str, failures: Sequence[str] = ()) -> UserError:
    """The error of a job: `errors` are logs of its tasks, `failures` what Hadoop said of those that failed.

    A task that ends with an error of ours has said all. Of any other, the last lines are shown; one that was killed
    has said only which shard it had.
    """
    errors = [text for text in errors if not text.endswith(FINISHED)]
    for text in errors:
        found = re.search(r"^itersel\.errors\.(\w+): (.*)\Z", text, re.MULTILINE | re.DOTALL)
        if found:
            kinds: dict[str, type[UserError]] = {"InputError": InputError, "ConfigError": ConfigError}
            return kinds.get(found[1], ResourceError)(found[2].strip(), hint=hint)
    told = [text for text in errors if is_telling(text)][:1] or errors
    lines = [line for text in told for line in text.splitlines()[-20:]]
    return ResourceError(
        "\n  ".join([f"a task of the job {name} failed on Hadoop:", *lines, *failures[-1:]]), hint=hint
    )

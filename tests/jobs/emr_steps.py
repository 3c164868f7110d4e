"""A stand-in for EMR's nodes: takes the steps that moto only records, runs their streaming jobs in processes here, and
ends them. Files come from and go to moto's S3; the `hadoop` on the tasks' PATH copies from there, too."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
from moto.emr.models import emr_backends

PATIENCE = 3600.0
"""Seconds until a test has failed; no test is about how long it takes."""
ENDED = ("TERMINATING", "TERMINATED")
"""States of a cluster whose steps end with it."""
HADOOP = """#!{python} -IS
import os, shutil, sys, urllib.request
assert sys.argv[1:3] == ["fs", "-copyToLocal"], sys.argv
address = os.environ["AWS_ENDPOINT_URL"] + "/" + urllib.request.quote(sys.argv[3].removeprefix("s3://"))
address += "?Signature=none"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
with opener.open(address) as answer, open(sys.argv[4], "wb") as copy:
    shutil.copyfileobj(answer, copy)
"""
"""moto's S3 wants a signature, but does not check it; without boto3 a copy takes a tenth of the time."""


def split(address: str) -> tuple[str, str]:
    bucket, _, key = address.removeprefix("s3://").partition("/")
    return bucket, key


class Nodes(threading.Thread):
    """Runs steps until it is stopped. `before` is called before each, and may do harm."""

    def __init__(self, region: str, folder: Path):
        super().__init__(daemon=True)
        self.s3 = boto3.client("s3", region_name=region)
        self.folder = folder
        self.deadline = time.monotonic() + PATIENCE
        self.stopped = threading.Event()
        self.paused = threading.Event()
        self.steps: list[list[str]] = []
        self.defects: list[str] = []
        binaries = folder / "bin"
        binaries.mkdir(parents=True)
        (binaries / "hadoop").write_text(HADOOP.format(python=sys.executable))
        (binaries / "hadoop").chmod(0o755)
        self.environment = os.environ | {
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            "ITERSEL_NODE_CACHE": str(folder / "cache"),
            "AWS_DEFAULT_REGION": region,
        }

    def run(self) -> None:
        while not self.stopped.is_set():
            late = time.monotonic() > self.deadline
            for cluster in (cluster for cluster in self.clusters() if cluster.state not in ENDED):
                for step in cluster.steps:
                    if step.state in ("PENDING", "RUNNING") and not self.paused.is_set():
                        step.state = "RUNNING"
                        self.steps.append(list(step.args))
                        try:
                            assert not late, "the test takes too long"
                            step.state = self._run_step(cluster, step)
                        except Exception as error:  # must not leave the driver waiting
                            if cluster.state not in ENDED:  # a defect of this stand-in
                                self.defects.append(repr(error))
                            step.state = "FAILED"
            time.sleep(0.05)

    def clusters(self) -> list[Any]:
        """moto's own objects, of all regions: its server takes the region from the address, not from the call.

        Clusters that were ended run no more steps.
        """
        backends = [backend for account in list(emr_backends.values()) for backend in list(account.values())]
        found = [cluster for backend in backends for cluster in list(backend.clusters.values())]
        return [cluster for cluster in found if not cluster.state.startswith("TERMINAT")]

    def stop(self) -> None:
        self.stopped.set()
        self.join()

    def _run_step(self, cluster: Any, step: Any) -> str:
        options, settings = parse(step.args)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            for item in filter(None, options.get("-files", "").split(",")):
                address, _, name = item.partition("#")
                self.s3.download_file(*split(address), os.path.join(folder, name))
            try:
                mapped = [
                    line
                    for task in self._tasks(options["-input"])
                    for line in self._task(options["-mapper"], task, folder)
                ]
                reducers = int(settings.get("mapreduce.job.reduces", 1)) or 1  # 0: mappers' output is the job's
                parts: list[list[bytes]] = [[] for _ in range(reducers)]
                for line in sorted(mapped, key=lambda line: line.partition(b"\t")[0]):
                    parts[sum(line.partition(b"\t")[0]) % reducers].append(line)
                bucket, key = split(options["-output"])
                for number, part in enumerate(parts):
                    lines = self._task(options["-reducer"], b"".join(part), folder) if "-reducer" in options else part
                    self.s3.put_object(Bucket=bucket, Key=f"{key.rstrip('/')}/part-{number:05d}", Body=b"".join(lines))
            except subprocess.CalledProcessError as error:
                bucket, key = split(cluster.log_uri)
                place = (
                    f"{key.rstrip('/')}/{cluster.id}/containers/application_1_0001/container_1_0001_01_000002/stderr.gz"
                )
                self.s3.put_object(Bucket=bucket, Key=place, Body=gzip.compress(error.stderr))
                return "FAILED"
        return "COMPLETED"

    def _tasks(self, address: str) -> Iterator[bytes]:
        """NLineInputFormat with one line a task."""
        bucket, key = split(address)
        yield from self.s3.get_object(Bucket=bucket, Key=key)["Body"].read().splitlines(keepends=True)

    def _task(self, command: str, content: bytes, folder: str) -> list[bytes]:
        done = subprocess.run(
            shlex.split(command), input=content, capture_output=True, cwd=folder, env=self.environment, check=True
        )
        return done.stdout.splitlines(keepends=True)


def parse(args: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """A streaming step's options, and its -D settings."""
    assert args[0] == "hadoop-streaming"
    options, settings = dict[str, str](), dict[str, str]()
    words = iter(args[1:])
    for word in words:
        value = next(words)
        if word == "-D":
            name, _, text = value.partition("=")
            settings[name] = text
        else:
            options[word] = value
    return options, settings

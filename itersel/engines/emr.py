"""Amazon EMR: jobs are streaming jobs of mrjob on one cluster that is made for the run, used for all its jobs, and
ended with it. The files of work items and of the whole run are put into S3 once, by checksum; nodes copy what they use.

A driver that was killed finds its cluster again. A cluster that was named (--cluster-id) stays; only the run's steps on
it are cancelled by an interrupt. Credentials are left to boto3: they are read nowhere here, and written nowhere.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from itersel.base.errors import ResourceError, UserError
from itersel.base.files import atomic_write
from itersel.engines.config import RunConfig
from itersel.engines.emr_settings import CREDENTIALS_HINT, START_SECONDS, WHEELHOUSE_VARIABLE, EmrSettings
from itersel.engines.environment import environment
from itersel.engines.hadoop import LINE_INPUT, settings_of
from itersel.engines.mrjob import MrjobEngine, Shipment
from itersel.engines.mrjob_launch import StepFailedError, make_cluster, run_script
from itersel.engines.mrjob_log import MrjobLog
from itersel.engines.sizing import Workload, epoch_cost
from itersel.engines.task_errors import describe, is_telling
from itersel.engines.wheelhouse import check_wheelhouse, pack
from itersel.mapreduce.fingerprint import content_checksum
from itersel.mapreduce.job import Record

LOG, CLUSTER = ".emr.log", ".emr.json"
JOB_CONF = "include: {conf}\nrunners: {{emr: {{bootstrap: !clear []}}}}\n"
ALIVE = {"STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING"}
LOGS_READ = 100
"""How many logs of a failed job's tasks are read, the newest first."""
LOG_PATIENCE = 330.0
"""Seconds to wait for a failed task's log: nodes send theirs to S3 every five minutes."""


class EmrEngine(MrjobEngine):
    """The engine emr. `run.store` is s3://bucket/prefix; `run.options` are those of mrjob's runner."""

    one_input = True  # an upload for each item would take longer than the job
    log_patience = LOG_PATIENCE

    def __init__(self, config: RunConfig, folder: Path):
        super().__init__(config, folder)
        self.settings = EmrSettings.read(config)
        self.log = folder / LOG
        if self.settings.cluster_id is None:
            self.settings.check_wheelhouse_there()
            check_wheelhouse(self.settings.wheelhouse)
        place = f"{socket.gethostname()}:{os.path.abspath(folder)}"
        self.temporary = f"{self.settings.temporary}{hashlib.sha256(place.encode()).hexdigest()[:16]}/"
        self.s3, self.emr = client("s3", self.settings.region), client("emr", self.settings.region)

    @classmethod
    def dry_run(cls, config: RunConfig, folder: Path, workload: Callable[[], Workload]) -> str:
        del folder
        settings = EmrSettings.read(config)  # what is wrong with them is said before anything is measured
        return "\n".join(describe_plan(settings, workload()))

    @cached_property
    def cluster(self) -> str:
        """The cluster's id: the named one, the one of this run before it was interrupted, or a new one."""
        if self.settings.cluster_id is not None:
            return self.settings.cluster_id
        place = self.folder / CLUSTER
        if place.exists():
            known = str(json.loads(place.read_bytes())["cluster"])
            with aws_errors():
                state = self.emr.describe_cluster(ClusterId=known)["Cluster"]["Status"]["State"]
            if state in ALIVE:
                return known
        with packed(self.settings.wheelhouse), MrjobLog(self.log), aws_errors():
            made = make_cluster(self._runner_options(self.settings.conf))
        with atomic_write(place) as stream:
            stream.write(json.dumps({"cluster": made}).encode())
        return made

    def stage(self, paths: Sequence[str]) -> dict[str, str]:
        """The files' addresses in S3, by content; files that are missing there are uploaded."""
        return {path: self._stage(path) for path in paths}

    def _stage(self, path: str) -> str:
        address = f"{self.settings.store}/files/{content_checksum(path)[:32]}/{os.path.basename(path)}"
        bucket, key = split_address(address)
        with aws_errors():
            found = self.s3.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1).get("Contents", [])
            if not any(one["Key"] == key and one["Size"] == os.path.getsize(path) for one in found):
                self.s3.upload_file(path, bucket, key)
        return address

    def job_options(self, partitions: int, conf: Path, items_per_task: int = 1) -> list[str]:
        """Options of mrjob's runner."""
        options = [*self._runner_options(conf), "--hadoop-args", LINE_INPUT]
        for key, value in settings_of(partitions, items_per_task).items():
            options += ["--jobconf", f"{key}={value}"]
        return [*options, "--cluster-id", self.cluster]

    def _runner_options(self, conf: Path) -> list[str]:
        places = ["--cloud-tmp-dir", self.temporary, "--cloud-log-dir", self.settings.logs]
        return ["--conf-path", os.fspath(conf), *self.settings.passed, *places]

    def launch(self, shipment: Shipment, share: Callable[[float], None]) -> Iterator[Record]:
        del share
        # mrjob would upload the bootstrap's files again for every job, although the cluster has them.
        conf = shipment.folder / "mrjob.conf"
        conf.write_text(JOB_CONF.format(conf=json.dumps(os.path.abspath(self.settings.conf))))
        # Makes the cluster, if there is none.
        options = self.job_options(shipment.partitions, conf, shipment.items_per_task)
        arguments = shipment.arguments(shipment.job, shipment.passing)
        with MrjobLog(self.log), aws_errors():
            try:
                yield from run_script([*options, *arguments, *shipment.inputs], self.runner)
            except StepFailedError:
                raise self.explain(shipment.name) from None

    def explain(self, name: str) -> UserError:
        """What the failing tasks wrote comes first: their logs arrive in S3 with some delay."""
        place = f"{self.settings.logs}{self.cluster}/"
        print(f"the job {name} failed; waiting for its tasks' logs in {place}", file=sys.stderr, flush=True)
        until = time.monotonic() + self.log_patience
        errors = self._task_errors(f"{place}containers/")
        while not any(map(is_telling, errors)) and time.monotonic() < until:
            time.sleep(min(10.0, self.log_patience))
            errors = self._task_errors(f"{place}containers/")
        hint = f"All logs of the cluster are in {place}; what mrjob said is in {self.log}."
        return describe(errors, hint, name)

    def _task_errors(self, place: str) -> list[str]:
        """What tasks of the cluster wrote to standard error, the newest first."""
        bucket, prefix = split_address(place)
        found: list[Any] = []
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            found += [one for one in page.get("Contents", []) if one["Key"].endswith("/stderr.gz") and one["Size"]]
        found.sort(key=lambda one: one["LastModified"], reverse=True)
        texts = []
        for one in found[:LOGS_READ]:
            body = self.s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read()
            texts.append(gzip.GzipFile(fileobj=io.BytesIO(body)).read().decode(errors="replace").strip())
        return [text for text in texts if text]

    def close(self) -> None:
        """End the run's cluster, or its steps on a cluster that stays, and remove its temporary files from S3."""
        with contextlib.suppress(ResourceError), aws_errors():
            if "cluster" in self.__dict__ and self.settings.cluster_id is None:
                self.emr.terminate_job_flows(JobFlowIds=[self.cluster])
                (self.folder / CLUSTER).unlink(missing_ok=True)
            elif "cluster" in self.__dict__:
                self._cancel_steps()
            self._remove(self.temporary)
        super().close()

    def _cancel_steps(self) -> None:
        """Those of this run: their files lie in its own temporary folder."""
        states = ["PENDING", "RUNNING"]
        steps = self.emr.list_steps(ClusterId=self.cluster, StepStates=states)["Steps"]
        mine = [one["Id"] for one in steps if self.temporary in " ".join(one["Config"]["Args"])]
        if mine:
            how = "TERMINATE_PROCESS"
            self.emr.cancel_steps(ClusterId=self.cluster, StepIds=mine, StepCancellationOption=how)

    def _remove(self, place: str) -> None:
        bucket, prefix = split_address(place)
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
            keys = [{"Key": one["Key"]} for one in page.get("Contents", [])]
            if keys:
                self.s3.delete_objects(Bucket=bucket, Delete={"Objects": keys})


@contextlib.contextmanager
def packed(wheelhouse: Path) -> Iterator[None]:
    """The wheelhouse as one archive, named by the variable that the bootstrap in the configuration file refers to."""
    with tempfile.TemporaryDirectory(prefix="itersel-wheelhouse-") as folder:
        archive = Path(folder) / "wheelhouse.tar.gz"
        pack(wheelhouse, archive)
        with environment(WHEELHOUSE_VARIABLE, os.fspath(archive)):
            yield


def client(service: str, region: str) -> Any:
    """A client of one of AWS's services; making it asks AWS nothing yet."""
    try:
        import boto3
    except ImportError:
        raise ResourceError("boto3 is not installed", hint="pip install 'itersel[emr]'") from None
    return boto3.session.Session().client(service, region_name=region)


@contextlib.contextmanager
def aws_errors() -> Iterator[None]:
    """What boto3 raises becomes a UserError, without anything of the credentials."""
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

    try:
        yield
    except (NoCredentialsError, PartialCredentialsError):
        raise ResourceError("AWS needs credentials, but there are none", hint=CREDENTIALS_HINT) from None
    except ClientError as error:
        said = error.response.get("Error", {})
        raise ResourceError(
            f"AWS refused {error.operation_name}: {said.get('Code')}: {said.get('Message')}",
            hint="Do bucket, roles and region exist, and may these credentials use them?",
        ) from None
    except (BotoCoreError, Boto3Error) as error:
        raise ResourceError(f"AWS does not answer: {error}") from None


def split_address(address: str) -> tuple[str, str]:
    """Bucket and key of s3://bucket/key."""
    parts = urlsplit(address)
    return parts.netloc, parts.path.lstrip("/")


def describe_plan(settings: EmrSettings, work: Workload) -> Iterator[str]:
    """What a run would make, and what it would cost, for people. Asks AWS nothing."""
    yield "A dry run: nothing was made, and AWS was asked nothing."
    if settings.cluster_id is not None:
        yield f"cluster      {settings.cluster_id} in {settings.region}, which stays"
    else:
        yield from _cluster(settings)
    yield f"logs         {settings.logs}"
    gigabytes = sum(map(os.path.getsize, work.files)) / 1e9
    yield f"uploads      {len(work.files)} files, {gigabytes:.3f} GB, to {settings.store}/files/, unless they are there"
    yield f"jobs         {work.jobs}: {work.rounds} epochs of {len(work.sizes)} map tasks and {work.reducers} reducers"
    yield f"slots        {settings.slots.count} map tasks at once"
    yield (
        f"measured     {work.measured.sentence_seconds:.4f} processor seconds per sentence here;"
        f" {sum(work.sizes):,} sentences, {len(work.sizes)} shards"
    )
    yield from _bill(settings, work)


def _cluster(settings: EmrSettings) -> Iterator[str]:
    idle = settings.text("max_mins_idle", "10")
    release = settings.text("release_label", "mrjob's default release")
    yield f"cluster      {release} in {settings.region}, for this run; ends itself after {idle} minutes idle"
    for role, count, kind, bid in settings.instances:
        yield f"  {role:<10} {count} × {kind}, {'on demand' if bid is None else f'spot up to ${bid} an hour'}"
    roles = [settings.text(key, "default") for key in ("iam_service_role", "iam_instance_profile")]
    yield f"  roles      {', '.join(roles)}"
    for line in settings.values.get("bootstrap") or []:
        yield f"  bootstrap  {line}"
    yield f"  wheelhouse {settings.wheelhouse}{'' if settings.wheelhouse.is_dir() else ' (to be built)'}"


def _bill(settings: EmrSettings, work: Workload) -> Iterator[str]:
    cost = epoch_cost(work.sizes, work.measured, settings.slots, reducers=work.reducers, kept=work.kept)
    seconds = work.rounds * cost.total + (work.jobs - work.rounds) * cost.engine
    yield f"an epoch     {cost.total:,.0f} s: map {cost.map:,.0f}, reduce {cost.reduce:,.0f}, engine {cost.engine:,.0f}"
    if settings.cluster_id is None:
        seconds += START_SECONDS
        yield f"a start      {START_SECONDS:,.0f} s until the cluster takes work"
    yield f"in total     {seconds / 3600:.2f} hours (devtest decoding not counted)"
    if settings.cluster_id is None:
        for role, count, kind, _ in settings.instances:
            yield f"  {role:<10} {count * seconds / 3600:.2f} instance hours of {kind}"
        total = sum(count for _, count, _, _ in settings.instances) * seconds / 3600
        yield f"cost         {total:.2f} instance hours"

"""Spark: every job is one Spark job, in a Spark context that lives as long as the engine.

mrjob's Spark harness is not used: it starts a context for every job, of which a run has two or more per round, and
leaves folders behind (docs/design-choices.md has the figures). Map and reduce are the functions of
itersel.mapreduce.execution, as everywhere; only the transport is Spark's own:

    work items → map (a partition per item) → shuffle by range → reduce (a partition per range) → driver

Spark repeats lost tasks on other workers; an interrupted run repeats its job. What Spark logs goes to
.spark.log in the engine's folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

from itersel.base import events
from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.files import atomic_write, file_checksum
from itersel.engines.base import Engine
from itersel.engines.config import RunConfig
from itersel.engines.environment import environment
from itersel.engines.spark_settings import check_master, spark_properties, workers_python
from itersel.engines.spark_tasks import DONE, Largest, MapItems, Partitioner, ReducePartition, ShippedJob
from itersel.mapreduce.execution import assemble
from itersel.mapreduce.failure import Failure
from itersel.mapreduce.fetch import is_address
from itersel.mapreduce.fingerprint import content_checksum
from itersel.mapreduce.job import Job, Record, Tell, describe_job
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import ItemFile, WorkItem, largest_first

LOG = ".spark.log"
POLL = 0.5
"""Seconds between looks at a job."""
PATIENCE = 60.0
"""Seconds without any executor until the user is told."""


class SparkEngine(Engine):
    """The engine spark. `config.options` are Spark properties, and `wheelhouse=DIR` ships this code to the workers."""

    def __init__(self, config: RunConfig, folder: Path):
        super().__init__(config, folder)
        import_pyspark()
        self.properties = spark_properties(config)
        self.log = folder / LOG
        self.staged: dict[str, str] = {}
        self.files: SparkFileNames | None = None
        self.broadcasts: dict[str, Any] = {}
        """Name of a passing side file's copy on the executors → what the executors fetch it from."""
        check_master(self.properties["spark.master"])

    @cached_property
    def context(self) -> Any:
        """The engine's Spark context."""
        pyspark = import_pyspark()
        conf = pyspark.SparkConf()
        for key, value in self.properties.items():
            conf.set(key, value)
        python = environment("PYSPARK_PYTHON", workers_python(self.properties))
        try:
            with python, output_to(self.log), self._explained():
                return pyspark.SparkContext(conf=conf)
        except BaseException:
            end_gateway()
            raise

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        values = [item.addressed(self._address).to_json(with_state=True) for item in largest_first(items)]
        total = sum(item.size for item in items)
        progress: dict[str, Any] = {}

        def work() -> list[Record]:
            shipped = self._ship(job, side)
            accumulators = {DONE: self.context.accumulator(0.0)}
            for key, how in job.counts.items():
                accumulators[key] = self.context.accumulator(0.0, Largest() if how == "max" else None)
            progress.update(accumulators)
            tasks = -(-len(values) // self.config.items_per_task(len(values)))
            partitions = self.context.parallelize(values, max(tasks, 1))
            records = partitions.mapPartitions(MapItems(shipped, accumulators))
            if job.partitions == 0:
                return [Record(*record) for record in records.values().collect()]
            ranges = records.partitionBy(job.partitions + 1, Partitioner(job.partitions))
            reducer = ReducePartition(shipped, job.partitions, len(items))
            return [Record(*record) for record in ranges.mapPartitionsWithIndex(reducer).collect()]

        def look() -> None:
            counts = {key: float(one.value) for key, one in list(progress.items())}
            done = counts.pop(DONE, 0.0)
            tell(min(done, total), counts)  # an item that was done again was counted again

        look()
        found = self._run(work, look)
        look()
        yield from assemble(job, found, len(items))

    def _address(self, file: ItemFile) -> str:
        """Where all workers can read an item's file: where it is, or a copy by content in the store."""
        if file.path not in self.staged:
            store = self.config.store
            self.staged[file.path] = os.path.abspath(file.path) if store is None else copy_to_store(file.path, store)
        return self.staged[file.path]

    def _ship(self, job: Job, side: Mapping[str, SideFile]) -> ShippedJob:
        """Hand the job's side files to Spark, except for what it has already."""
        if self.files is None:
            self.files = SparkFileNames(self.context)
        lasting = {name: self.files.add(one.path) for name, one in side.items() if one.lasting}
        passing = {name: content_name(one.path) for name, one in side.items() if not one.lasting}
        for copy in self.broadcasts.keys() - set(passing.values()):
            self.broadcasts.pop(copy).destroy()
        for name, copy in passing.items():
            if copy not in self.broadcasts:
                self.broadcasts[copy] = self.context.broadcast(Path(side[name].path).read_bytes())
        return ShippedJob(describe_job(job), lasting, passing, dict(self.broadcasts))

    def _run(self, job: Callable[[], list[Record]], look: Callable[[], None]) -> list[Record]:
        """The job's records. It runs in a thread; this thread reports progress and can be interrupted at any moment,
        which would do harm in the middle of a message to Java."""
        with self._explained(), ThreadPoolExecutor(1) as pool:
            future = pool.submit(job)
            try:
                started, told = time.monotonic(), False
                while True:
                    with contextlib.suppress(TimeoutError):
                        return future.result(timeout=POLL)
                    look()
                    if not told and time.monotonic() - started > PATIENCE and self._executors() == 0:
                        told = True
                        events.warn(self._no_executors())
            except BaseException:
                with contextlib.suppress(Exception):
                    self._cancel()
                raise

    def _cancel(self) -> None:
        if "context" in self.__dict__:
            self.context.cancelAllJobs()

    def _executors(self) -> int | None:
        """How many there are, besides the driver; none if there is no context yet."""
        if "context" not in self.__dict__:
            return None
        return int(self.context._jsc.sc().getExecutorMemoryStatus().size()) - 1

    def _no_executors(self) -> str:
        memory = self.properties.get("spark.executor.memory", "1g")
        return (
            f"{self.properties['spark.master']} has given this run no executor for {PATIENCE:.0f} s; still"
            f" waiting. Are there workers with a core and {memory} to spare (spark.executor.memory)? See {self.log}."
        )

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """What Spark raises becomes a UserError that begins with the failing task's own words."""
        from py4j.protocol import Py4JError

        try:
            yield
        except Py4JError as error:
            raise explain(str(getattr(error, "java_exception", None) or error), self.log) from None

    def close(self) -> None:
        """Ends the context, and with it all that runs on the cluster, and Spark's process here."""
        if "context" in self.__dict__:
            context = self.__dict__.pop("context")
            self.broadcasts.clear()
            if self.files is not None:
                self.files.close()
                self.files = None
            with contextlib.suppress(Exception):
                context.stop()
            end_gateway()


class SparkFileNames:
    """Files that Spark keeps on all executors in one folder, under their names: every file needs a different name."""

    def __init__(self, context: Any):
        self.context = context
        self.names: dict[str, str] = {}
        """Path → name."""
        self.links: tempfile.TemporaryDirectory[str] | None = None

    def add(self, path: str) -> str:
        """The name of the file on the executors."""
        place = os.path.realpath(path)  # as Spark itself calls it
        if place not in self.names:
            name = os.path.basename(place)
            if name in self.names.values():
                name = content_name(place)
                if name not in self.names.values():
                    self.context.addFile(self._link(place, name))
            else:
                self.context.addFile(place)
            self.names[place] = name
        return self.names[place]

    def close(self) -> None:
        if self.links is not None:
            self.links.cleanup()

    def _link(self, place: str, name: str) -> str:
        """The same file under another name; a copy if it is on another file system."""
        if self.links is None:
            self.links = tempfile.TemporaryDirectory(prefix="itersel-spark-")
        link = os.path.join(self.links.name, name)
        try:
            os.link(place, link)
        except OSError:
            shutil.copyfile(place, link)
        return link


def content_name(path: str) -> str:
    """A name for the file that no other content has; its ending says what kind of file it is."""
    return f"{content_checksum(path)[:32]}-{re.sub(r'[^A-Za-z0-9._-]', '_', os.path.basename(path))}"


def copy_to_store(path: str, store: str) -> str:
    """The address of the file's copy in a folder, which is made if it does not exist. The content is in the name."""
    if is_address(store):
        raise ConfigError(
            f"run.store is {store}, but the engine spark shares files through a folder",
            hint="Name a folder that all machines see, or leave it out if the shards are in one already.",
        )
    place = Path(store).absolute() / file_checksum(path)[:32] / os.path.basename(path)
    if not place.exists():
        with open(path, "rb") as source, atomic_write(place, compress=False) as stream:
            shutil.copyfileobj(source, stream, 1 << 20)
    return os.fspath(place)


def import_pyspark() -> Any:
    try:
        import pyspark
    except ImportError:
        raise ResourceError("pyspark is not installed", hint="pip install 'itersel[spark]'") from None
    return pyspark


def end_gateway() -> None:
    """End Spark's Java process of this one, so that a later context starts afresh, with its own log and properties."""
    context = import_pyspark().SparkContext
    gateway, context._gateway, context._jvm = context._gateway, None, None
    if gateway is not None:
        with contextlib.suppress(Exception):
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(timeout=30)


@contextlib.contextmanager
def output_to(path: Path) -> Iterator[None]:
    """Processes started meanwhile write into the file instead of the terminal, for as long as they live."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in (log, *kept):
            os.close(descriptor)


def explain(text: str, log: Path) -> UserError:
    """The error behind what Spark says of a failed job, the task's own words first."""
    failure = Failure.find(text)
    if failure is not None:
        return failure.error(with_host=True)
    hint = f"More is in {log}."
    missing = re.search(r"No module named '(itersel|msgpack|numpy|yaml)[^\n]*|Can't get attribute [^\n]*", text)
    if missing:
        return ResourceError(
            f"the workers' Python cannot run this code: {missing[0]}",
            hint="Ship it with run.options: [wheelhouse=DIR] (itersel wheelhouse DIR), or install it on all workers and"
            " name their Python with spark.pyspark.python=PATH.",
        )
    # What a task's Python wrote is between Spark's own words and the Java stack.
    words = text.split("org.apache.spark.api.python.PythonException: ")[-1]
    words = re.split(r"\n\s*(?:at [\w.$]+\(|Driver stacktrace)", words)[0].strip()
    return ResourceError(f"Spark failed:\n{words}", hint=hint)

"""Spark: an epoch is one Spark job, in a Spark context that lives as long as the run.

mrjob's Spark harness is not used: it starts a context for every job, of which a run has two an epoch, and leaves
folders behind (docs/engines-spark.md has the figures). Map and reduce are the same functions of
itersel.mapreduce.records; only the transport is Spark's own:

    task lines → map (a partition a shard) → shuffle by range of feature ids → reduce → driver

Spark does lost tasks again on other workers; an interrupted run does its epoch again. What Spark logs goes to
.spark.log in the run's directory.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.files import atomic_write, file_checksum, read_bytes
from itersel.engines.base import EpochWork, Tell, TranslateWork
from itersel.engines.environment import environment
from itersel.engines.mrjob import MapReduceEngine
from itersel.engines.spark_tasks import Failure, Largest, MapLines, Partitioner, ReduceRange, SideFiles, TranslateLines
from itersel.engines.wheelhouse import SITE, check_wheelhouse
from itersel.mapreduce.fetch import is_address
from itersel.mapreduce.records import Record
from itersel.mapreduce.work_item import COUNTS
from itersel.run.config import TrainConfig, fold_model_paths
from itersel.run.directory import RunDirectory

DEFAULTS = {
    "spark.app.name": "itersel",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    "spark.task.maxFailures": "3",
}
SITE_NAME = "itersel-site"
LOG = ".spark.log"
SECRETS = re.compile(r"secret|password|token|credential|access\.?key", re.IGNORECASE)
POLL = 0.5
"""Seconds between looks at a job."""
PATIENCE = 60.0
"""Seconds without any executor until the user is told."""


class SparkEngine(MapReduceEngine):
    """The engine spark. `run.options` are Spark properties, and `wheelhouse=DIR` to ship this code to the workers."""

    def __init__(self, config: TrainConfig, directory: RunDirectory):
        super().__init__(config, directory)
        import_pyspark()
        self.properties = spark_properties(config)
        self.log = directory.path / LOG
        check_names([*filter(None, [config.language_model]), *fold_model_paths(config)])
        check_master(self.properties["spark.master"])

    def stage(self, path: str) -> str:
        """A file in the folder that all workers see: where it is, or a copy by content in `run.store`."""
        if self.config.run.store is None:
            return super().stage(path)
        return copy_to_store(path, self.config.run.store)

    @cached_property
    def context(self) -> Any:
        """The run's Spark context."""
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

    @cached_property
    def files(self) -> SideFiles:
        """The files that all tasks of the run need, put into the context."""
        model, folds = self.config.language_model, self._fold_models()
        for path in filter(None, (os.fspath(self.directory.path / "run.json"), model)):
            self.context.addFile(self._stage(path))
        for path in folds:
            self.context.addFile(path)
        main = None if model is None else os.path.basename(model)
        return SideFiles("run.json", main, tuple(map(os.path.basename, folds)))

    def epoch_records(self, work: EpochWork, lines: Iterable[str], tell: Tell) -> Iterable[Record]:
        tasks, reducers = list(lines), self.config.run.reducers
        counts: dict[str, Any] = {}
        rules = {"nonzero": Largest()}

        def job() -> list[Record]:
            # As in base.summary: sums, and the largest number of weights.
            counts.update({key: self.context.accumulator(0.0, rules.get(key)) for key in COUNTS})
            with self._broadcast(work.start) as weights:
                mapper = MapLines(self.files, weights, work.epoch, reducers, counts)
                reducer = ReduceRange(len(tasks), reducers, work.selection)
                mapped = self.context.parallelize(tasks, len(tasks)).mapPartitions(mapper)
                ranges = mapped.partitionBy(reducers + 1, Partitioner(reducers))
                found: list[Record] = ranges.mapPartitionsWithIndex(reducer).collect()
                return found

        def look() -> None:
            if len(counts) == len(COUNTS):
                tell({key: float(one.value) for key, one in counts.items()})

        return self._run(job, look)

    def translation_records(self, work: TranslateWork, lines: Iterable[str]) -> Iterable[Record]:
        blocks = list(lines)

        def job() -> list[Record]:
            with self._broadcast(work.file) as weights:
                partitions = min(len(blocks), 2 * self.context.defaultParallelism)
                parts = self.context.parallelize(blocks, partitions)
                found: list[Record] = parts.mapPartitions(TranslateLines(self.files, weights)).collect()
                return found

        return self._run(job, lambda: None)

    @contextlib.contextmanager
    def _broadcast(self, vector: Path | None) -> Iterator[Any]:
        """The vector's bytes, sent to each executor once and forgotten in the end."""
        if vector is None:
            yield None
            return
        sent = self.context.broadcast(read_bytes(vector))
        try:
            yield sent
        finally:
            with contextlib.suppress(Exception):  # the context may be gone: then so is the broadcast
                sent.destroy()

    def _run(self, job: Callable[[], list[Record]], look: Callable[[], None]) -> list[Record]:
        """What the job gives. It runs in a thread: this one tells of progress, and can be interrupted at any moment,
        which in the middle of a word to Java would do harm."""
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
                        print(self._no_executors(), file=sys.stderr, flush=True)
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
            f"warning: {self.properties['spark.master']} has given this run no executor for {PATIENCE:.0f} s; still"
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
            self.__dict__.pop("files", None)
            with contextlib.suppress(Exception):
                context.stop()
            end_gateway()
        super().close()


def spark_properties(config: TrainConfig) -> dict[str, str]:
    """Spark's properties for the run: ours, below those of `run.options`."""
    given, wheelhouse = {}, None
    for option in config.run.options:
        key, equals, value = option.partition("=")
        if key == "wheelhouse" and value:
            wheelhouse = Path(value)
        elif not equals or not key.startswith("spark."):
            raise ConfigError(
                f"run.options has {option!r}, which is no property of Spark",
                hint="Write such as spark.master=spark://host:7077, spark.executor.memory=2g or wheelhouse=DIR.",
            )
        elif SECRETS.search(key):
            raise ConfigError(
                f"run.options has {key}, and options are written into the run's directory",
                hint="Put secrets into spark-defaults.conf in the folder that SPARK_CONF_DIR names.",
            )
        else:
            given[key] = value
    master = os.environ.get("SPARK_MASTER") or f"local[{config.run.jobs}]"
    properties = DEFAULTS | {"spark.master": master} | given
    if urlsplit(properties["spark.master"]).hostname in ("127.0.0.1", "localhost"):
        properties.setdefault("spark.driver.host", "127.0.0.1")
        properties.setdefault("spark.driver.bindAddress", "127.0.0.1")
    if wheelhouse is not None:
        check_wheelhouse(wheelhouse)
        archive = f"{(wheelhouse / SITE).absolute()}#{SITE_NAME}"
        properties["spark.archives"] = ",".join(filter(None, [properties.get("spark.archives"), archive]))
        properties.setdefault("spark.executorEnv.PYTHONPATH", SITE_NAME)
    return properties


def copy_to_store(path: str, store: str) -> str:
    """The address of the file's copy in a folder, which is made unless it is there. The content is in the name."""
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


def check_names(models: Sequence[str]) -> None:
    """Says of files that Spark could not tell apart: its workers know them by name alone, in one folder."""
    places: dict[str, str] = {"run.json": "the run's configuration"}
    for path in models:
        name = os.path.basename(path)
        if name in places:
            raise ConfigError(
                f"{path} is called as {places[name]}, and Spark keeps all of a run's files in one folder",
                hint="Give every language model a name of its own.",
            )
        places[name] = path


def workers_python(properties: dict[str, str]) -> str:
    """The interpreter that tasks run in: as Spark is told, or this one."""
    return properties.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable


def check_master(address: str) -> None:
    """Says at once that no master answers, which Spark itself would find out within a minute."""
    place = urlsplit(address.split(",")[0])
    if place.scheme != "spark" or not place.hostname:
        return
    try:
        socket.create_connection((place.hostname, place.port or 7077), timeout=10).close()
    except OSError as error:
        raise ResourceError(
            f"no Spark master answers at {address}: {error.strerror or error}",
            hint="tools/spark/start.sh starts one on this machine; run.options names it as spark.master=spark://host:port.",
        ) from None


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
        return failure.error()
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

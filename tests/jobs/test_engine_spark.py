"""Spark, for real: a standalone master and two workers on loopback. The inline engine's bytes, whatever is killed."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from response_cases import check_response

from driver_process import PATIENCE, DriverProcess, finished, until
from engine_cases import assert_same_run, run, small_data, unavailable, write_shard
from engine_contract import CHECKS
from gated import ALGORITHM, Gate
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.version import build_id, describe_build
from itersel.engines.config import RunConfig
from itersel.engines.spark import SparkEngine, SparkFileNames, copy_to_store, explain
from itersel.engines.spark_settings import check_master, spark_properties
from itersel.engines.spark_tasks import PASSING, ShippedJob
from itersel.mapreduce.failure import WorkerError
from itersel.run import driver as training
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from toy_cases import check_toy_algorithm
from tuner_cases import TUNERS, check_tuner

ROOT = Path(__file__).resolve().parents[2]


class Cluster:
    """What tools/spark/start.sh starts, in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        settings = {"ITERSEL_SPARK_DIR": str(folder), "ITERSEL_SPARK_PORT": "0", "ITERSEL_SPARK_MEMORY": "512m"}
        self.environment = os.environ | settings | {"PYTHON": sys.executable}
        self.environment.pop("PYTHONPATH", None)  # workers know of this repository only what a test ships to them

    def start(self) -> None:
        done = self._script("start.sh")
        assert done.returncode == 0, done.stderr
        self.master = done.stdout.strip()

    def stop(self) -> None:
        assert self._script("stop.sh").returncode == 0

    def _script(self, name: str) -> subprocess.CompletedProcess:
        script = ROOT / "tools" / "spark" / name
        return subprocess.run([script], env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def options(self, *more: str) -> tuple[str, ...]:
        # These start sooner, and tests are short; pip has checked the jars.
        java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
        quick = [f"spark.{side}.extraJavaOptions={java}" for side in ("driver", "executor")]
        return (f"spark.master={self.master}", "spark.executor.memory=512m", *quick, *more)

    def worker(self, number: int) -> int:
        return int((self.folder / "pids" / f"worker-{number}").read_text())

    def executors(self, number: int) -> list[int]:
        """Processes of a worker's executors."""
        return executors_of(self.worker(number))


def executors_of(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, ancestor = status.read_text().rpartition(")")[2].split()[:2]
            command = status.with_name("cmdline").read_bytes()
            if int(ancestor) == parent and state != "Z" and b"ExecutorBackend" in command:
                found.append(int(status.parent.name))
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        unavailable("pyspark is not installed")
    if shutil.which("java") is None:
        unavailable("there is no Java")
    made = Cluster(tmp_path_factory.mktemp("spark"))
    made.start()
    yield made
    made.stop()
    assert list((made.folder / "pids").iterdir()) == []


class Shared(SparkEngine):
    """An engine that goes on when it is closed, so that all checks share one context."""

    def close(self) -> None:
        return


@pytest.fixture(scope="class")
def shared(cluster, tmp_path_factory) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("shared")
    config = RunConfig("spark", reducers=2, options=cluster.options(), store=str(folder / "store"))
    engine = Shared(config, folder)
    yield engine
    SparkEngine.close(engine)


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> Path:
    """The small data's run by the inline engine."""
    folder = tmp_path_factory.mktemp("reference")
    run(small_data(folder), folder / "run")
    return folder / "run"


def on_spark(config: TrainConfig, options: tuple[str, ...]) -> TrainConfig:
    return dataclasses.replace(config, run=RunConfig("spark", reducers=2, options=options))


def gated(folder: Path) -> tuple[TrainConfig, Gate]:
    """The same data in the folder, where mappers of the second round and later wait at a closed gate."""
    folder.mkdir()
    gate = Gate(folder)
    gate.close()
    gate.open(*((0, item) for item in range(4)))
    return dataclasses.replace(small_data(folder), algorithm=ALGORITHM), gate


@pytest.mark.slow
class TestOneContext:
    """What needs no Spark context of its own; each takes some ten seconds of processor time."""

    @pytest.fixture
    def shared_runs(self, cluster, shared, monkeypatch) -> tuple[str, ...]:
        """Options of runs that share the context."""
        real = training.open_engine
        monkeypatch.setattr(
            training, "open_engine", lambda config, folder: shared if config.runner == "spark" else real(config, folder)
        )
        return cluster.options()

    @pytest.mark.parametrize("check", CHECKS)
    def test_contract(self, shared, check, tmp_path):
        check(lambda folder: shared, tmp_path)

    def test_shards_with_weights_of_their_own_and_models_of_one_name(self, shared_runs, tmp_path):
        """Spark's workers have all files in one folder, where each needs a name of its own."""
        config = dataclasses.replace(small_data(tmp_path), algorithm="mix_sgd", epochs=2, devtest=())
        folds = []
        for k, path in enumerate(config.fold_models):
            folds.append(tmp_path / f"fold{k}" / "lm.arpa")
            folds[k].parent.mkdir()
            shutil.copy(path, folds[k])
        run(config, tmp_path / "inline")
        same = dataclasses.replace(config, fold_models=tuple(map(str, folds)))
        run(on_spark(same, shared_runs), tmp_path / "spark")
        assert_same_run(tmp_path / "inline", tmp_path / "spark")

    def test_an_algorithm_of_somebody_else(self, shared_runs, tmp_path):
        check_toy_algorithm(small_data(tmp_path), RunConfig("spark", reducers=2, options=shared_runs), tmp_path)

    def test_tuners(self, shared_runs, tmp_path):
        run = RunConfig("spark", reducers=2, options=shared_runs)
        for name in TUNERS:
            check_tuner(small_data(tmp_path), name, run, tmp_path / name)

    def test_feedback_of_a_program(self, shared_runs, tmp_path):
        check_response(small_data(tmp_path), RunConfig("spark", reducers=2, options=shared_runs), tmp_path)

    def test_same_bytes_on_real_data(self, shared_runs, real_training, tmp_path):
        run(dataclasses.replace(real_training, run=RunConfig("inline", reducers=2)), tmp_path / "inline")
        run(on_spark(real_training, shared_runs), tmp_path / "spark")
        assert_same_run(tmp_path / "inline", tmp_path / "spark")

    def test_a_corrupt_shard_is_named_first(self, shared, shared_runs, tmp_path):
        """The driver's file is good, the workers' copy is not."""
        config = small_data(tmp_path)
        bad = Path(write_shard(tmp_path / "bad.itsh", 12, 77))  # no other test has a copy of this one in the store
        damaged = Path(copy_to_store(str(bad), shared.config.store))
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 1
        damaged.write_bytes(content)
        config = dataclasses.replace(config, shards=(config.shards[0], str(bad)))
        with pytest.raises(InputError) as caught:
            train(on_spark(config, shared_runs), tmp_path / "run")
        said = str(caught.value)
        assert said.startswith("shard 1 ")
        assert str(damaged) in said.splitlines()[0]
        assert "checksum" in said
        assert not re.search(r"^\s+at |Traceback|Exception", said, re.MULTILINE)

    def test_workers_with_other_code_are_refused(self, shared_runs, monkeypatch, tmp_path):
        """Both builds are named."""
        other = describe_build().replace(build_id(), "0123456789abcdef")
        monkeypatch.setattr(ShippedJob, "__init__", partialmethod(ShippedJob.__init__, build=other))
        with pytest.raises(
            ConfigError, match=rf"driver runs itersel .*0123456789abcdef.*but the worker .*build {build_id()}"
        ):
            train(on_spark(small_data(tmp_path), shared_runs), tmp_path / "run")


@pytest.mark.slow
def test_driver_and_worker_are_interrupted_and_killed(cluster, reference, tmp_path):
    """Ctrl-C ends the work on the cluster; so does a kill of the driver. The same command goes on where it was, also
    if a worker and its executors are killed then."""
    config, gate = gated(tmp_path / "data")
    narrow, wide = (on_spark(config, cluster.options(*more)) for more in (["spark.cores.max=1"], []))

    def no_executors() -> bool:
        return not cluster.executors(1) + cluster.executors(2)

    with DriverProcess(narrow, tmp_path / "run") as driver:
        driver.until(lambda: gate.waiting(1), "a mapper of the second round")
        driver.send(signal.SIGINT)
        code, errors = driver.wait()
    assert code == 130, errors
    assert not re.search(r"^\s+at |Traceback|Exception", errors, re.MULTILINE)
    until(no_executors, "the end of all executors")
    assert finished(tmp_path / "run") == 1
    with DriverProcess(narrow, tmp_path / "run") as driver:
        driver.until(lambda: not no_executors(), "an executor of the second run")
        driver.process.kill()
        driver.wait()
    until(no_executors, "the end of all executors")
    assert finished(tmp_path / "run") == 1
    gate.forget(1)
    with DriverProcess(wide, tmp_path / "run") as driver:
        driver.until(lambda: len(gate.waiting(1)) >= 2, "a mapper on each worker")
        for process in (cluster.worker(1), *cluster.executors(1)):
            os.kill(process, signal.SIGKILL)
        gate.open()
        code, errors = driver.wait()
    assert code == 0, errors
    assert_same_run(reference, tmp_path / "run")
    assert "Lost executor" in (tmp_path / "run" / ".spark.log").read_text()
    cluster.start()  # the dead worker only


@pytest.mark.slow
def test_code_is_shipped_to_bare_workers(cluster, reference, wheelhouse, tmp_path):
    """Workers whose Python has no package of ours get a wheelhouse's archive; without one, they are told of it."""
    bare = Path(sys.base_prefix) / "bin" / "python3"
    if subprocess.run([bare, "-I", "-c", "import itersel"], capture_output=True).returncode == 0:
        unavailable(f"{bare} has itersel")
    config = small_data(tmp_path)
    options = cluster.options(f"spark.pyspark.python={bare}", "spark.cores.max=1")  # one worker is enough here
    with pytest.raises(ResourceError, match=r"No module named 'itersel'") as caught:
        train(on_spark(config, options), tmp_path / "refused")
    assert "wheelhouse" in str(caught.value)
    run(on_spark(config, (*options, f"wheelhouse={wheelhouse}")), tmp_path / "spark")
    assert_same_run(reference, tmp_path / "spark")
    assert not list(tmp_path.glob("spark/**/*.tmp"))


def test_options_are_checked():
    def properties(*options: str) -> dict[str, str]:
        return spark_properties(RunConfig("spark", jobs=3, options=options))

    assert properties("spark.executor.memory=2g")["spark.executor.memory"] == "2g"
    assert properties("spark.master=spark://127.0.0.1:7077")["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in properties("spark.master=spark://head:7077")
    with pytest.raises(ConfigError, match="not a property of Spark"):
        properties("--executor-memory")
    with pytest.raises(ConfigError, match=r"spark\.authenticate\.secret"):
        properties("spark.authenticate.secret=sesame")
    with pytest.raises(InputError, match="cannot read"):
        properties("wheelhouse=/nowhere")


class Recorder:
    """A context that writes down what it is given."""

    def __init__(self):
        self.added = []

    def addFile(self, path):  # noqa: N802
        self.added.append((os.path.basename(path), Path(path).read_text()))


def test_files_get_names_of_their_own(tmp_path):
    """By content where two are called the same; where a link leads counts."""
    for name, text in (("a/lm", "1"), ("b/lm", "2"), ("c/lm", "2"), ("d/other", "3")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    (tmp_path / "link").symlink_to(tmp_path / "d" / "other")
    context = Recorder()
    files = SparkFileNames(context)
    first, second, third = (files.add(str(tmp_path / name / "lm")) for name in "abc")
    assert (first, second) == ("lm", third)
    assert re.fullmatch("[0-9a-f]{32}-lm", second)
    assert files.add(str(tmp_path / "link")) == files.add(str(tmp_path / "d" / "other")) == "other"
    assert context.added == [("lm", "1"), (second, "2"), ("other", "3")]
    links = Path(files.links.name)
    files.close()
    assert not links.exists()


def test_broadcasts_become_files_and_go_when_others_come(tmp_path):
    @dataclasses.dataclass
    class Broadcast:
        value: bytes

    def ship(**contents):
        sent = {name: Broadcast(value) for name, value in contents.items()}
        ShippedJob({}, {}, {}, sent)._write_passing(tmp_path / PASSING)
        return {path.name: path.read_bytes() for path in (tmp_path / PASSING).iterdir()}

    assert ship(one=b"1", two=b"2") == {"one": b"1", "two": b"2"}
    assert ship(two=None) == {"one": b"1", "two": b"2"}, "what is there is not asked for again"
    assert ship(two=None, three=b"3") == {"two": b"2", "three": b"3"}


def test_a_master_that_does_not_answer():
    with pytest.raises(ResourceError, match=r"no Spark master answers at spark://127\.0\.0\.1:9"):
        check_master("spark://127.0.0.1:9")
    check_master("local[2]")


def test_the_store_is_a_folder_and_goes_by_content(tmp_path):
    (tmp_path / "one").write_bytes(b"first")
    place = copy_to_store(str(tmp_path / "one"), str(tmp_path / "store"))
    assert copy_to_store(str(tmp_path / "one"), str(tmp_path / "store")) == place
    (tmp_path / "one").write_bytes(b"second")
    other = copy_to_store(str(tmp_path / "one"), str(tmp_path / "store"))
    assert (Path(place).read_bytes(), Path(other).read_bytes()) == (b"first", b"second")
    with pytest.raises(ConfigError, match="through a folder"):
        copy_to_store(str(tmp_path / "one"), "hdfs:///store")


def test_failures_are_explained():
    """What Spark wraps around an error is taken off again."""
    given = InputError('it says "no"\nand more', where="a\\b.itsh", hint="Do it.")
    wrapped = f"Job aborted due to stage failure: … (TID 8): {WorkerError(given)}\n\n\tat org.x.Y(Z.scala)"
    found = explain(wrapped, Path("log"))
    assert type(found) is InputError
    assert (found.where, found.hint) == (given.where, given.hint)
    assert found.message == f"{given.message} (on {socket.gethostname()})"
    other = explain(
        "Task 1 in stage 0.0 failed 4 times: org.apache.spark.api.python.PythonException: Traceback (most recent call"
        " last):\n  File x\nZeroDivisionError: division by zero\n\n\tat org.apache.spark.A.b(C.scala:1)\n",
        Path("log"),
    )
    assert "ZeroDivisionError" in other.message
    assert "C.scala" not in other.message

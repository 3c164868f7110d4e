"""Spark, for real: a standalone master and two workers on loopback. The inline engine's bytes, whatever is killed."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine_cases import assert_same_run, run, small_data, unavailable, write_shard
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.version import build_id
from itersel.engines.spark import check_master, check_names, copy_to_store, explain, spark_properties
from itersel.engines.spark_tasks import Failure, TaskError
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import Selection
from itersel.run.config import RunConfig, TrainConfig
from itersel.run.driver import train

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0


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
        java = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # starts sooner, and tests are short
        quick = [f"spark.{side}.extraJavaOptions={java}" for side in ("driver", "executor")]
        return (f"spark.master={self.master}", "spark.executor.memory=512m", *quick, *more)

    def worker(self, number: int) -> int:
        return int((self.folder / "pids" / f"worker-{number}").read_text())

    def executors(self, number: int) -> list[int]:
        """Processes of a worker's executors."""
        return executors_of(self.worker(number))

    def logs(self) -> str:
        """What all executors wrote so far; they log every task they take."""
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("worker-*/app-*/*/stderr"))


def executors_of(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, ancestor = status.read_text().rpartition(")")[2].split()[:2]
            command = status.with_name("cmdline").read_bytes()
            if int(ancestor) == parent and state != "Z" and b"ExecutorBackend" in command:
                found.append(int(status.parent.name))
    return found


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.05)


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


@pytest.fixture(scope="module")
def long_data(tmp_path_factory) -> TrainConfig:
    """Four shards that take about a second each, so that there is time to kill something."""
    folder = tmp_path_factory.mktemp("data")
    shards = [write_shard(folder / f"{k}.itsh", size, k) for k, size in enumerate((300, 450, 400, 350))]
    return TrainConfig(
        tuple(shards),
        epochs=3,
        epoch=EpochConfig(k=500, learn=LearnConfig(eta=0.01)),
        selection=Selection(top=15),
        run=RunConfig("inline", reducers=2),
    )


@pytest.fixture(scope="module")
def long_reference(long_data, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    run(long_data, folder)
    return folder


def on_spark(config: TrainConfig, options: tuple[str, ...], store: Path | None = None) -> TrainConfig:
    place = None if store is None else str(store)
    return dataclasses.replace(config, run=RunConfig("spark", reducers=2, options=options, store=place))


class Driver:
    """`itersel train -r spark` as a process."""

    def __init__(self, config: TrainConfig, output: Path):
        path = output.parent / f"{output.name}.json"  # JSON is YAML
        path.write_text(json.dumps(dataclasses.asdict(config)))
        self.output = output
        command = [sys.executable, "-m", "itersel", "train", path, "--output", output]
        self.process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )

    def wait(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def until_at_work(self, epoch: int) -> None:
        """Until the epoch, from 1, has begun: the one before is in the manifest."""

        def begun() -> bool:
            assert self.process.poll() is None, self.process.stderr.read()
            return finished(self.output) >= epoch - 1

        until(begun, f"epoch {epoch}")


def finished(output: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        return len(json.loads((output / "manifest.json").read_text())["epochs"])
    return 0


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["iter_sel_sgd", "mix_sgd"])
def test_same_bytes(cluster, tmp_path, algorithm):
    config = dataclasses.replace(small_data(tmp_path), algorithm=algorithm)
    run(config, tmp_path / "inline")
    run(on_spark(config, cluster.options()), tmp_path / "spark")
    assert_same_run(tmp_path / "inline", tmp_path / "spark")
    assert not list(tmp_path.glob("spark/**/*.tmp"))


@pytest.mark.slow
def test_same_bytes_on_demo_data(cluster, demo_training, tmp_path):
    config = dataclasses.replace(demo_training, run=RunConfig("inline", reducers=2))
    run(config, tmp_path / "inline")
    run(on_spark(config, cluster.options()), tmp_path / "spark")
    assert_same_run(tmp_path / "inline", tmp_path / "spark")


@pytest.mark.slow
def test_a_worker_is_killed(cluster, long_data, long_reference, tmp_path):
    driver = Driver(on_spark(long_data, cluster.options()), tmp_path / "run")
    driver.until_at_work(2)
    until(lambda: cluster.executors(1), "an executor of the first worker")
    for process in (cluster.worker(1), *cluster.executors(1)):
        os.kill(process, signal.SIGKILL)
    assert finished(tmp_path / "run") < 3
    code, errors = driver.wait()
    assert code == 0, errors
    assert_same_run(long_reference, tmp_path / "run")
    assert "Lost executor" in (tmp_path / "run" / ".spark.log").read_text()
    cluster.start()  # the dead worker only


@pytest.mark.slow
def test_the_driver_is_interrupted_and_killed(cluster, long_data, long_reference, tmp_path):
    """Ctrl-C ends the work on the cluster; so does a kill; and the same command goes on where it was."""
    config = on_spark(long_data, cluster.options())
    driver = Driver(config, tmp_path / "run")
    driver.until_at_work(2)
    driver.process.send_signal(signal.SIGINT)
    code, errors = driver.wait()
    assert code == 130, errors
    assert "Traceback" not in errors
    until(lambda: not cluster.executors(1) + cluster.executors(2), "the end of all executors")
    before = finished(tmp_path / "run")
    assert 1 <= before < 3
    driver = Driver(config, tmp_path / "run")
    until(lambda: cluster.executors(1), "an executor of the second run")
    driver.process.kill()
    driver.process.communicate()
    until(lambda: not cluster.executors(1) + cluster.executors(2), "the end of all executors")
    assert finished(tmp_path / "run") < 3
    code, errors = Driver(config, tmp_path / "run").wait()
    assert code == 0, errors
    assert_same_run(long_reference, tmp_path / "run")


@pytest.mark.slow
def test_a_corrupt_shard_is_named_first(cluster, tmp_path):
    """The driver's file is good, the workers' copy is not."""
    config = small_data(tmp_path)
    damaged = Path(copy_to_store(config.shards[1], str(tmp_path / "store")))
    content = bytearray(damaged.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    code, errors = Driver(on_spark(config, cluster.options(), tmp_path / "store"), tmp_path / "run").wait()
    assert code == 2
    said = next(line for line in errors.splitlines() if "error:" in line)
    assert str(damaged) in said
    assert "shard 1" in said
    assert "checksum" in errors
    assert not re.search(r"^\s+at |Traceback|Exception", errors, re.MULTILINE)


@pytest.mark.slow
def test_workers_with_other_code_are_refused(cluster, tmp_path):
    """Both builds are named. The workers find a package that differs by one character."""
    skip = shutil.ignore_patterns("__pycache__", "kernel")
    shutil.copytree(ROOT / "itersel", tmp_path / "other" / "itersel", ignore=skip)
    with open(tmp_path / "other" / "itersel" / "plan.py", "a") as stream:
        stream.write("#")
    options = cluster.options(f"spark.executorEnv.PYTHONPATH={tmp_path / 'other'}")
    with pytest.raises(
        ConfigError, match=rf"driver runs itersel .*{build_id()}.*but the worker .*build [0-9a-f]{{16}}"
    ):
        train(on_spark(small_data(tmp_path), options), tmp_path / "run")


@pytest.mark.slow
def test_code_is_shipped_to_bare_workers(cluster, tmp_path):
    """Workers whose Python has no package of ours get a wheelhouse's archive; without one, they are told of it."""
    from itersel.engines.wheelhouse import build_wheelhouse

    bare = Path(sys.base_prefix) / "bin" / "python3"
    if subprocess.run([bare, "-I", "-c", "import itersel"], capture_output=True).returncode == 0:
        unavailable(f"{bare} has itersel")
    config = small_data(tmp_path)
    run(config, tmp_path / "inline")
    options = cluster.options(f"spark.pyspark.python={bare}")
    with pytest.raises(ResourceError, match=r"No module named 'itersel'") as caught:
        train(on_spark(config, options), tmp_path / "refused")
    assert "wheelhouse" in str(caught.value)
    build_wheelhouse(tmp_path / "wheelhouse")
    run(on_spark(config, (*options, f"wheelhouse={tmp_path / 'wheelhouse'}")), tmp_path / "spark")
    assert_same_run(tmp_path / "inline", tmp_path / "spark")


@pytest.mark.slow
def test_same_bytes_on_multi30k(cluster, multi30k_training, tmp_path):
    run(multi30k_training, tmp_path / "inline")
    run(on_spark(multi30k_training, cluster.options()), tmp_path / "spark")
    assert_same_run(tmp_path / "inline", tmp_path / "spark")


def test_options_are_checked():
    def properties(*options: str) -> dict[str, str]:
        return spark_properties(TrainConfig(run=RunConfig("spark", jobs=3, options=options)))

    assert properties("spark.executor.memory=2g")["spark.executor.memory"] == "2g"
    assert properties("spark.master=spark://127.0.0.1:7077")["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in properties("spark.master=spark://head:7077")
    with pytest.raises(ConfigError, match="no property of Spark"):
        properties("--executor-memory")
    with pytest.raises(ConfigError, match=r"spark\.authenticate\.secret"):
        properties("spark.authenticate.secret=sesame")
    with pytest.raises(InputError, match="cannot read"):
        properties("wheelhouse=/nowhere")


def test_models_need_names_of_their_own(tmp_path):
    """Spark's workers have all files in one folder; what Spark itself says of two of one name is no help."""
    config = small_data(tmp_path)
    for k in range(2):
        (tmp_path / f"fold{k}").mkdir()
        shutil.copy(config.fold_models[k], tmp_path / f"fold{k}" / "lm.k.arpa")
    folds = tuple(str(tmp_path / f"fold{k}" / "lm.k.arpa") for k in range(2))
    same = dataclasses.replace(config, fold_models=folds, run=RunConfig("spark"))
    with pytest.raises(ConfigError, match=r"fold1/lm\.k\.arpa is called as .*fold0/lm\.k\.arpa"):
        train(same, tmp_path / "run")
    check_names([config.language_model, *config.fold_models])


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
    wrapped = f"Job aborted due to stage failure: … (TID 8): {TaskError(given, 'shard 1 (a)')}\n\n\tat org.x.Y(Z.scala)"
    found = explain(wrapped, Path("log"))
    assert type(found) is InputError
    assert (found.where, found.hint) == (given.where, given.hint)
    assert found.message.startswith("shard 1 (a) on ")
    assert found.message.endswith(given.message)
    assert Failure.find("nothing of ours") is None
    other = explain(
        "Task 1 in stage 0.0 failed 4 times: org.apache.spark.api.python.PythonException: Traceback (most recent call"
        " last):\n  File x\nZeroDivisionError: division by zero\n\n\tat org.apache.spark.A.b(C.scala:1)\n",
        Path("log"),
    )
    assert "ZeroDivisionError" in other.message
    assert "C.scala" not in other.message

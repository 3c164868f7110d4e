"""The Hadoop engine on a real HDFS and YARN with two nodes: the bytes of the inline engine, whatever is killed."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from driver_process import PATIENCE
from engine_cases import assert_same_run, run, small_data, unavailable, write_config, write_shard
from engine_contract import check_doubled_item, check_epoch, check_map_and_reduce
from itersel.base.errors import InputError
from itersel.engines import RunConfig, open_engine
from itersel.engines.hadoop import LOG, stored_name
from itersel.engines.hadoop_client import HadoopClient
from itersel.run.config import TrainConfig
from tuner_cases import TUNERS, check_tuner

ROOT = Path(__file__).resolve().parents[2]
INLINE, HADOOP = RunConfig("inline", reducers=2), RunConfig("hadoop", reducers=2)
ONE_CONTAINER = ("--jobconf", "mapreduce.job.ubertask.enable=true")
"""All tasks in the container of the application master: the quickest way to run a small job."""
pytestmark = pytest.mark.slow


class Cluster:
    """The cluster of tools/hadoop/cluster.py in a folder of its own."""

    def __init__(self, home: Path):
        self.home = home

    def control(self, *words: str) -> subprocess.CompletedProcess:
        script = ROOT / "tools" / "hadoop" / "cluster.py"
        return subprocess.run([sys.executable, script, *words], capture_output=True, text=True)

    def pid(self, daemon: str) -> int:
        return int((self.home / "run" / f"{daemon}.pid").read_text())

    def mappers(self) -> dict[int, Path]:
        """Processes of our map tasks, and the folders that they work in."""
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"--mapper" in words and b"python" in Path(os.fsdecode(words[0])).name.encode():
                    folder = Path(os.readlink(entry / "cwd"))
                    if folder.is_relative_to(self.home):
                        found[int(entry.name)] = folder
            except OSError:
                continue
        return found

    def wait_for_mappers(self, driver: subprocess.Popen, other_than: str | None = None) -> dict[int, Path]:
        """Map tasks at work, other than those of one application."""
        return wait_for(lambda: {k: v for k, v in self.mappers().items() if other_than not in v.parts}, driver)

    def kill_node(self, daemon: str) -> None:
        """As if the machine were gone: the NodeManager and all that runs below it."""
        os.kill(self.pid(daemon), signal.SIGKILL)
        for entry in Path("/proc").iterdir():
            try:
                if Path(os.readlink(entry / "cwd")).is_relative_to(self.home / "data" / daemon):
                    os.kill(int(entry.name), signal.SIGKILL)
            except (OSError, ValueError):
                continue

    def final_state(self, application: str, seconds: float = PATIENCE) -> str:
        """How an application ended; YARN may know that some time after its last process is gone."""
        until = time.monotonic() + seconds
        command = [self.home / "bin" / "yarn", "application", "-status", application]
        while True:
            text = subprocess.run(command, capture_output=True, text=True).stdout
            found = re.search(r"Final-State : (\w+)", text)
            if found is not None and found[1] != "UNDEFINED":
                return found[1]
            assert time.monotonic() < until, text
            time.sleep(0.5)

    def copies(self, name: str) -> list[int]:
        """How many copies of the file of that name the distributed cache has on each node."""
        nodes = [self.home / "data" / f"nodemanager-{node}" for node in (1, 2)]
        return [len(list(node.rglob(f"filecache/*/*{name}"))) for node in nodes]


def stored(folder: str) -> str:
    """A folder of the engine's default store."""
    return f"hdfs:///user/{os.environ.get('HADOOP_USER_NAME') or getpass.getuser()}/itersel/{folder}"


def wait_for(condition: Callable[[], object], driver: subprocess.Popen, seconds: float = PATIENCE) -> object:
    """Until the condition holds; an error if the driver ends first."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert driver.poll() is None, f"the driver ended: {driver.communicate()[1][-3000:]}"
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def start_driver(config: TrainConfig, folder: Path) -> subprocess.Popen:
    place = folder.with_suffix(".yaml")
    write_config(config, place)
    command = [sys.executable, "-m", "itersel", "train", str(place), "--output", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("hadoop") / "cluster"
        patch.delenv("HADOOP_HOME", raising=False)
        patch.setenv("ITERSEL_HADOOP", str(home))
        patch.setenv("PATH", os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if "hadoop" not in p))
        made = Cluster(home)
        try:
            done = made.control("start")
            if done.returncode != 0:
                unavailable(f"Hadoop cannot be started: {done.stderr.strip()}")
            again = made.control("start")  # nothing to do
            assert again.returncode == 0 and "started" not in again.stderr
            yield made
        finally:
            made.control("stop", "--remove")
        assert not home.exists()


@pytest.fixture(scope="module")
def training(real_training: TrainConfig) -> TrainConfig:
    """Three shards, so that one of the two nodes has several."""
    return replace(real_training, shards=real_training.shards[:3])


@pytest.fixture(scope="module")
def first_epoch(training: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one epoch by the inline engine."""
    folder = tmp_path_factory.mktemp("inline") / "run"
    run(replace(training, epochs=1, run=INLINE), folder)
    return folder


def test_same_bytes_as_inline(cluster: Cluster, training: TrainConfig, first_epoch: Path, tmp_path: Path) -> None:
    """One epoch, in a container for each task; test_faults has the second."""
    run(replace(training, epochs=1, run=HADOOP), tmp_path / "hadoop")
    assert_same_run(first_epoch, tmp_path / "hadoop")
    log = (tmp_path / "hadoop" / LOG).read_text()
    for kind, tasks in (("map", 3), ("reduce", 2)):  # and perhaps speculative attempts
        [launched] = re.findall(rf"Launched {kind} tasks=(\d+)", log)
        assert int(launched) >= tasks
    # The model went to each node that had tasks once, not to each task.
    assert max(cluster.copies(os.path.basename(training.language_model))) == 1
    files, left = HadoopClient.find().listing(stored("files"), stored("runs"))
    assert len(files) == 4 and left == []


@pytest.mark.parametrize(
    ("check", "options"),
    [
        (check_map_and_reduce, ("--jobconf", "mapreduce.job.reduces=1")),  # the user's word: one task for all ranges
        (check_epoch, ("--jobconf", "mapreduce.job.reduces=1")),
        (check_doubled_item, ("--jobconf", "mapreduce.reduce.maxattempts=1")),
    ],
)
def test_contract(cluster: Cluster, check: Callable, options: tuple[str, ...], tmp_path: Path) -> None:
    """Jobs without reducers are in the test of a tuner; what a failing item says, in that of a damaged shard."""
    check(lambda folder: open_engine(RunConfig("hadoop", options=(*ONE_CONTAINER, *options)), folder), tmp_path)


def test_a_tuner(cluster: Cluster, tmp_path: Path) -> None:
    """HOLS: a gradient, and the jobs of MERT. Some have reducers; as devtest, which test_map_reduce.py has, some decode
    only."""
    data, update = small_data(tmp_path), replace(TUNERS["hols"], updates=1)
    data = replace(data, shards=data.shards[:2])
    check_tuner(data, "hols", RunConfig("hadoop", options=ONE_CONTAINER), tmp_path, update)


def test_a_damaged_shard_is_named(cluster: Cluster, tmp_path: Path) -> None:
    """A UserError of one item: its kind, its words and the item's name reach the driver, and no traceback."""
    config = small_data(tmp_path)
    whole = Path(write_shard(tmp_path / "apple.itsh", 12, 77))  # no node has a copy of this one
    options = ("--jobconf", "mapreduce.map.maxattempts=2")
    options += ("--jobconf", "mapreduce.job.reduce.slowstart.completedmaps=1")  # reducers would wait in vain
    config = replace(config, shards=(config.shards[0], str(whole)), devtest=(), run=replace(HADOOP, options=options))
    # What the driver sees is whole; what the workers get is not.
    damaged, content = tmp_path / "damaged", bytearray(whole.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    client = HadoopClient.find()
    client.fs("-mkdir", "-p", stored("files"))
    client.put({stored_name(str(whole)): str(damaged)}, stored("files"))
    with pytest.raises(InputError) as caught:
        run(config, tmp_path / "run")
    where, what = r"hdfs:///\S+-apple\.itsh", r"(section|the block of sentence) \d+ was altered"
    assert re.match(rf"shard 1 \(\S+apple\.itsh\): {where}: {what}", str(caught.value))
    assert caught.value.hint and str(caught.value).count("\n") == caught.value.hint.count("\n") + 1
    assert not re.search("java|Traceback", str(caught.value), re.IGNORECASE)
    log = (tmp_path / "run" / LOG).read_text()
    attempts = re.findall(r"Task Id : attempt_\d+_\d+_m_(\d+)_(\d+), Status : FAILED", log)
    assert len({task for task, _ in attempts}) == 1 and 1 <= len(attempts) <= 2
    assert client.listing(stored("runs")) == [[]]


def test_interrupt_ends_the_application(cluster: Cluster, training: TrainConfig, tmp_path: Path) -> None:
    driver = start_driver(replace(training, shards=training.shards[:1], run=HADOOP), tmp_path / "run")
    cluster.wait_for_mappers(driver)
    driver.send_signal(signal.SIGINT)
    _, errors = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 130, errors
    assert "Traceback" not in errors
    application = re.search(r"Submitted application (application_\S+)", (tmp_path / "run" / LOG).read_text())
    assert application is not None
    assert cluster.final_state(application[1]) == "KILLED"
    assert HadoopClient.find().listing(stored("runs")) == [[]]


def test_faults(cluster: Cluster, training: TrainConfig, first_epoch: Path, tmp_path: Path) -> None:
    """A map task's process, the driver and a node are killed in mid-epoch: the bytes stay the same.

    It is the second epoch of a run that the inline engine began.
    """
    for name in ("inline", "hadoop"):
        shutil.copytree(first_epoch, tmp_path / name)
    run(replace(training, epochs=2, run=INLINE), tmp_path / "inline")
    config, folder = replace(training, epochs=2, run=HADOOP), tmp_path / "hadoop"

    driver = start_driver(config, folder)
    victims = cluster.wait_for_mappers(driver)
    os.kill(min(victims), signal.SIGKILL)
    wait_for(lambda: re.search(r"Task Id : attempt_\S+, Status : FAILED", (folder / LOG).read_text()), driver)
    orphans = next(iter(cluster.wait_for_mappers(driver).values()))
    driver.kill()
    driver.wait()
    assert not (folder / "epoch-002" / "weights.vec").exists()

    driver = start_driver(config, folder)
    [application] = [name for name in orphans.parts if name.startswith("application_")]
    working = cluster.wait_for_mappers(driver, application)
    node = next(iter(working.values())).relative_to(cluster.home / "data").parts[0]
    cluster.kill_node(node)
    _, errors = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, errors
    assert_same_run(tmp_path / "inline", folder)
    assert cluster.control("start").returncode == 0  # the node is back for the next test

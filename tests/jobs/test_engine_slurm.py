"""Training on a real Slurm: the same bytes as inline, and what happens when things go wrong."""

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from batch_cases import fail_everywhere, gated_round, gone, mapped, one_round, single_node, workers
from driver_process import DriverProcess, until
from engine_cases import assert_same_run, small_data
from engine_contract import CHECKS
from itersel.base.errors import ConfigError, InputError
from itersel.engines import crew, file_work, open_engine, slurm
from itersel.engines.config import RunConfig
from itersel.run.driver import train
from toy_cases import check_toy_algorithm
from tuner_cases import check_tuner

pytestmark = pytest.mark.slow
SLURM = RunConfig("slurm", reducers=2)


@pytest.fixture(scope="module", autouse=True)
def queue(tmp_path_factory):
    # Array jobs of at most three tasks: four shards take two.
    yield from single_node("slurm", tmp_path_factory.mktemp("slurm"), {"SINGLE_NODE_MAX_ARRAY_SIZE": "3"})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def inline_round(data, tmp_path_factory):
    """One round by the inline engine."""
    folder = tmp_path_factory.mktemp("inline") / "run"
    train(one_round(data), folder, warn=lambda text: None)
    return folder


def waiting():
    """Names of the jobs that are in the queue."""
    return subprocess.run(["squeue", "--noheader", "--format=%j"], capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("check", CHECKS)
def test_contract(check, tmp_path):
    check(lambda folder: open_engine(SLURM, folder), tmp_path)
    assert waiting() == []


def test_same_bytes(tmp_path, data):
    run = tmp_path / "100%a 'run' of $HOME"
    data = replace(data, epochs=2)
    train(data, tmp_path / "inline", warn=lambda text: None)
    train(replace(data, run=SLURM), run, warn=lambda text: None)
    assert_same_run(tmp_path / "inline", run)
    assert waiting() == []
    assert not (run / "batch").exists()


def test_an_algorithm_of_somebody_else(tmp_path, data):
    check_toy_algorithm(data, SLURM, tmp_path)


@pytest.mark.parametrize("name", ["mira", "hols"])
def test_a_tuner(tmp_path, data, name):
    """Spark's tests have all of them."""
    check_tuner(data, name, SLURM, tmp_path)


def test_same_bytes_on_real_data(tmp_path, real_training):
    """One epoch: the small data has two."""
    config = replace(real_training, epochs=1, run=RunConfig("inline", reducers=2))
    train(config, tmp_path / "inline", warn=lambda text: None)
    train(replace(config, run=SLURM), tmp_path / "slurm", warn=lambda text: None)
    assert_same_run(tmp_path / "inline", tmp_path / "slurm")


def test_killed_task_is_done_again(tmp_path, inline_round):
    config, gate = gated_round(tmp_path / "data", SLURM)
    run = tmp_path / "run"
    with DriverProcess(config, run) as driver:
        driver.until(lambda: gate.waiting(0), "a map task at work")
        os.kill(workers(run, "map")[0], signal.SIGKILL)
        gate.open()
        code, said = driver.wait()
    assert code == 0, said
    assert "killed by signal 9" in said
    assert "attempt 2 of 3" in said
    assert_same_run(inline_round, run)


def test_killed_driver_resumes_item_by_item(tmp_path, inline_round, monkeypatch):
    config, gate = gated_round(tmp_path / "data", SLURM)
    run = tmp_path / "run"
    gate.open((0, 1))
    with DriverProcess(config, run) as driver:
        driver.until(lambda: mapped(run) == ["00001.mapped"], "the largest shard's result")
        driver.process.kill()
        driver.wait()
    left = waiting()
    assert left, "nobody has cancelled its jobs"
    gate.open()
    submitted, submit = [], slurm.SlurmQueue.submit
    before = []

    def record(self, job):
        before.append(mapped(run))
        submitted.append((job.log.split("-")[0], job.tasks))
        return submit(self, job)

    monkeypatch.setattr(slurm.SlurmQueue, "submit", record)
    train(config, run, warn=lambda text: None)
    assert "00001.mapped" in before[0]
    assert sum(tasks for kind, tasks in submitted if kind == "map") == 4 - len(before[0]) <= 3
    assert waiting() == []
    assert_same_run(inline_round, run)


def test_interrupt_cancels_the_jobs_and_another_engine_goes_on(tmp_path, inline_round, monkeypatch):
    config, gate = gated_round(tmp_path / "data", SLURM)
    run = tmp_path / "run"
    gate.open((0, 1))
    with DriverProcess(config, run) as driver:
        driver.until(lambda: mapped(run) == ["00001.mapped"], "the largest shard's result")
        driver.until(lambda: workers(run, "map"), "a map task at work")
        assert waiting()
        driver.send(signal.SIGINT)
        code, said = driver.wait()
    assert code == 130, said
    assert waiting() == []
    gone(run)
    assert not (run / "batch").exists()
    gate.open()
    again = []

    def record(job, item, *more, **keys):
        again.append(item.number)
        file_work.map_to_file(job, item, *more, **keys)

    monkeypatch.setattr(crew, "map_to_file", record)
    train(replace(config, run=RunConfig("inline", reducers=2)), run, warn=lambda text: None)
    assert again == [3, 2, 0]
    assert_same_run(inline_round, run)


def test_controller_may_start_anew(tmp_path, inline_round):
    config, gate = gated_round(tmp_path / "data", SLURM)
    with DriverProcess(config, tmp_path / "run") as driver:
        driver.until(lambda: gate.waiting(0), "a map task at work")
        process = int(Path(os.environ["SLURM_CONF"]).with_name("slurmctld.pid").read_text())
        os.kill(process, signal.SIGTERM)
        until(lambda: not Path(f"/proc/{process}").exists(), "the end of slurmctld")
        subprocess.run(["slurmctld"], check=True)
        gate.open()
        code, said = driver.wait()
    assert code == 0, said
    assert_same_run(inline_round, tmp_path / "run")


def test_corrupt_shard_is_named(tmp_path, monkeypatch):
    """The file is damaged after the driver has opened it, so that it is a task that finds out."""
    config = replace(one_round(small_data(tmp_path)), run=SLURM)
    victim, submit = Path(config.shards[2]), slurm.SlurmQueue.submit

    def damage(self, job):
        content = bytearray(victim.read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / "damaged").write_bytes(content)
        os.replace(tmp_path / "damaged", victim)
        monkeypatch.setattr(slurm.SlurmQueue, "submit", submit)
        return submit(self, job)

    monkeypatch.setattr(slurm.SlurmQueue, "submit", damage)
    with pytest.raises(InputError) as caught:
        train(config, tmp_path / "run", warn=lambda text: None)
    assert str(caught.value).startswith(f"shard 2 ({victim}): "), "the shard's name comes first"
    assert "checksum" in str(caught.value)
    assert waiting() == []


def test_what_a_failing_task_says_is_shown(tmp_path, data, monkeypatch, capsys):
    last = fail_everywhere(replace(data, run=SLURM), tmp_path, monkeypatch)
    assert "exit code 7" in last
    assert "It was tried 3 times." in last
    assert capsys.readouterr().err.count("attempt") == 2


def test_options_of_the_site(tmp_path, data):
    def options(*words):
        return replace(one_round(data), run=replace(SLURM, options=words))

    with pytest.raises(ConfigError, match="invalid partition specified: nowhere"):
        train(options("--partition=nowhere"), tmp_path / "1")
    with pytest.raises(ConfigError, match="'--array=0-3' is set by itersel"):
        train(options("--array=0-3"), tmp_path / "2")
    with pytest.raises(ConfigError, match="'main' is not an option of sbatch"):
        train(options("--partition", "main"), tmp_path / "3")
    with pytest.raises(ConfigError, match="cannot have"):
        train(options(), tmp_path / "back\\slash")
    assert waiting() == []

"""Training on a real Slurm: the same bytes as inline, and what happens when things go wrong."""

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from batch_cases import command, fail_everywhere, kill_one, longer, rows, single_node, wait_for, workers
from engine_cases import assert_same_run, small_data
from itersel.base.errors import ConfigError, InputError
from itersel.engines import slurm
from itersel.run.config import RunConfig
from itersel.run.driver import train

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
def long_run(data, tmp_path_factory):
    """A configuration of one longer epoch, and its run by the inline engine."""
    config, folder = longer(data), tmp_path_factory.mktemp("inline") / "run"
    train(config, folder, warn=lambda text: None)
    return config, folder


def waiting():
    """Names of the jobs that are in the queue."""
    return subprocess.run(["squeue", "--noheader", "--format=%j"], capture_output=True, text=True).stdout.split()


def test_same_bytes(tmp_path, data):
    run = tmp_path / "100%a 'run' of $HOME"
    train(data, tmp_path / "inline", warn=lambda text: None)
    train(replace(data, run=SLURM), run, warn=lambda text: None)
    assert_same_run(tmp_path / "inline", run)
    assert waiting() == []
    assert not (run / "batch").exists()


def test_shards_with_weights_of_their_own(tmp_path, data):
    config = replace(data, algorithm="mix_sgd", epochs=2, devtest=())
    train(config, tmp_path / "inline", warn=lambda text: None)
    train(replace(config, run=SLURM), tmp_path / "slurm", warn=lambda text: None)
    assert_same_run(tmp_path / "inline", tmp_path / "slurm")


def test_demo_data(tmp_path, demo_training):
    train(replace(demo_training, run=RunConfig("inline", reducers=2)), tmp_path / "inline", warn=lambda text: None)
    train(replace(demo_training, run=SLURM), tmp_path / "slurm", warn=lambda text: None)
    assert_same_run(tmp_path / "inline", tmp_path / "slurm")


def test_multi30k(tmp_path, multi30k_training):
    train(multi30k_training, tmp_path / "inline", warn=lambda text: None)
    train(replace(multi30k_training, run=SLURM), tmp_path / "slurm", warn=lambda text: None)
    assert_same_run(tmp_path / "inline", tmp_path / "slurm")


def test_killed_task_is_done_again(tmp_path, long_run):
    config, expected = long_run
    driver = subprocess.Popen(command(config, tmp_path / "run", "slurm"), stderr=subprocess.PIPE, text=True)
    kill_one(tmp_path / "run")
    _, said = driver.communicate()
    assert driver.returncode == 0, said
    assert "killed by signal 9" in said
    assert "attempt 2 of 3" in said
    assert_same_run(expected, tmp_path / "run")


def test_killed_driver_resumes_shard_by_shard(tmp_path, long_run):
    config, expected = long_run
    run = tmp_path / "run"
    driver = subprocess.Popen(command(config, run, "slurm"), stderr=subprocess.DEVNULL)
    wait_for(lambda: rows(run))
    driver.kill()
    driver.wait()
    left = set(waiting())
    assert len(left) == 1, "nobody has cancelled its jobs"
    before = rows(run)
    done = subprocess.run(command(config, run, "slurm"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert before, "there was something to keep"
    assert not set(waiting()) & left
    assert_same_run(expected, run)


def test_finished_shards_are_kept(tmp_path, long_run, monkeypatch):
    """The second driver submits only what the first one did not get."""
    config, expected = long_run
    submitted, submit = [], slurm.SlurmQueue.submit

    def stop_at_first_row(self, job):
        submitted.append((job.log.split("-")[0], job.tasks))
        number = submit(self, job)
        if job.log.startswith("reduce"):
            wait_for(lambda: len(rows(tmp_path / "run")) >= 2)
            raise KeyboardInterrupt
        return number

    monkeypatch.setattr(slurm.SlurmQueue, "submit", stop_at_first_row)
    with pytest.raises(KeyboardInterrupt):
        train(replace(config, run=SLURM), tmp_path / "run", warn=lambda text: None)
    assert submitted == [("map", 3), ("map", 1), ("reduce", 2)]
    kept = rows(tmp_path / "run")
    monkeypatch.setattr(slurm.SlurmQueue, "submit", lambda self, job: (submitted.append(job), submit(self, job))[1])
    train(replace(config, run=SLURM), tmp_path / "run", warn=lambda text: None)
    assert sum(job.tasks for job in submitted[3:] if job.log.startswith("map")) == 4 - len(kept)
    assert_same_run(expected, tmp_path / "run")


def test_controller_may_start_anew(tmp_path, long_run):
    config, expected = long_run
    driver = subprocess.Popen(command(config, tmp_path / "run", "slurm"), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: workers(tmp_path / "run", "map"))
    process = int(Path(os.environ["SLURM_CONF"]).with_name("slurmctld.pid").read_text())
    os.kill(process, signal.SIGTERM)
    wait_for(lambda: not Path(f"/proc/{process}").exists())
    subprocess.run(["slurmctld"], check=True)
    _, said = driver.communicate()
    assert driver.returncode == 0, said
    assert_same_run(expected, tmp_path / "run")


def test_interrupt_cancels_the_jobs(tmp_path, long_run):
    driver = subprocess.Popen(command(long_run[0], tmp_path / "run", "slurm"), stderr=subprocess.PIPE, text=True)
    wait_for(lambda: workers(tmp_path / "run", "map"))
    assert waiting()
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate()
    assert driver.returncode == 130, said
    assert waiting() == []
    wait_for(lambda: not workers(tmp_path / "run", "map"))
    assert not (tmp_path / "run" / "batch").exists()


def test_corrupt_shard_is_named(tmp_path, data, monkeypatch):
    """The file is damaged after the driver has opened it, so that it is a task that finds out."""
    config = replace(small_data(tmp_path), epochs=1, devtest=(), run=SLURM)
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
    assert str(caught.value).startswith(f"{victim}: "), "the shard's name comes first"
    assert "checksum" in str(caught.value)
    assert waiting() == []


def test_what_a_failing_task_says_is_shown(tmp_path, data, monkeypatch, capsys):
    last = fail_everywhere(replace(data, run=SLURM), tmp_path, monkeypatch)
    assert "exit code 7" in last
    assert "It was tried 3 times." in last
    assert capsys.readouterr().err.count("attempt") == 2


def test_options_of_the_site(tmp_path, data):
    def options(*words):
        return replace(data, epochs=1, devtest=(), run=replace(SLURM, options=words))

    with pytest.raises(ConfigError, match="invalid partition specified: nowhere"):
        train(options("--partition=nowhere"), tmp_path / "1")
    with pytest.raises(ConfigError, match="'--array=0-3' is set by itersel"):
        train(options("--array=0-3"), tmp_path / "2")
    with pytest.raises(ConfigError, match="'main' is no option of sbatch"):
        train(options("--partition", "main"), tmp_path / "3")
    with pytest.raises(ConfigError, match="cannot have"):
        train(options(), tmp_path / "back\\slash")
    assert waiting() == []

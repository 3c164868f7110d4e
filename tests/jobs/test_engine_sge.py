"""Training on a real Grid Engine: the same bytes as inline, and what happens when things go wrong."""

import os
import signal
import subprocess
from dataclasses import replace

import pytest

from batch_cases import fail_everywhere, gated_round, gone, one_round, single_node, workers
from driver_process import DriverProcess
from engine_cases import assert_same_run, small_data
from engine_contract import check_failure, check_map_and_reduce, check_map_only
from itersel.base.errors import ConfigError
from itersel.engines import open_engine
from itersel.engines.config import RunConfig
from itersel.run.driver import train
from tuner_cases import check_tuner

pytestmark = pytest.mark.slow
SGE = RunConfig("sge", jobs=2, reducers=2)


@pytest.fixture(scope="module", autouse=True)
def queue(tmp_path_factory):
    yield from single_node("sge", tmp_path_factory.mktemp("sge"), {})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


def waiting():
    """What is in the queue."""
    return subprocess.run(["qstat", "-u", "*"], capture_output=True, text=True).stdout


@pytest.mark.parametrize("check", [check_map_and_reduce, check_map_only, check_failure])
def test_contract(check, tmp_path):
    check(lambda folder: open_engine(SGE, folder), tmp_path)
    assert waiting() == ""


def test_same_bytes(tmp_path, data):
    data = replace(data, epochs=2)
    train(data, tmp_path / "inline", warn=lambda text: None)
    run = tmp_path / "sge: a 'run', 100%"
    train(replace(data, run=SGE), run, warn=lambda text: None)
    assert_same_run(tmp_path / "inline", run)
    assert waiting() == ""


@pytest.mark.parametrize("name", ["pro", "hols"])
def test_a_tuner(tmp_path, data, name):
    check_tuner(data, name, SGE, tmp_path)


def test_killed_task_is_done_again(tmp_path, data):
    train(one_round(data), tmp_path / "inline", warn=lambda text: None)
    config, gate = gated_round(tmp_path / "data", SGE)
    run = tmp_path / "run"
    with DriverProcess(config, run) as driver:
        driver.until(lambda: gate.waiting(0), "a map task at work")
        os.kill(workers(run, "map")[0], signal.SIGKILL)
        gate.open()
        code, said = driver.wait()
    assert code == 0, said
    assert "attempt 2 of 3" in said
    assert_same_run(tmp_path / "inline", run)
    assert waiting() == "", "the failed task does not stay behind"


def test_interrupt_deletes_the_jobs(tmp_path):
    config, gate = gated_round(tmp_path / "data", SGE)
    with DriverProcess(config, tmp_path / "run") as driver:
        driver.until(lambda: gate.waiting(0), "a map task at work")
        driver.send(signal.SIGINT)
        code, said = driver.wait()
    assert code == 130, said
    assert waiting() == ""
    gone(tmp_path / "run")


def test_what_a_failing_task_says_is_shown(tmp_path, data, monkeypatch):
    last = fail_everywhere(replace(data, run=SGE), tmp_path, monkeypatch)
    assert "It was tried 3 times." in last


def test_options_of_the_site(tmp_path, data):
    def options(*words):
        return replace(one_round(data), run=replace(SGE, options=words))

    with pytest.raises(ConfigError, match=r"does not take the job:.*nowhere"):
        train(options("-q", "nowhere.q", "-w", "e"), tmp_path / "1")
    with pytest.raises(ConfigError, match="'-t' is set by itersel"):
        train(options("-t", "1-3"), tmp_path / "2")
    with pytest.raises(ConfigError, match=r"'all\.q' is not an option of qsub"):
        train(options("all.q"), tmp_path / "3")
    with pytest.raises(ConfigError, match="cannot have"):
        train(options(), tmp_path / "$HOME")
    assert waiting() == ""

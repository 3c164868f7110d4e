"""An algorithm is one module: a toy of 40 lines runs everywhere, resumes, and is known by its own name."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine_cases import assert_same_run, small_data
from itersel.base.errors import ConfigError
from itersel.engines import RunConfig
from itersel.inspect.run import epoch_table
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run.config import load_train_config
from itersel.run.driver import train
from toy_cases import NAME, check_toy_algorithm, copy_module, declared, medians, reference, toy_config

MODULE = Path(__file__).with_name("toy_median.py")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


def test_it_is_small():
    assert len(MODULE.read_text().splitlines()) <= 40


def test_by_hand(data, tmp_path):
    config = toy_config(data, RunConfig("inline"))
    train(config, tmp_path, warn=lambda text: None)
    found = Vector.read(tmp_path / "epoch-001" / "weights.vec")
    expected = medians(config, Vector.of_names(dict(Weights.read(data.start))))
    assert dict(zip(found.ids.tolist(), found.values.tolist(), strict=True)) == expected


@pytest.mark.parametrize("run", [RunConfig("local", jobs=2), RunConfig("mrjob-local", reducers=3)], ids=str)
def test_same_bytes(data, tmp_path, run):
    check_toy_algorithm(data, run, tmp_path)


def test_it_declares_its_own_figures_and_choice(data, tmp_path):
    folder = reference(data, tmp_path / "run")
    found = declared(folder)
    assert (found["name"], found["label"], found["number"]) == ("median_sgd", "MedianSGD", None)
    assert found["choice"] == {"key": "updates", "label": "updates", "largest": False}
    assert "hypotheses per list" in epoch_table(folder)


def test_its_configuration_stands_under_its_name():
    config = load_train_config({"algorithm": NAME, "median_sgd": {"least": "1e-3"}})
    assert config.own.least == 0.001
    with pytest.raises(ConfigError, match=r"unknown key 'median_sgd\.lest'"):
        load_train_config({"algorithm": NAME, "median_sgd": {"lest": 1}})
    with pytest.raises(ConfigError, match=r"cannot find toy_median:Mean"):
        load_train_config({"algorithm": "toy_median:Mean"})
    with pytest.raises(ConfigError, match="not a training algorithm"):
        load_train_config({"algorithm": "toy_median:MedianJob"})


def command(data, output: Path) -> list[str]:
    arguments = [sys.executable, "-m", "itersel", "train", "--algorithm", NAME, "--shards", *data.shards]
    arguments += ["--lm", data.language_model, "--start", data.start, "--epochs", "2", "--output", str(output)]
    arguments += ["--set", "layout.kind=random", "--set", "layout.shards=3", "--set", "median_sgd.least=1e-5"]
    arguments += ["--set", "epoch.k=20", "--set", "epoch.learn.eta=0.01", "--top", "15", "--runner", "local"]
    return arguments


def test_killed_and_resumed_from_the_command_line(data, tmp_path):
    """The module lies in the current folder, as a user's would; the driver is killed between its epochs."""
    copy_module(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    expected = reference(data, tmp_path / "inline")
    output = tmp_path / "run"
    process = subprocess.Popen(command(data, output), cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (output / "epoch-001" / "weights.vec").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = subprocess.run(command(data, output), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_same_run(expected, output)

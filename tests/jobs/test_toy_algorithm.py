"""An algorithm is one module: a toy of 40 lines runs everywhere, resumes, and is known by its own name."""

import os
import random
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
from itersel.pipeline.experiment.cells import build_data, plan_cells
from itersel.pipeline.experiment.config import load_experiment
from itersel.pipeline.experiment.grid_result import evaluate_cells
from itersel.pipeline.experiment.schedule import run_cells
from itersel.pipeline.experiment.table import paper_table
from itersel.report import write_report
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


def test_the_report_knows_it_by_its_own_name(data, tmp_path):
    folder = reference(data, tmp_path / "run")
    page = write_report([folder], tmp_path / "report.html").read_text()
    for word in ("MedianSGD", "hypotheses per list"):
        assert word in page
    assert "pair errors" not in page, "the figures of other algorithms are not drawn"


BUILD = """\
work: work
train: {source: t.de, target: t.en, held_out: {devtest: 6}}
sets: {test: {source: t.de, references: [t.en]}}
align: {given: t.align}
lm: {order: 2}
shards: {size: 12}
"""
GRID = """\
build: build.yaml
devtest: devtest
tests: [test]
train: {epochs: 1, epoch: {k: 10}, allow_seen_references: true}
grid:
  - {algorithm: iter_sel_sgd, tuning: train}
  - {algorithm: "toy_median:Median", tuning: train, set: {median_sgd.least: 1e-5}}
significance: {trials: 10}
"""


def test_an_experiments_table_has_it_by_its_own_name(tmp_path):
    words = {"das": ["the", "that"], "haus": ["house", "home"], "ist": ["is"], "klein": ["small"], "hund": ["dog"]}
    names, draw = list(words), random.Random(1)
    lines = [[names[(i * j + i // 5) % 5] for j in range(1, 4 + i % 3)] for i in range(1, 43)]
    (tmp_path / "t.de").write_text("".join(f"{' '.join(line)}\n" for line in lines))
    (tmp_path / "t.en").write_text(
        "".join(f"{' '.join(draw.choice(words[word]) for word in line)}\n" for line in lines)
    )
    (tmp_path / "t.align").write_text("".join(f"{' '.join(f'{k}-{k}' for k in range(len(one)))}\n" for one in lines))
    (tmp_path / "build.yaml").write_text(BUILD)
    (tmp_path / "grid.yaml").write_text(GRID)
    config = load_experiment(tmp_path / "grid.yaml")
    build_data(config)
    plans = plan_cells(config)
    assert [plan.cell.name for plan in plans] == ["iter_sel_sgd-train-all", "median_sgd-train-all"]
    assert len(list(run_cells(plans))) == 2
    table = paper_table(evaluate_cells(config, plans))
    assert "updates" in table.text(), "it chooses by updates"
    legend = " ".join(table.legend)
    assert "4 IterSelSGD" in legend and "5 MedianSGD" in legend, "one without a number gets the next free one"

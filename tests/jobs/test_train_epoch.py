"""An epoch as a job on mrjob's own runners: by hand and from the driver, the same bytes as the driver's own engine."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine_cases import ALGORITHMS, assert_same_run, small_data
from itersel.base.errors import InputError, UserError
from itersel.base.version import describe_build
from itersel.learn.mixing import Selection
from itersel.lm.model import LanguageModels
from itersel.mapreduce.records import (
    Block,
    collect,
    collect_translations,
    map_shard,
    parse_task_line,
    reduce_pieces,
    task_line,
)
from itersel.mapreduce.work_item import MapTask, Part
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run.config import RunConfig
from itersel.run.driver import train
from itersel.run.layout import TrainLayout
from itersel.shards.shard import Shard

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def inline(data, tmp_path_factory):
    """Runs by the driver's own engine, by algorithm and layout."""
    made = {}

    def run(algorithm, layout=None):
        if (algorithm, layout) not in made:
            folder = tmp_path_factory.mktemp("inline") / "run"
            chosen = layout or (TrainLayout("random") if algorithm == "sgd" else TrainLayout())
            config = replace(data, algorithm=algorithm, layout=chosen)
            train(config, folder, warn=lambda text: None)
            made[algorithm, layout] = config, folder
        return made[algorithm, layout]

    return run


@pytest.mark.parametrize("reducers", [1, 3])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_driver_on_mrjob_inline(tmp_path, inline, algorithm, reducers):
    config, expected = inline(algorithm)
    train(replace(config, run=RunConfig("mrjob-inline", reducers=reducers)), tmp_path / "run", warn=lambda text: None)
    assert_same_run(expected, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["mix_sgd", "iter_sel_sgd"])
def test_driver_on_mrjob_local(tmp_path, inline, algorithm):
    config, expected = inline(algorithm, TrainLayout("reshard", shards=3))
    train(replace(config, run=RunConfig("mrjob-local", reducers=3)), tmp_path / "run", warn=lambda text: None)
    assert_same_run(expected, tmp_path / "run")


def test_engines_can_change_within_a_run(tmp_path, inline):
    config, expected = inline("mix_sgd")
    for epochs, runner in ((1, "mrjob-inline"), (2, "inline"), (3, "mrjob-inline")):
        train(replace(config, epochs=epochs, run=RunConfig(runner)), tmp_path / "run", warn=lambda text: None)
    assert_same_run(expected, tmp_path / "run")


@pytest.mark.slow
def test_job_by_hand(tmp_path, inline):
    """The documented command line, its records shuffled."""
    config, folder = inline("iter_sel_sgd")
    tasks = config.layout.tasks([Shard(path) for path in config.shards], 1, folds=3)
    (tmp_path / "tasks.jsonl").write_text("".join(task_line(task) + "\n" for task in tasks))
    job = [sys.executable, ROOT / "jobs" / "train_epoch.py", "-r", "local", "--no-conf", tmp_path / "tasks.jsonl"]
    job += ["--configuration", folder / "run.json", "--weights", folder / "epoch-001" / "weights.vec"]
    job += ["--epoch", "2", "--shards", "4", "--reducers", "2", "--lm", config.language_model]
    job += [word for path in config.fold_models for word in ("--fold-lm", path)]
    done = subprocess.run(job, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True)
    assert done.returncode == 0, done.stderr
    records = [tuple(map(json.loads, line.split("\t"))) for line in done.stdout.splitlines()]
    random.Random(1).shuffle(records)
    known = Weights.read(folder / "epoch-001" / "weights.txt.gz")
    made = collect(records, 4, 2, config.selection, names=known)
    assert made.columns.to_bytes() == (folder / "epoch-002" / "norms.vec").read_bytes()
    assert [line["lists"] for line in made.statistics] == [7, 30, 12, 21]


def test_missing_and_doubled_shards_are_noticed(inline):
    config, folder = inline("iter_mix_sgd")
    start = Vector.read(folder / "start.vec")
    lines = [task_line(task) for task in config.layout.tasks([Shard(path) for path in config.shards], 0)]
    mapped = [list(map_shard(line, start, LanguageModels(), config, epoch=0)) for line in lines[:3]]
    pieces = [records[0][1] for records in mapped]
    with pytest.raises(InputError, match="weights of 1 of 3 shards are missing: 2"):
        list(reduce_pieces("0", pieces[:2], 3, Selection()))
    with pytest.raises(InputError, match="shard 1 came twice"):
        list(reduce_pieces("0", [*pieces, pieces[1]], 3, Selection()))
    reduced = list(reduce_pieces("0", pieces, 3, Selection()))
    with pytest.raises(InputError, match="0 of 3 shards and 1 of 2 ranges"):
        collect(reduced, 3, 2, Selection())
    with pytest.raises(InputError, match="damaged"):
        collect([("0", "?")], 3, 1, Selection())
    with pytest.raises(InputError, match="blocks are missing, first 0"):
        collect_translations([], 2)


def test_task_lines(inline):
    config, _ = inline("mix_sgd", TrainLayout("tasks"))
    for task in config.layout.tasks([Shard(path) for path in config.shards], 0):
        assert parse_task_line(task_line(task)) == (task, None)
    for line in ("shard.0", "{}", '{"state": "?"}', '{"state": null, "number": 1}'):
        with pytest.raises(InputError, match="not a map task"):
            parse_task_line(line)
    with pytest.raises(InputError, match="not a block"):
        Block.from_line("[1, 2]")


def test_another_shard_under_the_same_name_is_refused(inline):
    config, _ = inline("iter_mix_sgd")
    task = MapTask(0, (Part(config.shards[0], 1),), 7)
    with pytest.raises(InputError, match=r"0\.itsh\): another shard than the driver's"):
        list(map_shard(task_line(task), None, LanguageModels(), config, epoch=0))


@pytest.mark.slow
@pytest.mark.parametrize(("key", "value"), [("itersel", "0.0.1"), ("build", "0123456789abcdef")])
def test_worker_of_another_version_is_refused(tmp_path, inline, key, value):
    _, folder = inline("iter_sel_sgd")
    values = json.loads((folder / "run.json").read_text())
    values["versions"][key] = value
    (tmp_path / "run.json").write_text(json.dumps(values))
    (tmp_path / "tasks.jsonl").write_text("{}\n")
    job = [sys.executable, ROOT / "jobs" / "train_epoch.py", "-r", "inline", "--no-conf", tmp_path / "tasks.jsonl"]
    job += ["--configuration", tmp_path / "run.json", "--shards", "1"]
    done = subprocess.run(job, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True)
    assert done.returncode != 0
    theirs = values["versions"]
    assert f"the driver runs itersel {theirs['itersel']} (build {theirs['build']})" in done.stderr
    assert f"has {describe_build()} in" in done.stderr


def test_failure_names_the_shard(tmp_path, data):
    broken = tmp_path / "broken.itsh"
    content = bytearray(Path(data.shards[1]).read_bytes())
    broken.write_bytes(content)
    config = replace(data, shards=(data.shards[0], str(broken)), run=RunConfig("mrjob-inline"))
    train(replace(config, epochs=1), tmp_path / "run", warn=lambda text: None)
    content[len(content) // 2] ^= 1
    broken.write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.itsh"):
        train(config, tmp_path / "run", warn=lambda text: None)

"""The epoch's job on mrjob's runners: the same bytes as the driver's own."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from itersel.drive import train
from itersel.epoch import EpochConfig
from itersel.errors import InputError
from itersel.features import Weights
from itersel.learn import LearnConfig
from itersel.mapreduce import collect, map_shard, parse_address, reduce_pieces
from itersel.mix import Selection
from itersel.shard import ShardWriter
from itersel.train_config import TrainConfig
from itersel.vectors import Vector

ROOT = Path(__file__).resolve().parents[2]
WORDS = {"das": ["the", "that"], "haus": ["house", "home"], "ist": ["is", "was"], "klein": ["small", "little"]}
GRAMMAR = "".join(f"[X] ||| {s} ||| {t} ||| p={k}\n" for s, targets in WORDS.items() for k, t in enumerate(targets))


@pytest.fixture(scope="module", params=["iter_mix_sgd", "iter_sel_sgd"])
def run(request, tmp_path_factory):
    """A run of two epochs by the driver, with its three shards."""
    folder, draw = tmp_path_factory.mktemp("run"), random.Random(2)
    shards = []
    for number in range(3):
        writer = ShardWriter(groups=("id", "ng"))
        for _ in range(5 + number):
            words = draw.choices(list(WORDS), k=4)
            writer.add(" ".join(words), [" ".join(draw.choice(WORDS[w]) for w in words)], GRAMMAR.encode())
        shards.append(str(folder / f"{number}.shard"))
        writer.write(shards[-1])
    Weights({"p": -0.01, "elsewhere": 0.5}).write(folder / "start.txt")
    config = TrainConfig(
        tuple(shards),
        start=str(folder / "start.txt"),
        algorithm=request.param,
        epochs=2,
        epoch=EpochConfig(k=20, learn=LearnConfig(eta=0.01)),
        selection=Selection(top=9),
    )
    train(config, folder / "run", warn=lambda text: None)
    (folder / "addresses.tsv").write_text("".join(f"{number}\t{path}\n" for number, path in enumerate(shards)))
    return folder, config


def selection_of(config):
    return config.selection if config.algorithm == "iter_sel_sgd" else Selection()


@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.slow)])
@pytest.mark.parametrize("reducers", [1, 3])
def test_same_bytes_as_the_driver(run, runner, reducers):
    folder, config = run
    for epoch in (1, 2):
        start = folder / "run" / ("start.vec" if epoch == 1 else "epoch-001/weights.vec")
        known = folder / ("start.txt" if epoch == 1 else "run/epoch-001/weights.txt.gz")
        job = [sys.executable, ROOT / "jobs" / "train_epoch.py", "-r", runner, "--no-conf", folder / "addresses.tsv"]
        job += ["--configuration", folder / "run" / "run.json", "--weights", start, "--epoch", str(epoch)]
        job += ["--shards", "3", "--reducers", str(reducers)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(job, capture_output=True, env=environment, text=True)
        assert done.returncode == 0, done.stderr
        records = [tuple(map(json.loads, line.split("\t"))) for line in done.stdout.splitlines()]
        random.Random(epoch).shuffle(records)
        model = collect(records, 3, reducers, selection_of(config), names=Weights.read(known))
        expected = (folder / "run" / f"epoch-00{epoch}" / "weights.vec").read_bytes()
        assert model.weights.to_bytes() == expected
        assert dict(zip(model.names(model.weights.ids), model.weights.values.tolist(), strict=True)) == dict(
            Weights.read(folder / "run" / f"epoch-00{epoch}" / "weights.txt.gz")
        )
        assert [line["lists"] for line in model.statistics] == [5, 6, 7]


def test_missing_and_doubled_shards_are_noticed(run):
    folder, config = run
    start = Vector.read(folder / "run" / "start.vec")
    mapped = [list(map_shard(k, config.shards[k], start, None, config.epoch)) for k in (0, 1, 2)]
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
    with pytest.raises(InputError, match="not the address"):
        parse_address("shard.0")


def test_other_plans_are_refused(run, tmp_path):
    folder, _ = run
    values = json.loads((folder / "run" / "run.json").read_text())
    values["configuration"]["algorithm"] = "mix_sgd"
    (tmp_path / "run.json").write_text(json.dumps(values))
    job = [sys.executable, ROOT / "jobs" / "train_epoch.py", "-r", "inline", "--no-conf", folder / "addresses.tsv"]
    job += ["--configuration", tmp_path / "run.json", "--shards", "3"]
    done = subprocess.run(job, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True)
    assert done.returncode != 0
    assert "This job is for iter_mix_sgd and iter_sel_sgd" in done.stderr

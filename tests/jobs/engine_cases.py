"""What every engine's tests share: data, the inline engine's run to compare with, and the comparison."""

from __future__ import annotations

import json
import os
import random
from dataclasses import asdict
from pathlib import Path

import pytest

from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import SelectionConfig
from itersel.lm.arpa import write_arpa
from itersel.lm.estimate import Settings, estimate
from itersel.model.features import Weights
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from itersel.shards.shard import ShardWriter

ALGORITHMS = ("sgd", "mix_sgd", "iter_mix_sgd", "iter_sel_sgd")
WORDS = {
    "das": ["the", "that"],
    "haus": ["house", "home"],
    "ist": ["is", "was"],
    "klein": ["small", "little"],
    "ein": ["a", "one"],
    "hund": ["dog", "hound"],
}
GRAMMAR = "".join(
    [f"[X] ||| {source} ||| {target} ||| p={k}\n" for source, each in WORDS.items() for k, target in enumerate(each)]
    + [f"[X] ||| [X,1] {source} ||| {targets[0]} [X,1] ||| q=1\n" for source, targets in WORDS.items()]
).encode()


def write_shard(path: Path, sentences: int, seed: int, domain: str = "") -> str:
    """A small shard of random sentences."""
    draw, writer = random.Random(seed), ShardWriter(groups=("id", "ng", "shape"))
    for number in range(sentences):
        words = draw.choices(list(WORDS), k=draw.randint(3, 8))
        target = " ".join(draw.choice(WORDS[word]) for word in words)
        writer.add(
            " ".join(words), [target], GRAMMAR, id=str(1000 * seed + number), domain=domain and f"{domain}{number % 3}"
        )
    writer.write(path)
    return str(path)


def write_model(path: Path, seed: int) -> str:
    """A bigram model of random sentences; each seed prefers other words."""
    draw = random.Random(seed)
    favourites = [draw.choice(targets) for targets in WORDS.values()]
    text = [" ".join(draw.choices(favourites, k=5)) for _ in range(40)] + list(map(" ".join, WORDS.values()))
    with open(path, "wb") as stream:
        write_arpa(estimate(text, Settings(order=2)), stream)
    return str(path)


def small_data(folder: Path) -> TrainConfig:
    """Four shards of different sizes, language models by fold, devtest and start weights; three epochs."""
    shards = [write_shard(folder / f"{k}.itsh", size, k, "task") for k, size in enumerate((7, 30, 12, 21))]
    Weights({"p": -0.01, "elsewhere": 0.5}).write(folder / "start.txt")
    return TrainConfig(
        tuple(shards),
        devtest=(write_shard(folder / "dev.itsh", 10, 9),),
        language_model=write_model(folder / "lm.arpa", 100),
        fold_models=tuple(write_model(folder / f"lm.{k}.arpa", k) for k in range(3)),
        start=str(folder / "start.txt"),
        epochs=3,
        epoch=EpochConfig(k=20, learn=LearnConfig(eta=0.01)),
        selection=SelectionConfig(top=15),
        run=RunConfig("inline", reducers=2),
    )


def write_config(config: TrainConfig, path: Path) -> None:
    """The configuration as a file for the command line."""
    values = asdict(config)
    for internal in ("own", "keep_start", "open_choices"):
        del values[internal]
    path.write_text(json.dumps(values))


def run(config: TrainConfig, folder: Path) -> dict[str, bytes]:
    """Train, and give the bytes of all files that must not depend on the engine."""
    train(config, folder, warn=lambda text: None)
    return content(folder)


def content(folder: Path) -> dict[str, bytes]:
    """All files but those that tell of this run's machines and times."""
    free = {"run.json", "statistics.jsonl"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.name not in free
    }


def statistics(folder: Path) -> list[dict]:
    """The run's statistics without what tells of machines and times."""
    lines = [json.loads(line) for line in (folder / "statistics.jsonl").read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("seconds", "made")} for line in lines]


def assert_same_run(one: Path, other: Path) -> None:
    """Two finished runs have the same bytes and statistics."""
    expected, found = content(one), content(other)
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if found[name] != expected[name]] == []
    assert statistics(one) == statistics(other)


def unavailable(reason: str) -> None:
    """Skip where an engine cannot be installed; where all tests must run (CI=true), fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} (and CI=true, so this is not skipped)")
    pytest.skip(reason)

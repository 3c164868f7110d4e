"""Data that the tests of all engines share: made once, for all processes of a session."""

from __future__ import annotations

import gzip
import itertools
import shutil
from pathlib import Path

import pytest

from itersel.cli import main
from itersel.decode.decoder import DecoderConfig
from itersel.grammar.extraction import build_index
from itersel.learn.epoch import EpochConfig
from itersel.learn.mixing import SelectionConfig
from itersel.run.config import TrainConfig
from made_once import made_once
from small_demo import write_small_demo

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = 2000


@pytest.fixture(scope="session")
def demo_training(tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    """Two epochs of IterSelSGD over 1,000 sentences of the demo corpus in four shards."""

    def make(folder: Path) -> None:
        shutil.copytree(ROOT / "conf", folder / "conf")
        write_small_demo(folder / "data" / "demo", train=1000)
        assert main(["build", str(folder / "conf" / "demo.yaml"), "--set", "shards.shards=4"]) == 0

    work = made_once("demo", tmp_path_factory, make) / "work" / "demo"
    return TrainConfig(
        shards=tuple(str(work / "shards" / "train" / f"shard.{number:04d}.itsh") for number in range(4)),
        language_model=str(work / "model" / "lm.arpa.gz"),
        epochs=2,
        selection=SelectionConfig(top=2000),
    )


@pytest.fixture(scope="session")
def multi30k_training(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainConfig:
    """Two epochs of IterSelSGD over the first 2,000 sentences of Multi30k in four shards, with a trigram model.

    Rules and search are kept small: some 8 seconds to make the shards, 3 an epoch. Engines replace only `run`.
    """

    def make(folder: Path) -> None:
        texts = {side: shared_data / "multi30k" / f"train.tok.lc.{side}.gz" for side in ("de", "en")}
        build_index(texts["de"], texts["en"], shared_data / "cdec-m30k" / "train.alignment.gz", folder / "index")
        for side, path in texts.items():
            with gzip.open(path, "rb") as stream:
                (folder / side).write_bytes(b"".join(itertools.islice(stream, SENTENCES)))
        command = ["shard", "--sentences", folder / "de", "--references", folder / "en", "--index", folder / "index"]
        command += ["--leave-one-out", "--max-samples", 20, "--max-nonterminals", 1, "--max-symbols", 4]
        assert main([str(word) for word in [*command, "--shards", 4, "--output", folder / "shards"]]) == 0

    folder = made_once("multi30k", tmp_path_factory, make)
    return TrainConfig(
        shards=tuple(str(folder / "shards" / f"shard.{number:04d}.itsh") for number in range(4)),
        language_model=str(shared_data / "cdec-m30k" / "lm3.arpa.gz"),
        epochs=2,
        epoch=EpochConfig(decoder=DecoderConfig(pop_limit=30), k=30),
        selection=SelectionConfig(top=5000),
    )


@pytest.fixture(scope="session")
def real_training(request: pytest.FixtureRequest) -> TrainConfig:
    """Multi30k's 2,000 sentences; where that data is absent, the demo's."""
    absent = not (ROOT.parent / "shared" / "data").is_dir()
    return request.getfixturevalue("demo_training" if absent else "multi30k_training")

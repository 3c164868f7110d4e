"""A first training that fails through a mistake of the user's does not claim its directory."""

from pathlib import Path

import pytest

import itersel
from itersel.cli import main

NOISE = "not a model\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--lm", "bad.arpa"], "bad.arpa: not a readable ARPA"),
        (["--lm", "nosuch.arpa"], "nosuch.arpa: language_model: no such file"),
        (["--start", "nosuch.weights"], "nosuch.weights: start: no such file"),
        (["--start", "bad.arpa"], "bad.arpa:1"),
        (["--eta", "-1"], "--eta: epoch.learn.eta is -1.0"),
        (["-k", "1"], "-k: epoch.k is 1"),
        (["--set", "epoch.learn.pairs.share=7"], "--set epoch.learn.pairs.share=7: epoch.learn.pairs.share is 7"),
    ],
)
def test_the_next_training_may_use_the_directory(
    small_build: itersel.Build, tmp_path: Path, monkeypatch, capsys, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.arpa").write_text(NOISE)
    train = ["train", "--build", str(small_build.directory), "--algorithm", "sgd", "--epochs", "1", "--output", "run"]
    assert main([*train, *options]) == 2
    assert message in capsys.readouterr().err
    assert not Path("run").exists()
    Path("run").mkdir()
    assert main([*train, *options]) == 2
    assert [entry.name for entry in Path("run").iterdir()] in ([], [".lock"])
    assert main(train) == 0


def test_other_files_and_finished_epochs_stay(small_build: itersel.Build, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.arpa").write_text(NOISE)
    train = ["train", "--build", str(small_build.directory), "--algorithm", "sgd", "--epochs", "1", "--output"]
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("years")
    assert main([*train, "mine"]) == 2
    assert Path("mine/thesis.tex").read_text() == "years"
    assert main([*train, "run"]) == 0
    assert main([*train, "run", "--lm", "bad.arpa"]) == 2
    assert Path("run/weights.txt.gz").is_file() and len(itersel.Run("run").epochs) == 1

"""Training on a build, and the refusal to train with a language model that has seen the references."""

import json
from pathlib import Path

import pytest

import itersel
from itersel.base.errors import ConfigError, InputError
from itersel.cli import main
from itersel.run.build_folder import RECORD, BuildFolder, with_build
from itersel.run.config import TrainConfig


def test_a_build_with_leave_one_out_has_models_by_fold(small_build: itersel.Build) -> None:
    assert len(small_build.fold_models) == 10 and all(path.is_file() for path in small_build.fold_models)
    record = json.loads((small_build.directory / RECORD).read_text())
    assert record["sets"] == {name: f"shards/{name}" for name in ("train", "devtest", "dev")}


def test_training_on_a_build_finds_everything(small_build: itersel.Build, tmp_path: Path) -> None:
    folder = str(small_build.directory)
    assert main(["train", "--build", folder, "--output", str(tmp_path / "run"), "--epochs", "1"]) == 0
    found = itersel.Run(tmp_path / "run").configuration
    assert found["shards"] == [f"{folder}/shards/train/*.itsh"]
    assert found["devtest"] == [f"{folder}/shards/devtest/*.itsh"]
    assert found["language_model"] == str(small_build.language_model)
    assert found["fold_models"] == [str(path) for path in small_build.fold_models]
    run = itersel.train(small_build, tmp_path / "sgd", algorithm="sgd", epochs=1)
    assert run.configuration["shards"] == [f"{folder}/shards/dev/*.itsh"]
    assert run.configuration["fold_models"] == []  # its sentences are not in the training text
    (tmp_path / "c.yaml").write_text(f"build: {folder}\nepochs: 1\n")
    assert main(["train", str(tmp_path / "c.yaml"), "--output", str(tmp_path / "run")]) == 0  # the same run


def test_a_model_that_knows_the_references_is_refused(small_build: itersel.Build, tmp_path: Path, capsys) -> None:
    """By content: also where the model and the shards were made by hand, from other files."""
    text = (small_build.directory / "text" / "train.reference.0").read_text()
    (tmp_path / "mine.en").write_text(text.replace(" ", "  "))
    lm = ["lm", "--text", str(tmp_path / "mine.en"), "--order", "2", "--output", str(tmp_path / "mine.arpa")]
    assert main(lm) == 0
    shards = str(small_build.directory / "shards" / "train" / "*.itsh")
    for model in (str(tmp_path / "mine.arpa"), str(small_build.language_model)):
        train = ["train", "--shards", shards, "--lm", model, "--output", str(tmp_path / "run"), "--epochs", "1"]
        capsys.readouterr()
        assert main(train) == 2
        message = capsys.readouterr().err
        assert "has seen the references" in message and "100%" in message and "--build" in message
        assert not (tmp_path / "run" / "run.json").exists()
    assert main([*train, "--allow-seen-references"]) == 0


def test_a_development_set_that_the_model_knows_is_refused(small_build: itersel.Build, tmp_path: Path, capsys) -> None:
    """Training sentences are decoded with models by fold, but those of the last search with the model of all."""
    (tmp_path / "start").write_text("LanguageModel 1\n")
    train = ["train", "--build", str(small_build.directory), "--algorithm", "hols", "--start", str(tmp_path / "start")]
    seen = sorted((small_build.directory / "shards" / "train").glob("*.itsh"))[0]
    assert main([*train, "--set", f"hols.dev=[{seen}]", "--output", str(tmp_path / "run")]) == 2
    message = capsys.readouterr().err
    assert f"of those in {seen} are in the text of" in message and "--fold-lm" not in message
    assert main([*train, "--set", "hols.dev=[absent.itsh]", "--output", str(tmp_path / "run")]) == 2
    assert "absent.itsh" in capsys.readouterr().err
    assert not (tmp_path / "run" / "run.json").exists()


def test_models_in_the_wrong_order_are_refused(small_build: itersel.Build, tmp_path: Path) -> None:
    folds = [*small_build.fold_models[1:], small_build.fold_models[0]]
    with pytest.raises(ConfigError, match="has seen the references"):
        itersel.train(
            small_build.shards(), tmp_path / "run", language_model=small_build.language_model, fold_models=folds
        )


def test_a_folder_without_a_build_and_unknown_sets_are_errors(small_build: itersel.Build, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished build"):
        BuildFolder.read(tmp_path)
    with pytest.raises(ConfigError, match="no set 'tset'"):
        with_build(TrainConfig(build=str(small_build.directory), learn_from="tset"))
    with pytest.raises(ConfigError, match="there is no build"):
        with_build(TrainConfig(learn_from="dev"))
    with pytest.raises(ConfigError, match="exclude each other"):
        with_build(TrainConfig(build=str(small_build.directory), learn_from="dev", shards=("a",)))
    (tmp_path / RECORD).write_text('{"kind": "build", "format": 1, "sets": []}')
    with pytest.raises(InputError, match="damaged"):
        BuildFolder.read(tmp_path)

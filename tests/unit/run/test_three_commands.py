"""build, train, evaluate: from a build to a scored test set; and what `translate` does with shards and weights."""

import json
from pathlib import Path

import pytest

import itersel
from itersel.cli import main
from itersel.decode.coverage import names_in, unmet_weights
from itersel.metrics.corpus import CorpusMetric


@pytest.fixture(scope="module")
def run(small_build: itersel.Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run") / "run"
    assert main(["train", "--build", str(small_build.directory), "--output", str(place), "--epochs", "1"]) == 0
    return place


def test_a_run_is_tested_on_a_set_of_its_build(small_build: itersel.Build, run: Path, tmp_path: Path, capsys) -> None:
    """The scores are those of the decoder's translations, which `itersel.translate` gives, too."""
    build = ["--build", str(small_build.directory), "--on", "dev"]
    capsys.readouterr()
    command = ["evaluate", *build, f"mine={run}", "--hand-set", "--outputs", str(tmp_path), "--json", "--trials", "10"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    shards = small_build.shards("dev")
    lines = itersel.translate(shards, itersel.Run(run))
    assert (tmp_path / "mine.dev.txt").read_text().splitlines() == lines
    bleu = CorpusMetric("bleu", [shards[0].references(number) for number in range(len(shards[0]))])
    scores = {one["system"]: one["mean"] for one in found["scores"] if one["metric"] == "bleu"}
    assert scores["mine"] == pytest.approx(bleu.score(bleu.statistics(lines)))
    assert list(scores) == ["hand-set", "mine"]
    for wrong in (["--on", "dve"], ["--on", "dev", "--reference", "x"], []):
        assert main(["evaluate", "--build", str(small_build.directory), f"mine={run}", *wrong]) == 2
    assert main(["evaluate", "--on", "dev", f"mine={run}"]) == 2
    assert main(["evaluate", *build, f"mine={tmp_path}"]) == 2


def test_translate_reads_shards_and_runs(small_build: itersel.Build, run: Path, tmp_path: Path) -> None:
    folder = small_build.directory / "shards" / "dev"
    expected = itersel.translate(small_build.shards("dev"), itersel.Run(run))
    for inputs in ([str(folder)], [str(path) for path in sorted(folder.glob("*.itsh"))]):
        command = ["translate", *inputs, "--weights", str(run), "--jobs", "2", "--output", str(tmp_path / "out")]
        assert main(command) == 0
        assert (tmp_path / "out").read_text().splitlines() == expected
    assert main(["translate", str(folder), "--weights", str(run), "--kbest", "3", "--output", str(tmp_path / "k")]) == 0
    lists = [line.split(" ||| ") for line in (tmp_path / "k").read_text().splitlines()]
    firsts = {id: text for id, text, *_ in reversed(lists)}
    assert [firsts[str(number)] for number in range(len(expected))] == expected
    assert main(["translate", str(folder), "--weights", str(run), "--features", "dense"]) == 2
    assert main(["translate", str(folder), "--weights", str(folder)]) == 2


def test_translate_has_the_features_that_the_weights_name(
    small_build: itersel.Build, run: Path, tmp_path: Path, capsys
) -> None:
    """Grammars as `extract --build` makes them, with the options of the build, give what the shards give."""
    sentences, grammars = small_build.directory / "text" / "dev.source", tmp_path / "grammars"
    extract = ["extract", "--build", str(small_build.directory), "--sentences", str(sentences)]
    assert main([*extract, "--output", str(grammars)]) == 0
    weights = tmp_path / "weights"
    assert any(name.startswith("R:") for name in itersel.Run(run).weights)
    learned = dict(itersel.Run(run).weights) | {"R:[X]_haus_HOUSE": 50.0}  # decides every sentence that has it
    rule = next(name for name in learned if name.startswith("R:") and "HOUSE" in name)
    learned[rule] = 50.0
    itersel.Weights(learned).write(weights)
    texts = {}
    for name, options in (("default", []), ("all", ["--features", "all"]), ("dense", ["--features", "dense"])):
        command = ["translate", str(sentences), "--grammars", str(grammars), "--weights", str(weights)]
        capsys.readouterr()
        assert (
            main([*command, "--lm", str(small_build.language_model), "--output", str(tmp_path / name), *options]) == 0
        )
        texts[name] = (tmp_path / name).read_text().splitlines()
        warned = "they have no effect" in capsys.readouterr().err
        assert warned == (name == "dense")
    model = itersel.Weights(learned)
    shards = itersel.translate(small_build.shards("dev"), model, language_model=small_build.language_model)
    assert texts["default"] == texts["all"] == shards != texts["dense"]


def test_weights_without_features() -> None:
    grammar = b"[X] ||| a ||| b ||| p=1 q=2 ||| 0-0\n[X] ||| c ||| d ||| 0.5 0.25\n[X] ||| e ||| f"
    assert names_in(grammar) == {"p", "q", "PhraseModel_0", "PhraseModel_1"}
    weights = {"p": 1.0, "Glue": 1.0, "R:x": 1.0, "Shape_1": 2.0}
    assert list(unmet_weights(weights, ("id", "shape"), {"p"})) == []
    assert len(list(unmet_weights(weights, (), {"p"}))) == 2
    (text,) = unmet_weights({"p": 1.0, "r": 1.0, "s": 0.5, "t": 0.0}, (), {"p"})
    assert text == "2 of 3 dense weights have no feature in the grammar: r, s"

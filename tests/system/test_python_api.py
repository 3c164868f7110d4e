"""The Python interface: every example of its page, from top to bottom, and what the page does not show."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import itersel
from engine_cases import content, small_data, write_shard
from itersel.run.driver import train

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "python-api.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_page(tmp_path, monkeypatch):
    """What a block of text shows is what the example before it prints."""
    monkeypatch.chdir(tmp_path)
    page, names, said = DOCUMENT.read_text(), {}, ""
    for block in BLOCK.finditer(page):
        kind, text = block.groups()
        line = page[: block.start()].count("\n") + 2
        if kind == "text":
            assert said == text, f"{DOCUMENT.name}:{line}"
            continue
        with contextlib.redirect_stdout(io.StringIO()) as stream:
            exec(compile("\n" * (line - 1) + text, str(DOCUMENT), "exec"), names)
        said = stream.getvalue()
    run, tuned, evaluation = names["run"], names["tuned"], names["evaluation"]
    assert len(run.curve) == 3 and run.curve[run.chosen] == max(run.curve[1:])
    assert names["difference"].better() == "trained"
    assert repr(evaluation).startswith("<Evaluation of 60 sentences: untrained BLEU ")
    assert repr(tuned).startswith("<Run runs/tuned: iter_mix_sgd, 2 epochs, ")
    assert len(run.translations) == 40 and run.report("page.html").is_file()
    assert repr(names["sample"]).endswith("work/sample: shards of train, devtest, dev, test>")


def test_ten_lines_are_enough():
    first = BLOCK.search(DOCUMENT.read_text())
    assert first and len([line for line in first[2].splitlines() if line]) <= 10


def test_every_public_name_is_on_the_page_or_an_option():
    page = DOCUMENT.read_text()
    for name in itersel.__all__:
        assert re.search(rf"\b{name}\b", page) or name in ("__version__", "DecoderConfig", "Vector"), name
        assert getattr(itersel, name) is not None
    assert set(itersel.__all__) <= set(dir(itersel))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        itersel.nothing  # noqa: B018


def test_importing_is_cheap():
    """Neither numpy nor the kernel is loaded before it is used."""
    code = "import sys, itersel; print([name for name in ('numpy', 'itersel._kernel', 'yaml') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_same_run_as_by_the_driver(tmp_path):
    config = small_data(tmp_path)
    train(config, tmp_path / "expected", warn=lambda text: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so small a set is not for learning
        again = itersel.train(config=config, directory=tmp_path / "expected")
        run = itersel.train(
            config.shards,
            tmp_path / "run",
            devtest=[itersel.Shard(path) for path in config.devtest],
            language_model=itersel.LanguageModel(config.language_model),
            fold_models=config.fold_models,
            start=itersel.Weights.read(config.start),
            epochs=3,
            epoch={"k": 20, "metric": "stupid_bleu", "shuffle": False, "learn": {"eta": 0.01}},
            selection={"top": 15},
            run={"runner": "inline", "reducers": 2},
        )
    expected, found = content(tmp_path / "expected"), content(tmp_path / "run")
    assert [name for name in expected if found.get(name) != expected[name]] == []
    assert run.configuration["epoch"]["learn"]["eta"] == 0.01
    assert itersel.translate(config.devtest, run) == run.translations
    assert again.curve == run.curve and again.epochs == run.epochs


def test_a_temporary_run_goes_with_its_object(tmp_path):
    run = itersel.train(write_shard(tmp_path / "shard", 5, 1), epochs=1, selection={"top": 1})
    folder = run.directory
    assert folder.is_dir() and run.curve == [] and run.translations == []
    assert repr(run) == f"<Run {folder}: iter_sel_sgd, 1 epoch, 1 weights of epoch 1>"
    del run
    assert not folder.exists()


def test_warnings_name_the_callers_line(tmp_path):
    shard = write_shard(tmp_path / "shard", 5, 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        itersel.train(shard, epochs=1)
    assert "selection.top" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_settings_of_a_complete_configuration(tmp_path):
    with pytest.raises(itersel.ConfigError, match=r"epochs: a TrainConfig is complete"):
        itersel.train(config=small_data(tmp_path), epochs=1)
    with pytest.raises(itersel.ConfigError, match=r"unknown key 'epoch\.learn\.speed'"):
        itersel.train("x", epoch={"learn": {"speed": 1}})


def test_outputs_and_references_in_all_forms(tmp_path):
    lines = ["a b c d e", "f g h i j"]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n")
    for outputs in (lines, tmp_path / "lines", str(tmp_path / "lines"), {"output": lines}):
        for references in (lines, tmp_path / "lines", [lines, ["x", "y"]], [tmp_path / "lines", lines]):
            found = itersel.evaluate(outputs, references, metrics=("bleu",), trials=10)
            assert repr(found) == "<Evaluation of 2 sentences: output BLEU 100.00>"
    with pytest.warns(UserWarning, match="some runs of a have the same output"):
        several = itersel.evaluate({"a": [lines, tmp_path / "lines", ["x", "y"]]}, lines, trials=10, tests=False)
    assert [round(one) for one in several.score("a").runs] == [100, 100, 0]
    with pytest.raises(itersel.ConfigError, match="references of 2, 1 lines"):
        itersel.evaluate(lines, [lines, ["x"]])


def test_hypotheses_are_reranked():
    lists = [[itersel.Hypothesis("a", 0.0, {"f": 1.0}), itersel.Hypothesis("b", 0.0, {"f": 2.0})], []]
    assert itersel.rerank(lists, {"f": 1.0}) == ["b", ""]
    assert itersel.rerank(lists, {}) == ["a", ""]


def test_representations(tmp_path):
    grammar = itersel.Grammar("[X] ||| ein ||| a ||| p=1\n")
    assert repr(grammar) == "<Grammar grammar: 1 rules>"
    assert grammar.text() == itersel.Grammar(b"[X] ||| ein ||| a ||| p=1\n").text()
    assert repr(itersel.Weights({"a": 0.5})) == "Weights({'a': 0.5})"
    many = {f"f{number}": 1.0 for number in range(1234)}
    assert repr(itersel.Weights(many)) == "<Weights of 1,234 features>"
    assert repr(itersel.Vector.of_names(many)) == "<Vector of 1,234 features>"
    model = small_data(tmp_path).language_model
    assert repr(itersel.LanguageModel(model)) == f"<LanguageModel {os.fspath(model)}: order 2>"


def test_build_settings(tmp_path):
    with pytest.raises(itersel.ConfigError, match=r"unknown key 'lm\.speed'"):
        itersel.build(itersel.resource("conf/sample.yaml"), work=tmp_path, lm={"speed": 1})
    with pytest.raises(itersel.ResourceError, match=r"lacks conf/none\.yaml"):
        itersel.resource("conf/none.yaml")

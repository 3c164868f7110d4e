"""Benchmarks are scripts that nothing imports: a renamed function would go unnoticed until somebody measures."""

import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from itersel.learn.learner import LearnConfig, Learner

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_every_script_loads_and_explains_itself(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])  # as `python benchmarks/….py` has it
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(script), run_name="__main__")
    assert not end.value.code
    assert capsys.readouterr().out.startswith("usage:")


@pytest.mark.parametrize("batch", [False, True])
def test_perceptron_with_held_weights(batch):
    """The loop in Python equals the kernel where nothing is held; otherwise, a held weight stays."""
    script = runpy.run_path(str(FOLDER / "perceptron.py"))
    draw, names = np.random.default_rng(1), ["a", "b", "c"]
    lists = []
    for _ in range(20):
        vectors = [dict(zip(names, draw.normal(size=3).tolist(), strict=True)) for _ in range(12)]
        lists.append(script["KBest"]([""] * 12, vectors, draw.random(12), ""))
    learn = LearnConfig(rule="perceptron", eta=0.5, batch=batch)
    free = script["Setting"]("free", learn, held=("none of them",))
    start = {"a": 0.25, "b": -1.0}
    by_loop = script["DenseLearner"](replace(free, start=True), names, start)
    held = script["DenseLearner"](replace(free, held=("a",)), names, start)
    by_kernel = Learner(learn, start)
    for number, one in enumerate(lists):
        by_kernel.learn(one.features, one.metric, sentence=number)
        by_loop.learn(one, number)
        held.learn(one, number)
        assert by_loop.weights == pytest.approx([by_kernel.weights.get(name, 0.0) for name in names], abs=1e-9)
        assert held.weights[0] == 0.25 and held.weights[1:].any()


@pytest.mark.parametrize("scale", ["norm", "best"])
def test_perceptron_with_normalised_weights(scale):
    """At a rate at which a list changes nothing, what remains is the division: by the norm, or by the best score."""
    script = runpy.run_path(str(FOLDER / "perceptron.py"))
    draw = np.random.default_rng(2)
    vectors = [{"a": float(a), "b": float(b)} for a, b in draw.normal(size=(9, 2))]
    one = script["KBest"]([""] * 9, vectors, draw.random(9), "")
    setting = script["Setting"]("x", LearnConfig(rule="perceptron", eta=1e-9), start=True, scale=scale)
    learner = script["DenseLearner"](setting, ["a", "b"], {"a": 3.0, "b": 4.0})
    learner.learn(one, 0)
    best = max(3 * vector["a"] + 4 * vector["b"] for vector in vectors)
    expected = np.array([3.0, 4.0]) / (5.0 if scale == "norm" else abs(best))
    assert learner.weights == pytest.approx(expected, abs=1e-6)

"""Candidates: weight vectors that several shards' MIRA hands over, mixed by name and compared on lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from itersel.algorithms.candidates_job import Candidates
from itersel.algorithms.mira import mixed

NAMES = ("a", "b", "c", "d")
VALUES = st.floats(-2, 2, allow_nan=False)


@st.composite
def shards(draw: st.DrawFn) -> list[dict[str, list[float]]]:
    """For each shard, the weights of its features after each pass."""
    passes = draw(st.integers(1, 3))
    rows = st.lists(VALUES, min_size=passes, max_size=passes)
    return draw(st.lists(st.dictionaries(st.sampled_from(NAMES), rows, min_size=1), min_size=1, max_size=4))


@given(shards(), st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_mixed_is_the_mean_by_name(given_shards: list[dict[str, list[float]]], start: dict[str, float]) -> None:
    passes = len(next(iter(given_shards[0].values())))
    handed_over = [
        (list(one), [np.array([row[k] for row in one.values()]).tobytes() for k in range(passes)])
        for one in given_shards
    ]
    candidates = mixed(start, handed_over)
    names = sorted({name for one in given_shards for name in one} | set(start))
    for k in range(passes):
        expected = {}
        for name in names:
            total = 0.0
            for one in given_shards:
                total += one[name][k] if name in one else start.get(name, 0.0)
            expected[name] = total / len(given_shards)
        found = candidates.weights(k)
        assert found == {name: value for name, value in expected.items() if value}
        assert list(found) == sorted(found)


def test_columns_are_looked_up_by_name() -> None:
    candidates = Candidates(["b", "a"], np.array([[1.0, 2.0], [3.0, 4.0]]))
    again = Candidates.from_bytes(candidates.to_bytes())
    assert again.columns(["a", "x", "b", "a"]).tolist() == [[2, 0, 1, 2], [4, 0, 3, 4]]


def test_no_weights_at_all() -> None:
    nothing = Candidates.from_bytes(Candidates.of({}).to_bytes())
    assert nothing.columns(["a", "b"]).tolist() == [[0, 0]] and nothing.weights(0) == {}

"""MIRA against its slow twin, and one update by hand."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.lists.accumulated import AccumulatedLists, NewList
from oracles import mira as oracle


def accumulated(lists):
    new = [NewList.of([str(k) for k in range(len(x))], x, np.array(rows, np.float32)) for x, rows in lists]
    return AccumulatedLists.empty([str(k) for k in range(len(lists))], 10).extended(new)


def native(lists):
    return _kernel.MiraLists(lists.offsets, lists.starts, lists.features, lists.values, lists.statistics)


@given(st.integers(0, 10**6), st.floats(0.01, 1.0))
@settings(max_examples=60, deadline=None)
def test_it_equals_its_slow_twin(seed, c):
    draw = np.random.default_rng(seed)
    lists = []
    for _ in range(draw.integers(1, 5)):
        vectors = [
            {str(k): float(draw.normal()) for k in draw.choice(6, draw.integers(1, 4), replace=False)} for _ in range(4)
        ]
        counts = np.sort(draw.integers(4, 9, (4, 4)), axis=1)[:, ::-1]
        rows = np.column_stack([counts[:, 0], np.full(4, 6), np.minimum(counts, draw.integers(0, 9, (4, 4))), counts])
        lists.append((vectors, rows))
    orders = [draw.permutation(len(lists)) for _ in range(3)]
    weights, average = oracle.run(lists, {"0": 0.1}, orders, c, 0.9)
    made = accumulated(lists)
    mira = _kernel.Mira(np.array([0.1 if name == "0" else 0.0 for name in made.names]), 4, c, 0.9)
    for order in orders:
        mira.run(native(made), order.astype(np.uint32))
    np.testing.assert_allclose(mira.weights, [weights.get(name, 0.0) for name in made.names], atol=1e-9)
    np.testing.assert_allclose(mira.average, [average.get(name, 0.0) for name in made.names], atol=1e-9)


def test_two_sentences_by_hand():
    """Every n-gram of the first hypothesis matches and none of the second's; background and hypothesis have length 4.

    With background 1 everywhere, BLEU is exp(mean log((1 + m)/(1 + c))): 1 for the first (m = c = 4) and 1/5 for the
    second; r = 1 + 4, so the gains are 5 and 1. Features differ by (1, −1): the loss is 4, the step min(c, 4/2).
    """
    good, bad = [4, 4, *[4] * 4, *[4] * 4], [4, 4, *[0] * 4, *[4] * 4]
    lists = accumulated([([{"a": 1.0}, {"b": 1.0}], [good, bad])] * 2)
    mira = _kernel.Mira(np.zeros(2), 4, 0.5, 1.0)
    first = mira.run(native(lists), np.array([0], np.uint32))
    assert (first["lists"], first["updates"]) == (1, 1) and math.isclose(first["loss"], 4.0)
    assert mira.weights.tolist() == [0.5, -0.5]
    # Now the background is 5 everywhere: the gains are 9 and 9·exp(mean log(5/9)) = 5; the margin is 1 already.
    second = mira.run(native(lists), np.array([1], np.uint32))
    assert math.isclose(second["loss"], 3.0)
    assert mira.weights.tolist() == [1.0, -1.0]
    assert mira.average.tolist() == [0.75, -0.75]


def test_the_loss_falls_from_pass_to_pass():
    """The two sentences again, with small steps: until hope is ahead of fear by the difference of their gains."""
    good, bad = [4, 4, *[4] * 4, *[4] * 4], [4, 4, *[0] * 4, *[4] * 4]
    lists = accumulated([([{"a": 1.0}, {"b": 1.0}], [good, bad])] * 2)
    mira = _kernel.Mira(np.zeros(2), 4, 0.05, 0.5)
    losses = [mira.run(native(lists), np.array([0, 1], np.uint32))["loss"] for _ in range(60)]
    # With decay 0.5, the background tends to 4 everywhere: the gains are 8 and 8·exp(mean log(4/8)) = 4.
    assert all(later <= earlier for earlier, later in pairwise(losses[8:]))
    assert losses[0] > 6 and losses[-1] == pytest.approx(0, abs=1e-3)
    assert mira.weights.tolist() == pytest.approx([2.0, -2.0], abs=1e-3)


def test_statistics_must_be_bleus():
    with pytest.raises(InputError, match="MIRA needs BLEU's statistics"):
        _kernel.MiraLists(np.array([0, 1]), np.array([0, 0]), np.zeros(0, "u4"), np.zeros(0), np.zeros((1, 3), "f4"))

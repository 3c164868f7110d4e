"""Ranges of weights: what a step may do to them, by trying steps, and points that keep to them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError
from itersel.tune.ascent import within
from itersel.tune.space import Dimension, SearchSpace

RANGES = [(-math.inf, math.inf), (0.0, math.inf), (-math.inf, 0.0), (0.1, 0.4), (-0.3, -0.05), (-0.2, 0.3), (0.2, 1e9)]


def space_of(*ranges):
    return SearchSpace(tuple(Dimension.of_feature(f"f{k}", low=low, high=high) for k, (low, high) in enumerate(ranges)))


def keeps(point, ranges, slack=1e-9):
    """Whether the point, at an absolute sum of 1, is within the ranges."""
    shares = point / np.abs(point).sum()
    return all(low - slack <= share <= high + slack for share, (low, high) in zip(shares, ranges, strict=True))


@given(st.lists(st.sampled_from(RANGES), min_size=2, max_size=4), st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_points_and_steps_keep_to_the_ranges(ranges, seed):
    """Steps are tried one by one, on both sides of the point, until the first that leaves the ranges."""
    draw, space = np.random.default_rng(seed), space_of(*ranges, (-math.inf, math.inf))
    ranges = [*ranges, (-math.inf, math.inf)]
    if sum(max(low, -high, 0.0) for low, high in ranges) > 1:
        return
    point, direction = within(space, draw.normal(size=len(space))), draw.normal(size=len(space))
    assert keeps(point, ranges)
    low, high = space.steps(point, direction)
    assert low <= 1e-12 and high >= -1e-12
    for sign, end in ((-1, low), (1, high)):
        tried = sign * np.concatenate([np.linspace(0, 3, 301)[1:], [10.0, 1e3, 1e6]])
        allowed = [step for step in tried if abs(step) < abs(end) - 1e-6]
        assert all(keeps(point + step * direction, ranges, 1e-6) for step in allowed)
        if np.isfinite(end):
            assert not keeps(point + (end + sign * 1e-4 * (1 + abs(end))) * direction, ranges, 1e-12)


def test_a_limit_is_a_share_of_the_sum():
    """By hand: f0 is at most half of |f0| + |f1|, so f1 = 0.3 allows 0.3, and f0 = 0.2 allows f1 from 0.2 on."""
    space, point = space_of((0.0, 0.5), (-math.inf, math.inf)), np.array([0.2, 0.3])
    assert space.steps(point, np.array([1.0, 0.0])) == pytest.approx((-0.2, 0.1))
    # f1 may not come nearer to 0 than 0.2; the steps on the other side of 0 are beyond a gap.
    assert space.steps(point, np.array([0.0, 1.0])) == (pytest.approx(-0.1), math.inf)
    assert space.steps(point, np.array([1.0, 1.0])) == (pytest.approx(-0.2), math.inf)
    free = space_of((-math.inf, math.inf), (0.0, math.inf))
    assert free.steps(point, np.array([1.0, 1.0])) == (-0.3, math.inf), "0 needs no sum"


def test_points_are_brought_into_the_ranges():
    space = space_of((0.3, 0.5), (-math.inf, math.inf), (-math.inf, math.inf))
    assert within(space, np.array([0.4, -0.4, 0.2])).tolist() == pytest.approx([0.4, -0.4, 0.2])
    assert within(space, np.array([0.1, -0.6, 0.3])).tolist() == pytest.approx([0.3, -0.7 * 2 / 3, 0.7 / 3])
    assert within(space, np.array([-8.0, 1.0, 1.0])).tolist() == pytest.approx([0.5, 0.25, 0.25]), "the sign turns"
    assert within(space, np.zeros(3)).tolist() == pytest.approx([0.5, 0.25, 0.25]), "no proportions yet"
    tied = SearchSpace((*space.dimensions, Dimension("R*", {"R:a": 2.0, "R:b": -1.0}, held=True)))
    assert within(tied, np.array([0.1, -0.6, 0.3, 1.0])).tolist() == pytest.approx([0.3, -1.4 / 3, 0.7 / 3, 7 / 9])


def test_ranges_that_no_weights_keep():
    for ranges in ([(0.6, 1.0), (0.6, 1.0), (-math.inf, math.inf)], [(0.0, 0.2), (-0.3, 0.3)]):
        with pytest.raises(ConfigError, match="the ranges allow no weights with an absolute sum of 1"):
            within(space_of(*ranges), np.full(len(ranges), 0.5))

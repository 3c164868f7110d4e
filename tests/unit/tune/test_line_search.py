"""Envelopes, surfaces and the best step against brute force on random lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.tune.objective import Objective
from itersel.tune.surface import StepRange, Surface, list_surfaces, merge
from oracles import line_search as oracle

BLEU = Objective()


def random_lists(seed, whole=False):
    """Lists of (features, statistics); whole numbers make lines that are equal, parallel or cross in one place."""
    draw = np.random.default_rng(seed)
    lists = []
    for _ in range(draw.integers(1, 5)):
        rows = int(draw.integers(1, 8))
        features = draw.integers(-3, 4, (rows, 3)).astype(float) if whole else draw.normal(size=(rows, 3))
        c = np.sort(draw.integers(0, 9, (rows, 4)), axis=1)[:, ::-1]
        m = np.minimum(c, draw.integers(0, 9, (rows, 4)))
        lists.append((features, np.column_stack([c[:, 0], np.full(rows, 6), m, c]).astype(np.float32)))
    return lists, draw.normal(size=3), draw.normal(size=3)


def surface_of(lists, origin, direction):
    features = np.concatenate([one for one, _ in lists])
    offsets = np.cumsum([0, *(len(one) for one, _ in lists)])
    statistics = np.concatenate([rows for _, rows in lists])
    (found,) = list_surfaces(np.ascontiguousarray(features.T), offsets, statistics, origin[None], direction[None])
    return found


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_surface_equals_brute_force(seed, whole):
    lists, origin, direction = random_lists(seed, whole)
    if whole:
        origin, direction = np.rint(4 * origin), np.rint(2 * direction)
    surface = surface_of(lists, origin, direction)
    assert (np.diff(surface.points) > 0).all() and surface.changes.any(axis=1).all()
    points, middles = oracle.places(lists, origin, direction)
    for step in middles:
        if not points or min(abs(np.array(points) - step)) > 1e-6:  # where rounding decides nothing
            assert surface.sums_at(step).tolist() == oracle.sums_at(lists, origin, direction, step).tolist()


@given(st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_the_best_step_equals_brute_force(seed):
    lists, origin, direction = random_lists(seed)
    found = surface_of(lists, origin, direction).best_step(BLEU, StepRange(least_width=0.0))
    _, middles = oracle.places(lists, origin, direction)
    scores = [oracle.bleu(oracle.sums_at(lists, origin, direction, step)) for step in (0.0, *middles)]
    assert found.before == pytest.approx(scores[0])
    assert found.score == pytest.approx(max(scores))
    reached = oracle.sums_at(lists, origin + found.step * direction, direction, 0.0)
    assert oracle.bleu(reached) == pytest.approx(max(scores))
    assert found.sums.tolist() == reached.tolist()


@given(st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_shards_surfaces_add_up(seed):
    lists, origin, direction = random_lists(seed)
    whole = surface_of(lists, origin, direction)
    parts = [Surface.from_bytes(surface_of([one], origin, direction).to_bytes()) for one in lists]
    for merged in (merge(parts), merge([merge(parts[:2]), *parts[2:]])):
        for one, other in zip(whole.arrays, merged.arrays, strict=True):
            assert one.tobytes() == other.tobytes()


def lines(*rows):
    """One list over one dimension besides a constant: rows of (intercept, slope, matches of 4)."""
    features = np.array([[b, a] for b, a, _ in rows], dtype=float)
    statistics = np.array([[4, 4, *[m] * 4, 4, 4, 4, 4] for *_, m in rows], dtype=np.float32)
    return surface_of([(features, statistics)], np.array([1.0, 0.0]), np.array([0.0, 1.0]))


def test_ties_and_ends():
    """Equal lines: the first. Equal scores: no step, or the nearest. Without an end: `reach` beyond the last point."""
    assert lines((0, 1, 1), (0, 1, 4)).best_step(BLEU).score == 0.25
    assert lines((5, 0, 4), (0, 1, 4)).best_step(BLEU).step == 0.0
    right = lines((5, 0, 1), (0, 1, 4)).best_step(BLEU)
    assert (right.step, right.score, right.before) == (5.1, 1.0, 0.25)
    left = lines((5, 0, 1), (0, -1, 4)).best_step(BLEU, StepRange(reach=1.0))
    assert left.step == -6.0
    both = lines((5, 0, 1), (0, -1, 4), (0, 1, 4)).best_step(BLEU)
    assert both.step == -5.1, "of two equally near steps, the negative one"
    nearest = lines((5, 0, 1), (3, -1, 4), (0, 1, 4)).best_step(BLEU)
    assert nearest.step == -2.1
    zero = lines((0, 0, 1), (0, 1, 4)).best_step(BLEU)
    assert (zero.before, zero.score, zero.step) == (0.25, 1.0, 0.1), "a point at 0 belongs to its worse side"
    middle = lines((5, 0, 1), (0, 1, 4), (-10, 2, 2)).best_step(BLEU)
    assert middle.step == 7.5


def test_ranges_and_narrow_intervals():
    surface = lines((5, 0, 1), (0, 1, 4))
    assert surface.best_step(BLEU, StepRange(high=4.0)).step == 0.0
    assert surface.best_step(BLEU, StepRange(high=9.0)).step == 7.0
    narrow = lines((5, 0, 1), (0, 1, 4), (-5.0 - 1e-8, 2, 2))
    assert narrow.best_step(BLEU).score == pytest.approx(0.5)
    assert narrow.best_step(BLEU, StepRange(least_width=0.0)).score == 1.0


def test_a_feature_that_never_varies_leaves_nothing_to_choose():
    found = lines((5, 1, 3), (0, 1, 4)).best_step(BLEU)
    assert (found.step, found.score) == (0.0, 0.75)


def test_statistics_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="do not fit together"):
        list_surfaces(np.zeros((2, 3)), np.array([0, 3]), np.zeros((2, 10), "f4"), np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(InputError, match="is a list empty"):
        list_surfaces(np.zeros((2, 3)), np.array([0, 0, 3]), np.zeros((3, 2), "f4"), np.zeros((1, 2)), np.zeros((1, 2)))


@pytest.mark.parametrize("text", ["", "blue", "bleu=x", "bleu=-1", "bleu bleu", "bleu=inf"])
def test_unknown_objectives_are_named(text):
    with pytest.raises(ConfigError, match="metric is"):
        Objective(text)

"""Envelopes, surfaces and the best step against brute force on random lists."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from itersel import _kernel
from itersel.base.errors import ConfigError, InputError
from itersel.tune.objective import Objective
from itersel.tune.surface import StepRange, Surface, list_surfaces, merge
from oracles import line_search as oracle

BLEU = Objective()


def random_lists(seed, whole=False, longest=7):
    """Lists of (features, statistics); whole numbers make lines that are equal, parallel or cross in one place."""
    draw = np.random.default_rng(seed)
    lists = []
    for _ in range(draw.integers(1, 5)):
        rows = int(draw.integers(1, longest + 1))
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


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_long_lists_and_any_registers(seed, whole):
    """Long lists go through groups of lines, in wider registers or not: the same bytes, and what ranking gives."""
    lists, origin, direction = random_lists(seed, whole, longest=40)
    if whole:
        origin, direction = np.rint(4 * origin), np.rint(2 * direction)
    surface = surface_of(lists, origin, direction)
    before = _kernel.use_wide_registers(False)
    try:
        plain = surface_of(lists, origin, direction)
    finally:
        _kernel.use_wide_registers(before)
    for one, other in zip(surface.arrays, plain.arrays, strict=True):
        assert one.tobytes() == other.tobytes()
    points = surface.points
    middles = (points[1:] + points[:-1]) / 2 if len(points) else points
    for step in [*middles, *(100 ** np.random.default_rng(seed).normal(size=10)), -100.0, 1e6]:
        if not len(points) or min(abs(points - step)) > 1e-6 * (1 + abs(step)):
            assert surface.sums_at(step).tolist() == oracle.sums_at(lists, origin, direction, step).tolist()


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1, 6, 40]))
@example(39, True, 40)  # a change at 0, which other lines turned into one at −0
@settings(max_examples=40, deadline=None)
def test_several_lines_in_one_pass(seed, whole, origins):
    """What one line's envelopes leave behind speeds up the next one's: all are as if each was the only one."""
    lists, _, _ = random_lists(seed, whole, longest=20)
    draw = np.random.default_rng(seed)
    pairs = []
    for _ in range(origins):
        origin = draw.integers(-3, 4, 3).astype(float) if whole else draw.normal(size=3)
        directions = [*np.eye(3), draw.integers(-2, 3, 3) if whole else draw.normal(size=3)]
        pairs += [(origin, directions[k].astype(float)) for k in draw.permutation(4)[: draw.integers(1, 5)]]
    features = np.ascontiguousarray(np.concatenate([one for one, _ in lists]).T)
    offsets = np.cumsum([0, *(len(one) for one, _ in lists)])
    statistics = np.concatenate([rows for _, rows in lists])
    several = list_surfaces(features, offsets, statistics, *(np.array(ends) for ends in zip(*pairs, strict=True)))
    assert len(several) == len(pairs)
    for (origin, direction), found in zip(pairs, several, strict=True):
        for one, other in zip(found.arrays, surface_of(lists, origin, direction).arrays, strict=True):
            assert one.tobytes() == other.tobytes()


@given(st.integers(0, 10**6), st.sampled_from(["bleu", "bleu=0.3", "bleu=1 ter=0.5"]))
@settings(max_examples=60, deadline=None)
def test_no_interval_is_better_than_the_best_step(seed, metric):
    """Scores that cannot be the best are not computed; all of them are here."""
    objective = Objective(metric)
    lists, origin, direction = random_lists(seed, longest=40)
    more = np.random.default_rng(seed).integers(0, 9, (40, 2)).astype(np.float32)
    lists = [(one, np.column_stack([rows, more[: len(rows)]])[:, : objective.width]) for one, rows in lists]
    surface = surface_of(lists, origin, direction)
    sums = surface.sums_along(np.array([-np.inf, *surface.points]))
    best = max(objective.score(row) for row in sums)
    assert surface.best_step(objective, StepRange(least_width=0.0)).score == best


@pytest.mark.parametrize("whole", [False, True])
def test_many_changes_are_sorted_and_summed(whole):
    """More points than fit a simple sort, of both signs; with whole numbers, many lists change in one place."""
    draw = np.random.default_rng(7)
    lists = []
    for _ in range(900):
        rows = int(draw.integers(2, 9))
        features = draw.integers(-3, 4, (rows, 2)).astype(float) if whole else draw.normal(size=(rows, 2))
        lists.append((features, draw.integers(0, 99, (rows, 10)).astype(np.float32)))
    origin, direction = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    single = [surface_of([one], origin, direction) for one in lists]
    points, places = np.unique(np.concatenate([one.points for one in single]), return_inverse=True)
    changes = np.zeros((len(points), 10))
    np.add.at(changes, places, np.concatenate([one.changes for one in single]))
    stay = changes.any(axis=1)
    assert len(places) > 1000 and (len(points) < 100) == whole
    for surface in (surface_of(lists, origin, direction), merge(single)):
        assert surface.points.tolist() == points[stay].tolist()
        assert surface.changes.tolist() == changes[stay].tolist()
        assert surface.base.tolist() == np.sum([one.base for one in single], axis=0).tolist()


def test_changes_that_are_large_or_not_whole_are_kept():
    features = np.array([[5.0, 0.0], [0.0, 1.0], [-10.0, 2.0]])
    for change in (40_000.0, 0.25):
        statistics = np.array([[1] * 10, [2] * 10, [2 + change] * 10], dtype=np.float32)
        surface = surface_of([(features, statistics)], np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        for one in (surface, Surface.from_bytes(surface.to_bytes()), merge([surface])):
            assert one.points.tolist() == [5.0, 10.0] and one.changes[:, 0].tolist() == [1.0, change]
        assert merge([surface, surface]).changes[:, 3].tolist() == [2.0, 2 * change]


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

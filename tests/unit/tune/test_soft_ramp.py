"""The soft ramp loss and its gradient against finite differences and a twin; lists in fewer dimensions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.lists.accumulated import NewList
from itersel.model.vectors import Vector
from itersel.tune.projection import projected
from oracles import soft_ramp as oracle

NAMES = ["a", "b", "c", "d"]
numbers = st.floats(-3, 3).map(lambda value: round(value, 3))
hypotheses = st.tuples(st.dictionaries(st.sampled_from(NAMES), numbers, max_size=4), st.floats(0, 20))
lists_of_hypotheses = st.lists(st.lists(hypotheses, min_size=1, max_size=5), min_size=1, max_size=4)
weight_maps = st.fixed_dictionaries(dict.fromkeys(NAMES, numbers))


def arrays(rows):
    """Features of a list as the kernel hands them out."""
    sizes = [len(row) for row in rows]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    features = np.array([NAMES.index(name) for row in rows for name in sorted(row)], dtype=np.uint32)
    values = np.array([row[name] for row in rows for name in sorted(row)], dtype=np.float64)
    return starts, features, values


COST_SCALE = 20.0


def kernel_sums(weights, lists, score_scale=1.0):
    """Of lists whose costs are those of a metric: cost = 20 · (1 − metric)."""
    sums = _kernel.GradientSums(len(NAMES), COST_SCALE, score_scale)
    for rows in lists:
        starts, features, values = arrays([features for features, _ in rows])
        scores = np.array([sum(weights[name] * value for name, value in features.items()) for features, _ in rows])
        sums.add(starts, features, values, scores, [1 - cost / COST_SCALE for _, cost in rows])
    return sums


@given(weight_maps, lists_of_hypotheses, st.sampled_from([1.0, 2.5]))
def test_loss_gradient_and_counts_equal_the_twin(weights, lists, scale):
    sums = kernel_sums(weights, lists, scale)
    scaled = {name: scale * value for name, value in weights.items()}
    assert sums.loss == pytest.approx(oracle.loss(scaled, lists), abs=1e-9)
    expected = oracle.gradient(scaled, lists)
    assert sums.gradient == pytest.approx([expected.get(name, 0.0) for name in NAMES], abs=1e-9)
    counts = oracle.list_counts(lists)
    assert sums.lists.tolist() == [counts.get(name, 0) for name in NAMES]
    by_list = [oracle.gradient(scaled, [rows]) for rows in lists]
    for k, name in enumerate(NAMES):
        largest = max(abs(one.get(name, 0.0)) for one in by_list)
        assert abs(sums.largest[k]) == pytest.approx(largest, abs=1e-9)
        if largest > 1e-9:
            assert by_list[sums.largest_list[k]][name] == pytest.approx(sums.largest[k], abs=1e-9)


@given(weight_maps, lists_of_hypotheses, st.sampled_from(NAMES))
def test_the_kernel_equals_finite_differences(weights, lists, name):
    step = 1e-5
    up, down = (kernel_sums({**weights, name: weights[name] + way * step}, lists).loss for way in (1, -1))
    found = kernel_sums(weights, lists).gradient[NAMES.index(name)]
    assert found == pytest.approx(-(up - down) / (2 * step), abs=1e-4)


@given(weight_maps, lists_of_hypotheses, st.sampled_from(NAMES))
def test_the_gradient_equals_finite_differences(weights, lists, name):
    step = 1e-5
    up, down = (oracle.loss({**weights, name: weights[name] + way * step}, lists) for way in (1, -1))
    assert oracle.gradient(weights, lists).get(name, 0.0) == pytest.approx(-(up - down) / (2 * step), abs=1e-4)


def test_by_hand():
    """Two hypotheses of equal score, costs 0 and log 3: hope takes 3/4 and 1/4, fear 1/4 and 3/4.

    The feature that both have is in a list, but has no part in the gradient, not even by rounding.
    """
    costs = (0.0, math.log(3))
    first = [({"a": 1.0, "c": 0.1}, costs[0]), ({"b": 1.0, "c": 0.1}, costs[1])]
    second = [({"a": 0.5}, costs[0]), ({}, costs[1])]
    sums = kernel_sums(dict.fromkeys(NAMES, 0.0), [first, second])
    assert sums.loss == pytest.approx(2 * (math.log(4) - math.log(4 / 3)))
    assert sums.gradient.tolist() == pytest.approx([0.75, -0.5, 0, 0]) and sums.gradient[2] == 0
    assert sums.lists.tolist() == [2, 1, 1, 0]
    conditioned = sums.gradient[:2] / sums.lists[:2]
    assert conditioned.tolist() == pytest.approx([0.375, -0.5])
    assert sums.largest.tolist() == pytest.approx([0.5, -0.5, 0, 0]) and sums.largest_list[0] == 0
    large = kernel_sums({"a": 1e4, "b": 0.0, "c": 0.0, "d": 0.0}, [[({"a": 1.0}, 0.0), ({}, 20.0)]])
    assert large.loss == pytest.approx(0.0), "large scores do not overflow"


def test_bad_lists():
    sums = _kernel.GradientSums(2, 20.0, 1.0)
    one = (np.array([0, 1]), np.zeros(1, np.uint32), np.ones(1))
    with pytest.raises(InputError, match="not a finite number"):
        sums.add(*one, np.zeros(1), [math.nan])
    with pytest.raises(InputError, match="1 hypotheses, 1 scores and 2 metric values"):
        sums.add(*one, np.zeros(1), [0.0, 0.0])
    with pytest.raises(InputError, match="unknown feature"):
        sums.add(np.array([0, 1]), np.full(1, 2, np.uint32), np.ones(1), np.zeros(1), [0.0])


@given(st.lists(st.dictionaries(st.sampled_from(NAMES), numbers, max_size=4), min_size=1, max_size=5), weight_maps)
def test_projected_lists_score_as_the_features_do(rows, weights):
    """Dense weights, β and α on a projected list give the scores that the combined weights give on the whole list."""
    model, gradient = {"c": 0.5, "a": 9.0}, {"c": -1.0, "d": 2.0}
    found = NewList.of([str(k) for k in range(len(rows))], rows, np.zeros((len(rows), 1), dtype=np.float32))
    sums = {"f1": Vector.of_names(model), "f2": Vector.of_names(gradient)}
    small = projected(found, sums, lambda name: name in "cd")
    assert set(small.names) <= {"a", "b", "f1", "f2"}
    by_name = {"a": weights["a"], "b": weights["b"], "f1": weights["c"], "f2": weights["d"]}
    combined = {
        "a": weights["a"],
        "b": weights["b"],
        "c": weights["c"] * model["c"] + weights["d"] * gradient["c"],
        "d": weights["d"] * gradient["d"],
    }
    for k, row in enumerate(rows):
        low, high = small.starts[k], small.starts[k + 1]
        numbers_here = small.features[low:high].tolist()
        assert numbers_here == sorted(set(numbers_here))
        score = sum(
            by_name[small.names[f]] * v for f, v in zip(numbers_here, small.values[low:high].tolist(), strict=True)
        )
        assert score == pytest.approx(sum(combined[name] * value for name, value in row.items()), abs=1e-9)


@given(
    st.lists(st.dictionaries(st.sampled_from(NAMES), numbers, max_size=4), min_size=2, max_size=6),
    st.lists(numbers, min_size=4, max_size=4),
    st.lists(numbers, min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_a_line_search_on_projected_lists_is_that_on_combined_features(rows, origin, direction, draw):
    """MERT over dense weights, β and α sees what it would see if f1 and f2 were features of the lists."""
    model, gradient = {"c": 0.5, "d": -0.25}, {"c": -1.0, "d": 2.0}
    explicit = [
        {name: row[name] for name in "ab" if name in row}
        | {"f1": sum(model.get(name, 0.0) * x for name, x in row.items())}
        | {"f2": sum(gradient.get(name, 0.0) * x for name, x in row.items())}
        for row in rows
    ]
    statistics = np.array([[draw.randint(0, 9) for _ in range(10)] for _ in rows], dtype=np.float32)
    texts = [str(k) for k in range(len(rows))]
    sums = {"f1": Vector.of_names(model), "f2": Vector.of_names(gradient)}
    small = projected(NewList.of(texts, rows, statistics), sums, lambda name: name in "cd", {"d"})
    lines = np.array([origin]), np.array([direction])
    matrices = [matrix(found) for found in (small, NewList.of(texts, explicit, statistics))]
    np.testing.assert_array_equal(*matrices)
    surfaces = [_kernel.list_surfaces(one, np.array([0, len(rows)]), statistics, *lines)[0] for one in matrices]
    for one, other in zip(*surfaces, strict=True):
        np.testing.assert_array_equal(one, other)


def matrix(found):
    """The features a, b, f1 and f2 of a list, a row for each."""
    made = np.zeros((4, len(found.texts)))
    for row in range(len(found.texts)):
        for at in range(found.starts[row], found.starts[row + 1]):
            name = found.names[found.features[at]]
            if name in ("a", "b", "f1", "f2"):
                made[("a", "b", "f1", "f2").index(name), row] = found.values[at]
    return made

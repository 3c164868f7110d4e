"""PRO: sampled pairs, the classifier's gradient, and its optimum by hand."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from itersel.lists.accumulated import AccumulatedLists, NewList
from itersel.tune.pairs import PairSampling, fit, loss_and_gradient, pair_matrix, sample_pairs


def test_pairs_are_ordered_wide_and_few():
    scores = np.random.default_rng(1).uniform(size=50)
    pairs = sample_pairs(scores, PairSampling(2000, 30, 0.2), np.random.default_rng(2))
    differences = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    assert len(pairs) == 30 and (differences >= 0.2).all() and (np.diff(differences) <= 0).all()
    again = sample_pairs(scores, PairSampling(2000, 30, 0.2), np.random.default_rng(2))
    assert again.tolist() == pairs.tolist()


def test_the_widest_of_all_that_were_drawn_stay():
    """The paper's sampler line by line, with the same draws: many pairs are wide enough, few stay."""
    scores = np.round(np.random.default_rng(8).uniform(size=20), 2)
    drawn = np.random.default_rng(9).integers(0, 20, (400, 2)).tolist()
    wide = [(i, j) if scores[i] > scores[j] else (j, i) for i, j in drawn if abs(scores[i] - scores[j]) >= 0.1]
    widest = sorted(wide, key=lambda pair: scores[pair[1]] - scores[pair[0]])[:25]
    pairs = sample_pairs(scores, PairSampling(400, 25, 0.1), np.random.default_rng(9))
    assert len(wide) > 200 and list(map(tuple, pairs.tolist())) == widest


def test_no_pairs_where_nothing_differs():
    assert len(sample_pairs(np.ones(5), PairSampling(threshold=0.0), np.random.default_rng(1))) == 0
    assert len(sample_pairs(np.ones(1), PairSampling(), np.random.default_rng(1))) == 0


def test_the_gradient_is_the_losss():
    draw = np.random.default_rng(3)
    matrix, weights = scipy.sparse.csr_array(draw.normal(size=(20, 4))), draw.normal(size=4)
    _, gradient = loss_and_gradient(matrix, weights)
    expected = scipy.optimize.approx_fprime(weights, lambda w: loss_and_gradient(matrix, w)[0], 1e-6)
    np.testing.assert_allclose(gradient, expected, atol=1e-4)


def test_both_signs_are_one_example():
    """A classifier of x(better) − x(worse) as + and the opposite as −, written out, has the same optimum."""
    draw = np.random.default_rng(5)
    rows = draw.normal(size=(30, 3)) + np.array([0.5, -0.2, 0.0])
    examples, labels = np.concatenate([rows, -rows]), np.array([1.0] * 30 + [-1.0] * 30)

    def loss(w):
        return np.mean(np.log(1 + np.exp(-labels * (examples @ w)))) + 0.05 * (w @ w)

    expected = scipy.optimize.minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12})
    matrix = scipy.sparse.csr_array(rows)
    weights, reached = fit(lambda w: loss_and_gradient(matrix, w), np.zeros(3), 0.1, 30, 100)
    assert weights == pytest.approx(expected.x, abs=1e-4) and reached == pytest.approx(expected.fun, abs=1e-8)


def test_two_sentences_by_hand():
    """Two lists of two hypotheses: the differences are (2, 0) and (0, 1); mean loss and penalty decouple by feature.

    At the optimum x/2 · σ(−x·w) = l2 · w for each feature.
    """
    rows = np.zeros((2, 10), np.float32)
    lists = AccumulatedLists.empty(["s", "t"], 10).extended(
        [NewList.of(["a", "b"], [{"f": 2.0}, {}], rows), NewList.of(["a", "b"], [{"g": 1.0}, {"g": 2.0}], rows)]
    )
    scores = np.array([0.9, 0.1, 0.1, 0.9])
    matrix = pair_matrix(lists, scores, PairSampling(50, 1), lambda sentence: np.random.default_rng(4))
    assert matrix.toarray().tolist() == [[2.0, 0.0], [0.0, 1.0]]
    start = np.zeros(2)
    weights, reached = fit(lambda w: loss_and_gradient(matrix, w), start, 0.1, 2, 100)
    assert reached < np.log(2), "the loss falls from that of weights 0"
    for x, w in zip((2.0, 1.0), weights, strict=True):
        assert x / 2 / (1 + np.exp(x * w)) == pytest.approx(0.1 * w, abs=1e-4)

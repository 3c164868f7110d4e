"""Pairwise ranking optimisation (Hopkins & May 2011): sampled pairs of hypotheses, and the classifier's loss.

From each list, `samples` pairs are drawn; of those whose sentence scores differ by at least `threshold`, the `keep`
with the largest differences stay. A pair (better, worse) is one example with the label + and, with the opposite sign,
one with −; the logistic loss of both is twice that of the difference x(better) − x(worse), so each pair counts once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.sparse

from itersel.lists.accumulated import AccumulatedLists

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PairSampling:
    """How pairs are drawn."""

    samples: int = 5000
    keep: int = 50
    threshold: float = 0.05


def sample_pairs(scores: Floats, options: PairSampling, draw: np.random.Generator) -> npt.NDArray[np.int64]:
    """Rows of (better, worse), the largest difference first; of equal differences, what was drawn first."""
    if len(scores) < 2:
        return np.zeros((0, 2), dtype=np.int64)
    drawn = draw.integers(0, len(scores), (options.samples, 2))
    differences = scores[drawn[:, 0]] - scores[drawn[:, 1]]
    wide = np.flatnonzero(np.abs(differences) >= max(options.threshold, 1e-12))
    order = wide[np.argsort(-np.abs(differences[wide]), kind="stable")][: options.keep]
    chosen = drawn[order]
    turned = differences[order] < 0
    chosen[turned] = chosen[turned][:, ::-1]
    return chosen


def pair_matrix(
    lists: AccumulatedLists,
    scores: Floats,
    options: PairSampling,
    generator: Callable[[str], np.random.Generator],
) -> scipy.sparse.csr_array:
    """x(better) − x(worse) of all sampled pairs, a row each. `generator` gives random numbers for a sentence."""
    shape = (lists.rows, len(lists.names))
    rows = scipy.sparse.csr_array((lists.values, lists.features.astype(np.int32), lists.starts), shape=shape)
    pairs = [np.zeros((0, 2), dtype=np.int64)]
    for sentence, (begin, end) in zip(lists.sentences, pairwise(lists.offsets.tolist()), strict=True):
        pairs.append(begin + sample_pairs(scores[begin:end], options, generator(sentence)))
    chosen = np.concatenate(pairs)
    return scipy.sparse.csr_array(rows[chosen[:, 0]] - rows[chosen[:, 1]])


def loss_and_gradient(matrix: scipy.sparse.csr_array, weights: Floats) -> tuple[float, Floats]:
    """Σ log(1 + exp(−⟨w, x⟩)) over the rows, and its gradient."""
    margins = matrix @ weights
    shares = np.exp(-np.logaddexp(0, margins))
    return float(np.logaddexp(0, -margins).sum()), -(matrix.T @ shares)


def fit(
    total: Callable[[Floats], tuple[float, Floats]], start: Floats, l2: float, pairs: int, iterations: int
) -> tuple[Floats, float]:
    """Weights that minimise mean loss + l2/2 · ‖w‖², by L-BFGS, and what they reach. `total` sums over all pairs."""

    def objective(weights: Floats) -> tuple[float, Floats]:
        loss, gradient = total(weights)
        return loss / pairs + l2 / 2 * float(weights @ weights), gradient / pairs + l2 * weights

    found = scipy.optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    return np.asarray(found.x, dtype=np.float64), float(found.fun)


def stack(
    matrices: Sequence[scipy.sparse.csr_array], names: Sequence[Sequence[str]], all_names: Sequence[str]
) -> scipy.sparse.csr_array:
    """Matrices over their own features as one over all."""
    number = {name: k for k, name in enumerate(all_names)}
    made = []
    for matrix, own in zip(matrices, names, strict=True):
        columns = np.array([number[name] for name in own], dtype=np.int32)
        indices = columns[matrix.indices] if len(own) else matrix.indices
        made.append(
            scipy.sparse.csr_array((matrix.data, indices, matrix.indptr), shape=(matrix.shape[0], len(all_names)))
        )
    return scipy.sparse.csr_array(scipy.sparse.vstack(made))

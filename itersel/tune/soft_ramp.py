"""The soft ramp loss of a list (Gimpel & Smith 2012, ramp 3; used in NAACL 2013) and its gradient by features.

With model scores s and costs c, a list's loss is −log Σ exp(s − c) + log Σ exp(s + c). It falls as hypotheses that the
model likes and that cost little gain on those that the model likes and that cost much. Its derivative by s is the
difference of two distributions, so the gradient by the features is a difference of two expectations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def soft_ramp(scores: Floats, costs: Floats) -> tuple[float, Floats]:
    """The loss of a list, and how it falls with each hypothesis' score: the negative derivative."""
    (low, hope), (high, fear) = _softmax(scores - costs), _softmax(scores + costs)
    return high - low, hope - fear


def _softmax(values: Floats) -> tuple[float, Floats]:
    """log Σ exp(v), and exp(v) over that sum."""
    largest = float(values.max())
    shifted = np.exp(values - largest)
    total = float(shifted.sum())
    return largest + float(np.log(total)), shifted / total


@dataclass(frozen=True, eq=False)
class GradientSums:
    """Sums over lists, by the number of a feature: the negative gradient, and the lists that have the feature."""

    width: int
    gradient: Floats = field(init=False)
    lists: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "gradient", np.zeros(self.width))
        object.__setattr__(self, "lists", np.zeros(self.width))

    def add(
        self, shares: Floats, starts: npt.NDArray[np.int64], features: npt.NDArray[np.uint32], values: Floats
    ) -> None:
        """Add a list: hypothesis i counts `shares[i]`, and has features[starts[i] : starts[i + 1]] with these values.

        A feature counts as being in the list if a hypothesis has a value other than 0 for it.
        """
        used, local = np.unique(features[values != 0], return_inverse=True)
        entries = (np.repeat(shares, np.diff(starts)) * values)[values != 0]
        self.gradient[used] += np.bincount(local, entries, minlength=len(used))
        self.lists[used] += 1

"""The soft ramp loss of lists and its gradient, written out hypothesis by hypothesis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Hypothesis = tuple[Mapping[str, float], float]
"""Features and cost."""


def loss(weights: Mapping[str, float], lists: Sequence[Sequence[Hypothesis]]) -> float:
    """Σ over lists of −log Σ exp(s − c) + log Σ exp(s + c)."""
    total = 0.0
    for hypotheses in lists:
        scores = [sum(weights.get(name, 0.0) * value for name, value in features.items()) for features, _ in hypotheses]
        low = sum(math.exp(s - c) for s, (_, c) in zip(scores, hypotheses, strict=True))
        high = sum(math.exp(s + c) for s, (_, c) in zip(scores, hypotheses, strict=True))
        total += math.log(high) - math.log(low)
    return total


def gradient(weights: Mapping[str, float], lists: Sequence[Sequence[Hypothesis]]) -> dict[str, float]:
    """The negative derivative by each feature: the difference of two expectations, summed over lists."""
    made: dict[str, float] = {}
    for hypotheses in lists:
        scores = [sum(weights.get(name, 0.0) * value for name, value in features.items()) for features, _ in hypotheses]
        for sign in (-1, 1):
            terms = [math.exp(s + sign * c) for s, (_, c) in zip(scores, hypotheses, strict=True)]
            for term, (features, _) in zip(terms, hypotheses, strict=True):
                for name, value in features.items():
                    made[name] = made.get(name, 0.0) - sign * term / sum(terms) * value
    return made


def list_counts(lists: Sequence[Sequence[Hypothesis]]) -> dict[str, int]:
    """For each feature, the lists in which some hypothesis has it with a value other than 0."""
    made: dict[str, int] = {}
    for hypotheses in lists:
        for name in {name for features, _ in hypotheses for name, value in features.items() if value}:
            made[name] = made.get(name, 0) + 1
    return made

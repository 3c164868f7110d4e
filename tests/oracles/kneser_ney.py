"""Slow and obvious modified Kneser-Ney by the textbook: dictionaries of word tuples and one sum at a time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

Gram = tuple[str, ...]


def discounts_of(counts: dict[Gram, int]) -> list[float]:
    """[0, D1, D2, D3+], or the fallback [0, 0.5, 1, 1.5]."""
    n = [sum(1 for value in counts.values() if value == j) for j in range(5)]
    if 0 in n[1:4]:
        return [0, 0.5, 1, 1.5]
    y = n[1] / (n[1] + 2 * n[2])
    amounts = [0] + [j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3)]
    return amounts if all(0 <= amounts[j] <= j for j in (1, 2, 3)) else [0, 0.5, 1, 1.5]


def estimate(
    sentences: list[list[str]],
    order: int,
    prune: tuple[int, ...] = (),
    vocabulary: int | set[str] | None = None,
) -> dict[Gram, tuple[float, float]]:
    """Every n-gram of the model with its log10 probability and log10 backoff."""
    if isinstance(vocabulary, int):
        frequency = Counter(word for sentence in sentences for word in sentence)  # ties keep insertion order
        vocabulary = {word for word, _ in frequency.most_common(vocabulary)}
    if vocabulary is not None:
        sentences = [[word if word in vocabulary else "<unk>" for word in sentence] for sentence in sentences]
    thresholds = [prune[min(n, len(prune) - 1)] if prune else 0 for n in range(order)]

    raw: list[Counter[Gram]] = [Counter() for _ in range(order + 1)]
    for sentence in sentences:
        padded = ["<s>", *sentence, "</s>"]
        for n in range(1, order + 1):
            for start in range(len(padded) - n + 1):
                raw[n][tuple(padded[start : start + n])] += 1

    adjusted: list[dict[Gram, int]] = [{} for _ in range(order + 1)]
    for n in range(1, order + 1):
        for gram in raw[n]:
            if n == order or gram[0] == "<s>":
                adjusted[n][gram] = raw[n][gram]
            else:
                adjusted[n][gram] = len({longer[0] for longer in raw[n + 1] if longer[1:] == gram})
    adjusted[1][("<s>",)] = 0
    adjusted[1].setdefault(("<unk>",), 0)

    special = {("<unk>",), ("<s>",), ("</s>",)}
    kept = [{gram for gram in grams if raw[n][gram] > thresholds[n - 1] or gram in special}
            for n, grams in enumerate(adjusted)]  # fmt: skip
    uniform = 1 / (len(kept[1]) - 1)
    discounts = [discounts_of(grams) for grams in adjusted]

    followers: dict[Gram, list[Gram]] = defaultdict(list)
    for n in range(1, order + 1):
        for gram in adjusted[n]:
            followers[gram[:-1]].append(gram)

    def discount(gram: Gram) -> float:
        return discounts[len(gram)][min(3, adjusted[len(gram)][gram])]

    def backoff(history: Gram) -> float:
        if not followers[history]:
            return 1.0
        counts = adjusted[len(history) + 1]
        freed = sum(discount(gram) if gram in kept[len(gram)] else counts[gram] for gram in followers[history])
        return freed / sum(counts[gram] for gram in followers[history])

    def probability(gram: Gram) -> float:
        if not gram:
            return uniform
        counts = adjusted[len(gram)]
        total = sum(counts[other] for other in followers[gram[:-1]])
        return (counts[gram] - discount(gram)) / total + backoff(gram[:-1]) * probability(gram[1:])

    def log10(value: float) -> float:
        return math.log10(value) if value > 0 else -99.0

    return {
        gram: (log10(probability(gram)), log10(backoff(gram)) if n < order else 0.0)
        for n in range(1, order + 1)
        for gram in kept[n]
    }

"""Compound splitting by definition: every way to cut a word into parts and linking elements is tried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence


def all_splits(word: str, links: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every sequence of parts that makes up the word, with a linking element or none between two parts."""
    yield (word,)
    for end in range(1, len(word)):
        for link in ("", *links):
            if word.startswith(link, end) and end + len(link) < len(word):
                for rest in all_splits(word[end + len(link) :], links):
                    yield (word[:end], *rest)


def best_mean(
    word: str, counts: Mapping[str, int], min_length: int, min_count: int, links: Sequence[str], most_parts: int = 8
) -> tuple[float, set[tuple[str, ...]]]:
    """The largest geometric mean of frequencies, and all splits that have it; the whole word always counts."""
    means: dict[tuple[str, ...], float] = {(word,): counts.get(word, 0)}
    for parts in all_splits(word, links):
        if 1 < len(parts) <= most_parts and all(len(p) >= min_length and counts.get(p, 0) >= min_count for p in parts):
            means[parts] = math.prod(counts[p] for p in parts) ** (1 / len(parts))
    largest = max(means.values())
    return largest, {parts for parts, mean in means.items() if math.isclose(mean, largest)}

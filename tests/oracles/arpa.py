"""An ARPA reader of a few lines, for comparing models n-gram by n-gram."""

from __future__ import annotations

from collections.abc import Iterable

Entries = dict[tuple[str, ...], tuple[float, float]]


def parse_arpa(lines: Iterable[str]) -> Entries:
    """N-grams in the file's order with log10 probability and backoff, 0 where there is none.

    Checks the sizes in the header.
    """
    entries: Entries = {}
    announced: dict[int, int] = {}
    for line in lines:
        if line.startswith("ngram "):
            order, size = line.removeprefix("ngram ").split("=")
            announced[int(order)] = int(size)
        fields = line.split("\t")
        if len(fields) > 1:
            backoff = float(fields[2]) if len(fields) > 2 else 0.0
            entries[tuple(fields[1].split(" "))] = (float(fields[0]), backoff)
    for order, size in announced.items():
        assert sum(1 for gram in entries if len(gram) == order) == size
    return entries

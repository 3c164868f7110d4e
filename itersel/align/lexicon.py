"""Lexical translation probabilities of aligned words in both directions, by maximum likelihood.

In: sentence pairs with their links. Out: a table of p(e|f) and p(f|e), where f is a source and e a target
word. A word without a link counts as linked to NULL, so each word's probabilities sum to 1; rule extraction
takes the features MaxLexEgivenF and MaxLexFgivenE from them (the suffix-array extractor of Lopez 2007 and
cdec).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from itersel.align.links import Link
from itersel.base.errors import InputError
from itersel.base.files import read_lines

NULL = "__NULL__"


class LexicalEntry(NamedTuple):
    """One row: a word pair and its probabilities. Either word may be NULL."""

    source: str
    target: str
    target_given_source: float
    source_given_target: float


class LexiconCounter:
    """Counts links word by word; `entries` turns the counts into probabilities."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()

    def add(self, source: Sequence[str], target: Sequence[str], links: Iterable[Link]) -> None:
        """Count one sentence pair. The links must be within the sentences and without repetitions."""
        linked_sources, linked_targets = set(), set()
        pairs = self.pairs
        for source_position, target_position in links:
            pairs[source[source_position], target[target_position]] += 1
            linked_sources.add(source_position)
            linked_targets.add(target_position)
        if len(linked_sources) < len(source):
            for position, word in enumerate(source):
                if position not in linked_sources:
                    pairs[word, NULL] += 1
        if len(linked_targets) < len(target):
            for position, word in enumerate(target):
                if position not in linked_targets:
                    pairs[NULL, word] += 1

    def entries(self) -> Iterator[LexicalEntry]:
        """All rows, sorted by source word, then target word, in code point order."""
        sources: Counter[str] = Counter()
        targets: Counter[str] = Counter()
        for (source, target), count in self.pairs.items():
            sources[source] += count
            targets[target] += count
        for (source, target), count in sorted(self.pairs.items()):
            yield LexicalEntry(source, target, count / sources[source], count / targets[target])


def format_entry(entry: LexicalEntry) -> str:
    """The row as a line of the table: two words, then p(target|source) and p(source|target)."""
    return f"{entry.source} {entry.target} {entry.target_given_source:.12g} {entry.source_given_target:.12g}"


def read_lexicon(path: str | os.PathLike[str]) -> Iterator[LexicalEntry]:
    """The rows of a table, plain or gzipped."""
    for number, line in enumerate(read_lines(path), 1):
        fields = line.split(" ")
        try:
            source, target, *probabilities = fields
            first, second = map(float, probabilities)
            if not (0 < first <= 1 and 0 < second <= 1):
                raise ValueError
        except ValueError:
            raise InputError(
                f"not a row of a lexical table: {line!r}",
                where=f"{os.fspath(path)}:{number}",
                hint="Expected `source target p(target|source) p(source|target)`, both above 0, up to 1.",
            ) from None
        yield LexicalEntry(source, target, first, second)

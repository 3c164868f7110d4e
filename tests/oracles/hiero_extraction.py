"""Hiero extraction by brute force, from the definition in docs/extraction.md.

Every span of every training sentence is tried; nothing is indexed, sampled or shared with the kernel.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import log10

Span = tuple[int, int]
Chunks = tuple[Span, ...]
GAP = None
UNSEEN = 99.0


@dataclass(frozen=True)
class Pair:
    source: tuple[str, ...]
    target: tuple[str, ...]
    links: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Limits:
    max_span: int = 15
    max_symbols: int = 5
    max_nonterminals: int = 2
    tight: bool = True


def is_phrase_pair(pair: Pair, source: Span, target: Span, limits: Limits) -> bool:
    """At least one link inside, none that leaves, neither side too long; tight: edges are aligned words."""
    if max(source[1] - source[0], target[1] - target[0]) > limits.max_span:
        return False
    inside = [(source[0] <= i < source[1], target[0] <= j < target[1]) for i, j in pair.links]
    if not any(a and b for a, b in inside) or any(a != b for a, b in inside):
        return False
    if limits.tight:
        aligned_source, aligned_target = {i for i, _ in pair.links}, {j for _, j in pair.links}
        return {source[0], source[1] - 1} <= aligned_source and {target[0], target[1] - 1} <= aligned_target
    return True


def spans(length: int) -> Iterator[Span]:
    return ((low, high) for low in range(length) for high in range(low + 1, length + 1))


def target_spans(pair: Pair, source: Span, limits: Limits) -> list[Span]:
    return [t for t in spans(len(pair.target)) if is_phrase_pair(pair, source, t, limits)]


@lru_cache(maxsize=256)
def occurrences(words: tuple[str, ...], limits: Limits) -> tuple[tuple[tuple[str | None, ...], Chunks], ...]:
    """What find_occurrences gives, kept: a bitext is read once for every sentence."""
    return tuple(find_occurrences(words, limits))


def find_occurrences(words: tuple[str, ...], limits: Limits) -> Iterator[tuple[tuple[str | None, ...], Chunks]]:
    """(pattern, chunks): every choice of words with gaps of at least one word between chunks."""
    for count in range(1, limits.max_nonterminals + 2):
        for chunks in product(spans(len(words)), repeat=count):
            if any(chunks[i + 1][0] <= chunks[i][1] for i in range(count - 1)):
                continue
            if chunks[-1][1] - chunks[0][0] > limits.max_span:
                continue
            pattern: list[str | None] = []
            for chunk in chunks:
                pattern += [GAP] * bool(pattern) + list(words[chunk[0] : chunk[1]])
            if len(pattern) <= limits.max_symbols:
                yield tuple(pattern), chunks


Rule = tuple[tuple[str, ...], tuple[str, ...]]
Links = tuple[tuple[int, int], ...]


def rules_of(pair: Pair, source: Span, chunks: Chunks, limits: Limits) -> dict[Rule, Links]:
    """All rules whose source side covers exactly `source` with these chunks of words, with their links."""
    edges = [source[0], *(edge for chunk in chunks for edge in chunk), source[1]]
    gaps = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2) if edges[i] < edges[i + 1]]
    terminals = [i for chunk in chunks for i in range(*chunk)]
    if len(gaps) > limits.max_nonterminals or len(gaps) + len(terminals) > limits.max_symbols:
        return {}
    if not any(i in terminals for i, _ in pair.links):
        return {}
    result: dict[Rule, Links] = {}
    for whole in target_spans(pair, source, limits):
        for holes in product(*(target_spans(pair, gap, limits) for gap in gaps)):
            covered = [j for hole in holes for j in range(*hole)]
            if len(covered) != len(set(covered)) or not set(covered) <= set(range(*whole)):
                continue
            left, source_place = side(pair.source, source, gaps)
            right, target_place = side(pair.target, whole, list(holes))
            links = tuple(
                sorted(
                    (source_place[i], target_place[j]) for i, j in pair.links if i in source_place and j in target_place
                )
            )
            if not links:
                continue
            rule = (left, right)
            result[rule] = min(result.get(rule, links), links)
    return result


def side(words: tuple[str, ...], span: Span, gaps: list[Span]) -> tuple[tuple[str, ...], dict[int, int]]:
    """The symbols of a span with gap n written [X,n+1], and the symbol's place of every word."""
    symbols: list[str] = []
    place: dict[int, int] = {}
    i = span[0]
    while i < span[1]:
        gap = next((n for n, g in enumerate(gaps) if g[0] == i), None)
        if gap is None:
            place[i] = len(symbols)
            symbols.append(words[i])
            i += 1
        else:
            symbols.append(f"[X,{gap + 1}]")
            i = gaps[gap][1]
    return tuple(symbols), place


@lru_cache(maxsize=4096)
def occurrence_rules(pair: Pair, chunks: Chunks, limits: Limits) -> dict[Rule, Links]:
    """The rules of one occurrence; non-terminals around it cover the shortest span that makes a rule.

    They are kept, not to be changed: a bitext may have a pair many times and is read once for every sentence.
    """
    start, end = chunks[0][0], chunks[-1][1]
    result: dict[Rule, Links] = {}
    for left, right in product((False, True), repeat=2):
        lows = range(start) if left else [start]
        highs = range(end + 1, len(pair.source) + 1) if right else [end]
        candidates = sorted(product(lows, highs), key=lambda span: span[1] - span[0])
        for span in candidates:
            rules = rules_of(pair, span, chunks, limits)
            if rules:
                result |= rules
                break
    return result


def lexical_tables(bitext: list[Pair]) -> tuple[Counter[tuple[str, str]], Counter[str], Counter[str]]:
    joint: Counter[tuple[str, str]] = Counter()
    for pair in bitext:
        joint.update((pair.source[i], pair.target[j]) for i, j in pair.links)
        joint.update((w, "") for i, w in enumerate(pair.source) if all(i != a for a, _ in pair.links))
        joint.update(("", w) for j, w in enumerate(pair.target) if all(j != b for _, b in pair.links))
    source: Counter[str] = Counter()
    target: Counter[str] = Counter()
    for (f, e), count in joint.items():
        source[f] += count
        target[e] += count
    return joint, source, target


def target_pattern(target: tuple[str, ...]) -> tuple[str | None, ...]:
    """The target side from its first to its last word; non-terminals, one or two side by side, are gaps."""
    symbols = [GAP if symbol.startswith("[X,") else symbol for symbol in target]
    while symbols[0] is GAP:
        symbols.pop(0)
    while symbols[-1] is GAP:
        symbols.pop()
    return tuple(s for i, s in enumerate(symbols) if s is not GAP or symbols[i - 1] is not GAP)


def extract(
    bitext: list[Pair],
    sentence: tuple[str, ...],
    limits: Limits,
    allowed: Callable[[int], bool],
) -> dict[Rule, tuple[dict[str, float], Links]]:
    """Features and links of every rule for `sentence`, from training pairs whose number is `allowed`."""
    wanted = {pattern for pattern, _ in occurrences(sentence, limits)}
    samples: Counter[tuple[str | None, ...]] = Counter()
    counts: Counter[Rule] = Counter()
    source_counts: Counter[tuple[str, ...]] = Counter()
    alignments: defaultdict[Rule, Counter[Links]] = defaultdict(Counter)
    pattern_of = {}
    target_occurrences: Counter[tuple[str | None, ...]] = Counter()
    for number, pair in enumerate(bitext):
        if not allowed(number):
            continue
        target_limits = replace(limits, max_symbols=2 * len(pair.target), max_nonterminals=2)
        target_occurrences.update(pattern for pattern, _ in occurrences(pair.target, target_limits))
        for pattern, chunks in occurrences(pair.source, limits):
            if pattern not in wanted:
                continue
            samples[pattern] += 1
            found = occurrence_rules(pair, chunks, limits)
            source_counts.update({left for left, _ in found})
            for rule, links in found.items():
                counts[rule] += 1
                alignments[rule][links] += 1
                pattern_of[rule] = pattern
    joint, source_total, target_total = lexical_tables([pair for number, pair in enumerate(bitext) if allowed(number)])

    def cost(probabilities: list[float]) -> float:
        return -log10(max(probabilities)) if max(probabilities) > 0 else UNSEEN

    result = {}
    for rule, count in counts.items():
        source_words, target_words = ([w for w in s if not w.startswith("[X,")] for s in rule)
        features = {
            "EgivenFCoherent": -log10(count / samples[pattern_of[rule]]),
            "SampleCountF": log10(1 + samples[pattern_of[rule]]),
            "CountEF": log10(1 + count),
            "MaxLexFgivenE": sum(
                cost([joint[f, e] / max(target_total[e], 1) for e in [*target_words, ""]]) for f in source_words
            ),
            "MaxLexEgivenF": sum(
                cost([joint[f, e] / max(source_total[f], 1) for f in [*source_words, ""]]) for e in target_words
            ),
            "IsSingletonF": float(source_counts[rule[0]] == 1),
            "IsSingletonFE": float(count == 1),
            "FgivenECoherent": max(0.0, -log10(count / target_occurrences[target_pattern(rule[1])])),
            "PhrasePenalty": 1.0,
        }
        best = min(alignments[rule], key=lambda links, rule=rule: (-alignments[rule][links], links))
        result[rule] = (features, best)
    return result

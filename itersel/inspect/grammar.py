"""A grammar: how many rules of which kind, the range of every value, the source sides with most translations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from itersel.base.tables import text_table
from itersel.grammar.grammar import Grammar
from itersel.inspect.options import ViewOptions


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    rules = rules_of(Grammar.read(path).text())  # read by the kernel first: errors have their line
    yield f"grammar {path}"
    yield from summary(rules)
    if options.grep is not None:
        yield from matching(rules, options)
    elif options.top:
        yield from ("", text_table(_most_translated(rules, options.top)))


def rules_of(text: bytes) -> list[str]:
    """The lines of a text form; only a line feed ends one, whatever else is in a word."""
    return text.decode().split("\n")[:-1]


def summary(rules: Iterable[str]) -> Iterator[str]:
    """Counts, and a table of the named values."""
    labels: Counter[str] = Counter()
    arities: Counter[int] = Counter()
    sources: set[str] = set()
    values: defaultdict[str, list[float]] = defaultdict(list)
    count = 0
    for rule in rules:
        label, source, _, features = rule.split(" |||")[:4]
        count += 1
        labels[label] += 1
        arities[nonterminals(source)] += 1
        sources.add(source)
        for feature in features.split(" ")[1:]:
            name, _, value = feature.rpartition("=")
            values[name].append(float(value))
    yield f"{count:,} rules, {len(sources):,} source sides"
    yield "non-terminals: " + ", ".join(f"{arity}: {arities[arity]:,}" for arity in sorted(arities))
    yield "labels: " + ", ".join(f"{label} {labels[label]:,}" for label in sorted(labels))
    if values:
        table = [["value", "rules", "least", "mean", "most"]]
        for name in sorted(values):
            given = values[name]
            numbers = (min(given), sum(given) / len(given), max(given))
            table.append([name, f"{len(given):,}", *(f"{number:.4g}" for number in numbers)])
        yield from ("", text_table(table))


def matching(rules: Iterable[str], options: ViewOptions) -> Iterator[str]:
    """The rules that match, and how many more there are."""
    found = [rule for rule in rules if options.matches(rule)]
    yield ""
    yield from islice(found, options.top)
    if len(found) > options.top:
        yield f"… and {len(found) - options.top:,} more that match"
    elif not found:
        yield "no rule matches"


def nonterminals(source: str) -> int:
    """How many symbols of a source side are non-terminals."""
    return sum(word.startswith("[") and word.endswith("]") for word in source.split(" ") if len(word) > 1)


def _most_translated(rules: Iterable[str], top: int) -> list[list[str]]:
    targets = Counter(rule.split(" |||")[1].strip() for rule in rules)
    ranked = sorted(targets.items(), key=lambda one: (-one[1], one[0]))
    return [["source side", "rules"], *([source, f"{count:,}"] for source, count in ranked[:top])]

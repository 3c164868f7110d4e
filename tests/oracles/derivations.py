"""Every derivation of a sentence, by definition (ALGORITHMS §1): no chart, no pruning, no shared code with the kernel.

A derivation is a target string with a feature vector; `derivations` lists all of them, and a rule given twice counts
twice. Exponential: only for sentences of a few words.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

WORD_PENALTY = -0.434294482


class TooManyError(Exception):
    """More derivations than the caller wants to see."""


@dataclass(frozen=True)
class Nonterminal:
    label: str
    index: int


Symbol = str | Nonterminal


@dataclass(frozen=True)
class Rule:
    lhs: str
    source: tuple[Symbol, ...]
    target: tuple[Symbol, ...]
    features: dict[str, float] = field(default_factory=dict)
    glue: bool = False

    @property
    def tails(self) -> list[Nonterminal]:
        """The source side's non-terminals from left to right."""
        return [symbol for symbol in self.source if isinstance(symbol, Nonterminal)]

    @property
    def unary(self) -> bool:
        return len(self.source) == 1 and bool(self.tails)


@dataclass(frozen=True)
class Derivation:
    words: tuple[str, ...]
    features: Counter[str]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def score(self, weights: Mapping[str, float]) -> float:
        return sum(weights.get(name, 0.0) * value for name, value in self.features.items())


def parse_rule(line: str) -> Rule:
    """One line of cdec's text form."""
    fields = [text.split() for text in line.split("|||")]
    source = tuple(_symbol(token) for token in fields[1])
    labels = {symbol.index: symbol.label for symbol in source if isinstance(symbol, Nonterminal)}
    target: list[Symbol] = []
    for token in fields[2]:
        symbol = _symbol(token)
        if token.startswith("[") and token[1:-1].isdigit():
            symbol = Nonterminal(labels[int(token[1:-1])], int(token[1:-1]))
        target.append(symbol)
    features: Counter[str] = Counter()
    for position, token in enumerate(fields[3] if len(fields) > 3 else []):
        name, equals, value = token.rpartition("=")
        features[name if equals else f"PhraseModel_{position}"] += float(value)
    return Rule(fields[0][0][1:-1], source, tuple(target), dict(features))


def _symbol(token: str) -> Symbol:
    if token.startswith("[") and token.endswith("]") and "," in token:
        label, _, index = token[1:-1].rpartition(",")
        if label and index.isdigit():
            return Nonterminal(label, int(index))
    return token


def template_features(rule: Rule, groups: frozenset[str]) -> Counter[str]:
    """The sparse features of one rule by name."""
    order = {tail.index: place + 1 for place, tail in enumerate(rule.tails)}
    names: list[str] = []
    if "id" in groups:
        source = [s if isinstance(s, str) else "N" + s.label for s in rule.source]
        target = [s if isinstance(s, str) else f"N{order[s.index]}" for s in rule.target]
        names.append(f"R:{rule.lhs}:{'_'.join(source)}:{'_'.join(target)}")
    if "ng" in groups:
        source = [s if isinstance(s, str) else s.label for s in rule.source]
        target = [s if isinstance(s, str) else f"{s.label}{order[s.index]}" for s in rule.target]
        for prefix, side in (("RBS:", source), ("RBT:", target)):
            names += [f"{prefix}{a}_{b}" for a, b in itertools.pairwise(["<r>", *side, "</r>"])]
    if "shape" in groups:
        names.append(f"Shape_S{_shape(rule.source)}_T{_shape(rule.target)}")
    return Counter(name.replace("=", "_").replace(";", "_") for name in names)


def _shape(side: Sequence[Symbol]) -> str:
    """One bit for words before, at and after each of two non-terminals; `w X w X w`."""
    runs: list[bool] = [False]  # is there a word before the first, second, third non-terminal?
    for symbol in side:
        if isinstance(symbol, Nonterminal):
            runs.append(False)
        else:
            runs[-1] = True
    bits = [runs[0]]
    for words in runs[1:]:
        bits += [True, words]
    bits += [False] * (5 - len(bits))
    return "".join("1" if bit else "0" for bit in bits)


def label_ranks(rules: Sequence[Rule], goal: str, nonterminal: str) -> dict[str, int]:
    """The order in which a span's labels are finished.

    Depth first along unary rules (the goal's glue rule is one), from the goal and then from all labels by name; a label
    is finished after all it derives from, except where that would close a cycle.
    """
    below: dict[str, set[str]] = {goal: {nonterminal}}
    labels = {goal, nonterminal}
    for rule in rules:
        labels |= {rule.lhs, *(tail.label for tail in rule.tails)}
        if rule.unary:
            below.setdefault(rule.lhs, set()).add(rule.tails[0].label)
    ranks: dict[str, int] = {}
    entered: set[str] = set()

    def visit(label: str) -> None:
        if label in entered:
            return
        entered.add(label)
        for other in sorted(below.get(label, ()), key=str.encode):
            visit(other)
        ranks[label] = len(ranks)

    for label in [goal, *sorted(labels, key=str.encode)]:
        visit(label)
    return ranks


class LanguageModel:
    """A `kenlm.Model` that scores whole strings in double precision."""

    def __init__(self, model: object):
        self.model = model
        self.known: dict[tuple[str, ...], tuple[float, int]] = {}

    def score(self, words: tuple[str, ...]) -> tuple[float, int]:
        """log10 probability with sentence marks, and the number of unknown words."""
        if words not in self.known:
            total = sum(log10 for log10, _, _ in self.model.full_scores(" ".join(words)))  # type: ignore[attr-defined]
            self.known[words] = total, sum(word not in self.model for word in words)  # type: ignore[operator]
        return self.known[words]


@dataclass
class Enumerator:
    """The derivations of one sentence. `span_limit` 0 means none; more than `limit` in a cell raise TooManyError."""

    grammar: Sequence[str]
    sentence: str
    span_limit: int = 15
    pass_through: str = "unknown"
    groups: frozenset[str] = frozenset()
    goal: str = "S"
    nonterminal: str = "X"
    limit: int = 5_000
    copy_known: bool = False  # copy words that only rules of other labels translate

    @property
    def labels(self) -> set[str]:
        """The labels whose rules keep a word from being copied."""
        return set() if self.copy_known else {parse_rule(line).lhs for line in self.grammar}

    @cached_property
    def words(self) -> list[str]:
        return self.sentence.split()

    @cached_property
    def rules(self) -> list[Rule]:
        rules = [parse_rule(line) for line in self.grammar]
        translated = {r.source[0] for r in rules if len(r.source) == 1 and r.lhs in (self.nonterminal, *self.labels)}
        copied = sorted({word for word in self.words if self.pass_through == "all" or word not in translated})
        whole = Nonterminal(self.goal, 1), Nonterminal(self.nonterminal, 2)
        first = (Nonterminal(self.nonterminal, 1),)
        rules += [Rule(self.nonterminal, (word,), (word,), {"PassThrough": 1}) for word in copied]
        rules += [Rule(self.goal, first, first, glue=True), Rule(self.goal, whole, whole, {"Glue": 1}, glue=True)]
        return rules

    @cached_property
    def ranks(self) -> dict[str, int]:
        return label_ranks(self.rules, self.goal, self.nonterminal)

    @cached_property
    def cells(self) -> dict[tuple[str, int, int], list[Derivation]]:
        return {}

    def derive(self, label: str, start: int, end: int) -> list[Derivation]:
        """All derivations of the span with that label; the language model is not in it yet."""
        key = label, start, end
        if key not in self.cells:
            found: list[Derivation] = []
            for rule in self.rules:
                if rule.lhs != label or not self.applies(rule, start, end):
                    continue
                own = Counter(rule.features)
                own.update(template_features(rule, self.groups))
                for spans in self.matches(rule.source, start, end):
                    tails = [self.derive(t.label, *span) for t, span in zip(rule.tails, spans, strict=True)]
                    for choice in itertools.product(*tails):
                        found.append(self.combine(rule, own, choice))
                        if len(found) > self.limit:
                            raise TooManyError
            self.cells[key] = found
        return self.cells[key]

    def applies(self, rule: Rule, start: int, end: int) -> bool:
        if rule.glue:
            return start == 0 and (not rule.unary or self.goal != self.nonterminal)
        if self.span_limit and end - start > self.span_limit and not (rule.lhs == self.goal and start == 0):
            return False
        return not rule.unary or self.ranks[rule.tails[0].label] < self.ranks[rule.lhs]

    def matches(self, source: Sequence[Symbol], start: int, end: int) -> Iterator[list[tuple[int, int]]]:
        """All ways to lay a source side over a span: the spans of its non-terminals."""
        if not source:
            if start == end:
                yield []
        elif isinstance(source[0], Nonterminal):
            for middle in range(start + 1, end + 1):
                yield from ([(start, middle), *rest] for rest in self.matches(source[1:], middle, end))
        elif start < end and self.words[start] == source[0]:
            yield from self.matches(source[1:], start + 1, end)

    def combine(self, rule: Rule, own: Counter[str], choice: Sequence[Derivation]) -> Derivation:
        by_index = {tail.index: derivation for tail, derivation in zip(rule.tails, choice, strict=True)}
        words: list[str] = []
        for symbol in rule.target:
            words += [symbol] if isinstance(symbol, str) else by_index[symbol.index].words
        features = Counter(own)
        for derivation in choice:
            features.update(derivation.features)
        return Derivation(tuple(words), features)


def derivations(enumerator: Enumerator, model: LanguageModel | None = None) -> list[Derivation]:
    """All derivations of the whole sentence with all features that are not zero."""
    made = []
    found = enumerator.derive(enumerator.goal, 0, len(enumerator.words))
    if not found and not enumerator.copy_known:
        return derivations(replace(enumerator, copy_known=True), model)
    for derivation in found:
        features = Counter(derivation.features)
        features["WordPenalty"] += WORD_PENALTY * len(derivation.words)
        if model:
            log10, unknown = model.score(derivation.words)
            features["LanguageModel"] += log10
            features["LanguageModel_OOV"] += unknown
        made.append(Derivation(derivation.words, Counter({name: value for name, value in features.items() if value})))
    return made

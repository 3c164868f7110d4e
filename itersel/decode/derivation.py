"""Derivations: the tree of rules behind a translation, with what each rule adds to the model score.

The decoder's nodes come in (`ShardDecoder.derivation`); spans and yields are computed from the rules. The scores
⟨w, features⟩ of all nodes add up to the score of the derivation. The language model's part of a node is for the words
and joints that come together there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RawNode = tuple[str, Sequence[tuple[str, float]], Sequence[int]]
"""As the kernel gives them: the rule's text form, its features (a name may come twice), the nodes below."""
BORDERS = "sentence"
"""The label of the root, which adds the language model score of the sentence's borders."""


@dataclass(frozen=True)
class Node:
    """A rule as it was used: `span` is the range of source words, `words` the translation of it."""

    label: str
    source: tuple[str, ...]
    target: tuple[str, ...]
    span: tuple[int, int]
    words: tuple[str, ...]
    features: dict[str, float]
    children: tuple[int, ...]  # numbers of nodes, in the order of the source non-terminals

    def contributions(self, weights: Mapping[str, float]) -> dict[str, float]:
        """What each feature adds to the score; those that add nothing are left out. Largest amounts first."""
        parts = {name: weights.get(name, 0.0) * value for name, value in self.features.items()}
        return {name: part for name, part in sorted(parts.items(), key=lambda one: (-abs(one[1]), one[0])) if part}

    def score(self, weights: Mapping[str, float]) -> float:
        """⟨w, features⟩ of this node alone."""
        return sum(weights.get(name, 0.0) * value for name, value in self.features.items())


@dataclass(frozen=True)
class Derivation:
    """A translation with its score and its tree; the root is the first node, and an empty sentence has none."""

    text: str
    score: float
    nodes: tuple[Node, ...]

    @classmethod
    def of(cls, text: str, score: float, raw: Sequence[RawNode]) -> Derivation:
        """From the kernel's nodes, in which every node comes before the nodes below it."""
        sides = [_sides(rule or _borders(raw[1][0])) for rule, _, _ in raw]
        children = [tuple(below) for _, _, below in raw]
        spans = _spans([source for _, source, _ in sides], children)
        words: list[tuple[str, ...]] = [()] * len(raw)
        for at in reversed(range(len(raw))):
            words[at] = _filled(sides[at][2], [words[child] for child in children[at]])
        nodes = [
            Node(*sides[at], spans[at], words[at], _summed(features), children[at])
            for at, (_, features, _) in enumerate(raw)
        ]
        return cls(text, score, tuple(nodes))


def _summed(features: Sequence[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, value in features:
        sums[name] = sums.get(name, 0.0) + value
    return sums


def _borders(goal_rule: str) -> str:
    """The text of the root, which is no rule of the grammar: a sentence is whatever the goal's rule derives."""
    goal = goal_rule.split(" ", 1)[0].strip("[]")
    return f"[{BORDERS}] ||| [{goal},1] ||| [{goal},1] |||"


def _sides(rule: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    label, source, target = rule.split(" |||")[:3]
    return label.strip("[]"), tuple(source.split(" ")[1:]), tuple(target.split(" ")[1:])


def _number(symbol: str, nonterminals: int) -> int | None:
    """Which non-terminal `[X,2]` is, from 0; None for a word. Without nodes below, it is a copied word."""
    label, comma, number = symbol.rpartition(",")
    if not nonterminals or not comma or not label.startswith("[") or number not in ("1]", "2]"):
        return None
    return int(number[0]) - 1


def _spans(sources: Sequence[tuple[str, ...]], children: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Widths from the leaves up, then places from the root down."""
    widths = [0] * len(sources)
    for at in reversed(range(len(sources))):
        words = len(sources[at]) - len(children[at])
        widths[at] = words + sum(widths[child] for child in children[at])
    begins = [0] * len(sources)
    for at, source in enumerate(sources):
        place = begins[at]
        for symbol in source:
            number = _number(symbol, len(children[at]))
            if number is None:
                place += 1
            else:
                begins[children[at][number]] = place
                place += widths[children[at][number]]
    return [(begin, begin + width) for begin, width in zip(begins, widths, strict=True)]


def _filled(target: tuple[str, ...], below: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The target side with the non-terminals' words in their places."""
    words: list[str] = []
    for symbol in target:
        number = _number(symbol, len(below))
        words.extend([symbol] if number is None else below[number])
    return tuple(words)


def format_tree(derivation: Derivation, weights: Mapping[str, float], features: int = 0) -> str:
    """The tree for a terminal: span, rule, the node's own score and that of the tree below it, and its words.

    `features` is how many contributions are listed under each node, the largest first.
    """
    if not derivation.nodes:
        return "(an empty sentence)"
    totals = [node.score(weights) for node in derivation.nodes]
    for at in reversed(range(len(totals))):
        totals[at] += sum(totals[child] for child in derivation.nodes[at].children)
    lines = []
    stack = [(0, "", "")]  # node, what its line starts with, what the lines below it start with
    while stack:
        at, first, rest = stack.pop()
        node = derivation.nodes[at]
        own = node.score(weights)
        lines.append(f"{first}{_rule(node)}  {own:+.4f}  [{totals[at]:.4f}]  {' '.join(node.words)}")
        bar = "│ " if node.children else "  "
        lines += [f"{rest}{bar}  {part}" for part in _parts(node, weights, features)]
        for child in reversed(node.children):
            last = child == node.children[-1]
            stack.append((child, rest + ("└ " if last else "├ "), rest + ("  " if last else "│ ")))
    return "\n".join(lines)


def _rule(node: Node) -> str:
    span = f"{node.span[0]}–{node.span[1]}"
    return f"{span} {node.label} → {' '.join(node.source)} ‖ {' '.join(node.target)}"


def _parts(node: Node, weights: Mapping[str, float], most: int) -> list[str]:
    parts = list(node.contributions(weights).items())
    lines = [f"{part:+.4f} = {node.features[name]:.6g} · {weights[name]:.6g} {name}" for name, part in parts[:most]]
    if most and len(parts) > most:
        lines.append(f"{sum(part for _, part in parts[most:]):+.4f} in {len(parts) - most} more features")
    return lines

"""A rule of our text form as plain values, for programs that rewrite grammars line by line.

[X] ||| haus [X,1] ||| house [X,1] ||| f=0.5 ||| 0-0
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from itersel.base.errors import InputError

NONTERMINAL = re.compile(r"\[(\S+),(\d+)\]")
BARS = re.compile(r"(?:^|(?<=\s))\|\|\|(?=\s|$)")


@dataclass(frozen=True)
class TextRule:
    """One rule. Non-terminals are tokens such as `[X,1]` on both sides."""

    lhs: str
    source: list[str]
    target: list[str]
    features: dict[str, float]
    alignment: list[tuple[int, int]]

    @staticmethod
    def label(token: str) -> str | None:
        """The label of a non-terminal, None for a word."""
        found = NONTERMINAL.fullmatch(token)
        return found[1] if found else None

    def partners(self) -> dict[int, int]:
        """The place on the target side of each non-terminal of the source side."""
        places = {
            found[2]: at for at, token in enumerate(self.target) if (found := NONTERMINAL.fullmatch(token)) is not None
        }
        return {at: places[found[2]] for at, token in enumerate(self.source) if (found := NONTERMINAL.fullmatch(token))}

    def text(self) -> str:
        """The line, without line feed. Values come back within single precision."""
        fields = [f"[{self.lhs}]", " ".join(self.source), " ".join(self.target)]
        fields.append(" ".join(f"{name}={value:.9g}" for name, value in self.features.items()))
        if self.alignment:
            fields.append(" ".join(f"{i}-{j}" for i, j in self.alignment))
        return " ||| ".join(fields).replace("|||  |||", "||| |||").rstrip()


def number(text: str) -> float | None:
    """A finite number, None for anything else."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def parse_text_rule(line: str, where: str) -> TextRule:
    """A line whose features all have names; `Grammar.text` writes such lines."""
    fields = [field.split() for field in BARS.split(line)]
    found = re.fullmatch(r"\[(\S+)\]", fields[0][0]) if len(fields[0]) == 1 else None
    if not 3 <= len(fields) <= 5 or found is None:
        raise InputError("expected `[X] ||| source ||| target ||| name=value … ||| i-j …`", where=where)
    features = {}
    for token in fields[3] if len(fields) > 3 else []:
        name, equals, text = token.rpartition("=")
        value = number(text)
        if not (equals and name) or value is None:
            raise InputError(f"expected a feature such as name=0.5, found {token!r}", where=where)
        features[name] = value
    pairs = [token.partition("-") for token in (fields[4] if len(fields) > 4 else [])]
    if not all(left.isdigit() and right.isdigit() for left, _, right in pairs):
        raise InputError("expected alignment links such as 0-1", where=where)
    rule = TextRule(found[1], fields[1], fields[2], features, [(int(left), int(right)) for left, _, right in pairs])
    indices = [
        sorted(match[2] for token in side if (match := NONTERMINAL.fullmatch(token)))
        for side in (rule.source, rule.target)
    ]
    if indices[0] != indices[1] or len(set(indices[0])) < len(indices[0]):
        raise InputError("the non-terminals of the two sides do not belong together", where=where)
    return rule

"""Feature names as people read them, and the places in sentences where a feature's words stand.

A name of a sparse template (itersel.model.features) is taken apart into words and gaps: `R:X:NX_alte_NX:N1_old_N2` is
the rule `1 alte 2 → 1 old 2`. Names join words by `_`, and write `=` and `;` as `_`, so a sentence is searched with its
blanks, `=` and `;` replaced in the same way: every character keeps its place, and no name needs to be cut into words to
be found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

KINDS = ("dense", "rule", "source bigram", "target bigram", "shape")
JOINED = str.maketrans({" ": "_", "=": "_", ";": "_"})
SHAPE = re.compile(r"Shape_S([01]{5})_T([01]{5})$")
BORDERS = ("<r>", "</r>")

Symbols = tuple[str | int, ...]
"""Words, gaps as their numbers from 1, and BORDERS. In a shape, `…` stands for any run of words."""
Spans = list[tuple[int, int]]
"""Where words stand, in characters: from, to."""


@dataclass(frozen=True)
class Side:
    """One side of a rule, or a part of it."""

    symbols: Symbols

    @cached_property
    def runs(self) -> tuple[str, ...]:
        """The words between the gaps, as they stand in a name."""
        text = "".join("\n" if isinstance(symbol, int) else f"{symbol}_" for symbol in self.sought)
        return tuple(run.rstrip("_") for run in text.split("\n") if run)

    @property
    def sought(self) -> Symbols:
        return tuple(symbol for symbol in self.symbols if symbol not in BORDERS)

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        # More than one `_` stands between words where the sentence has `=`, `;` or `_`.
        pieces = ["[^_].*?" if isinstance(symbol, int) else f"({re.escape(symbol)})" for symbol in self.sought]
        return re.compile(f"(?<![^_]){'_+'.join(pieces)}(?![^_])")

    def find(self, joined: str) -> Spans:
        """The words' places in a sentence that `join` made ready; none if the side does not occur there."""
        if not self.runs or not all(run.partition("_")[0] in joined for run in self.runs):
            return []
        found = self._expression.search(joined)
        return [] if found is None else merged([found.span(k + 1) for k in range(found.re.groups)])


@dataclass(frozen=True)
class Pattern:
    """What a feature's name says."""

    kind: str
    """One of KINDS."""
    source: Side | None = None
    target: Side | None = None

    def find(self, source: str, target: str) -> tuple[Spans, Spans] | None:
        """Where both sides (those that the feature has) stand in two joined sentences, or nothing."""
        if self.kind in ("dense", "shape"):
            return None
        found: list[Spans] = []
        for side, text in ((self.source, source), (self.target, target)):
            wanted = side is not None and bool(side.runs)
            found.append(side.find(text) if side is not None and wanted else [])
            if wanted and not found[-1]:
                return None
        return (found[0], found[1]) if any(found) else None


def join(sentence: str) -> str:
    """The sentence written as feature names write words; character for character."""
    return sentence.translate(JOINED)


def merged(spans: Spans) -> Spans:
    """Neighbouring words, one character apart, as one span."""
    made: Spans = []
    for begin, end in spans:
        if made and made[-1][1] + 1 == begin:
            made[-1] = (made[-1][0], end)
        else:
            made.append((begin, end))
    return made


def kind_of(name: str) -> str:
    """Which of KINDS a name is; one that is of no template is dense."""
    if name.startswith("R:") and name.count(":") >= 3:
        return "rule"
    if name.startswith(("RBS:", "RBT:")):
        return "source bigram" if name[2] == "S" else "target bigram"
    return "shape" if SHAPE.match(name) else "dense"


def pattern_of(name: str) -> Pattern:
    """Take a feature's name apart."""
    kind, shape = kind_of(name), SHAPE.match(name)
    if shape:
        return Pattern(kind, _shape(shape[1]), _shape(shape[2]))
    if kind == "source bigram":
        return Pattern(kind, source=Side(_bigram(name[4:])))
    if kind == "target bigram":
        return Pattern(kind, target=Side(_bigram(name[4:])))
    return Pattern(kind, *(_rule(name) or (None, None))) if kind == "rule" else Pattern(kind)


def _rule(name: str) -> tuple[Side, Side] | None:
    """Source and target of `R:label:source:target`. Words may hold colons: the gaps of both sides must fit, and of
    several cuts that do, the one that leaves most gaps counts."""
    label, _, rest = name.removeprefix("R:").partition(":")
    found: list[tuple[int, Side, Side]] = []
    for cut in [k for k, character in enumerate(rest) if character == ":"]:
        source: list[str | int] = []
        gaps = 0
        for symbol in _split(rest[:cut]):
            gaps += symbol == f"N{label}"
            source.append(gaps if symbol == f"N{label}" else symbol)
        target = [_gap(symbol, "N", gaps) for symbol in _split(rest[cut + 1 :])]
        if source and target and sorted(s for s in target if isinstance(s, int)) == list(range(1, gaps + 1)):
            found.append((gaps, Side(tuple(source)), Side(tuple(target))))
    return max(found, key=lambda one: one[0])[1:] if found else None


def _bigram(text: str) -> Symbols:
    """Two symbols; a word may hold `_`, so there may seem to be more."""
    return tuple(_gap("X1" if symbol == "X" else symbol, "X", 9) for symbol in _split(text))


def _gap(symbol: str, prefix: str, gaps: int) -> str | int:
    number = symbol.removeprefix(prefix)
    is_gap = symbol.startswith(prefix) and len(number) == 1 and "1" <= number <= "9" and int(number) <= gaps
    return int(number) if is_gap else symbol


def _split(text: str) -> list[str]:
    return [symbol for symbol in text.split("_") if symbol]


def _shape(bits: str) -> Side:
    """Slots: words, gap, words, gap, words."""
    symbols: list[str | int] = []
    for slot, bit in enumerate(bits):
        if bit == "1":
            symbols.append("…" if slot % 2 == 0 else sum(isinstance(s, int) for s in symbols) + 1)
    return Side(tuple(symbols))

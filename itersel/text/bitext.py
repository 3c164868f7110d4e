"""Bitexts: read them from two files or from lines `source ||| target`, clean them, drop unusable pairs.

In: plain or gzipped UTF-8. Out: pairs of lines whose tokens are separated by single blanks, ready for
alignment and rule extraction, and a count of what was dropped and why. No other room sees untokenised text.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.text import tokenizer as tokenize
from itersel.text.languages import check_language
from itersel.text.markup import refuse_markup

SEPARATOR = "|||"
NORMALIZATIONS = ("nfc", "nfkc", "none")
REASONS = ("empty", "too long", "length ratio", "separator")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
_CONTROLS = dict.fromkeys([*range(0x20), 0x7F], " ")


def words(line: str) -> list[str]:
    """The line's tokens, split at ASCII blanks only: a no-break space stays in its token, in every room."""
    return [word for word in _BLANKS.split(line) if word]


class Pair(NamedTuple):
    """One sentence pair and its line number (from 1) in the input."""

    number: int
    source: str
    target: str


@dataclass(frozen=True)
class Bitext:
    """A parallel text on disk that can be iterated any number of times.

    With `target=None`, `source` names one file of lines `source ||| target`. A byte order mark is skipped.
    Different numbers of lines and a missing or repeated separator are reported as `path:line`.
    """

    source: str | os.PathLike[str]
    target: str | os.PathLike[str] | None = None

    def __iter__(self) -> Iterator[Pair]:
        return self._joint() if self.target is None else self._parallel(self.target)

    def where(self, number: int, *, target: bool = False) -> str:
        """`path:line` of a side of the pair on this line."""
        path = self.target if target and self.target is not None else self.source
        return f"{os.fspath(path)}:{number}"

    def _joint(self) -> Iterator[Pair]:
        for number, line in enumerate(_lines(self.source), 1):
            sides = line.split(SEPARATOR)
            if len(sides) != 2:
                raise InputError(
                    f"expected one {SEPARATOR} in the line, found {len(sides) - 1}",
                    where=self.where(number),
                    hint="Write one pair per line as `source ||| target`, or give the sides as two files.",
                )
            yield Pair(number, sides[0].strip(), sides[1].strip())

    def _parallel(self, target: str | os.PathLike[str]) -> Iterator[Pair]:
        number = 0
        for number, (left, right) in enumerate(zip_longest(_lines(self.source), _lines(target)), 1):
            if left is None or right is None:
                shorter, longer = (self.source, target) if left is None else (target, self.source)
                raise InputError(
                    f"ends after {number - 1} lines, but {os.fspath(longer)} continues",
                    where=f"{os.fspath(shorter)}:{number}",
                    hint="Line i of one file must translate line i of the other; check that none was lost.",
                )
            yield Pair(number, left, right)


def _lines(path: str | os.PathLike[str]) -> Iterator[str]:
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        raise InputError("the file is empty", where=path, hint="Write one sentence per line.")
    refuse_markup(first, f"{os.fspath(path)}:1")
    yield first.removeprefix("\ufeff")
    yield from lines


@dataclass(frozen=True)
class Cleaning:
    """How one side's lines are rewritten. The defaults change tokenised text only in blanks and NFC."""

    normalization: str = "nfc"
    language: str | None = None  # tokenise by this language's rules; None: the text is already tokenised
    punctuation: bool = False  # replace typographic quotes and dashes by ASCII
    escape: bool = False  # replace reserved characters by entities
    lowercase: bool = False

    def __post_init__(self) -> None:
        if self.normalization not in NORMALIZATIONS:
            raise ConfigError(
                f"unknown normalisation {self.normalization!r}",
                hint=f"Choose one of {', '.join(NORMALIZATIONS)}.",
            )
        if self.language is not None:
            check_language(self.language)

    def compile(self) -> Callable[[str], str]:
        """The function that rewrites a line. Any sequence of blanks and control characters becomes one blank."""
        form = None if self.normalization == "none" else self.normalization.upper()
        tokenizer = None if self.language is None else tokenize.Tokenizer(self.language)

        def clean(line: str) -> str:
            if form is not None:
                line = unicodedata.normalize(form, line)  # type: ignore[arg-type]
            line = " ".join(line.translate(_CONTROLS).split())
            if self.punctuation:
                line = " ".join(tokenize.ascii_punctuation(line).split())
            if tokenizer is not None:
                line = tokenizer(line)
            if self.lowercase:
                line = line.lower()
                if form is not None:  # lower-casing can decompose: İ becomes i and a combining dot
                    line = unicodedata.normalize(form, line)  # type: ignore[arg-type]
            return tokenize.escape(line) if self.escape else line

        return clean


@dataclass(frozen=True)
class Limits:
    """Which pairs are dropped. Lengths are in tokens after cleaning; 0 switches a limit off."""

    max_length: int = 100
    max_ratio: float = 9.0
    drop_separator: bool = False  # drop pairs with ||| in a token instead of stopping

    def __post_init__(self) -> None:
        if self.max_length < 0:
            raise ConfigError(
                f"the maximum length is {self.max_length}", hint="Give a positive number, or 0 for no limit."
            )
        if not (self.max_ratio == 0 or self.max_ratio >= 1):
            raise ConfigError(
                f"the maximum length ratio is {self.max_ratio}", hint="Give 1 or more, or 0 for no limit."
            )

    def reason(self, source_length: int, target_length: int) -> str | None:
        """Why a pair of these lengths is dropped, or None."""
        shorter, longer = sorted((source_length, target_length))
        if shorter == 0:
            return "empty"
        if self.max_length and longer > self.max_length:
            return "too long"
        if self.max_ratio and longer > self.max_ratio * shorter:
            return "length ratio"
        return None


@dataclass
class Summary:
    """Counts of one preparation, for the summary file."""

    read: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    source_tokens: int = 0
    target_tokens: int = 0

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    def __str__(self) -> str:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.dropped.items() if count) or "none"
        tokens = f"{self.source_tokens:,} source and {self.target_tokens:,} target tokens"
        return f"kept {self.kept:,} of {self.read:,} pairs ({tokens}); dropped: {reasons}"


def clean_side(path: str | os.PathLike[str], cleaning: Cleaning) -> Iterator[str]:
    """Yield every line of one file, cleaned. No line is dropped, so the file stays parallel to others."""
    clean = cleaning.compile()
    for number, line in enumerate(_lines(path), 1):
        cleaned = clean(line)
        if SEPARATOR in cleaned:
            raise _separator_error(f"{os.fspath(path)}:{number}")
        yield cleaned


def _separator_error(where: str) -> InputError:
    return InputError(
        f"a token contains {SEPARATOR}, which separates the fields of grammar files",
        where=where,
        hint="Remove it, escape it (--escape), or drop such pairs of a bitext (--drop-separator).",
    )


def prepare(bitext: Bitext, source: Cleaning, target: Cleaning, limits: Limits, summary: Summary) -> Iterator[Pair]:
    """Yield the cleaned pairs that are kept, with their input line numbers, and count in `summary`.

    A token that contains `|||` would break later text formats: it is an error, or the pair is dropped (see `Limits`).
    """
    clean_source, clean_target = source.compile(), target.compile()
    for number, left, right in bitext:
        left, right = clean_source(left), clean_target(right)
        summary.read += 1
        lengths = len(left.split(" ")) if left else 0, len(right.split(" ")) if right else 0
        reason = limits.reason(*lengths)
        if reason is None and (SEPARATOR in left or SEPARATOR in right):
            if not limits.drop_separator:
                raise _separator_error(bitext.where(number, target=SEPARATOR not in left))
            reason = "separator"
        if reason is not None:
            summary.dropped[reason] += 1
            continue
        summary.kept += 1
        summary.source_tokens += lengths[0]
        summary.target_tokens += lengths[1]
        yield Pair(number, left, right)
    if not summary.kept:
        raise InputError(f"no pair is left: {summary}", where=bitext.source, hint="Check the files and the limits.")

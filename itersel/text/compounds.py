"""Compound splitting by frequency (Koehn & Knight 2003), for a source language that writes compounds as one word.

A splitter is trained on one side of a bitext: it counts words. A word is split into words of that text if the
geometric mean of the parts' frequencies is larger than the word's own frequency. Between parts, a linking element may
be left out: Aktion-s-plan becomes `Aktion Plan`. In: tokenised lines; out: tokenised lines with more tokens.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO, Annotated

from itersel.base.config import Range, validate
from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.text.bitext import words

HEADER = "itersel compound splitter 1"
MOST_PARTS = 8
MOST_DIGITS = 18
"""Of a count in a file; no text has so many words."""


@dataclass(frozen=True)
class SplitConfig:
    """What may be a part of a compound. The defaults are for German."""

    min_length: Annotated[int, Range(1)] = 4
    """Letters that a part has at least."""
    min_count: Annotated[int, Range(1)] = 3
    """How often a part must occur in the text that the splitter was trained on."""
    links: tuple[str, ...] = ("s", "es")
    """Linking elements that may stand between two parts and are left out."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, eq=False)
class CompoundSplitter:
    """Splits the words of tokenised lines. Upper and lower case are the same word to it."""

    counts: Mapping[str, int]
    """How often each word occurs, by its lower-case form."""
    forms: Mapping[str, str]
    """The most frequent form of a word, where that is not the lower-case one."""
    config: SplitConfig = SplitConfig()
    _known: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def train(cls, lines: Iterable[str], config: SplitConfig | None = None) -> CompoundSplitter:
        """Count the words of tokenised lines. Only words made of letters alone can be parts."""
        spelled = Counter(word for line in lines for word in words(line) if word.isalpha())
        by_word = defaultdict[str, list[tuple[int, str]]](list)
        for form, count in spelled.items():
            by_word[form.lower()].append((-count, form))
        counts = {word: -sum(count for count, _ in found) for word, found in by_word.items()}
        most_frequent = {word: min(found)[1] for word, found in by_word.items()}  # of equals, the first by code point
        forms = {word: form for word, form in most_frequent.items() if form != word}
        return cls(counts, forms, config or SplitConfig())

    def __call__(self, line: str) -> str:
        """The line with its compounds split."""
        return " ".join(part for word in words(line) for part in self.split(word))

    def split(self, word: str) -> tuple[str, ...]:
        """The parts of a compound, each in its most frequent form; any other word as it is."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = self._split(word)
        return found

    def _split(self, word: str) -> tuple[str, ...]:
        lower = word.lower()
        if not word.isalpha() or len(lower) < 2 * self.config.min_length:
            return (word,)
        parts = self._best_parts(lower)
        if parts is None or math.exp(_mean_log([self.counts[part] for part in parts])) <= self.counts.get(lower, 0):
            return (word,)
        return tuple(self.forms.get(part, part) for part in parts)

    def _best_parts(self, word: str) -> tuple[str, ...] | None:
        """The split into at least two parts with the largest geometric mean; of equals, the one with fewer parts.

        best[end][n] is the best split of word[:end] into n parts: the sum of the parts' logarithms, and the parts.
        """
        least, links = self.config.min_length, ("", *self.config.links)
        best: list[dict[int, tuple[float, tuple[str, ...]]]] = [{0: (0.0, ())}, *({} for _ in word)]
        for begin in range(len(word) - least + 1):
            if not best[begin]:
                continue
            for end in range(begin + least, len(word) + 1):
                part = word[begin:end]
                count = self.counts.get(part, 0)
                if count < self.config.min_count or part == word:
                    continue
                for link in links if end < len(word) else ("",):
                    after = end + len(link)
                    if not word.startswith(link, end) or after > len(word) - (least if end < len(word) else 0):
                        continue
                    for number, (total, parts) in best[begin].items():
                        new = total + math.log(count)
                        if number < MOST_PARTS and new > best[after].get(number + 1, (-math.inf, ()))[0]:
                            best[after][number + 1] = new, (*parts, part)
        complete = [(total / number, -number, parts) for number, (total, parts) in best[-1].items() if number > 1]
        return max(complete)[2] if complete else None

    def write(self, stream: IO[bytes]) -> None:
        """As text: a header with the options, then `word count` or `word count form` in code point order."""
        options = f"min_length={self.config.min_length} min_count={self.config.min_count}"
        stream.write(f"{HEADER} {options} links={','.join(self.config.links)}\n".encode())
        for word in sorted(self.counts):
            form = f" {self.forms[word]}" if word in self.forms else ""
            stream.write(f"{word} {self.counts[word]}{form}\n".encode())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> CompoundSplitter:
        """InputError for a file that `write` did not make."""
        lines = read_lines(path)
        config = _options(next(lines, ""), path)
        counts, forms = dict[str, int](), dict[str, str]()
        for number, line in enumerate(lines, 2):
            fields = line.split(" ")
            count = fields[1] if 2 <= len(fields) <= 3 else ""
            if not fields[0] or not count.isdecimal() or len(count) > MOST_DIGITS:
                raise InputError(
                    "expected a word, its count and perhaps its form",
                    where=f"{os.fspath(path)}:{number}",
                    hint="Make the splitter again with `itersel split train`.",
                )
            counts[fields[0]] = int(count)
            if len(fields) == 3:
                forms[fields[0]] = fields[2]
        return cls(counts, forms, config)


def _options(header: str, path: str | os.PathLike[str]) -> SplitConfig:
    try:
        if not header.startswith(HEADER + " "):
            raise ValueError
        given = dict(field.split("=") for field in header.removeprefix(HEADER).split())
        links = tuple(link for link in given["links"].split(",") if link)
        return SplitConfig(int(given["min_length"]), int(given["min_count"]), links)
    except (ValueError, KeyError):
        raise InputError(
            "not a compound splitter",
            where=f"{os.fspath(path)}:1",
            hint="Make one with `itersel split train --text FILE --output SPLITTER`.",
        ) from None


def _mean_log(counts: Iterable[int]) -> float:
    logs = [math.log(count) for count in counts]
    return math.fsum(logs) / len(logs)

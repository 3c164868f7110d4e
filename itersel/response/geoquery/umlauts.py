"""German umlauts restored: the 600 training questions were typed without them, in two ways (`hoechsten`, `stadte`).

Any German text comes in, and words; they go out as a German would have meant them. Words that the text has decide, and
for compounds that it has not (`hoechstgelegene`) its strings of letters. No test question is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

_DIGRAPHS = {"ae": "ä", "oe": "ö", "ue": "ü", "ss": "ß"}
_LETTERS = {"a": "ä", "o": "ö", "u": "ü"}
LETTER_RATIO = 10
"""How many times as frequent a word must be that differs in a bare letter: `konnte` and `könnte` are both German."""
MOST_PLACES = 8
"""Longer words have more variants than are worth trying; only their first places vary."""
CONTEXT = 2
"""Letters on both sides of a place that are looked up with it, where the whole word is unknown."""


class Spelling:
    """What a German text says about the spelling of words."""

    def __init__(self, lines: Iterable[str]):
        self.counts = word_counts(lines)
        self._strings: Counter[str] | None = None

    def restored(self, word: str) -> str:
        """The word with its umlauts; two letters that mean one also become one in unknown words."""
        restored = _restored(word, self.counts)
        return restored if self.counts.get(restored) else self._by_strings(word)

    def _by_strings(self, word: str) -> str:
        """Each pair of letters becomes an umlaut if that makes the letters around it more frequent."""
        place = 0
        while place < len(word):
            umlaut = _DIGRAPHS.get(word[place : place + 2])
            if umlaut is not None:
                left, right = word[max(place - CONTEXT, 0) : place], word[place + 2 : place + 2 + CONTEXT]
                if self._count(left + umlaut + right) > self._count(left + word[place : place + 2] + right):
                    word = word[:place] + umlaut + word[place + 2 :]
            place += 1
        return word

    def _count(self, letters: str) -> int:
        """How often words have this string; only strings with an umlaut or two letters that may mean one count."""
        if self._strings is None:
            self._strings = Counter()
            for word, count in self.counts.items():
                for length in range(1, 2 * CONTEXT + 3):
                    for begin in range(len(word) - length + 1):
                        self._strings[word[begin : begin + length]] += count
        return self._strings[letters]


def word_counts(lines: Iterable[str]) -> Counter[str]:
    """How often each word occurs."""
    return Counter(word for line in lines for word in line.split())


def restore_umlauts(text: str, counts: Mapping[str, int]) -> str:
    """The text with the most frequent variant of each word: `fluesse` → `flüsse`, `stadte` → `städte`.

    A variant that only joins two letters must be more frequent than the word itself; one that changes a bare `a`, `o`
    or `u` must be LETTER_RATIO times as frequent. Ties go to the word as it is, then to the first in the alphabet.
    """
    return " ".join(_restored(word, counts) for word in text.split())


def _restored(word: str, counts: Mapping[str, int]) -> str:
    best, best_count = word, counts.get(word, 0)
    for variant, bare in sorted(_variants(word)):
        count = counts.get(variant, 0)
        if count > best_count and (not bare or count >= LETTER_RATIO * counts.get(word, 0)):
            best, best_count = variant, count
    return best


def _variants(word: str) -> Iterator[tuple[str, bool]]:
    """Each other spelling, and whether it changes a bare letter."""
    pending = [("", 0, False, 0)]  # what is written, how much of the word is read, bare letter, places seen
    while pending:
        written, position, bare, places = pending.pop()
        found = _next_place(word, position) if places < MOST_PLACES else None
        if found is None:
            if (whole := written + word[position:]) != word:
                yield whole, bare
            continue
        written, places = written + word[position:found], places + 1
        pending.append((written + word[found], found + 1, bare, places))
        if word[found : found + 2] in _DIGRAPHS:
            pending.append((written + _DIGRAPHS[word[found : found + 2]], found + 2, bare, places))
        if word[found] in _LETTERS:
            pending.append((written + _LETTERS[word[found]], found + 1, True, places))


def _next_place(word: str, position: int) -> int | None:
    """Where something can be replaced next."""
    for place in range(position, len(word)):
        if word[place] in _LETTERS or word[place : place + 2] in _DIGRAPHS:
            return place
    return None

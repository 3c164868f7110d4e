"""German umlauts restored: the 600 training questions were typed without them, in two ways (`hoechsten`, `stadte`).

Word counts of any German text come in, and text; the text goes out with words replaced by others that a German
would have meant. Only the German side of a training corpus decides, no test question.
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

"""Typing errors in the training questions corrected: `veile` → `viele`, `grezt` → `grenzt`.

The paper's authors corrected them by hand. Here, a word that no German text has is replaced by the most frequent word
of the other questions that differs in one letter, or in two neighbours that changed places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

FREQUENT = 3
"""How often the right word must occur in the questions."""
SHORTEST = 4
"""Shorter words have too many neighbours."""


def correct_typos(questions: Sequence[str], keep: Sequence[Collection[str]], counts: Mapping[str, int]) -> list[str]:
    """The questions, corrected. `keep` has words of each question that stay; `counts` is of other German text.

    A word that is another with an ending of one `s` stays, too: that is a genitive.
    """
    own = Counter(word for line in questions for word in line.split())
    known = {word: number for word, number in own.items() if number >= FREQUENT and counts.get(word)}

    def corrected(word: str) -> str:
        if counts.get(word) or own[word] >= FREQUENT or len(word) < SHORTEST or (word[-1] == "s" and word[:-1] in own):
            return word
        near = _neighbours(word, known)
        return min(near, key=lambda other: (-known[other], other), default=word)

    return [
        " ".join(word if word in stay else corrected(word) for word in line.split())
        for line, stay in zip(questions, keep, strict=True)
    ]


def _neighbours(word: str, known: Collection[str]) -> Iterator[str]:
    return (other for other in known if abs(len(other) - len(word)) <= 1 and _differ_once(word, other))


def _differ_once(one: str, other: str) -> bool:
    """Whether one letter was left out, added or changed, or two neighbours changed places."""
    if len(one) > len(other):
        one, other = other, one
    at = next((place for place, letter in enumerate(one) if letter != other[place]), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[:at] + one[at : at + 2][::-1] + one[at + 2 :]
    return one != other and (one[at + 1 :] == other[at + 1 :] or swapped == other)

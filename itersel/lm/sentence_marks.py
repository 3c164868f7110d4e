"""ARPA files of models that were estimated without sentence marks: add <s> and </s>, so that a decoder can use them.

Such a model says nothing about where sentences end. Every sentence's end gets the same probability here, that of <unk>
or of the rarest word, so it changes no ranking except through back-off weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from itersel.base.errors import InputError

MARKS = ("<s>", "</s>")
START = "-99"  # <s> is never predicted
COUNT = re.compile(r"ngram +1 *= *(\d+)\s*")


def lacks_sentence_marks(lines: Iterable[str]) -> list[str]:
    """Which of <s> and </s> are missing among the unigrams; none if there are no unigrams at all."""
    found = {word for word, _ in _unigrams(lines)}
    return [mark for mark in MARKS if found and mark not in found]


def add_sentence_marks(lines: Iterable[str], head: Iterable[str], path: str) -> Iterator[str]:
    """The lines with the missing marks. `head` is the same file from its start, read a second time."""
    unigrams = list(_unigrams(head))
    if not unigrams:
        raise InputError("not an ARPA file: there are no unigrams", where=path)
    words = {word for word, _ in unigrams}
    missing = [mark for mark in MARKS if mark not in words]
    end = next((text for word, text in unigrams if word == "<unk>"), min((text for _, text in unigrams), key=float))
    for line in lines:
        if counted := COUNT.fullmatch(line):
            line = f"ngram 1={int(counted[1]) + len(missing)}"
        yield line
        if line.strip() == "\\1-grams:":
            for mark in missing:
                yield f"{START if mark == '<s>' else end}\t{mark}\t0"


def _unigrams(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The words and their log10 probabilities, as text."""
    inside = False
    for line in lines:
        if line.startswith("\\"):
            if inside:
                return
            inside = line.strip() == "\\1-grams:"
        elif inside and line.strip():
            probability, _, rest = line.strip().partition("\t")
            yield rest.partition("\t")[0].strip(), probability

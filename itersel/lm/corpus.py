"""The training text of a language model as one array of word numbers, each sentence within `<s>` and `</s>`.

Words are numbered by first occurrence, after `<unk>` 0, `<s>` 1 and `</s>` 2. A limited vocabulary turns all
other words into `<unk>`, which is then counted like any word: the open-vocabulary model of the ACL 2012
experiments (Simianer, Riezler & Dyer, section 5).
"""

from __future__ import annotations

import os
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines

UNKNOWN, BEGIN, END = 0, 1, 2
SPECIAL_WORDS = ("<unk>", "<s>", "</s>")
# Readers of ARPA files, such as KenLM, read <UNK> as <unk>.
RESERVED_WORDS = (*SPECIAL_WORDS, "<UNK>")
# KenLM's separators, no others: a no-break space or a form feed is part of a word.
SEPARATORS = " \t\n\r\0"
_TO_SPACE = str.maketrans(SEPARATORS, " " * len(SEPARATORS))


@dataclass(frozen=True)
class Fold:
    """Sentences i (from 0) with i mod `folds` = `number`, as `itersel.grammar.extraction` cuts a corpus into folds."""

    folds: int
    number: int

    def __post_init__(self) -> None:
        if self.folds < 2 or not 0 <= self.number < self.folds:
            raise ConfigError(
                f"fold {self.number} of {self.folds}", hint="Give at least 2 folds; they are numbered from 0."
            )

    def __contains__(self, sentence: int) -> bool:
        return sentence % self.folds == self.number


@dataclass(frozen=True)
class Corpus:
    """`tokens` has `<s> … </s>` of each sentence, `starts` the index of each `<s>`, `words` the spelling."""

    words: list[str]
    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]

    def offsets(self) -> NDArray[np.int32]:
        """Each token's distance from the `<s>` of its sentence."""
        lengths = np.diff(self.starts, append=len(self.tokens))
        return (np.arange(len(self.tokens)) - np.repeat(self.starts, lengths)).astype(np.int32)


def split(line: str) -> list[str]:
    """The words of a line, separated by space, tab, carriage return or NUL."""
    words = line.translate(_TO_SPACE).split(" ") if _has_rare_separator(line) else line.split(" ")
    return [word for word in words if word] if "" in words else words


def _has_rare_separator(line: str) -> bool:
    return "\t" in line or "\r" in line or "\0" in line or "\n" in line


def read_vocabulary(path: str | os.PathLike[str]) -> frozenset[str]:
    """The words of a file, separated by white space, for `Settings.vocabulary`. Plain or gzip."""
    words = frozenset(word for line in read_lines(path) for word in split(line)) - frozenset(SPECIAL_WORDS)
    if not words:
        raise InputError("no words in the vocabulary", where=path, hint="Write one word per line.")
    return words


def encode(
    sentences: Iterable[str | Sequence[str]],
    *,
    vocabulary: int | Collection[str] | None = None,
    source: str | os.PathLike[str] | None = None,
    without: Fold | None = None,
) -> Corpus:
    """Number the words of all sentences.

    `vocabulary` keeps that many most frequent words (ties: earlier first occurrence), or the given words.
    `source` names the file in errors; a sentence is then one of its lines, without gaps. The sentences of the fold
    `without` are skipped.
    """
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    for word in SPECIAL_WORDS:
        numbers[word]
    buffer, starts, lines = array("i"), array("q"), array("q")
    number_of = numbers.__getitem__
    for line, sentence in enumerate(sentences):
        if without is not None and line in without:
            continue
        lines.append(line + 1)
        starts.append(len(buffer))
        buffer.append(BEGIN)
        buffer.extend(map(number_of, split(sentence) if isinstance(sentence, str) else sentence))
        buffer.append(END)
    corpus = Corpus(list(numbers), np.frombuffer(buffer, np.int32), np.frombuffer(starts, np.int64))
    _check(corpus, lines, source)
    return corpus if vocabulary is None else _limit(corpus, vocabulary)


def _check(corpus: Corpus, lines: Sequence[int], source: str | os.PathLike[str] | None) -> None:
    """Refuse a text without words, and words that would be misread in an ARPA file."""
    if len(corpus.words) == len(SPECIAL_WORDS) and len(corpus.tokens) == 2 * len(corpus.starts):
        raise InputError("the text has no words", where=source, hint="A language model needs at least one sentence.")
    bad = [
        number
        for number, word in enumerate(corpus.words)
        if word in RESERVED_WORDS or not word or any(separator in word for separator in SEPARATORS)
    ]
    found = np.isin(corpus.tokens, bad)
    found[corpus.starts] = False
    found[corpus.starts[1:] - 1] = found[-1] = False
    if not found.any():
        return
    position = int(found.argmax())
    sentence = lines[int(np.searchsorted(corpus.starts, position, side="right")) - 1]
    word = corpus.words[corpus.tokens[position]]
    raise InputError(
        f"the word {word!r} is reserved" if word in RESERVED_WORDS else f"{word!r} is not a word",
        where=f"sentence {sentence}" if source is None else f"{os.fspath(source)}:{sentence}",
        hint="Remove or escape it: the estimation adds sentence marks and replaces rare words itself.",
    )


def _limit(corpus: Corpus, vocabulary: int | Collection[str]) -> Corpus:
    """Replace the words outside the vocabulary by `<unk>`; the others keep their order."""
    size, special = len(corpus.words), len(SPECIAL_WORDS)
    kept = np.zeros(size, bool)
    kept[:special] = True
    if isinstance(vocabulary, int):
        frequency = np.bincount(corpus.tokens, minlength=size)[special:]
        kept[special + np.argsort(-frequency, kind="stable")[:vocabulary]] = True
    else:
        kept[special:] = [word in vocabulary for word in corpus.words[special:]]
    renumbered = np.where(kept, np.cumsum(kept) - 1, UNKNOWN).astype(np.int32)
    words = [word for word, keep in zip(corpus.words, kept.tolist(), strict=True) if keep]
    return Corpus(words, renumbered[corpus.tokens], corpus.starts)

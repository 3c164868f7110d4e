"""The distinct n-grams of a corpus, order by order, with raw and Kneser-Ney adjusted counts.

An n-gram is numbered by its rank when n-grams are compared word by word from the last word to the first
(lmplz's suffix order). It is stored as its first word and the number of its suffix, an (n−1)-gram: a row of
two numbers at every order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itersel.lm.corpus import BEGIN, Corpus


@dataclass(frozen=True)
class NGrams:
    """The distinct n-grams of one order, in suffix order; each array has one element per n-gram."""

    length: int  # n
    first: NDArray[np.int32]  # the leftmost word
    suffix: NDArray[np.int32]  # the number of w_2 … w_n one order below; 0 for unigrams
    context: NDArray[np.int32]  # the number of w_1 … w_{n−1} one order below; 0 for unigrams
    raw: NDArray[np.int64]  # occurrences

    def __len__(self) -> int:
        return len(self.first)


def count(corpus: Corpus, order: int) -> list[NGrams]:
    """All n-grams of orders 1 … `order`; those with `<s>` have it in first place only.

    The unigrams are the whole vocabulary, `<unk>` included even if it never occurs. An order may be empty.
    """
    size = len(corpus.words)
    zeros = np.zeros(size, np.int32)
    raw = np.bincount(corpus.tokens, minlength=size)
    orders = [NGrams(1, np.arange(size, dtype=np.int32), zeros, zeros, raw)]
    offsets = corpus.offsets()
    ends = np.arange(len(corpus.tokens), dtype=np.int32)
    # numbers[i] is the number of the n-gram, of the order last counted, that ends at token i.
    numbers = corpus.tokens
    for length in range(2, order + 1):
        ends = ends[offsets[ends] >= length - 1]
        # One sortable key: the suffix's number, then the first word's.
        keys = numbers[ends].astype(np.int64) * size + corpus.tokens[ends - (length - 1)]
        permutation = np.argsort(keys)
        keys = keys[permutation]
        changes = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=changes[1:])
        groups = np.flatnonzero(changes)
        some_end = ends[permutation[groups]]  # any occurrence will do: all have the same context
        suffix, first = np.divmod(keys[groups], size)
        context = numbers[some_end - 1]
        raw = np.diff(groups, append=len(keys))
        orders.append(NGrams(length, first.astype(np.int32), suffix.astype(np.int32), context, raw))
        extended = np.zeros_like(numbers)
        extended[ends[permutation]] = np.cumsum(changes, dtype=np.int32) - 1
        numbers = extended
    return orders


def adjust(grams: NGrams, longer: NGrams | None) -> NDArray[np.int64]:
    """The counts that Kneser-Ney smooths: how many distinct words precede the n-gram.

    Raw counts stay at the highest order (`longer` is None) and for n-grams that start with `<s>`, which
    nothing precedes. The unigram `<s>` is given and never predicted: 0.
    """
    if longer is None:
        return grams.raw
    preceding = np.bincount(longer.suffix, minlength=len(grams))
    return preceding if grams.length == 1 else np.where(grams.first == BEGIN, grams.raw, preceding)

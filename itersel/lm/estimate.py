"""Interpolated modified Kneser-Ney smoothing: from counted n-grams to log10 probabilities and backoffs.

Follows Chen & Goodman (1998), section 3, in the form of Heafield et al. (2013), section 3: with adjusted
counts a, discounts D and h' for the history h without its first word,

    p(w | h) = (a(hw) − D(a(hw))) / Σ_x a(hx) + b(h) · p(w | h'),    b(h) = Σ_x D(a(hx)) / Σ_x a(hx),

down to the uniform distribution over the vocabulary with `<unk>` and `</s>`, without `<s>`. A pruned n-gram
gives all of its count to b(h).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from itersel.base.errors import ConfigError, InputError
from itersel.lm.corpus import SPECIAL_WORDS, Fold, encode
from itersel.lm.counts import NGrams, adjust, count

# The kernel's reader, KenLM, takes orders from 2 to the 6 it is compiled for.
ORDERS = range(2, 7)
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)
LOG_ZERO = -99.0  # the ARPA format's stand-in for log10 of 0


@dataclass(frozen=True)
class Settings:
    """How to estimate.

    `prune` has a threshold per order, not decreasing, the last one is for all higher orders: an n-gram that
    occurs at most that often is dropped (`<unk>`, `<s>`, `</s>` never are). `vocabulary` keeps the N most
    frequent words, ties by first occurrence, or the given words; all others become `<unk>`. With
    `discount_fallback`, an order whose discounts cannot be estimated, as in small or repetitive texts, gets
    0.5, 1 and 1.5; without it, that is an error.
    """

    order: int = 3
    prune: tuple[int, ...] = ()
    vocabulary: int | Collection[str] | None = None
    discount_fallback: bool = True

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ConfigError(
                f"order {self.order} is out of range",
                hint=f"Choose from {ORDERS.start} to {ORDERS.stop - 1}.",
            )
        shown = " ".join(map(str, self.prune))
        if len(self.prune) > self.order:
            raise ConfigError(
                f"{len(self.prune)} pruning thresholds ({shown}) for a model of order {self.order}",
                hint="Give at most one per order; the last one is for all higher orders.",
            )
        if any(threshold < 0 for threshold in self.prune) or list(self.prune) != sorted(self.prune):
            raise ConfigError(
                f"pruning thresholds {shown} decrease or are negative",
                hint="No threshold may be below the one before it; otherwise parts of kept n-grams would be missing.",
            )
        if isinstance(self.vocabulary, int) and self.vocabulary < 1:
            raise ConfigError(f"a vocabulary of {self.vocabulary} words", hint="Keep at least one word.")

    def thresholds(self) -> list[int]:
        """The pruning threshold of each order."""
        given = list(self.prune) or [0]
        return given + given[-1:] * (self.order - len(given))


@dataclass(frozen=True)
class Table:
    """The n-grams of one order as the model lists them, in suffix order; log10 values."""

    first: NDArray[np.int32]
    suffix: NDArray[np.int32]  # row of w_2 … w_n in the table one order below
    probability: NDArray[np.float64]
    backoff: NDArray[np.float64]  # 0 where the n-gram is no context; empty at the highest order

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class Model:
    """An estimated model: `tables[n-1]` has the n-grams of order n, `words` spells their numbers."""

    words: list[str]
    tables: list[Table]
    discounts: list[tuple[float, float, float]]  # for counts 1, 2, 3 and more, per order
    fallbacks: list[str] = field(default_factory=list)  # why an order has fallback discounts, if any does
    sentences: int = 0
    tokens: int = 0  # without sentence marks


class DiscountError(Exception):
    """Why the closed-form discounts of an order do not exist."""


def estimate_discounts(counts: NDArray[np.int64]) -> tuple[float, float, float]:
    """D1, D2 and D3+ from the counts of counts (Chen & Goodman, equation 26), or DiscountError."""
    n = np.bincount(counts[counts < 5], minlength=5).tolist()
    for j in (1, 2, 3):
        if n[j] == 0:
            raise DiscountError(f"none of them has the count {j}")
    Y = n[1] / (n[1] + 2 * n[2])  # noqa: N806 (the paper's symbol)
    one, two, more = (j - (j + 1) * Y * n[j + 1] / n[j] for j in (1, 2, 3))
    for j, discount in ((1, one), (2, two), (3, more)):
        if not 0 <= discount <= j:
            raise DiscountError(f"the discount for the count {j} would be {discount:.3f}, outside 0 … {j}")
    return one, two, more


def estimate(
    sentences: Iterable[str | Sequence[str]],
    settings: Settings | None = None,
    *,
    source: str | os.PathLike[str] | None = None,
    without: Fold | None = None,
) -> Model:
    """Estimate a model on sentences, each a line of words or a sequence of words, without sentence marks.

    The sentences of the fold `without` are left out. `source` names the file in errors: give it
    only if sentence i is its line i. The result depends on the sentences and their order only. Memory: about
    140 bytes per token at order 5.
    """
    settings = settings or Settings()
    corpus = encode(sentences, vocabulary=settings.vocabulary, source=source, without=without)
    orders = count(corpus, settings.order)
    for grams in orders:
        if not len(grams):
            raise InputError(
                f"no sentence is long enough for an n-gram of order {grams.length}",
                where=source,
                hint=f"Lower the order to {grams.length - 1}, or add text.",
            )
    keep = [_keep(grams, threshold) for grams, threshold in zip(orders, settings.thresholds(), strict=True)]
    discounts: list[tuple[float, float, float]] = []
    fallbacks: list[str] = []
    tables: list[Table] = []
    lower: NDArray[np.float64] = np.array([1 / (np.count_nonzero(keep[0]) - 1)])
    row_below = np.zeros(1, np.int32)
    for index, grams in enumerate(orders):
        counts = adjust(grams, orders[index + 1] if index + 1 < len(orders) else None)
        try:
            discounts.append(estimate_discounts(counts))
        except DiscountError as error:
            fallbacks.append(f"no Kneser-Ney discounts for the {grams.length}-grams: {error}")
            if not settings.discount_fallback:
                hint = "The text is small or repetitive: allow fallback discounts."
                raise InputError(fallbacks[-1], where=source, hint=hint) from None
            discounts.append(FALLBACK_DISCOUNTS)
        kept = keep[index]
        probability, backoff = _interpolate(grams, counts, discounts[-1], kept, lower)
        if tables:
            tables[-1].backoff[:] = _log10(backoff)[keep[index - 1]]
        log_probability = np.minimum(_log10(probability[kept]), 0.0)
        # The next order gives the backoffs; the highest order has none.
        no_backoff = np.zeros(len(log_probability) if grams.length < settings.order else 0)
        tables.append(Table(grams.first[kept], row_below[grams.suffix[kept]], log_probability, no_backoff))
        lower, row_below = probability, (np.cumsum(kept) - 1).astype(np.int32)
    tokens = len(corpus.tokens) - 2 * len(corpus.starts)
    return Model(corpus.words, tables, discounts, fallbacks, len(corpus.starts), tokens)


def _keep(grams: NGrams, threshold: int) -> NDArray[np.bool_]:
    keep = grams.raw > threshold if threshold else np.ones(len(grams), bool)
    if grams.length == 1:
        keep[: len(SPECIAL_WORDS)] = True
    return keep


def _interpolate(
    grams: NGrams,
    counts: NDArray[np.int64],
    discounts: tuple[float, float, float],
    keep: NDArray[np.bool_],
    lower: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Probabilities of all n-grams of an order, and the backoffs of all n-grams one order below.

    `lower` has the probabilities one order below. The probability of a pruned n-gram is not used.
    """
    discount = np.array((0.0, *discounts))[np.minimum(counts, 3)]
    contexts = len(lower)
    total = np.bincount(grams.context, counts, minlength=contexts)
    freed = np.bincount(grams.context, np.where(keep, discount, counts), minlength=contexts)
    is_context = total > 0
    total[~is_context] = freed[~is_context] = 1.0
    backoff = freed / total
    probability = (counts - discount) / total[grams.context] + backoff[grams.context] * lower[grams.suffix]
    return probability, backoff


def _log10(values: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.maximum(np.log10(values), LOG_ZERO)

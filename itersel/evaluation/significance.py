"""Is the difference between two systems more than chance? Paired tests on per-sentence sufficient statistics.

A system is an array of statistics (`itersel.metrics.corpus`), sentences × width for one output or runs × sentences ×
width for several optimizer runs; its score is the mean over runs of the corpus score of the summed rows. Two-sided:

- Approximate randomisation (Noreen 1989; Riezler & Maxwell 2005): if the systems do not differ, each output of a
  sentence could come from either. A shuffle assigns the outputs of every sentence to the two systems at random; with
  several runs (Clark et al. 2011), it assigns the outputs of all runs to all runs.
  p = (shuffles with a difference at least as large as the observed one + 1) / (shuffles + 1). `exact` goes through
  all arrangements instead, including the observed one; p is then the share of those that differ at least as much.
- Paired bootstrap (Riezler & Maxwell 2005, and sacrebleu): sentences drawn with replacement, the same for both systems.
  p = (samples whose |difference| minus the mean |difference| of all is at least the observed one + 1) / (samples + 1).

A difference equal to the observed one counts: equal systems get p = 1. Random choices depend only on the seed and the
numbers of sentences and runs, not on the order or the texts of the systems.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from itersel.base.errors import ConfigError, InputError
from itersel.metrics.corpus import Scores, Statistics

Score = Callable[[Statistics], Scores]
"""Scores of corpora from their sums of statistics, one corpus per row: `CorpusMetric.scores`."""

TRIALS = 10_000
SEED = 1
EXACT_LIMIT = 1 << 20
"""The most arrangements that an exact test goes through."""
LEAST_SHOWN = 0.00005
"""A p-value below it would be written as 0.0000."""
SAME = 1e-9
"""Scores (0 to 100) nearer than this are equal: they differ by rounding errors only."""
BLOCK = 1 << 21
"""Random choices held in memory at a time."""


def p_text(p: float) -> str:
    """A p-value for people, the same on the terminal and on the report's page."""
    return f"{p:.4f}" if p >= LEAST_SHOWN else "< 0.0001"


@dataclass(frozen=True)
class Randomization:
    """`count` of `trials` arrangements differ at least as much as the systems do; `exact`: they are all there are."""

    difference: float  # score of the first system minus that of the second
    p: float
    count: int
    trials: int
    exact: bool


@dataclass(frozen=True)
class Bootstrap:
    """`interval` has 95 % of the samples' differences; `wins` is the share of samples with a higher first score."""

    difference: float
    p: float
    interval: tuple[float, float]
    wins: float
    trials: int


def randomization_test(
    first: Statistics,
    second: Statistics,
    score: Score,
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    exact: bool = False,
) -> Randomization:
    """Approximate randomisation, or with `exact` all arrangements (an error if they are more than EXACT_LIMIT)."""
    first, second = _paired(first, second)
    runs, pool = len(first), np.concatenate([first, second])
    difference = system_score(first, score) - system_score(second, score)
    fixed = np.zeros(pool.shape[2])
    if exact:  # sentences with equal outputs are the same in every arrangement
        differing = (pool != pool[0]).any(axis=(0, 2))
        fixed, pool = pool[0, ~differing].sum(axis=0), pool[:, differing]
    outputs, sentences, _ = pool.shape
    deals = _all_deals(sentences, outputs) if exact else _random_deals(sentences, outputs, _checked(trials), seed)
    count = total = 0
    for deal in deals:
        scores = np.stack([score(sums + fixed) for sums in _dealt_sums(pool, deal)])
        differences = scores[:runs].mean(axis=0) - scores[runs:].mean(axis=0)
        count += int((np.abs(differences) >= abs(difference) - SAME).sum())
        total += len(differences)
    p = count / total if exact else (count + 1) / (total + 1)
    return Randomization(difference, p, count, total, exact)


def bootstrap_test(
    first: Statistics, second: Statistics, score: Score, *, trials: int = TRIALS, seed: int = SEED
) -> Bootstrap:
    """Paired bootstrap. For many pairs, keep each system's `bootstrap_scores` and use `compare_samples`."""
    first, second = _paired(first, second)
    difference = system_score(first, score) - system_score(second, score)
    samples = [bootstrap_scores(system, score, trials=trials, seed=seed) for system in (first, second)]
    return compare_samples(difference, *samples)


def bootstrap_scores(system: Statistics, score: Score, *, trials: int = TRIALS, seed: int = SEED) -> Scores:
    """The system's score on each of `trials` test sets drawn from its sentences with replacement."""
    system = _runs(system)
    sentences = system.shape[1]
    random = np.random.Philox(seed)
    found = []
    for size in _blocks(_checked(trials), sentences):
        drawn = _below(random, sentences, (size, sentences))
        found.append(np.mean([score(_selected_sums(rows, drawn)) for rows in system], axis=0))
    return np.concatenate(found)


def compare_samples(difference: float, first: Scores, second: Scores) -> Bootstrap:
    """The paired test of two systems whose scores on the same samples are known."""
    differences = first - second
    sizes = np.abs(differences)
    count = int((sizes - sizes.mean() >= abs(difference) - SAME).sum())
    wins = float((differences > SAME).mean())
    return Bootstrap(difference, (count + 1) / (len(sizes) + 1), interval(differences), wins, len(sizes))


def interval(samples: Scores, confidence: float = 0.95) -> tuple[float, float]:
    """The middle part of the samples, by percentiles."""
    low, high = np.quantile(samples, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return low, high


def system_score(system: Statistics, score: Score) -> float:
    """The mean over runs of the corpus score."""
    return float(score(_runs(system).sum(axis=1)).mean())


def _runs(system: Statistics) -> Statistics:
    system = np.asarray(system, dtype=np.float64)
    return system[None] if system.ndim == 2 else system


def _paired(first: Statistics, second: Statistics) -> tuple[Statistics, Statistics]:
    first, second = _runs(first), _runs(second)
    if first.shape[1:] != second.shape[1:] or first.shape[1] == 0:
        raise InputError(f"statistics of {first.shape[1]} and {second.shape[1]} sentences cannot be paired")
    return first, second


def _checked(trials: int) -> int:
    if not 1 <= trials <= 1_000_000_000:
        raise ConfigError(f"trials is {trials}", hint="Give the number of random samples, such as 10000.")
    return trials


def _blocks(trials: int, width: int) -> Iterator[int]:
    """Sizes that add up to `trials`, with about BLOCK choices each."""
    size = max(1, BLOCK // width)
    for first in range(0, trials, size):
        yield min(size, trials - first)


def _below(random: np.random.Philox, bound: int, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """Random numbers from 0 to `bound` - 1, by multiplication: from the raw stream, which no version changes."""
    size = math.prod(shape)
    raw = random.random_raw((size + 1) // 2).astype("<u8").view("<u4")[:size]
    return ((raw.astype(np.uint64) * np.uint64(bound)) >> np.uint64(32)).astype(np.int32).reshape(shape)


def _random_deals(sentences: int, outputs: int, trials: int, seed: int) -> Iterator[npt.NDArray[np.int32]]:
    """Blocks of trials × sentences × places: which output of the sentence goes to each place, by Fisher & Yates."""
    random = np.random.Philox(seed)
    for size in _blocks(trials, sentences * outputs):
        deal = np.empty((outputs, size, sentences), dtype=np.int32)
        deal[:] = np.arange(outputs, dtype=np.int32)[:, None, None]
        for last in range(outputs - 1, 0, -1):
            chosen = _below(random, last + 1, (1, size, sentences))
            taken = np.take_along_axis(deal, chosen, axis=0)
            np.put_along_axis(deal, chosen, deal[last : last + 1].copy(), axis=0)
            deal[last] = taken[0]
        yield deal


def _all_deals(sentences: int, outputs: int) -> Iterator[npt.NDArray[np.int32]]:
    """All arrangements, in blocks as those of `_random_deals`: numbers whose digits are the sentences' permutations."""
    if sentences * math.log(math.factorial(outputs)) > math.log(EXACT_LIMIT):
        raise ConfigError(
            f"an exact test of {sentences} differing sentences with {outputs} outputs each has more than"
            f" {EXACT_LIMIT:,} cases",
            hint="Use random shuffles.",
        )
    permutations = np.array(list(itertools.permutations(range(outputs))), dtype=np.int32)
    total = len(permutations) ** sentences
    places = len(permutations) ** np.arange(sentences, dtype=np.int64)
    first = 0
    for size in _blocks(total, max(1, sentences * outputs)):
        numbers = np.arange(first, first + size, dtype=np.int64)
        digits = (numbers[:, None] // places) % len(permutations)
        yield np.moveaxis(permutations[digits], 2, 0)
        first += size


def _dealt_sums(pool: Statistics, deal: npt.NDArray[np.int32]) -> list[Statistics]:
    """For each place, the sums of the statistics dealt to it, one row per trial."""
    outputs, sentences, width = pool.shape
    rows = pool.reshape(outputs * sentences, width)  # row o·sentences + s: output o of sentence s
    column = np.arange(sentences, dtype=np.int32)
    sums = [_selected_sums(rows, deal[place] * np.int32(sentences) + column) for place in range(outputs - 1)]
    return [*sums, rows.sum(axis=0) - np.sum(sums, axis=0)]  # the last place gets what the others do not have


def _selected_sums(rows: Statistics, chosen: npt.NDArray[np.int32]) -> Statistics:
    """The sum of the chosen rows for each row of `chosen`: a sparse matrix of ones, in a fixed order of addition."""
    from scipy.sparse import csr_array  # here, because it takes longer to load than everything else of most commands

    trials, size = chosen.shape
    starts = size * np.arange(trials + 1, dtype=np.int32)
    ones = np.ones(trials * size)
    return csr_array((ones, chosen.ravel(), starts), shape=(trials, len(rows))) @ rows

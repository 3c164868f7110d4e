"""Sentence-level metrics: how good is a hypothesis against its references?

Every metric is a function of sufficient statistics, a row of numbers per hypothesis, in sacrebleu's order:

    bleu, stupid_bleu, fixed_stupid_bleu, smooth_bleu   h, r, m_1 … m_N, c_1 … c_N (formulas: kernel/metrics/bleu.hh)
    chrf                                                for each order: n-grams of hypothesis and reference, matches
    ter                                                 edits, mean length of the references

The sum of a corpus's rows gives its corpus score. Sentence scores lie in [0, 1], except that ter, which is 1 − TER, can
be negative. Words are compared as they are: case counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import ConfigError

Words = Sequence[str]
CORPUS_METRICS = {
    "bleu": "bleu",
    "stupid_bleu": "bleu",
    "fixed_stupid_bleu": "bleu",
    "smooth_bleu": "bleu",
    "chrf": "chrf",
    "ter": "ter",
}
"""For each sentence metric, the corpus metric that its statistics serve: a name of itersel.metrics.corpus."""
METRICS = tuple(CORPUS_METRICS)
ORDER = 4
"""Longest n-gram of BLEU."""
MAX_ORDER = 9


def metric_of(name: str, *, order: int = ORDER) -> _kernel.Metric:
    """A metric by its name. `order` is the longest n-gram of the BLEU variants and has no effect on chrF and TER."""
    if name not in METRICS:
        raise ConfigError(f"unknown metric '{name}'", hint=f"Known metrics: {', '.join(METRICS)}.")
    return _kernel.Metric(name, order)


def sentence_statistics(
    metric: str, hypotheses: Sequence[Words], references: Sequence[Words], *, order: int = ORDER
) -> npt.NDArray[np.float32]:
    """One row per hypothesis, against the references of their one sentence. Empty references are left out.

    Sum rows with `dtype=np.float64`: they are stored in 32 bits.
    """
    return metric_of(metric, order=order).statistics(_lists(hypotheses), _lists(references))


def sentence_scores(
    metric: str, statistics: npt.NDArray[np.floating], *, order: int = ORDER
) -> npt.NDArray[np.float64]:
    """The metric of each row of statistics."""
    return metric_of(metric, order=order).sentence_scores(statistics)


def sentence_values(
    metric: str, hypotheses: Sequence[Words], references: Sequence[Words], *, order: int = ORDER
) -> npt.NDArray[np.float64]:
    """The metric of each hypothesis against the references of their one sentence.

    An empty hypothesis scores 0. Without a reference that has words, all score 0.
    """
    found = metric_of(metric, order=order)
    return found.sentence_scores(found.statistics(_lists(hypotheses), _lists(references)))


def corpus_scores(metric: str, sums: npt.NDArray[np.floating], *, order: int = ORDER) -> npt.NDArray[np.float64]:
    """The corpus metric that belongs to the metric, for each row of sums: sacrebleu's score, divided by 100."""
    return metric_of(metric, order=order).corpus_scores(sums)


def _lists(sentences: Sequence[Words]) -> list[list[str]]:
    return [list(words) for words in sentences]

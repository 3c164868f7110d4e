"""Sentence-level metrics: how good is a hypothesis against its references?

Words in, numbers out: BLEU, its smoothed variants (formulas: kernel/metrics.hh) and chrF come from the
kernel, which builds the references' n-gram table once for a whole k-best list; TER (as 1 − TER) comes from
sacrebleu in Python and is therefore slow. All values lie in [0, 1], except that 1 − TER can be negative.
Corpus BLEU is computed from summed statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import ConfigError

Words = Sequence[str]
KERNEL_METRICS = ("bleu", "stupid_bleu", "fixed_stupid_bleu", "smooth_bleu", "chrf")
METRICS = (*KERNEL_METRICS, "ter")
ORDER = 4
"""Longest n-gram of BLEU."""
MAX_ORDER = 9


def sentence_values(
    metric: str, hypotheses: Sequence[Words], references: Sequence[Words], *, order: int = ORDER
) -> npt.NDArray[np.float64]:
    """The metric of each hypothesis against the references of their one sentence.

    An empty hypothesis scores 0. Empty references are left out; if none remains, every hypothesis scores 0.
    `order` is the longest n-gram of the BLEU variants and has no effect on chrF and TER.
    """
    if metric == "ter":
        return np.array([_one_minus_ter(hypothesis, references) for hypothesis in hypotheses], dtype=np.float64)
    if metric not in KERNEL_METRICS:
        raise ConfigError(f"unknown metric '{metric}'", hint=f"Known metrics: {', '.join(METRICS)}.")
    return _kernel.metric_values(metric, _lists(hypotheses), _lists(references), order)


def bleu_statistics(
    hypotheses: Sequence[Words], references: Sequence[Words], *, order: int = ORDER
) -> npt.NDArray[np.int64]:
    """One row per hypothesis: clipped matches m_1 … m_N, n-grams c_1 … c_N, length h, reference length r."""
    return _kernel.bleu_statistics(_lists(hypotheses), _lists(references), order)


def corpus_bleu(statistics: npt.NDArray[np.int64]) -> float:
    """BLEU in [0, 1] of a corpus from the sum of its sentences' statistics, without smoothing."""
    order = (len(statistics) - 2) // 2
    matches, counts = statistics[:order], statistics[order : 2 * order]
    h, r = statistics[-2:]
    if h == 0 or (matches == 0).any():
        return 0.0
    penalty = 1.0 if h > r else float(np.exp(1 - r / h))
    return penalty * float(np.exp(np.log(matches / counts).mean()))


def _lists(sentences: Sequence[Words]) -> list[list[str]]:
    return [list(words) for words in sentences]


@cache
def _sacrebleu_ter() -> Any:
    from sacrebleu.metrics.ter import TER

    return TER()


def _one_minus_ter(hypothesis: Words, references: Sequence[Words]) -> float:
    texts = [" ".join(words) for words in references if words]
    if not hypothesis or not texts:
        return 0.0
    return 1.0 - _sacrebleu_ter().sentence_score(" ".join(hypothesis), texts).score / 100

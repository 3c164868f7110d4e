"""Translation edit rate as a metric of sufficient statistics, computed by sacrebleu in Python and therefore slow.

A row has sacrebleu's two columns: the edits to the reference that needs the fewest, and the mean length of the
references. A sentence's score is 1 − TER, so that higher is better; it can be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt


class Ter:
    """What `_kernel.Metric` is for the other metrics."""

    width = 2

    def statistics(
        self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
    ) -> npt.NDArray[np.float32]:
        """One row per hypothesis. Empty references are left out; if none remains, the length is 0."""
        texts = [" ".join(words) for words in references if words]
        rows = [_row(" ".join(words), texts) if texts else (len(words), 0) for words in hypotheses]
        return np.array(rows, dtype=np.float32).reshape(-1, self.width)

    def sentence_scores(self, rows: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """1 − TER of each row; 0 without a reference."""
        edits, length = np.asarray(rows, dtype=np.float64).T
        return np.where(length > 0, 1 - edits / np.where(length > 0, length, 1), 0.0)

    def corpus_scores(self, sums: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """TER of each row of sums; without a reference word, 1 for any edit."""
        edits, length = np.asarray(sums, dtype=np.float64).T
        return np.where(length > 0, edits / np.where(length > 0, length, 1), edits > 0).astype(np.float64)


@cache
def _sacrebleu_ter() -> Any:
    from sacrebleu.metrics.ter import TER

    return TER()


def _row(hypothesis: str, references: list[str]) -> tuple[float, float]:
    score = _sacrebleu_ter().sentence_score(hypothesis, references)
    return score.num_edits, score.ref_length

"""What tuning maximises: corpus metrics that are functions of summed statistics, weighted.

    bleu             only BLEU
    bleu=1 ter=1     BLEU + (1 − TER): names with weights, separated by blanks

Each hypothesis has a row of statistics: the metrics' columns side by side, in sacrebleu's order. The sum of the rows of
what is ranked first gives the score. Scores are sacrebleu's, divided by 100; TER counts as 1 − TER.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import ConfigError, InputError
from itersel.metrics.sentence import ORDER, sentence_scores, sentence_statistics

Rows = npt.NDArray[np.float32]
WIDTHS = {"bleu": 2 + 2 * ORDER, "chrf": 18, "ter": 2}
LENGTHS = ("closest", "shortest", "average")


@dataclass(frozen=True)
class Objective:
    """A weighted sum of metrics."""

    metric: str = "bleu"
    """Names with weights, such as `bleu` or `bleu=1 ter=0.5`."""
    reference_length: str = "closest"
    """BLEU's, of several references: closest to the hypothesis' (as sacrebleu), shortest or average."""

    def __post_init__(self) -> None:
        if self.reference_length not in LENGTHS:
            raise ConfigError(
                f"reference_length is {self.reference_length!r}", hint=f"Choose one of {', '.join(LENGTHS)}."
            )
        assert self.terms

    @cached_property
    def terms(self) -> list[tuple[str, float]]:
        """Metrics with their weights, in the order they are given."""
        found: list[tuple[str, float]] = []
        for part in self.metric.split():
            name, equals, text = part.partition("=")
            try:
                weight = float(text) if equals else 1.0
            except ValueError:
                weight = math.nan
            if name not in WIDTHS or not math.isfinite(weight) or weight <= 0 or name in dict(found):
                break
            found.append((name, weight))
        if not found or len(found) != len(self.metric.split()):
            raise ConfigError(
                f"metric is {self.metric!r}",
                hint=f"Give one or several of {', '.join(WIDTHS)}, each once, such as `bleu` or `bleu=1 ter=0.5`.",
            )
        return found

    @property
    def width(self) -> int:
        """Columns of the statistics."""
        return sum(WIDTHS[name] for name, _ in self.terms)

    @cached_property
    def native(self) -> _kernel.Objective:
        return _kernel.Objective([(name, weight, WIDTHS[name]) for name, weight in self.terms])

    def score(self, sums: npt.ArrayLike) -> float:
        """The score of a corpus, from its summed statistics."""
        return self.native.score(np.asarray(sums, dtype=np.float64))

    def sentence_scores(self, rows: Rows, bleu: str = "stupid_bleu") -> npt.NDArray[np.float64]:
        """The score of each row alone: for BLEU the given form of it, by default BLEU+1; other metrics as they are."""
        total, begin = np.zeros(len(rows)), 0
        for name, weight in self.terms:
            own = rows[:, begin : begin + WIDTHS[name]]
            total += weight * sentence_scores(bleu if name == "bleu" else name, own, order=ORDER)
            begin += WIDTHS[name]
        return total

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> Rows:
        """A row for each hypothesis of one sentence."""
        if not any(line.split() for line in references):
            raise InputError("a sentence has no reference", hint="Every sentence that is tuned on needs one.")
        parts = [self._columns(name, hypotheses, references) for name, _ in self.terms]
        return np.ascontiguousarray(np.concatenate(parts, axis=1), dtype=np.float32)

    def _columns(self, name: str, hypotheses: Sequence[str], references: Sequence[str]) -> Rows:
        words = [line.split() for line in references if line.split()]
        found = sentence_statistics(name, [line.split() for line in hypotheses], words, order=ORDER)
        if name == "bleu" and self.reference_length != "closest":
            lengths = list(map(len, words))
            found[:, 1] = min(lengths) if self.reference_length == "shortest" else sum(lengths) / len(lengths)
        return found

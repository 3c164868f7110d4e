"""An algorithm of somebody else's, in one module: the median over shards instead of the mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from itersel.algorithms.epoch_job import EpochJob
from itersel.algorithms.sgd import EpochAlgorithm
from itersel.base.figures import Choice, Figure
from itersel.learn.mixing import Columns, stack


@dataclass(frozen=True)
class MedianConfig:
    least: float = 0.0
    """Medians of a smaller absolute value become 0."""


@dataclass(frozen=True)
class MedianJob(EpochJob):
    least: float = 0.0

    def mix(self, rows):
        ids, matrix = stack(rows)
        median = np.median(matrix.toarray(), axis=0)
        median[np.abs(median) < self.least] = 0.0
        return Columns(ids, np.abs(median), median)


class Median(EpochAlgorithm):
    name, label, number = "median_sgd", "MedianSGD", None
    config_class = MedianConfig
    job_class = MedianJob
    figures = (Figure("hypotheses", "hypotheses per list", "hypotheses", "lists"),)
    choice = Choice("updates", "updates", largest=False)

    def job_fields(self) -> Mapping[str, Any]:
        return {"least": self.settings.own.least}

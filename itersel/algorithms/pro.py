"""Pairwise ranking optimisation (Hopkins & May 2011): pairs sampled from lists, a linear classifier, interpolation.

    k-best  →  sample pairs (map)  →  L-BFGS on the driver, or a gradient job per evaluation  →  interpolation

The classifier's weights and the last ones are brought to an absolute sum of 1 over dense features and mixed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgpack
import numpy as np
import numpy.typing as npt
import scipy.sparse

from itersel.algorithms.candidates_job import Candidates, best_candidate
from itersel.algorithms.line_search_job import lists_of
from itersel.algorithms.tuner import Tuned, Tuner, TunerConfig, Tuning, generator
from itersel.base.config import OneOf, Range
from itersel.base.errors import InputError
from itersel.base.figures import Figure
from itersel.mapreduce.job import DRIVER, Job, Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.domain_weights import normalised
from itersel.tune.objective import Objective
from itersel.tune.pairs import PairSampling, fit, loss_and_gradient, pair_matrix, stack

POINT = "point"
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ProConfig(TunerConfig):
    """How PRO samples and fits."""

    samples: Annotated[int, Range(1)] = 5000
    """Pairs drawn per list."""
    keep: Annotated[int, Range(1)] = 50
    """Pairs that stay per list: those with the largest differences."""
    threshold: Annotated[float, Range(0, 1)] = 0.05
    """The least difference of sentence scores."""
    sentence_bleu: Annotated[str, OneOf("stupid_bleu", "fixed_stupid_bleu")] = "stupid_bleu"
    """BLEU of one sentence: BLEU+1, or with one word added to the reference's length, against output that is too short
    (Nakov et al. 2012)."""
    l2: Annotated[float, Range(0)] = 1e-4
    """The classifier minimises mean loss + l2/2 · ‖w‖²."""
    iterations: Annotated[int, Range(1)] = 200
    """Of L-BFGS, at most."""
    interpolation: Annotated[float, Range(above=0, high=1)] = 0.1
    """Share of the classifier's weights in the round's; the rest are the last ones."""
    gradient: Annotated[str, OneOf("driver", "job")] = "driver"
    """Where the classifier's gradient is summed: over all pairs on the driver, or by a map-reduce job each time."""


@dataclass(frozen=True)
class PairJob(Job):
    """Samples pairs from a shard's lists: for the driver, their differences."""

    number: int = 0
    """The round's."""
    seed: int = 1
    sampling: PairSampling = field(default_factory=PairSampling)
    objective: Objective = field(default_factory=Objective)
    sentence_bleu: str = "stupid_bleu"

    def matrix(self, item: WorkItem) -> tuple[scipy.sparse.csr_array, list[str]]:
        """The differences, and the names of their columns."""
        lists = lists_of(item)
        scores = self.objective.sentence_scores(lists.statistics, self.sentence_bleu)

        def draw(sentence: str) -> np.random.Generator:
            return generator(self.seed, self.number, zlib.crc32(sentence.encode()))

        return pair_matrix(lists, scores, self.sampling, draw), lists.names

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        del side
        matrix, names = self.matrix(item)
        arrays = [matrix.data.astype("<f8"), matrix.indices.astype("<i4"), matrix.indptr.astype("<i4")]
        tell(item.size, {})
        yield DRIVER, msgpack.packb([names, *(array.tobytes() for array in arrays)])


@dataclass(frozen=True)
class GradientJob(PairJob):
    """The classifier's loss and gradient over a shard's pairs."""

    step: int = 0
    """Which evaluation of the round."""

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        weights: Mapping[str, float] = msgpack.unpackb(Path(side.path(POINT)).read_bytes())
        matrix, names = self.matrix(item)
        loss, gradient = loss_and_gradient(matrix, np.array([weights.get(name, 0.0) for name in names]))
        tell(item.size, {})
        yield DRIVER, msgpack.packb([names, loss, gradient.tolist(), matrix.shape[0]])


class Pro(Tuner):
    """PRO on collected lists."""

    name, label = "pro", "PRO"
    config_class = ProConfig
    figures = (
        *Tuner.figures,
        Figure("pairs", "pairs", "pairs", form="count"),
        Figure("loss", "classifier loss", "loss", form="metric", about="Mean logistic loss and penalty at the end."),
    )

    def tune(self, tuning: Tuning) -> Tuned:
        names = sorted(tuning.memory.spread)
        fitted, loss, pairs = (
            self.fit_on_driver(tuning, names) if self.config.gradient == "driver" else self.fit_by_job(tuning, names)
        )
        mixed = self.interpolated(tuning.weights, normalised(dict(zip(names, fitted.tolist(), strict=True))))
        _, score = best_candidate(tuning, Candidates.of(mixed), self.config.objective())
        return Tuned(mixed, score, {"pairs": pairs, "loss": loss})

    def fields(self, tuning: Tuning) -> dict[str, Any]:
        """Of both jobs."""
        config = self.config
        sampling = PairSampling(config.samples, config.keep, config.threshold)
        return {
            "number": tuning.number,
            "seed": config.seed,
            "sampling": sampling,
            "objective": config.objective(),
            "sentence_bleu": config.sentence_bleu,
        }

    def fit_on_driver(self, tuning: Tuning, names: list[str]) -> tuple[Floats, float, int]:
        """Weights, what the classifier reached, and the number of pairs."""
        matrices, columns = [], []
        for record in tuning.start(PairJob(**self.fields(tuning)), {}):
            own, data, indices, starts = msgpack.unpackb(record.value)
            ends = np.frombuffer(starts, "<i4")
            arrays = (np.frombuffer(data, "<f8"), np.frombuffer(indices, "<i4"), ends)
            matrices.append(scipy.sparse.csr_array(arrays, shape=(len(ends) - 1, len(own))))
            columns.append(own)
        matrix = stack(matrices, columns, names)
        pairs = _some(matrix.shape[0])
        start = np.zeros(len(names))
        fitted, loss = fit(lambda w: loss_and_gradient(matrix, w), start, self.config.l2, pairs, self.config.iterations)
        return fitted, loss, pairs

    def fit_by_job(self, tuning: Tuning, names: list[str]) -> tuple[Floats, float, int]:
        """The same, with a job for each evaluation of loss and gradient."""
        number, counts = {name: k for k, name in enumerate(names)}, list[int]()

        def total(weights: Floats) -> tuple[float, Floats]:
            job = GradientJob(**self.fields(tuning), step=len(counts))
            point = {name: value for name, value in zip(names, weights.tolist(), strict=True) if value}
            loss, gradient, pairs = 0.0, np.zeros(len(names)), 0
            for record in tuning.start(job, {POINT: msgpack.packb(point)}):
                own, part, values, several = msgpack.unpackb(record.value)
                loss, pairs = loss + part, pairs + several
                gradient[[number[name] for name in own]] += values
            counts.append(_some(pairs))
            return loss, gradient

        start = np.zeros(len(names))
        total(start)
        fitted, loss = fit(total, start, self.config.l2, counts[0], self.config.iterations)
        return fitted, loss, counts[0]

    def interpolated(self, last: Mapping[str, float], new: Mapping[str, float]) -> dict[str, float]:
        """The mixture of both, where dense features have an absolute sum of 1; without last weights, the new ones."""
        share = self.config.interpolation if any(last.values()) else 1.0
        old = normalised(last)
        mixed = {name: share * new.get(name, 0.0) + (1 - share) * old.get(name, 0.0) for name in sorted({*new, *old})}
        return {name: value for name, value in mixed.items() if value}


def _some(pairs: int) -> int:
    if pairs == 0:
        raise InputError(
            "no pair of hypotheses differs enough in its sentence score",
            hint="Set a smaller pro.threshold, or a larger k.",
        )
    return pairs

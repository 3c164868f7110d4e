"""The job that compares weights on lists: for each candidate, the statistics of what it ranks first.

map     a shard's lists, candidates → for the driver: a row of summed statistics per candidate
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import msgpack
import numpy as np
import numpy.typing as npt
import scipy.sparse

from itersel.algorithms.line_search_job import lists_of
from itersel.algorithms.tuner import Tuning
from itersel.mapreduce.job import DRIVER, Job, Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.tune.objective import Objective

CANDIDATES = "candidates"


@dataclass(frozen=True, eq=False)
class Candidates:
    """Weight vectors over the same features, a row each."""

    names: Sequence[str]
    rows: npt.NDArray[np.float64]

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Candidates:
        """One candidate."""
        return cls(list(weights), np.array([list(weights.values())]))

    def weights(self, number: int) -> dict[str, float]:
        """A candidate as weights that are not 0."""
        return {name: value for name, value in zip(self.names, self.rows[number].tolist(), strict=True) if value}

    def columns(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """The weights of these features, a row per candidate; 0 for a feature that the candidates do not know."""
        number = {name: k for k, name in enumerate(self.names)}
        known = np.hstack([self.rows, np.zeros((len(self.rows), 1))])  # the last column is of all other features
        return known[:, [number.get(name, -1) for name in names]]

    def to_bytes(self) -> bytes:
        packed: bytes = msgpack.packb([list(self.names), len(self.rows), self.rows.astype("<f8").tobytes()])
        return packed

    @classmethod
    def from_bytes(cls, data: bytes) -> Candidates:
        names, count, content = msgpack.unpackb(data)
        return cls(names, np.frombuffer(content, "<f8").reshape(count, len(names)))


@dataclass(frozen=True)
class CandidatesJob(Job):
    """Ranks lists by several weight vectors."""

    number: int = 0
    """The round's."""
    objective: Objective = field(default_factory=Objective)

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        candidates = Candidates.from_bytes(Path(side.path(CANDIDATES)).read_bytes())
        lists = lists_of(item)
        shape = (lists.rows, len(lists.names))
        rows = scipy.sparse.csr_array((lists.values, lists.features.astype(np.int32), lists.starts), shape=shape)
        for weights in candidates.columns(lists.names):
            scores = rows @ weights
            # Of equal scores, the hypothesis that was met first.
            first = [begin + int(scores[begin:end].argmax()) for begin, end in pairwise(lists.offsets.tolist())]
            yield DRIVER, lists.statistics[first].sum(axis=0, dtype=np.float64).astype("<f8").tobytes()
        tell(item.size, {})


def best_candidate(tuning: Tuning, candidates: Candidates, objective: Objective) -> tuple[int, float]:
    """Which weights are the best on all lists, the first of equals, and their score."""
    sums = np.zeros((len(candidates.rows), objective.width))
    job = CandidatesJob(number=tuning.number, objective=objective)
    for record in tuning.start(job, {CANDIDATES: candidates.to_bytes()}):
        sums[record.sequence] += np.frombuffer(record.value, "<f8")
    scores = [objective.score(row) for row in sums]
    best = max(range(len(scores)), key=lambda k: (scores[k], -k))
    return best, scores[best]

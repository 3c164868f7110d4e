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
import scipy.sparse

from itersel.algorithms.line_search_job import lists_of
from itersel.algorithms.tuner import Tuning
from itersel.mapreduce.job import DRIVER, Job, Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.tune.objective import Objective

CANDIDATES = "candidates"


@dataclass(frozen=True)
class CandidatesJob(Job):
    """Ranks lists by several weight vectors."""

    number: int = 0
    """The round's."""
    objective: Objective = field(default_factory=Objective)

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        candidates: list[Mapping[str, float]] = msgpack.unpackb(Path(side.path(CANDIDATES)).read_bytes())
        lists = lists_of(item)
        shape = (lists.rows, len(lists.names))
        rows = scipy.sparse.csr_array((lists.values, lists.features.astype(np.int32), lists.starts), shape=shape)
        for weights in candidates:
            scores = rows @ np.array([weights.get(name, 0.0) for name in lists.names])
            # Of equal scores, the hypothesis that was met first.
            first = [begin + int(scores[begin:end].argmax()) for begin, end in pairwise(lists.offsets.tolist())]
            yield DRIVER, lists.statistics[first].sum(axis=0, dtype=np.float64).astype("<f8").tobytes()
        tell(item.size, {})


def best_candidate(
    tuning: Tuning, candidates: Sequence[Mapping[str, float]], objective: Objective
) -> tuple[int, float]:
    """Which weights are the best on all lists, the first of equals, and their score."""
    sums = np.zeros((len(candidates), objective.width))
    job = CandidatesJob(number=tuning.number, objective=objective)
    for record in tuning.start(job, {CANDIDATES: msgpack.packb([dict(one) for one in candidates])}):
        sums[record.sequence] += np.frombuffer(record.value, "<f8")
    scores = [objective.score(row) for row in sums]
    best = max(range(len(scores)), key=lambda k: (scores[k], -k))
    return best, scores[best]

"""The features worth a look: the largest weights and the largest column norms of a run's best epoch.

Norms come from the epoch's norms.vec (itersel.learn.mixing.Columns), which older runs do not have. Each feature is
shown with its weight after every epoch and with sentences in which its words occur."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itersel.base.files import read_bytes
from itersel.learn.mixing import Columns, norms
from itersel.model.features import Weights
from itersel.model.vectors import Values, Vector, feature_ids
from itersel.report.gather import Run
from itersel.report.patterns import KINDS, Pattern, Spans, join, kind_of, pattern_of
from itersel.run.history import EpochRecord


@dataclass(frozen=True)
class Sentence:
    """A source sentence with a translation: of the run itself (devtest), or a reference (train)."""

    origin: str
    id: str
    source: str
    target: str


@dataclass(frozen=True)
class Example:
    """A sentence in which a feature's words occur, and where."""

    sentence: int
    """Its number in the list of sentences."""
    source: Spans
    target: Spans


@dataclass(frozen=True)
class Feature:
    """One row."""

    name: str
    pattern: Pattern
    weight: float
    norm: float | None
    history: tuple[float, ...]
    """The weight after each epoch."""
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class FeatureTable:
    """What is shown of a run's model."""

    epoch: int
    total: int
    kinds: dict[str, int]
    """Number of features with a weight, by kind."""
    norm: str | None
    """Name of the norm; none if the run did not keep norms."""
    features: tuple[Feature, ...]
    """By size of the weight, then by name."""


def feature_table(run: Run, count: int, sentences: Sequence[Sentence], examples: int = 3) -> FeatureTable | None:
    """The `count` features of largest weight and the `count` of largest norm; none if no epoch is finished."""
    best = run.best
    if best is None:
        return None
    items = list(Weights.read(run.folder(best.number) / "weights.txt.gz").items())
    names = [name for name, _ in items]
    column_norms = _norms(run, best, names)
    shown = set(heapq.nsmallest(count, range(len(items)), key=lambda k: (-abs(items[k][1]), items[k][0])))
    if column_norms is not None:
        shown.update(heapq.nsmallest(count, range(len(items)), key=lambda k: (-column_norms[k], items[k][0])))
    rows = sorted(shown, key=lambda k: (-abs(items[k][1]), items[k][0]))
    by_epoch = histories(run, [names[k] for k in rows])
    joined = [(join(one.source), join(one.target)) for one in sentences]
    features = []
    for row, k in enumerate(rows):
        pattern = pattern_of(names[k])
        size = None if column_norms is None else float(column_norms[k])
        found = tuple(_find(pattern, joined, examples))
        features.append(Feature(names[k], pattern, items[k][1], size, tuple(by_epoch[row]), found))
    counts = Counter(map(kind_of, names))
    kinds = {kind: counts[kind] for kind in KINDS if counts[kind]}
    norm = None if column_norms is None else _norm_name(run, best)
    return FeatureTable(best.number, len(items), kinds, norm, tuple(features))


def _find(pattern: Pattern, joined: Sequence[tuple[str, str]], limit: int) -> list[Example]:
    found: list[Example] = []
    for number, (source, target) in enumerate(joined):
        if len(found) == limit:
            break
        spans = pattern.find(source, target)
        if spans is not None:
            found.append(Example(number, *spans))
    return found


def _norm_name(run: Run, epoch: EpochRecord) -> str:
    """As the epoch recorded it; epochs of older versions did not."""
    return epoch.norm or str(run.configuration.get("selection.norm", "l2"))


def _norms(run: Run, epoch: EpochRecord, names: Sequence[str]) -> Values | None:
    """The norms of the columns that the names belong to; 0 where the selection has none."""
    place = run.folder(epoch.number) / "norms.vec"
    if not place.exists():
        return None
    columns = Columns.from_bytes(read_bytes(place), place)
    return _look_up(columns.ids, norms(columns, _norm_name(run, epoch)), feature_ids(list(names)))


def histories(run: Run, names: Sequence[str]) -> list[list[float]]:
    """The weights of each name, epoch by epoch."""
    wanted = feature_ids(list(names))
    columns = []
    for epoch in run.epochs:
        vector = Vector.read(run.folder(epoch.number) / "weights.vec", mapped=True)
        columns.append(_look_up(vector.ids, vector.values, wanted))
    return np.stack(columns, axis=1).tolist() if columns else [[] for _ in names]


def _look_up(ids: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> Values:
    """The values of the wanted ids among ascending ones; 0 where there is none."""
    if len(ids) == 0:
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return np.where(ids[at] == wanted, values[at], 0.0)

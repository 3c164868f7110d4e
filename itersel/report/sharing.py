"""What domains share of a model (WMT 2013): for runs whose shards are domains, as tables.

In: an epoch's rows (itersel.learn.domain_rows). After an epoch, a domain's weight of a feature is the weight that all
domains started from plus what this domain changed. So the tables show both: in how many domains a feature has a weight,
and in how many the epoch changed it, upwards or downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from itersel.base.paper_table import Column, Entry, PaperTable, Row
from itersel.learn.domain_rows import DomainRows
from itersel.model.features import Weights
from itersel.model.vectors import Vector, feature_ids
from itersel.report.feature_table import Sentence
from itersel.report.gather import Run
from itersel.report.patterns import Pattern, Side, join, pattern_of

SHOWN = 20
"""Rows that the page shows at first."""


@dataclass(frozen=True, eq=False)
class Sharing:
    """The kept features of an epoch × its domains."""

    epoch: int
    domains: tuple[str, ...]
    names: tuple[str, ...]
    weights: npt.NDArray[np.float64]
    changes: npt.NDArray[np.float64]
    """What the epoch added to the weights that it started from."""

    @property
    def norms(self) -> npt.NDArray[np.float64]:
        norms: npt.NDArray[np.float64] = np.sqrt((self.weights**2).sum(axis=1))
        return norms

    @property
    def disagreement(self) -> npt.NDArray[np.int64]:
        """For each feature: the smaller of the numbers of domains with a positive and with a negative weight."""
        return _smaller_side(self.weights)


def _smaller_side(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return np.minimum((matrix > 0).sum(axis=1), (matrix < 0).sum(axis=1))


def sharing(run: Run) -> Sharing | None:
    """The sharing in the run's best epoch; None if its shards are not domains."""
    best = run.best
    folder = None if best is None else run.folder(best.number)
    rows = None if folder is None else DomainRows.read(folder)
    if best is None or folder is None or rows is None:
        return None
    names = (*Weights.read(folder / "weights.txt.gz"), *rows.cancelled)
    ids = feature_ids(list(names))
    weights = rows.matrix(ids)
    start = _start(run, best.number)
    before = np.zeros(len(ids)) if start is None else DomainRows(("",), (Vector.read(start),)).matrix(ids)[:, 0]
    return Sharing(best.number, rows.domains, names, weights, weights - before[:, np.newaxis])


def _start(run: Run, epoch: int) -> Path | None:
    """The weights that an epoch started from; None: all 0."""
    place = run.folder(epoch - 1) / "weights.vec" if epoch > 1 else run.directory.path / "start.vec"
    return place if place.exists() else None


def sharing_tables(found: Sharing, name: str, count: int, sentences: Sequence[Sentence]) -> list[PaperTable]:
    """Features by the number of domains; the largest of them; those that domains differ on. `name` is the run's."""
    largest = sorted(range(len(found.names)), key=lambda k: (-found.norms[k], found.names[k]))[:count]
    signs, moves, norms = found.disagreement, _smaller_side(found.changes), found.norms
    apart = [k for k in range(len(found.names)) if signs[k] or moves[k]]
    apart.sort(key=lambda k: (-signs[k], -moves[k], -norms[k], found.names[k]))
    title = f"{name}, epoch {found.epoch}"
    return [
        _counts(found, title),
        _features(found, largest, sentences, f"{title}: the features of the largest norms"),
        _features(found, apart[:count], sentences, f"{title}: the features that domains differ on the most"),
    ]


def _counts(found: Sharing, title: str) -> PaperTable:
    """How many features have a weight in so many domains, or were changed in so many."""
    with_weight, changed = (found.weights != 0).sum(axis=1), (found.changes != 0).sum(axis=1)
    signs, moves = found.disagreement > 0, _smaller_side(found.changes) > 0
    rows = []
    for number in range(len(found.domains) + 1):
        counts = [
            int((with_weight == number).sum()),
            int(((with_weight == number) & signs).sum()),
            int((changed == number).sum()),
            int(((changed == number) & moves).sum()),
        ]
        rows.append(Row(str(number), (_number(number), *map(_number, counts))))
    columns = ("domains", "features with a weight", "of both signs", "features changed", "in both directions")
    legend = (
        f"Of {len(found.names):,} features: in how many of {len(found.domains)} domains they have a weight after the "
        "epoch, and in how many the epoch changed the weight that all domains started from.",
    )
    return PaperTable(tuple(map(Column, columns)), tuple(rows), legend, caption=f"{title}: what domains share")


def _features(found: Sharing, chosen: Sequence[int], sentences: Sequence[Sentence], caption: str) -> PaperTable:
    columns = [
        Column("feature", left=True, prose=True),
        *(Column("norm"), Column("domains"), Column("+"), Column("−"), Column("up"), Column("down")),
        *(Column(domain, "weight by domain") for domain in found.domains),
        Column("example", left=True, prose=True),
    ]
    joined = [(join(one.source), join(one.target)) for one in sentences]
    rows = []
    for k in chosen:
        weights, changes, pattern = found.weights[k], found.changes[k], pattern_of(found.names[k])
        counts = [(weights != 0), (weights > 0), (weights < 0), (changes > 0), (changes < 0)]
        example = _example(pattern, sentences, joined)
        entries = [
            Entry(_text(found.names[k], pattern), found.names[k]),
            _decimal(float(found.norms[k])),
            *(_number(int(one.sum())) for one in counts),
            *(_decimal(float(weight)) for weight in weights),
            Entry(example, example or None),
        ]
        rows.append(Row(found.names[k], tuple(entries)))
    legend = (
        "Domains: how many have a weight for the feature; + and −: of which sign. Up, down: how many raised or lowered "
        "it in this epoch.",
    )
    return PaperTable(tuple(columns), tuple(rows), legend, caption=caption, first=SHOWN)


def _number(value: int) -> Entry:
    return Entry(f"{value:,}", value)


def _decimal(value: float) -> Entry:
    return Entry(f"{value:.3g}".replace("-", "−"), value)


def _text(name: str, pattern: Pattern) -> str:
    """As people read it: the rule or the words of a template, otherwise its name."""
    sides = [_words(side) for side in (pattern.source, pattern.target) if side is not None]
    return f"{pattern.kind}: {' → '.join(sides)}" if sides else name


def _words(side: Side) -> str:
    return " ".join(f"[{symbol}]" if isinstance(symbol, int) else symbol for symbol in side.symbols)


def _example(pattern: Pattern, sentences: Sequence[Sentence], joined: Sequence[tuple[str, str]]) -> str:
    for one, texts in zip(sentences, joined, strict=True):
        if pattern.find(*texts) is not None:
            return f"{one.source} → {one.target}"
    return ""

"""The dense weights of a run, epoch by epoch, and the score as a function of each: what a tuner's user looks at.

Cross-sections come from the file that the run's algorithm declares (itersel.base.figures.CrossSections), of the chosen
epoch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError
from itersel.base.figures import CrossSections
from itersel.base.json_files import read_json
from itersel.model.features import Weights, template_of
from itersel.model.vectors import Vector, feature_ids
from itersel.report.feature_table import histories
from itersel.report.gather import Run

MOST_DENSE = 40
"""Dense features that are drawn, the largest by weight."""


@dataclass(frozen=True)
class WeightHistory:
    """Dense features with their weights before training (if the run had start weights) and after each epoch."""

    names: tuple[str, ...]
    starts: tuple[float, ...] | None
    epochs: tuple[tuple[float, ...], ...]
    """Weights after each epoch, by feature."""


@dataclass(frozen=True)
class CrossSection:
    """The score at ascending weights of a feature, whose weight in the model is `at`."""

    name: str
    at: float
    weights: tuple[float, ...]
    values: tuple[float, ...]


def weight_history(run: Run) -> WeightHistory | None:
    """The largest dense features at the chosen epoch; None if no epoch is finished, or no feature is dense."""
    if run.best is None:
        return None
    items = [item for item in Weights.read(run.folder(run.best.number) / "weights.txt.gz").items() if item[1]]
    dense = sorted((item for item in items if template_of(item[0]) is None), key=lambda item: (-abs(item[1]), item[0]))
    names = tuple(name for name, _ in dense[:MOST_DENSE])
    if not names:
        return None
    start = run.directory.path / "start.vec"
    starts = tuple(Vector.read(start).values_of(feature_ids(list(names))).tolist()) if start.exists() else None
    return WeightHistory(names, starts, tuple(map(tuple, histories(run, names))))


def cross_sections(run: Run) -> tuple[CrossSections, tuple[CrossSection, ...]] | None:
    """What the run declares, at the chosen epoch; None if there is none."""
    declared = run.history.declaration.sections
    if declared is None or run.best is None:
        return None
    place = run.folder(run.best.number) / declared.file
    if str(place.relative_to(run.directory.path)) not in run.best.files:
        return None
    values = read_json(place)
    found = (_section(name, one, place) for name, one in values.items())
    return declared, tuple(sorted(found, key=lambda one: (-abs(one.at), one.name)))


def _section(name: str, values: Any, where: Path) -> CrossSection:
    known: Mapping[str, Any] = values if isinstance(values, dict) else {}
    at = _numbers([known.get("at")])
    weights, scores = _numbers(known.get("weights")), _numbers(known.get("values"))
    if not at or not weights or len(weights) != len(scores):
        raise InputError(f"damaged: not a cross-section along {name}", where=where)
    return CrossSection(name, at[0], weights, scores)


def _numbers(values: Any) -> tuple[float, ...]:
    """A list of finite numbers; nothing for anything else."""
    given = values if isinstance(values, list) else [None]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and math.isfinite(one) for one in given):
        return ()
    return tuple(map(float, given))

"""The job that follows the score along single weights: cross-sections of the objective, as in NAACL 2013, figure 2.

    map     as a line search: a shard's surfaces of a set of lines
    reduce  all shards' surfaces of a range's lines → for each line: the score at some steps

Every line goes through the same point, a round's weights, along one feature.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from itersel.algorithms.line_search_job import ForestSearchJob, LineSearchJob
from itersel.mapreduce.job import Record
from itersel.model.features import template_of
from itersel.tune.objective import Objective
from itersel.tune.space import Dimension, Lines, SearchSpace
from itersel.tune.surface import Surface

SECTION_STEPS = 161
MOST_SECTIONS = 60
"""Features of which cross-sections are drawn."""
OTHERS = "other"
"""The dimension of weights that no line search moves."""


@dataclass(frozen=True)
class SectionJob(LineSearchJob):
    """The score at given steps along each line, instead of the best step."""

    def outcome(self, number: int, surface: Surface, lines: Lines) -> bytes:
        return section(self.objective, number, surface, lines)


@dataclass(frozen=True)
class ForestSectionJob(ForestSearchJob):
    """The same over forests."""

    def outcome(self, number: int, surface: Surface, lines: Lines) -> bytes:
        return section(self.objective, number, surface, lines)


def section(objective: Objective, number: int, surface: Surface, lines: Lines) -> bytes:
    """The line's number, and the score (0 to 1) at SECTION_STEPS of its allowed range."""
    steps = section_steps(*lines.ranges[number].tolist())
    packed: bytes = msgpack.packb([number, [objective.score(sums) for sums in surface.sums_along(steps)]])
    return packed


def section_steps(low: float, high: float) -> npt.NDArray[np.float64]:
    """Where a section is drawn: more densely near 0, which is one of the steps."""
    shares = np.linspace(-1, 1, SECTION_STEPS)
    return np.where(shares < 0, -low, high) * shares * np.abs(shares)


def sections_of(records: Iterable[Record], lines: Lines, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the file of cross-sections has (itersel.base.figures.CrossSections); scores are from 0 to 100."""
    made = {}
    for record in records:
        number, scores = msgpack.unpackb(record.value)
        at = float(lines.origins[number, number])
        made[names[number]] = {
            "at": at,
            "weights": (at + section_steps(*lines.ranges[number].tolist())).tolist(),
            "values": [round(100 * score, 4) for score in scores],
        }
    return made


def without_section(wanted: Iterable[str], drawn: Collection[str]) -> list[str]:
    """A warning that names those of the wanted features that are not drawn."""
    missing = [name for name in dict.fromkeys(wanted) if name not in drawn]
    return [f"no cross-section along {', '.join(missing)}: does not vary within any list"] if missing else []


def section_lines(
    weights: Mapping[str, float], spread: Mapping[str, float], more: Sequence[str] = ()
) -> tuple[Lines, list[str]]:
    """A line through the weights along each dense feature that differs within lists, the most influential first, and
    along `more` features, dense or not.

    A line reaches as far as the feature, by its spread, would count as much as the most influential one does now.
    """
    influence = {name: abs(weights.get(name, 0.0)) * spread[name] for name in spread}
    moved = [name for name in spread if spread[name] > 0 and template_of(name) is None]
    dense = sorted(moved, key=lambda name: (-influence[name], name))[:MOST_SECTIONS]
    names = list(dict.fromkeys([*dense, *more]))
    others = {name: value for name, value in weights.items() if name not in names and value}
    dimensions = [Dimension.of_feature(name) for name in names]
    space = SearchSpace((*dimensions, Dimension(OTHERS, others, held=True)) if others else tuple(dimensions))
    point = np.array([weights.get(name, 0.0) for name in names] + [1.0] * bool(others))
    largest = max(influence.values(), default=0.0) or 1.0
    reaches = [max(largest / spread[name], 1.5 * abs(weights.get(name, 0.0))) for name in names]
    directions = np.eye(len(space))[: len(names)].reshape(len(names), len(space))
    origins = np.tile(point, (len(names), 1)).reshape(len(names), len(space))
    return Lines(space, origins, directions, np.array([(-one, one) for one in reaches]).reshape(-1, 2)), names

"""Line searches from several points at once: in each step every point moves along the best of its directions.

Directions are the coordinates and random ones. A point rests when no direction gains enough; the search ends when all
rest. The best step on each of many lines comes from a function, which runs a map-reduce job.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from itersel.base.errors import ConfigError
from itersel.tune.space import Lines, SearchSpace
from itersel.tune.surface import Step

Point = npt.NDArray[np.float64]
SearchLines = Callable[[int, Lines], list[Step]]
"""Given the number of the step and lines: the best step on each."""


@dataclass(frozen=True)
class AscentOptions:
    """When points move, and along what."""

    steps: int = 30
    least_gain: float = 1e-5
    random_directions: int = 2


def ascend(
    space: SearchSpace,
    points: Sequence[Point],
    search: SearchLines,
    options: AscentOptions,
    scales: Point,
    draw: Callable[[int], np.random.Generator],
) -> tuple[Point, float]:
    """The best point that is reached from any of the given ones, the earlier of equals, and its score.

    `scales` are of the random directions; `draw` gives random numbers for each step.
    """
    current, scores = list(points), [-math.inf] * len(points)
    active = list(range(len(points)))
    for step in range(options.steps):
        random = draw(step)
        directions = {k: _directions(space, options.random_directions, scales, random) for k in active}
        lines = Lines.of(space, [(current[k], direction) for k in active for direction in directions[k]])
        found = iter(search(step, lines))
        moved = []
        for k in active:
            steps = [next(found) for _ in directions[k]]
            chosen = max(range(len(steps)), key=lambda q: (steps[q].score, -q))
            best = steps[chosen]
            scores[k] = min(one.before for one in steps)  # they differ where hypotheses are equally good
            if best.score - scores[k] > options.least_gain:
                current[k] = normalised_point(space, current[k] + best.step * directions[k][chosen])
                scores[k] = best.score
                moved.append(k)
        active = moved
        if not active:
            break
    winner = max(range(len(points)), key=lambda k: (scores[k], -k))
    return current[winner], scores[winner]


def _directions(space: SearchSpace, random: int, scales: Point, draw: np.random.Generator) -> list[Point]:
    """The coordinates that move, and random directions."""
    made = list(np.eye(len(space))[space.free])
    for _ in range(random):
        direction = np.zeros(len(space))
        direction[space.free] = draw.normal(size=len(space.free)) * scales[space.free]
        made.append(direction)
    return made


def random_scales(space: SearchSpace, spread: Mapping[str, float]) -> Point:
    """For each dimension, one over its feature's deviation within lists: a random point then favours no feature."""
    known = [spread[one.name] for one in space.dimensions if spread.get(one.name, 0.0) > 0]
    usual = float(np.median(known)) if known else 1.0
    return np.array([usual / spread[one.name] if spread.get(one.name, 0.0) > 0 else 1.0 for one in space.dimensions])


def random_point(draw: np.random.Generator, space: SearchSpace, scales: Point, held: Point) -> Point:
    """Random coordinates where a search moves, the given ones elsewhere."""
    made = held.copy()
    free = [k for k in space.free if space.dimensions[k].is_feature]
    values = draw.uniform(-1, 1, len(free)) * scales[free]
    made[free] = values / np.abs(values).sum() if len(free) else values
    return made


def within(space: SearchSpace, point: Point) -> Point:
    """The point's coordinates within the dimensions' ranges; a sign that is not allowed is turned.

    Where there are limits other than 0, features are brought to an absolute sum of 1; what no limit stops keeps its
    proportions.
    """
    made, shares = point.copy(), space.shares
    if shares and (total := space.absolute_sum(made)) > 0:
        made /= total
    for k in space.free:
        one = space.dimensions[k]
        if not one.low <= made[k] <= one.high and one.low <= -made[k] <= one.high:
            made[k] = -made[k]
        made[k] = min(max(made[k], one.low), one.high)
    return _shared_out(space, made, shares) if shares else made


def _shared_out(space: SearchSpace, point: Point, shares: Sequence[int]) -> Point:
    """Coordinates times the factor that gives features an absolute sum of 1, where those in `shares` stop at their
    limits."""
    low, high = np.zeros(len(space)), np.full(len(space), math.inf)
    signs = np.where(point < 0, -1.0, 1.0)
    for k in shares:
        one = space.dimensions[k]
        if point[k] == 0 and one.high <= 0:
            signs[k] = -1.0
        least, most = (one.low, one.high) if signs[k] > 0 else (-one.high, -one.low)
        low[k], high[k] = max(least, 0.0), most
    features = np.array([one.is_feature for one in space.dimensions])
    free = np.isin(np.arange(len(space)), space.free) & features
    for sizes in (np.abs(point), np.where(free, np.maximum(np.abs(point), 1e-3), np.abs(point))):
        factor = _factor(sizes[features], low[features], high[features])
        if factor is not None:
            return np.asarray(signs * np.clip(factor * sizes, low, high))
    raise ConfigError(
        "the ranges allow no weights with an absolute sum of 1",
        hint="A limit other than 0 is a share of the absolute sum of all weights: widen the ranges.",
    )


def _factor(sizes: Point, low: Point, high: Point) -> float | None:
    """The factor at which the sizes, each within its limits, add up to 1; None if there is none."""
    moved = sizes > 0
    ends = np.concatenate([low[moved] / sizes[moved], high[moved] / sizes[moved]])
    factors = np.unique(np.concatenate([[0.0], ends[np.isfinite(ends)]]))
    factors = np.append(factors, factors[-1] + 1.0)  # linear from there on
    sums = np.clip(np.outer(factors, sizes), low, high).sum(axis=1)
    if sums[0] > 1:
        return None
    if sums[-1] >= 1:
        return float(np.interp(1.0, sums, factors))
    rise = sums[-1] - sums[-2]
    return float(factors[-1] + (1 - sums[-1]) / rise) if rise > 0 else None


def normalised_point(space: SearchSpace, point: Point) -> Point:
    """The point with features at an absolute sum of 1, unless something that is held fixes the scale."""
    features = [k for k, one in enumerate(space.dimensions) if one.is_feature]
    total = float(np.abs(point[features]).sum())
    if space.has_scale or total == 0:
        return point
    return point / total

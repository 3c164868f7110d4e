"""The space that a line search moves in: few dimensions, each a weighted sum of features.

A dense feature is a dimension of its own. Features that are tied together make up one: all sparse features of a
template with their weights, say, so that a step scales them all. Dimensions that are held do not move: they only count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgpack
import numpy as np
import numpy.typing as npt
import scipy.sparse

from itersel.base.errors import InputError
from itersel.lists.accumulated import AccumulatedLists

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Dimension:
    """A weighted sum of features."""

    name: str
    members: Mapping[str, float]
    """Features with what one unit of the dimension adds to their weights."""
    held: bool = False
    low: float = -np.inf
    high: float = np.inf

    @classmethod
    def of_feature(cls, name: str, *, held: bool = False, low: float = -np.inf, high: float = np.inf) -> Dimension:
        return cls(name, {name: 1.0}, held, low, high)

    @property
    def is_feature(self) -> bool:
        """Whether the dimension is one feature's weight."""
        return tuple(self.members) == (self.name,)


@dataclass(frozen=True)
class SearchSpace:
    """Dimensions; a point has a coordinate for each."""

    dimensions: Sequence[Dimension] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        seen: dict[str, str] = {}
        for dimension in self.dimensions:
            for name in dimension.members:
                if name in seen:
                    raise InputError(f"the feature {name} belongs to two dimensions: {seen[name]}, {dimension.name}")
                seen[name] = dimension.name

    def __len__(self) -> int:
        return len(self.dimensions)

    @property
    def free(self) -> list[int]:
        """The dimensions that a search moves."""
        return [k for k, dimension in enumerate(self.dimensions) if not dimension.held]

    @property
    def has_scale(self) -> bool:
        """Whether a dimension is held: the search leaves its coordinate alone, so it does not normalise points."""
        return len(self.free) < len(self)

    @cached_property
    def shares(self) -> list[int]:
        """Free features with a limit other than 0, which is a share of the absolute sum of all features' weights."""
        return [
            k
            for k in self.free
            if any(np.isfinite(end) and end != 0 for end in (self.dimensions[k].low, self.dimensions[k].high))
        ]

    @cached_property
    def signed(self) -> list[tuple[int, float, float]]:
        """Dimensions with a limit of 0, and the limits: no other one holds for coordinates as they are."""
        limits = [
            (k, one.low if one.low == 0 else -np.inf, one.high if one.high == 0 else np.inf)
            for k, one in enumerate(self.dimensions)
        ]
        return [(k, low, high) for k, low, high in limits if low == 0 or high == 0]

    def absolute_sum(self, point: Floats) -> float:
        """Of the features' weights."""
        return float(np.abs(point[[k for k, one in enumerate(self.dimensions) if one.is_feature]]).sum())

    def weights(self, point: Floats) -> dict[str, float]:
        """A point as weights of features."""
        return {
            name: coordinate * value
            for dimension, coordinate in zip(self.dimensions, point.tolist(), strict=True)
            for name, value in dimension.members.items()
        }

    def matrix(self, names: Sequence[str]) -> Floats:
        """For each of the features, in their order, what a unit of each dimension adds to its weight."""
        number = {name: k for k, name in enumerate(names)}
        made = np.zeros((len(names), len(self)))
        for k, dimension in enumerate(self.dimensions):
            for name, value in dimension.members.items():
                if name in number:
                    made[number[name], k] = value
        return made

    def project(self, lists: AccumulatedLists) -> Floats:
        """The hypotheses in this space: a row per dimension and a column per hypothesis."""
        shape = (lists.rows, len(lists.names))
        rows = scipy.sparse.csr_array((lists.values, lists.features.astype(np.int32), lists.starts), shape=shape)
        return np.ascontiguousarray((rows @ scipy.sparse.csr_array(self.matrix(lists.names))).toarray().T)

    def steps(self, point: Floats, direction: Floats) -> tuple[float, float]:
        """The steps from the point, without a gap, that stay within the dimensions' ranges.

        A limit other than 0 holds for weights at an absolute sum of 1, whatever the sum at the step is.
        """
        low, high = -np.inf, np.inf
        for k, least, most in self.signed:
            at, slope = float(point[k]), float(direction[k])
            if slope:
                ends = sorted(((least - at) / slope, (most - at) / slope))
                low, high = max(low, ends[0]), min(high, ends[1])
        if shares := self.shares:
            low = max(low, -self._reach(shares, point, -direction))
            high = min(high, self._reach(shares, point, direction))
        return float(low), float(high)

    def _reach(self, shares: Sequence[int], point: Floats, direction: Floats) -> float:
        """How far from the point the features keep within their shares of the absolute sum.

        What is left to a limit is linear between the steps at which a feature's weight is 0.
        """
        turns = [
            -at / slope
            for one, at, slope in zip(self.dimensions, point.tolist(), direction.tolist(), strict=True)
            if one.is_feature and slope and -at / slope > 0
        ]
        steps = [0.0, *sorted(turns)]
        steps.append(steps[-1] + 1.0)  # linear from there on
        sums = [self.absolute_sum(point + step * direction) for step in steps]
        reach = np.inf
        for k in shares:
            for sign, limit in ((1.0, self.dimensions[k].low), (-1.0, self.dimensions[k].high)):
                if np.isinf(limit) or limit == 0:
                    continue
                left = [
                    sign * (point[k] + step * direction[k] - limit * total)
                    for step, total in zip(steps, sums, strict=True)
                ]
                reach = min(reach, _first_zero(steps, left))
        return reach

    def to_json(self) -> list[list[object]]:
        return [[one.name, dict(one.members), one.held, one.low, one.high] for one in self.dimensions]

    @classmethod
    def from_json(cls, values: Sequence[Sequence[object]]) -> SearchSpace:
        return cls(tuple(Dimension(*one) for one in values))  # type: ignore[arg-type]


def _first_zero(steps: Sequence[float], values: Sequence[float]) -> float:
    """Where a function that begins at 0 or above falls below 0: linear between the steps, and on beyond the last."""
    before, at = 0.0, max(float(values[0]), 0.0)
    for step, value in zip(steps[1:], values[1:], strict=True):
        if value < 0:
            return before + (step - before) * at / (at - value)
        before, at = step, value
    fall = (values[-2] - values[-1]) / (steps[-1] - steps[-2])
    return before + at / fall if fall > 0 else np.inf


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines in a space, with the steps that are allowed on each."""

    space: SearchSpace
    origins: Floats
    directions: Floats
    ranges: Floats
    """(low, high) for each line."""

    @classmethod
    def of(cls, space: SearchSpace, lines: Sequence[tuple[Floats, Floats]]) -> Lines:
        """Lines of (origin, direction)."""
        ranges = [space.steps(origin, direction) for origin, direction in lines]
        return cls(
            space,
            np.array([origin for origin, _ in lines]).reshape(-1, len(space)),
            np.array([direction for _, direction in lines]).reshape(-1, len(space)),
            np.array(ranges).reshape(-1, 2),
        )

    def __len__(self) -> int:
        return len(self.origins)

    def to_bytes(self) -> bytes:
        arrays = [array.astype("<f8").tobytes() for array in (self.origins, self.directions, self.ranges)]
        packed: bytes = msgpack.packb([self.space.to_json(), *arrays])
        return packed

    @classmethod
    def from_bytes(cls, data: bytes) -> Lines:
        try:
            space, *arrays = msgpack.unpackb(data)
            made = SearchSpace.from_json(space)
            origins, directions, ranges = (np.frombuffer(array, "<f8") for array in arrays)
            width = len(made)
            return cls(made, origins.reshape(-1, width), directions.reshape(-1, width), ranges.reshape(-1, 2))
        except (ValueError, TypeError) as error:
            raise InputError(f"damaged lines of a line search: {error}") from None

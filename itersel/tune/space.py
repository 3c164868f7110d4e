"""The space that a line search moves in: few dimensions, each a weighted sum of features.

A dense feature is a dimension of its own. Features that are tied together make up one: all sparse features of a
template with their weights, say, so that a step scales them all. Dimensions that are held do not move: they only count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
        """Whether points that differ by a factor are different: a dimension is held, or has a limit other than 0."""
        limits = [end for one in self.dimensions for end in (one.low, one.high)]
        return len(self.free) < len(self) or any(np.isfinite(end) and end != 0 for end in limits)

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
        """The steps from the point that stay within the dimensions' ranges."""
        low, high = -np.inf, np.inf
        for dimension, at, slope in zip(self.dimensions, point.tolist(), direction.tolist(), strict=True):
            if slope:
                ends = sorted(((dimension.low - at) / slope, (dimension.high - at) / slope))
                low, high = max(low, ends[0]), min(high, ends[1])
        return float(low), float(high)

    def to_json(self) -> list[list[object]]:
        return [[one.name, dict(one.members), one.held, one.low, one.high] for one in self.dimensions]

    @classmethod
    def from_json(cls, values: Sequence[Sequence[object]]) -> SearchSpace:
        return cls(tuple(Dimension(*one) for one in values))  # type: ignore[arg-type]


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

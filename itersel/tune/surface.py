"""Error surfaces: the statistics of what is ranked first, as a step function of the step along a line of weights.

A surface is three arrays, so it can be a map-reduce record: shards' surfaces of one line are merged by adding up. The
result does not depend on the grouping. The kernel (kernel/tune/surface.hh) builds, merges and searches them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import msgpack
import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.tune.objective import Objective

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StepRange:
    """Which steps are allowed, and where in an interval a step ends."""

    low: float = -math.inf
    high: float = math.inf
    least_width: float = 1e-6
    """Narrower intervals are passed over: rounding could put their middle outside."""
    reach: float = 0.1
    """How far a step goes into an interval without an end."""


@dataclass(frozen=True)
class Step:
    """The best step along a line."""

    step: float
    score: float
    before: float
    """The score at step 0; where statistics change there, the lower one: which side counts is a matter of rounding."""
    sums: Floats
    """Of the statistics at the step."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Sums of statistics at −∞, and what is added to them at each point."""

    base: Floats
    points: Floats
    """Strictly ascending."""
    changes: Floats | npt.NDArray[np.int16]
    """A row per point; none is all zero. Rows of small whole numbers, nearly all are, take little space."""

    @classmethod
    def of_segments(cls, begins: Floats, statistics: npt.NDArray[np.float32]) -> Surface:
        """Of one sentence: row i of the statistics counts from begins[i] on; begins[0] is −∞."""
        rows = statistics.astype(np.float64)
        return cls(rows[0], begins[1:], np.diff(rows, axis=0))

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats | npt.NDArray[np.int16]]:
        return self.base, self.points, self.changes

    def sums_at(self, step: float) -> Floats:
        """The summed statistics at a step; a point belongs to what begins there."""
        until = int(np.searchsorted(self.points, step, side="right"))
        total: Floats = self.base + self.changes[:until].sum(axis=0)
        return total

    def sums_along(self, steps: Floats) -> Floats:
        """The summed statistics at each of the steps, a row each; as `sums_at`."""
        totals = np.vstack([self.base, self.base + np.cumsum(self.changes, axis=0)])
        along: Floats = totals[np.searchsorted(self.points, steps, side="right")]
        return along

    def best_step(self, objective: Objective, steps: StepRange | None = None) -> Step:
        """The middle of the best interval.

        Of equal scores: no step at all if the score at 0 is among them; otherwise the step nearest to 0, and of two
        equally near ones the negative one.
        """
        steps = steps or StepRange()
        return Step(
            *_kernel.best_step(
                self.arrays,
                objective.native,
                low=steps.low,
                high=steps.high,
                least_width=steps.least_width,
                reach=steps.reach,
            )
        )

    def to_bytes(self) -> bytes:
        """As bytes, to be sent between machines."""
        sums, points = (array.astype("<f8").tobytes() for array in (self.base, self.points))
        kind = "<i2" if self.changes.dtype == np.int16 else "<f8"
        packed: bytes = msgpack.packb([sums, points, kind, self.changes.astype(kind, copy=False).tobytes()])
        return packed

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Surface:
        try:
            base, points, kind, changes = msgpack.unpackb(data)
            sums = np.frombuffer(base, "<f8")
            rows = np.frombuffer(changes, kind).reshape(-1, len(sums))
            return cls(sums, np.frombuffer(points, "<f8"), rows)
        except (ValueError, TypeError) as error:
            raise InputError(f"damaged error surface: {error}") from None


def merge(surfaces: Sequence[Surface]) -> Surface:
    """The sum of several sentences' or shards' surfaces of one line."""
    if len(surfaces) == 1:
        return surfaces[0]
    return Surface(*_kernel.merge_surfaces([one.arrays for one in surfaces]))


def list_surfaces(
    features: Floats,
    offsets: npt.NDArray[np.int64],
    statistics: npt.NDArray[np.float32],
    origins: Floats,
    directions: Floats,
) -> list[Surface]:
    """The surface of each line origins[q] + x · directions[q].

    `features` has a row per dimension and a column per hypothesis; list s has the hypotheses offsets[s] …
    offsets[s + 1] − 1, at least one, with a row of statistics each. Of hypotheses that are equally good everywhere, the
    earlier one counts.
    """
    found = _kernel.list_surfaces(features, offsets, statistics, origins, directions)
    return [Surface(*arrays) for arrays in found]

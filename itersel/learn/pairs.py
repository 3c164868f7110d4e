"""Preference pairs from a k-best list's metric values (ACL 2012 §5.1; `pro`: Hopkins & May 2011; `hope_fear`: Chiang).

The kernel does the work; itersel/kernel/learn/*_chooser.cc documents levels, ties and the order of the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.config import OneOf, Range, validate

KINDS = ("multipartite", "all", "pro", "hope_fear", "none")


@dataclass(frozen=True)
class PairConfig:
    """Which hypotheses of a list are compared."""

    kind: Annotated[str, OneOf(*KINDS)] = "multipartite"
    """hope_fear: one pair, the best by model and metric together, and the best by the model against the metric;
    none: no pairs, which is what rules that learn from whole lists use."""
    share: Annotated[float, Range(above=0, high=0.5)] = 0.1
    """multipartite: share of the list in HI and in LOW, rounded half up, at least one hypothesis."""
    dtrain: bool = False
    """multipartite: reproduce dtrain, which normally leaves out the pairs between MID and LOW."""
    samples: Annotated[int, Range(1, 2**32 - 1)] = 5000
    """pro: number of draws."""
    threshold: Annotated[float, Range(0)] = 0.05
    """pro: smallest accepted difference in metric."""
    keep: Annotated[int, Range(1, 2**32 - 1)] = 50
    """pro: number of pairs kept, largest differences first."""
    seed: Annotated[int, Range(0, 2**64 - 1)] = 0
    """pro: seed of the draws; the list's number selects the stream."""

    def __post_init__(self) -> None:
        validate(self)

    def options(self) -> _kernel.PairOptions:
        """The same for the kernel, which checks the values."""
        return _kernel.PairOptions(**asdict(self))


def make_pairs(
    values: Sequence[float] | npt.NDArray[np.float64], config: PairConfig | None = None, *, sentence: int = 0
) -> npt.NDArray[np.uint32]:
    """Rows (better, worse): indices into the list. Lists of fewer than two hypotheses give no pairs.

    hope_fear needs model scores and is for learners only.
    """
    config = config or PairConfig()
    return _kernel.make_pairs([float(value) for value in values], config.options(), sentence)

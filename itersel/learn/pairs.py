"""Preference pairs from a k-best list's metric values (ACL 2012 §5.1; Hopkins & May 2011 for `pro`).

The kernel does the work; itersel/kernel/learn/*_chooser.cc documents levels, ties and the order of the pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from itersel import _kernel

KINDS = ("multipartite", "all", "pro")


@dataclass(frozen=True)
class PairConfig:
    """Which hypotheses of a list are compared."""

    kind: str = "multipartite"
    share: float = 0.1
    """multipartite: share of the list in HI and in LOW, rounded half up, at least one hypothesis."""
    dtrain: bool = False
    """multipartite: reproduce dtrain, which normally leaves out the pairs between MID and LOW."""
    samples: int = 5000
    """pro: number of draws."""
    threshold: float = 0.05
    """pro: smallest accepted difference in metric."""
    keep: int = 50
    """pro: number of pairs kept, largest differences first."""
    seed: int = 0
    """pro: seed of the draws; the list's number selects the stream."""

    def options(self) -> _kernel.PairOptions:
        """The same for the kernel, which checks the values."""
        return _kernel.PairOptions(**asdict(self))


def make_pairs(
    values: Sequence[float] | npt.NDArray[np.float64], config: PairConfig | None = None, *, sentence: int = 0
) -> npt.NDArray[np.uint32]:
    """Rows (better, worse): indices into the list. Lists of fewer than two hypotheses give no pairs."""
    config = config or PairConfig()
    return _kernel.make_pairs([float(value) for value in values], config.options(), sentence)

"""Box plots after Tukey: over the shards of an epoch, and over the runs of a system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WHISKER = 1.5
"""Length of a whisker, in heights of the box."""


def box_of(values: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Lower whisker, quartiles and upper whisker. A whisker ends at the last value within its length."""
    low, median, high = (float(q) for q in np.percentile(values, (25, 50, 75)))
    reach = WHISKER * (high - low)
    inside = [value for value in values if low - reach <= value <= high + reach] or [median]
    return min(inside), low, median, high, max(inside)

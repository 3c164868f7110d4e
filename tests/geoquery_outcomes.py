"""Tested systems of the GeoQuery experiment, by hand."""

import numpy as np

from itersel.pipeline.geoquery_tables import Tested


def outcomes(texts: list[str], successes: list[int], parsed: list[int]) -> Tested:
    rows = np.array([(right, begun, 1) for right, begun in zip(successes, parsed, strict=True)], dtype=float)
    return Tested(texts, rows, ["answer"] * len(texts))

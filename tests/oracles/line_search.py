"""Line search by brute force: every hypothesis at every place where two of any list cross."""

import itertools
import math

import numpy as np


def places(lists, origin, direction):
    """A point inside of every interval between two crossings of any list, and beyond the outermost ones."""
    found = set()
    for features, _ in lists:
        intercepts, slopes = features @ origin, features @ direction
        for i in range(len(features)):
            for j in range(i):
                if slopes[i] != slopes[j]:
                    found.add((intercepts[j] - intercepts[i]) / (slopes[i] - slopes[j]))
    points = sorted(found)
    if not points:
        return [], [0.0]
    middles = [(low + high) / 2 for low, high in itertools.pairwise(points)]
    return points, [points[0] - 1, *middles, points[-1] + 1]


def sums_at(lists, origin, direction, step):
    """The summed statistics of what is ranked first: the earliest of those within rounding of the best."""
    total = 0
    for features, statistics in lists:
        scores = features @ origin + step * (features @ direction)
        total = total + statistics[int(np.flatnonzero(scores >= scores.max() - 1e-9)[0])]
    return np.asarray(total, dtype=float)


def bleu(sums):
    """sacrebleu's BLEU in [0, 1] of summed statistics h, r, m_1 … m_4, c_1 … c_4."""
    h, r, m, c = sums[0], sums[1], list(sums[2:6]), list(sums[6:10])
    if h == 0 or not any(m) or not all(c):
        return 0.0
    empty = 0
    for n in range(4):
        if m[n] == 0:
            empty += 1
            m[n] = 1 / 2**empty
    return math.exp(sum(math.log(m[n] / c[n]) for n in range(4)) / 4 + min(0.0, 1 - r / h))

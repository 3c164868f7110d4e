"""Batch k-best MIRA line by line, with dictionaries."""

import numpy as np

from oracles.line_search import bleu


def run(lists, start, orders, c, decay):
    """Lists of (features as dicts, statistics); returns the weights and their average after all passes."""
    weights, background, total, seen = dict(start), np.ones(10), {}, 0

    def score(x):
        return sum(weights.get(name, 0.0) * value for name, value in x.items())

    for order in orders:
        for number in order:
            vectors, statistics = lists[number]
            gains = [bleu(background + row) * (background + row)[1] for row in statistics]
            scores = [score(x) for x in vectors]
            hope = max(range(len(vectors)), key=lambda k: (scores[k] + gains[k], -k))
            fear = max(range(len(vectors)), key=lambda k: (scores[k] - gains[k], -k))
            if gains[hope] > gains[fear]:
                names = {*vectors[hope], *vectors[fear]}
                x = {name: vectors[hope].get(name, 0.0) - vectors[fear].get(name, 0.0) for name in names}
                loss, norm = gains[hope] - gains[fear] - score(x), sum(value**2 for value in x.values())
                if loss > 0 and norm > 0:
                    for name, value in x.items():
                        weights[name] = weights.get(name, 0.0) + min(c, loss / norm) * value
            background = decay * background + statistics[hope]
            seen += 1
            for name, value in weights.items():
                total[name] = total.get(name, 0.0) + value
    return weights, {name: value / seen for name, value in total.items()}

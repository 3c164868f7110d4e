"""Preference pairs by definition: label every hypothesis with a level, then look at all pairs."""

import math

MASK = 2**64 - 1


def ranked(values):
    return sorted(range(len(values)), key=lambda i: -values[i])


def all_pairs(values):
    order = ranked(values)
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :] if values[a] > values[b]]


def multipartite(values, share=0.1):
    n, order = len(values), ranked(values)
    if n < 2:
        return []
    size = max(1, math.floor(n * share + 0.5))
    worst_high, best_low = values[order[size - 1]], values[order[n - size]]
    level = {}
    for i in order:
        if values[i] >= worst_high:
            level[i] = 0
        elif values[i] <= best_low:
            level[i] = 2
        else:
            level[i] = 1
    high_first = [(a, b) for a in order for b in order if level[a] == 0 and level[b] > 0]
    middle = [(a, b) for a in order for b in order if level[a] == 1 and level[b] == 2]
    return [(a, b) for a, b in high_first + middle if values[a] != values[b]]


def hope_fear(w, vectors, values):
    scores = [sum(w.get(f, 0.0) * x for f, x in vector.items()) for vector in vectors]
    if len(values) < 2:
        return []
    hope = max(range(len(values)), key=lambda i: (scores[i] + values[i], -i))
    fear = max(range(len(values)), key=lambda i: (scores[i] - values[i], -i))
    return [(hope, fear)] if values[hope] > values[fear] else []


def splitmix(seed, counter):
    x = (seed + (counter + 1) * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def pro(values, samples=5000, threshold=0.05, keep=50, seed=0, sentence=0):
    stream = splitmix(seed, sentence)
    drawn = []
    for k in range(samples if len(values) > 1 else 0):
        a, b = ((splitmix(stream, 2 * k + side) >> 32) * len(values) >> 32 for side in (0, 1))
        if values[a] < values[b]:
            a, b = b, a
        if values[a] != values[b] and values[a] - values[b] >= threshold:
            drawn.append((a, b))
    return sorted(drawn, key=lambda pair: values[pair[1]] - values[pair[0]])[:keep]

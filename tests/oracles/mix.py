"""Mixing on dictionaries of names."""

import math


def column(shards, feature):
    return [shard.get(feature, 0.0) for shard in shards]


def norm(values, kind):
    if kind == "l2":
        total = 0.0
        for x in values:
            total += x * x
        return math.sqrt(total)
    if kind == "l1":
        total = 0.0
        for x in values:
            total += abs(x)
        return total
    return max(map(abs, values)) if kind == "linf" else sum(x != 0 for x in values)


def squared_or_plain(values, kind):
    """The exact ranking key: for l2 the sum of squares."""
    if kind != "l2":
        return norm(values, kind)
    total = 0.0
    for x in values:
        total += x * x
    return total


def mix(shards, kind="l2", top=None, threshold=None, in_shards=None):
    """{feature: mean} of the selected columns."""
    features = {f for shard in shards for f, x in shard.items() if x != 0}
    if threshold is not None:
        features = {f for f in features if norm(column(shards, f), kind) >= threshold}
    if in_shards is not None:
        features = {f for f in features if norm(column(shards, f), "l0") >= in_shards}
    ranked = sorted(features, key=lambda f: (-squared_or_plain(column(shards, f), kind), f))
    means = {}
    for f in ranked[:top]:
        total = 0.0
        for x in column(shards, f):
            total += x
        means[f] = total / len(shards)
    return means


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def mix_bits(x):
    x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD % 2**64
    x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53 % 2**64
    return x ^ (x >> 33)

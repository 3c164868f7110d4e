"""Pairwise ranking on dictionaries, one pair after the other. Features are numbers; x̄ is summed ascending."""

from oracles import soft_ramp as ramp


def difference(a, b):
    keys = sorted(a.keys() | b.keys())
    return {f: a.get(f, 0.0) - b.get(f, 0.0) for f in keys if a.get(f, 0.0) != b.get(f, 0.0)}


def passive_aggressive(w, vectors, metric, pairs, c):
    """The smallest step, at most c, after which scores differ by as much as metric values; counts as in learn."""
    errors = violations = updates = 0
    for better, worse in pairs:
        x = difference(vectors[better], vectors[worse])
        score = sum(w.get(f, 0.0) * value for f, value in x.items())
        loss, norm = metric[better] - metric[worse] - score, sum(value**2 for value in x.values())
        errors += score <= 0
        violations += score > 0 and loss > 0
        if loss > 0 and norm > 0:
            updates += 1
            for f, value in x.items():
                w[f] = w.get(f, 0.0) + min(c, loss / norm) * value
    return errors, violations, updates


def soft_ramp(w, vectors, metric, cost_scale=20.0, eta=1.0, l2=0.0, counts=None, others=1.0):
    """A step down the gradient of one list's soft ramp loss and of l2/2 · w², for all features that vary in the list.

    With `counts` ({feature: extractions}), a feature's rate is eta over its count, or over `others`. Returns counts as
    learn does: a list whose first hypothesis is not the best is a rank error."""
    features = {f for vector in vectors for f in vector}
    varying = {f for f in features if len({vector.get(f, 0.0) for vector in vectors}) > 1}
    rows = [
        ({f: x for f, x in vector.items() if f in varying}, cost_scale * (1 - value))
        for vector, value in zip(vectors, metric, strict=True)
    ]
    gradient = ramp.gradient(w, [rows]) if len(rows) > 1 else {}
    for f in varying:
        rate = eta if counts is None else eta / counts.get(f, others)
        w[f] = w.get(f, 0.0) + rate * (gradient[f] - l2 * w.get(f, 0.0))
    return int(max(metric, default=0.0) > [*metric, 0.0][0]), 0, int(len(rows) > 1)


def learn(
    w, vectors, pairs, rule="perceptron", margin=1.0, eta=0.0001, l1=0.0, batch=False, history=None, factors=None
):
    """Changes the dictionary w; returns (rank errors, margin violations, updates).

    With `history` ({feature: updates of earlier lists}) the rates are AdaGrad's. What a list changes is multiplied by
    the feature's factor, if it has one."""
    errors = violations = updates = 0
    before = dict(w)
    total, touched = {}, set()
    for better, worse in pairs:
        x = difference(vectors[better], vectors[worse])
        score = 0.0
        for f, value in x.items():
            score += w.get(f, 0.0) * value
        errors += score <= 0
        violations += rule == "margin_perceptron" and 0 < score < margin
        if score <= 0 if rule == "perceptron" else score < margin:
            updates += 1
            touched |= x.keys()
            for f, value in x.items():
                if batch:
                    total[f] = total.get(f, 0.0) + value
                else:
                    w[f] = w.get(f, 0.0) + eta * value
    for f, value in total.items():
        rate = eta
        if history is not None:
            history.setdefault(f, []).append(value)
            rate = eta / (sum(one**2 for one in history[f]) ** 0.5 + 1e-6)
        w[f] = w.get(f, 0.0) + rate * value
    for f in touched if l1 > 0 else ():
        w[f] = max(0.0, w[f] - l1) if w[f] > 0 else min(0.0, w[f] + l1)
    for f in touched & (factors or {}).keys():
        w[f] = before.get(f, 0.0) + factors[f] * (w[f] - before.get(f, 0.0))
    return errors, violations, updates

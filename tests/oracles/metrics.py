"""Textbook BLEU variants on lists of words, counters and all."""

import math
from collections import Counter


def ngrams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def statistics(hypothesis, references, order=4):
    """(m, c, h, r); empty references are left out."""
    references = [reference for reference in references if reference]
    m, c = [], []
    for n in range(1, order + 1):
        most = Counter()
        for reference in references:
            most |= ngrams(reference, n)
        m.append(sum((ngrams(hypothesis, n) & most).values()))
        c.append(sum(ngrams(hypothesis, n).values()))
    h = len(hypothesis)
    r = min((abs(len(reference) - h), len(reference)) for reference in references)[1] if references else 0
    return m, c, h, r


def brevity(h, r):
    return 1.0 if h > r else math.exp(1 - r / h)


def value(metric, hypothesis, references, order=4):
    m, c, h, r = statistics(hypothesis, references, order)
    if h == 0 or r == 0:
        return 0.0
    order = min(order, r)
    m, c = m[:order], c[:order]
    if metric == "smooth_bleu":
        total = 0.0
        for n in range(1, order + 1):
            if m[n - 1] == 0:
                break
            logs = [math.log(m[k] / c[k]) for k in range(n)]
            total += math.exp(sum(logs) / n) / 2 ** (order - n + 1)
        return brevity(h, r) * total
    if m[0] == 0:
        return 0.0
    if metric in ("stupid_bleu", "fixed_stupid_bleu"):
        m = [m[0]] + [k + 1 for k in m[1:]]
        c = [c[0]] + [k + 1 for k in c[1:]]
    if 0 in m:
        return 0.0
    penalty = brevity(h, r + 1 if metric == "fixed_stupid_bleu" else r)
    return penalty * math.exp(sum(math.log(a / b) for a, b in zip(m, c, strict=True)) / order)

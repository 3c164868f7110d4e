"""Textbook BLEU variants on lists of words, and chrF on texts, counters and all."""

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


def corpus_bleu(rows, order=4):
    """From many (m, c, h, r): the k-th order without a match counts as 1 / 2^k matches."""
    m = [sum(row[0][n] for row in rows) for n in range(order)]
    c = [sum(row[1][n] for row in rows) for n in range(order)]
    h, r = sum(row[2] for row in rows), sum(row[3] for row in rows)
    if not any(m) or 0 in c:
        return 0.0
    missing, total = 0, 0.0
    for matches, count in zip(m, c, strict=True):
        missing += matches == 0
        total += math.log((matches or 0.5**missing) / count)
    return brevity(h, r) * math.exp(total / order)


def chrf_statistics(hypothesis, references, order=6):
    """Triples (n-grams of the hypothesis, of the reference, matches) against the best reference that is not empty."""
    best = [0] * 3 * order
    for reference in references:
        row = []
        for n in range(1, order + 1):
            ours, theirs = ngrams("".join(hypothesis.split()), n), ngrams("".join(reference.split()), n)
            row += [sum(ours.values()) if theirs else 0, sum(theirs.values()), sum((ours & theirs).values())]
        if reference and (best[1] == 0 or chrf(row) > chrf(best)):
            best = row
    return best


def chrf(row, beta=2):
    """From one row, or the sum of many."""
    triples = [row[k : k + 3] for k in range(0, len(row), 3)]
    used = [(ours, theirs, both) for ours, theirs, both in triples if ours and theirs]
    if not any(both for _, _, both in used):
        return 0.0
    precision = sum(both / ours for ours, _, both in used) / len(used)
    recall = sum(both / theirs for _, theirs, both in used) / len(used)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

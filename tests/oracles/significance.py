"""Significance tests by definition: every arrangement or resample is written out as text and scored by sacrebleu."""

import itertools
import statistics


def system_score(metric, runs, references):
    """The mean over runs of sacrebleu's corpus score; `references` has one list of texts a sentence."""
    streams = [list(stream) for stream in zip(*references, strict=True)]
    return statistics.fmean(metric.corpus_score(list(run), streams).score for run in runs)


def permutation_p(metric, first, second, references):
    """Deal each sentence's outputs, those of all runs of both systems, in every possible way to their places."""

    def difference(runs):
        sizes = (
            system_score(metric, runs[: len(first)], references),
            system_score(metric, runs[len(first) :], references),
        )
        return abs(sizes[0] - sizes[1])

    observed = difference([*first, *second])
    per_sentence = [list(itertools.permutations(outputs)) for outputs in zip(*first, *second, strict=True)]
    dealt = [difference(list(zip(*columns, strict=True))) for columns in itertools.product(*per_sentence)]
    return sum(one >= observed - 1e-9 for one in dealt) / len(dealt)


def bootstrap_p(metric, first, second, references):
    """Draw the sentences in every possible way; how often does |difference| exceed its mean by the observed one?"""
    count = len(references)

    def difference(chosen):
        texts = [references[i] for i in chosen]
        pick = [[[run[i] for i in chosen] for run in system] for system in (first, second)]
        return abs(system_score(metric, pick[0], texts) - system_score(metric, pick[1], texts))

    drawn = [difference(chosen) for chosen in itertools.product(range(count), repeat=count)]
    observed = difference(range(count))
    mean = statistics.fmean(drawn)
    return sum(one - mean >= observed - 1e-9 for one in drawn) / len(drawn)

"""Objectives score what sacrebleu scores."""

import numpy as np
import pytest
import sacrebleu

from itersel.metrics.corpus import CorpusMetric
from itersel.metrics.sentence import sentence_values
from itersel.tune.objective import Objective
from itersel.tune.surface import list_surfaces

WORDS = ["the", "a", "small", "house", "is", "old", "dog", "sees", "no", "cat"]


def corpus(seed, references=2):
    """Sentences of several hypotheses and references."""
    draw = np.random.default_rng(seed)

    def line():
        return " ".join(draw.choice(WORDS, draw.integers(3, 9)))

    return [([line() for _ in range(6)], [line() for _ in range(references)]) for _ in range(20)]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_scores_are_sacrebleus(name):
    data = corpus(1)
    objective = Objective(name)
    sums = np.sum([objective.statistics(texts, refs)[0] for texts, refs in data], axis=0, dtype=np.float64)
    metric = CorpusMetric(name, [refs for _, refs in data])
    expected = metric.score(metric.statistics([texts[0] for texts, _ in data])) / 100
    assert objective.score(sums) == pytest.approx(1 - expected if name == "ter" else expected)


def test_a_weighted_sum():
    data = corpus(2)
    both, bleu, ter = Objective("bleu=2 ter=0.5"), Objective("bleu"), Objective("ter")
    rows = [one.statistics(data[0][0], data[0][1]).sum(axis=0) for one in (both, bleu, ter)]
    assert both.score(rows[0]) == pytest.approx(2 * bleu.score(rows[1]) + 0.5 * ter.score(rows[2]))


def test_reference_lengths():
    rows = {
        kind: Objective("bleu", kind).statistics(["a b c d"], ["a b", "a b c d e"])
        for kind in ("closest", "shortest", "average")
    }
    assert {kind: row[0, 1] for kind, row in rows.items()} == {"closest": 5, "shortest": 2, "average": 3.5}


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "bleu=1 ter=1"])
def test_the_score_at_the_chosen_step_is_sacrebleus_of_what_is_ranked_first(name):
    data = corpus(3)
    draw = np.random.default_rng(4)
    features = draw.normal(size=(4, 120))
    objective = Objective(name)
    statistics = np.concatenate([objective.statistics(texts, refs) for texts, refs in data])
    origin, direction = draw.normal(size=4), draw.normal(size=4)
    (surface,) = list_surfaces(features, np.arange(0, 121, 6), statistics, origin[None], direction[None])
    found = surface.best_step(objective)
    scores = ((origin + found.step * direction) @ features).reshape(20, 6)
    first = [texts[k] for (texts, _), k in zip(data, scores.argmax(axis=1), strict=True)]
    streams = list(zip(*(refs for _, refs in data), strict=True))
    expected = 0.0
    for part in name.split():
        metric = part.partition("=")[0]
        kind = {"bleu": sacrebleu.BLEU(tokenize="none"), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}[metric]
        score = kind.corpus_score(first, streams).score / 100
        expected += 1 - score if metric == "ter" else score
    assert found.score == pytest.approx(expected)
    assert found.score > found.before


@pytest.mark.parametrize("form", ["stupid_bleu", "fixed_stupid_bleu"])
def test_scores_of_single_sentences(form):
    """Of BLEU the given form, beside what other metrics say of a sentence."""
    (texts, references), *_ = corpus(5)
    both, ter = Objective("bleu=2 ter=0.5"), Objective("ter")
    found = both.sentence_scores(both.statistics(texts, references), form)
    rest = 0.5 * ter.sentence_scores(ter.statistics(texts, references))
    split = [line.split() for line in references]
    expected = 2 * np.array(sentence_values(form, [text.split() for text in texts], split)) + rest
    assert found == pytest.approx(expected)

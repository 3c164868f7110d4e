"""Objectives score what sacrebleu scores."""

import numpy as np
import pytest
import sacrebleu

from itersel.metrics.corpus import CorpusMetric
from itersel.metrics.sentence import sentence_values
from itersel.tune.objective import Objective
from itersel.tune.surface import StepRange, list_surfaces
from oracles import line_search as oracle

WORDS = ["the", "a", "small", "house", "is", "old", "dog", "sees", "no", "cat"]


def corpus(seed, references=2):
    """Sentences of several hypotheses and references."""
    draw = np.random.default_rng(seed)

    def line():
        return " ".join(draw.choice(WORDS, draw.integers(3, 9)))

    return [([line() for _ in range(6)], [line() for _ in range(references)]) for _ in range(20)]


def sacrebleus(name, outputs, streams):
    """What a metric of an objective says of a corpus, from 0 to 1."""
    kind = {"bleu": sacrebleu.BLEU(tokenize="none"), "chrf": sacrebleu.CHRF(), "ter": sacrebleu.TER()}[name]
    score = kind.corpus_score(outputs, streams).score / 100
    return 1 - score if name == "ter" else score


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
    expected = sum(sacrebleus(part.partition("=")[0], first, streams) for part in name.split())
    assert found.score == pytest.approx(expected)
    assert found.score > found.before


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "bleu=1 ter=0.5", "chrf=3 bleu=0.25"])
def test_no_place_on_a_line_is_better_by_sacrebleu(name):
    """Brute force: what is ranked first between any two neighbouring crossings of any list, scored by sacrebleu."""
    data, draw, objective = corpus(6)[:4], np.random.default_rng(7), Objective(name)
    features = draw.normal(size=(3, 24))
    statistics = np.concatenate([objective.statistics(texts, refs) for texts, refs in data])
    origin, direction = draw.normal(size=3), draw.normal(size=3)
    (surface,) = list_surfaces(features, np.arange(0, 25, 6), statistics, origin[None], direction[None])
    lists = [(features[:, 6 * k : 6 * k + 6].T, None) for k in range(4)]
    streams = list(zip(*(refs for _, refs in data), strict=True))
    scores = set()
    for step in oracle.places(lists, origin, direction)[1]:
        ranked = ((origin + step * direction) @ features).reshape(4, 6).argmax(axis=1)
        first = [texts[k] for (texts, _), k in zip(data, ranked, strict=True)]
        terms = (part.split("=") for part in name.split())
        scores.add(sum(float(w[0] if w else 1) * sacrebleus(metric, first, streams) for metric, *w in terms))
    assert len(scores) > 2
    assert surface.best_step(objective, StepRange(least_width=0.0)).score == pytest.approx(max(scores))


def test_the_best_step_depends_on_the_reference_length():
    """By hand: 4 words, or from step 1 on 7 words, all of them right; references of 2, 4 and 9 words."""
    references, texts = ["a b", "a b c d", "a b c d e f g h i"], ["a b c d", "a b c d e f g"]
    scores = {}
    for kind in ("closest", "shortest", "average"):
        objective = Objective("bleu", kind)
        (surface,) = list_surfaces(
            np.array([[1.0, 0.0], [0.0, 1.0]]),
            np.array([0, 2]),
            objective.statistics(texts, references),
            np.array([[1.0, 0.0]]),
            np.array([[0.0, 1.0]]),
        )
        scores[kind] = [objective.score(surface.sums_at(step)) for step in (0.0, 2.0)]
        found = surface.best_step(objective)
        assert (found.step, found.score) == ((0.0, scores[kind][0]) if kind != "average" else (1.1, scores[kind][1]))
    # All n-grams match, so that only the length counts: exp(1 − r/h) with r = 4 and 9; 2; 5.
    assert scores["closest"] == pytest.approx([1.0, np.exp(1 - 9 / 7)])
    assert scores["shortest"] == [1.0, 1.0]
    assert scores["average"] == pytest.approx([np.exp(1 - 5 / 4), 1.0])


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

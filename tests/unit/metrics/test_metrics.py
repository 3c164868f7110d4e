import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from itersel.base.errors import ConfigError, InputError
from itersel.metrics.corpus import CorpusMetric
from itersel.metrics.sentence import (
    CORPUS_METRICS,
    METRICS,
    corpus_scores,
    metric_of,
    sentence_scores,
    sentence_statistics,
    sentence_values,
)
from oracles import metrics as oracle

BLEU_METRICS = ["bleu", "stupid_bleu", "fixed_stupid_bleu", "smooth_bleu"]
sentences = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=12)
characters = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("ab  äß\u00a0\u2003語"), max_size=30)


def one(metric, hypothesis, *references, order=4):
    return float(sentence_values(metric, [hypothesis.split()], [r.split() for r in references], order=order)[0])


@pytest.mark.parametrize("metric", BLEU_METRICS)
@given(
    hypotheses=st.lists(sentences, max_size=5),
    references=st.lists(sentences, min_size=1, max_size=3),
    data=st.data(),
)
def test_bleu_variants_equal_the_oracle(metric, hypotheses, references, data):
    order = data.draw(st.integers(1, 5))
    expected = [oracle.value(metric, hypothesis, references, order) for hypothesis in hypotheses]
    np.testing.assert_allclose(sentence_values(metric, hypotheses, references, order=order), expected, rtol=1e-12)


@given(hypotheses=st.lists(sentences, max_size=5), references=st.lists(sentences, min_size=1, max_size=3))
def test_statistics_equal_the_oracle(hypotheses, references):
    rows = sentence_statistics("bleu", hypotheses, references)
    assert rows.shape == (len(hypotheses), 10)
    for row, hypothesis in zip(rows, hypotheses, strict=True):
        m, c, h, r = oracle.statistics(hypothesis, references)
        assert row.tolist() == [h, r, *m, *c]


@given(hypothesis=sentences, references=st.lists(sentences.filter(bool), min_size=1, max_size=3))
def test_statistics_equal_sacrebleu(hypothesis, references):
    score = BLEU(tokenize="none", smooth_method="none", effective_order=False).sentence_score(
        " ".join(hypothesis), [" ".join(reference) for reference in references]
    )
    rows = sentence_statistics("bleu", [hypothesis], references)
    assert rows[0].tolist() == [score.sys_len, score.ref_len, *score.counts, *score.totals]
    value = sentence_values("bleu", [hypothesis], references)[0]
    if 0 not in score.counts and score.ref_len >= 4:
        assert value == pytest.approx(score.score / 100, abs=1e-12)
        assert corpus_scores("bleu", rows)[0] == pytest.approx(value, abs=1e-12)


corpora = st.lists(
    st.tuples(sentences, st.lists(sentences.filter(bool), min_size=1, max_size=3)), min_size=1, max_size=6
)


@pytest.mark.parametrize("metric", METRICS)
@settings(deadline=None, max_examples=40)
@given(corpus=corpora)
def test_rows_and_corpus_scores_are_those_of_sacrebleu(metric, corpus):
    theirs = CorpusMetric(
        CORPUS_METRICS[metric], [[" ".join(reference) for reference in references] for _, references in corpus]
    )
    expected = theirs.statistics([" ".join(hypothesis) for hypothesis, _ in corpus])
    rows = np.concatenate([sentence_statistics(metric, [hypothesis], references) for hypothesis, references in corpus])
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, expected.astype(np.float32))
    sums = rows.sum(axis=0, dtype=np.float64, keepdims=True)
    score = theirs.score(expected) / 100
    assert corpus_scores(metric, sums)[0] == pytest.approx(score, rel=1e-7, abs=1e-9)
    if metric == "bleu":
        rows_of_oracle = [oracle.statistics(hypothesis, references) for hypothesis, references in corpus]
        assert corpus_scores(metric, sums)[0] == pytest.approx(oracle.corpus_bleu(rows_of_oracle), abs=1e-12)


@given(hypothesis=characters, references=st.lists(characters.filter(str.strip), min_size=1, max_size=3))
def test_chrf_statistics_equal_the_oracle(hypothesis, references):
    rows = sentence_statistics("chrf", [hypothesis.split()], [reference.split() for reference in references])
    assert rows[0].tolist() == oracle.chrf_statistics(hypothesis, references)
    score = oracle.chrf(oracle.chrf_statistics(hypothesis, references))
    assert sentence_scores("chrf", rows)[0] == pytest.approx(score, abs=1e-12)
    assert corpus_scores("chrf", rows)[0] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@given(hypotheses=st.lists(sentences, max_size=5), references=st.lists(sentences, min_size=1, max_size=3))
@settings(deadline=None)
def test_scores_are_functions_of_the_statistics(metric, hypotheses, references):
    rows = sentence_statistics(metric, hypotheses, references, order=3)
    assert rows.shape == (len(hypotheses), metric_of(metric, order=3).width)
    values = sentence_values(metric, hypotheses, references, order=3)
    assert sentence_scores(metric, rows, order=3).tolist() == values.tolist()
    assert sentence_scores(metric, rows.astype(np.float64), order=3).tolist() == values.tolist()


@settings(deadline=None)
@given(hypothesis=characters, references=st.lists(characters, min_size=1, max_size=3))
def test_chrf_equals_sacrebleu(hypothesis, references):
    expected = CHRF().sentence_score(hypothesis, references).score / 100
    value = sentence_values("chrf", [hypothesis.split(" ")], [reference.split(" ") for reference in references])[0]
    assert value == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(hypothesis=sentences.filter(bool), references=st.lists(sentences.filter(bool), min_size=1, max_size=2))
def test_ter_equals_sacrebleu(hypothesis, references):
    expected = (
        1 - TER(case_sensitive=True).sentence_score(" ".join(hypothesis), [" ".join(r) for r in references]).score / 100
    )
    assert sentence_values("ter", [hypothesis], references)[0] == pytest.approx(expected, abs=1e-12)


def test_values_by_hand():
    # m = 3 1 0 0, c = 4 3 2 1, h = 4, r = 5
    hypothesis, reference = "the cat sat down", "the cat is sat on"
    penalty = math.exp(1 - 5 / 4)
    assert one("bleu", hypothesis, reference) == 0
    product = (3 / 4) * (2 / 4) * (1 / 3) * (1 / 2)
    assert one("stupid_bleu", hypothesis, reference) == pytest.approx(penalty * product**0.25)
    assert one("fixed_stupid_bleu", hypothesis, reference) == pytest.approx(math.exp(1 - 6 / 4) * product**0.25)
    smooth = (3 / 4) / 16 + math.sqrt(3 / 4 * 1 / 3) / 8
    assert one("smooth_bleu", hypothesis, reference) == pytest.approx(penalty * smooth)


def test_short_references_use_the_orders_they_have():
    assert one("bleu", "a b", "a b") == pytest.approx(1)
    assert one("smooth_bleu", "a b", "a b") == pytest.approx(1 / 4 + 1 / 2)
    assert one("bleu", "a b x", "a b") == pytest.approx(math.sqrt(2 / 3 * 1 / 2))


def test_closest_reference_length_prefers_the_shorter():
    assert sentence_statistics("bleu", [["a", "b", "c"]], [["a", "b", "c", "d"], ["a", "b"]])[0, 1] == 2


@pytest.mark.parametrize("metric", [*BLEU_METRICS, "chrf", "ter"])
def test_empty_sides_score_zero(metric):
    assert one(metric, "", "a b c") == 0
    assert one(metric, "a b c", "") == 0
    assert one(metric, "", "") == 0
    assert one(metric, "a b c d", "", "a b c d") == one(metric, "a b c d", "a b c d")
    assert sentence_values(metric, [], [["a"]]).shape == (0,)


def test_errors_say_what_is_known():
    with pytest.raises(ConfigError, match="unknown metric 'meteor'") as error:
        one("meteor", "a", "a")
    assert "fixed_stupid_bleu" in str(error.value)
    with pytest.raises(InputError, match="at least one reference"):
        sentence_values("bleu", [["a"]], [])
    with pytest.raises(InputError, match="order is 0"):
        one("bleu", "a", "a", order=0)
    with pytest.raises(InputError, match="rows of 10 numbers"):
        sentence_scores("bleu", np.zeros((1, 8)))
    with pytest.raises(InputError, match="rows of 18 numbers"):
        corpus_scores("chrf", np.zeros(18))

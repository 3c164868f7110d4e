import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from itersel.base.errors import ConfigError, InputError
from itersel.metrics.sentence import bleu_statistics, corpus_bleu, sentence_values
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
    rows = bleu_statistics(hypotheses, references)
    for row, hypothesis in zip(rows, hypotheses, strict=True):
        m, c, h, r = oracle.statistics(hypothesis, references)
        assert row.tolist() == [*m, *c, h, r]


@given(hypothesis=sentences, references=st.lists(sentences.filter(bool), min_size=1, max_size=3))
def test_statistics_equal_sacrebleu(hypothesis, references):
    score = BLEU(tokenize="none", smooth_method="none", effective_order=False).sentence_score(
        " ".join(hypothesis), [" ".join(reference) for reference in references]
    )
    row = bleu_statistics([hypothesis], references)[0].tolist()
    assert row == [*score.counts, *score.totals, score.sys_len, score.ref_len]
    value = sentence_values("bleu", [hypothesis], references)[0]
    if 0 not in score.counts and score.ref_len >= 4:
        assert value == pytest.approx(score.score / 100, abs=1e-12)
        assert corpus_bleu(np.array(row)) == pytest.approx(value, abs=1e-12)


@settings(deadline=None)
@given(hypothesis=characters, references=st.lists(characters, min_size=1, max_size=3))
def test_chrf_equals_sacrebleu(hypothesis, references):
    expected = CHRF().sentence_score(hypothesis, references).score / 100
    value = sentence_values("chrf", [hypothesis.split(" ")], [reference.split(" ") for reference in references])[0]
    assert value == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(hypothesis=sentences.filter(bool), references=st.lists(sentences.filter(bool), min_size=1, max_size=2))
def test_ter_equals_sacrebleu(hypothesis, references):
    expected = 1 - TER().sentence_score(" ".join(hypothesis), [" ".join(r) for r in references]).score / 100
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
    assert bleu_statistics([["a", "b", "c"]], [["a", "b", "c", "d"], ["a", "b"]])[0, -1] == 2


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

"""The kernel's TER against sacrebleu's, edit by edit."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

from itersel import _kernel
from itersel.metrics.corpus import CorpusMetric, MetricOptions
from itersel.metrics.sentence import sentence_statistics
from itersel.tune.objective import Objective

ROOT = Path(__file__).parents[3]
few = st.lists(st.sampled_from("abc"), max_size=14)
many = st.lists(st.sampled_from("abcdefghij"), max_size=40)


def edits(hypothesis, reference):
    return int(_kernel.Metric("ter", 4).statistics([hypothesis], [reference])[0, 0])


def moved(words, source, changes):
    """The words after some moves of pieces, and a few other words."""
    words = list(words)
    for _ in range(changes):
        start, length = source.randrange(len(words)), source.randint(1, 12)
        piece = words[start : start + length]
        del words[start : start + length]
        place = source.randint(0, len(words))
        words[place:place] = piece
        words[source.randrange(len(words))] = source.choice(["x", "y", words[0]])
    return words


@settings(deadline=None, max_examples=200)
@given(hypothesis=few | many, reference=(few | many).filter(bool))
def test_edits_equal_sacrebleu(hypothesis, reference):
    assert edits(hypothesis, reference) == translation_edit_rate(hypothesis, reference)[0]


def test_shifts_equal_sacrebleu_where_its_limits_count():
    # Long sentences leave the beam of 25 words, pieces exceed ten words and move further than 50, and repeated words
    # make more than 1,000 candidates.
    source = random.Random(3)
    for length, alphabet, changes in [(70, 30, 2), (110, 80, 1), (30, 2, 1), (20, 5, 4)]:
        reference = [f"w{source.randrange(alphabet)}" for _ in range(length)]
        hypothesis = moved(reference, source, changes)
        for words in (hypothesis, hypothesis[: length * 2 // 3]):
            assert edits(words, reference) == translation_edit_rate(words, reference)[0], (words, reference)


@pytest.mark.parametrize(("hypothesis", "reference"), [(1, 130), (130, 1), (3, 400), (0, 5), (60, 60)])
def test_lengths_far_apart_equal_sacrebleu(hypothesis, reference):
    words = [f"w{number % 7}" for number in range(500)]
    assert (
        edits(words[1 : 1 + hypothesis], words[:reference])
        == (translation_edit_rate(words[1 : 1 + hypothesis], words[:reference])[0])
    )


def test_a_shift_by_hand():
    # The piece "d e" moves to the end: one shift, and "x" is deleted.
    assert edits(["d", "e", "a", "b", "c", "x"], ["a", "b", "c", "d", "e"]) == 2
    assert edits(["a", "b"], ["a", "b"]) == 0
    assert edits([], ["a", "b"]) == 2


@pytest.mark.parametrize("case", ["mixed", "lower"])
def test_a_corpus_has_sacrebleus_statistics_and_score(case):
    source = random.Random(5)
    references = (ROOT / "data/demo/test.en").read_text().splitlines()[:80]
    others = [line.title() for line in references]
    output = [" ".join(moved(line.split(), source, 1)) for line in references]
    both = [list(pair[: 1 + number % 2]) for number, pair in enumerate(zip(references, others, strict=True))]
    metric = CorpusMetric("ter", both, MetricOptions(case=case))
    theirs = TER(case_sensitive=case == "mixed")
    streams = [references, [pair[1] if len(pair) > 1 else None for pair in both]]
    expected = theirs._extract_corpus_statistics(output, streams)
    rows = metric.statistics(output)
    assert rows.tolist() == expected
    assert metric.score(rows) == theirs.corpus_score(output, streams).score


def test_an_empty_reference_counts_as_in_sacrebleu():
    texts = [["", "a b c"]]
    expected = TER(case_sensitive=True)._extract_corpus_statistics(["x"], [[""], ["a b c"]])
    assert CorpusMetric("ter", texts).statistics(["x"]).tolist() == expected


def test_tuning_counts_the_same_edits_as_evaluation():
    hypotheses, reference = ["the Cat sat", "cat the sat down"], "the cat sat down"
    rows = Objective("ter").statistics(hypotheses, [reference])
    evaluated = np.concatenate([CorpusMetric("ter", [[reference]]).statistics([line]) for line in hypotheses])
    assert rows.tolist() == evaluated.tolist()
    assert rows.tolist() == sentence_statistics("ter", [h.split() for h in hypotheses], [reference.split()]).tolist()

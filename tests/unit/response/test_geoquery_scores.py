"""Precision, recall and F1 by hand and against the paper's table, and the test of two systems."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.response.geoquery.data import read_questions, read_splits
from itersel.response.geoquery.scores import answer_scores, answer_statistics, compare_answers, with_gold_answer

GOLDS = ["[1]", "[2]", "[]", "[]"]
ANSWERS = ["[1]", "[3]", "[]", None]


def rows(correct: int, parsed: int, questions: int) -> np.ndarray:
    return np.array([(k < correct, k < parsed, 1) for k in range(questions)], dtype=np.float64)


def test_scores_by_hand():
    scores = answer_scores(answer_statistics(ANSWERS, GOLDS))
    assert (scores.correct, scores.parsed, scores.questions) == (2, 3, 4)
    assert scores.precision == pytest.approx(200 / 3)
    assert scores.recall == 50
    assert scores.f1 == pytest.approx(400 / 7)


def test_scores_without_the_empty_gold_answers():
    statistics = answer_statistics(ANSWERS, GOLDS)
    scores = answer_scores(with_gold_answer(statistics, GOLDS))
    assert (scores.correct, scores.parsed, scores.questions) == (1, 2, 2)
    runs = with_gold_answer(np.stack([statistics, statistics]), GOLDS)
    assert runs.shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("correct", "parsed", "precision", "recall", "f1"),
    [(163, 256, 63.67, 58.21, 60.82), (178, 253, 70.36, 63.57, 66.79), (195, 258, 75.58, 69.64, 72.49),
     (211, 260, 81.15, 75.36, 78.15), (162, 247, 65.59, 57.86, 61.48), (173, 260, 66.54, 61.79, 64.07),
     (178, 263, 67.68, 63.57, 65.56), (188, 266, 70.68, 67.14, 68.86)],
)  # fmt: skip
def test_scores_of_the_paper(correct, parsed, precision, recall, f1):
    """Tables 1 and 2. The counts follow from recall, of 280 questions, and from precision."""
    scores = answer_scores(rows(correct, parsed, 280))
    assert [round(value, 2) for value in (scores.precision, scores.recall, scores.f1)] == [precision, recall, f1]


def test_no_parse_and_no_question():
    assert answer_scores(answer_statistics([None, None], ["[]", "[1]"])).f1 == 0
    nothing = answer_scores(answer_statistics([], []))
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.questions) == (0, 0, 0, 0)


@given(st.lists(st.sampled_from(["[1]", "[2]", "[]", None]), min_size=1, max_size=20))
def test_f1_is_the_harmonic_mean(answers):
    scores = answer_scores(answer_statistics(answers, ["[1]"] * len(answers)))
    if scores.correct:
        assert scores.f1 == pytest.approx(2 / (1 / scores.precision + 1 / scores.recall))
    else:
        assert scores.f1 == 0


def test_lengths_must_fit():
    with pytest.raises(InputError, match="1 answers, but 2 gold answers"):
        answer_statistics(["[]"], ["[]", "[]"])
    with pytest.raises(InputError, match="statistics of 1 questions, but 2 gold answers"):
        with_gold_answer(answer_statistics(["[]"], ["[]"]), ["[]", "[]"])


def test_the_comparison_equals_all_swaps():
    golds = ["[1]"] * 6
    first, second = ["[1]", "[1]", "[1]", "[1]", None, "[2]"], ["[2]", "[1]", None, "[2]", "[1]", None]

    def difference(one, other):
        return answer_scores(answer_statistics(one, golds)).f1 - answer_scores(answer_statistics(other, golds)).f1

    observed, count = difference(first, second), 0
    for swaps in itertools.product([False, True], repeat=6):
        pairs = [(b, a) if swap else (a, b) for a, b, swap in zip(first, second, swaps, strict=True)]
        count += abs(difference(*zip(*pairs, strict=True))) >= abs(observed) - 1e-9
    found = compare_answers(answer_statistics(first, golds), answer_statistics(second, golds), exact=True)
    assert found.difference == pytest.approx(observed)
    assert found.p == count / 64


def test_equal_systems_do_not_differ():
    statistics = answer_statistics(ANSWERS, GOLDS)
    assert compare_answers(statistics, statistics, trials=100).p == 1


def test_gold_answers_have_full_scores(geoquery: Path):
    questions = read_questions(geoquery)
    golds = [questions[number].gold for number in read_splits(geoquery).standard.test]
    statistics = answer_statistics(golds, golds)
    assert answer_scores(statistics).f1 == 100
    assert answer_scores(statistics).questions == 280
    failing = answer_statistics(["[]"] * 280, golds)
    assert answer_scores(failing).correct == golds.count("[]")
    assert answer_scores(with_gold_answer(failing, golds)).correct == 0

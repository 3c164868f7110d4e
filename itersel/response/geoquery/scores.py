"""Precision, recall and F1 of answers, and whether two systems differ (ACL 2014, section 5).

Answers and gold answers in their textual form come in; statistics go out, one row (correct, parsed, 1) per question. A
score depends on the sums of the rows alone, so the significance tests of translations serve for answers, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from itersel.base.errors import InputError
from itersel.evaluation.significance import SEED, TRIALS, Randomization, randomization_test
from itersel.metrics.corpus import Scores, Statistics
from itersel.response.geoquery.data import EMPTY_ANSWER


@dataclass(frozen=True)
class AnswerScores:
    """In percent: precision is correct / parsed, recall is correct / all, F1 their harmonic mean; 0 where undefined."""

    precision: float
    recall: float
    f1: float
    correct: int
    parsed: int
    questions: int


def answer_statistics(answers: Sequence[str | None], golds: Sequence[str]) -> Statistics:
    """One row (correct, parsed, 1) per question. None is a question without a parse, `[]` a query without an answer."""
    if len(answers) != len(golds):
        raise InputError(f"{len(answers)} answers, but {len(golds)} gold answers")
    rows = [(answer == gold, answer is not None, 1) for answer, gold in zip(answers, golds, strict=True)]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 3)


def with_gold_answer(statistics: Statistics, golds: Sequence[str]) -> Statistics:
    """The rows of the questions whose gold answer is not empty, of one run or of several (runs × questions × 3)."""
    if statistics.shape[-2] != len(golds):
        raise InputError(f"statistics of {statistics.shape[-2]} questions, but {len(golds)} gold answers")
    return statistics[..., [gold != EMPTY_ANSWER for gold in golds], :]


def answer_scores(statistics: Statistics) -> AnswerScores:
    """The scores of one run."""
    sums = statistics.sum(axis=0)
    correct, parsed, questions = (int(total) for total in sums)
    precision, recall, f1 = (float(score(sums[None])[0]) for score in (precision_scores, recall_scores, f1_scores))
    return AnswerScores(precision, recall, f1, correct, parsed, questions)


def f1_scores(sums: Statistics) -> Scores:
    """F1 in percent of many systems, one row (correct, parsed, questions) each: 2 correct / (parsed + questions)."""
    return _ratio(2 * sums[:, 0], sums[:, 1] + sums[:, 2])


def precision_scores(sums: Statistics) -> Scores:
    """Precision in percent of many systems."""
    return _ratio(sums[:, 0], sums[:, 1])


def recall_scores(sums: Statistics) -> Scores:
    """Recall in percent of many systems."""
    return _ratio(sums[:, 0], sums[:, 2])


def compare_answers(
    first: Statistics, second: Statistics, *, trials: int = TRIALS, seed: int = SEED, exact: bool = False
) -> Randomization:
    """Approximate randomisation of the difference in F1, each system with one run or several."""
    return randomization_test(first, second, f1_scores, trials=trials, seed=seed, exact=exact)


def _ratio(part: Scores, whole: Scores) -> Scores:
    return 100 * part / np.where(whole > 0, whole, 1)

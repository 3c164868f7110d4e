"""Which two hypotheses of a list a response-based learner compares (ACL 2014 §4): rampion, exec and rebol.

    s model score   c = 1 − metric, the cost   e task feedback   ŷ = argmax s
    y⁺ = argmax over e = 1 of s − c            y⁻ = argmax over e = 0 of s + c

    rampion   without e
    exec      without c; ŷ is y⁺ if e(ŷ) = 1, otherwise y⁻
    rebol     both, ŷ as in exec; if e(ŷ) = 1, ŷ first joins the references that c is measured against

Scores, costs and somebody to ask come in; a pair goes out, or none if one of the two does not exist. Of equals, the one
that stands first in the list wins. The task is asked in the order of s ± c, up to the first hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from itersel.base.config import OneOf, Range, validate

Numbers = npt.NDArray[np.float64]
REFERENCES = ("grow", "last", "prediction", "fixed")


@dataclass(frozen=True)
class HopeFear:
    """A rule for choosing the pair. The defaults are REBOL's."""

    cost: bool = True
    """Use c."""
    feedback: bool = True
    """Use e."""
    scale: Annotated[float, Range(0)] = 0.0
    """Map a list's scores to [0, scale] before c is added or subtracted, as the authors' program does with 1: c is at
    most 1, and weights grow. 0: take the scores as they are."""
    references: Annotated[str, OneOf(*REFERENCES)] = "grow"
    """What becomes of a successful ŷ: all join the references (grow), only the last one does (last), ŷ is the only
    reference of its own update and is then forgotten, as in the authors' program (prediction), or nothing (fixed)."""
    ask_prediction_only: bool = False
    """Ask about ŷ only; the other hypothesis is argmax s ± c whatever the task says (the authors' `rebol_light`)."""
    corrections_only: bool = False
    """Learn nothing where ŷ succeeds, as a perceptron would: the step would go further the way that the model goes."""
    around_prediction: bool = False
    """Without e: ŷ is y⁺ if it equals a reference, otherwise y⁻, as in the authors' program."""

    def __post_init__(self) -> None:
        validate(self)


class Chosen(NamedTuple):
    """What became of a list."""

    pair: tuple[int, int] | None
    """(y⁺, y⁻) as places in the list; None: skipped."""
    predicted: int
    """ŷ."""
    success: bool | None
    """e(ŷ); None if nobody was asked."""


class Questions:
    """What is known of a list's hypotheses: each is asked about once, in blocks, and at most `limit` in total."""

    def __init__(self, ask: Callable[[Sequence[int]], Sequence[bool]], limit: int | None = None, block: int = 1):
        self.ask, self.limit, self.block = ask, limit, block
        self.known: dict[int, bool] = {}

    def first(self, order: Iterable[int], wanted: bool) -> int | None:
        """The first place whose feedback is as wanted; None if there is none, or the limit is reached before it.

        A block reaches beyond the hit, so several processes have work; the result is the same.
        """
        pending: list[int] = []
        places = [*order]
        for at, place in enumerate(places):
            if place not in self.known:
                room = self.block if self.limit is None else min(self.block, self.limit - len(self.known))
                pending = [other for other in places[at:] if other not in self.known][: max(room, 0)]
                if not pending:
                    return None
                self.known.update(zip(pending, self.ask(pending), strict=True))
            if self.known[place] is wanted:
                return place
        return None


def choose(
    scores: Numbers,
    metric: Numbers,
    rule: HopeFear,
    questions: Questions,
    with_reference: Callable[[int], Numbers] | None = None,
    perfect: Callable[[int], float] | None = None,
) -> Chosen:
    """The pair of a list.

    `with_reference` makes a place's text a reference, and returns the list's metric with it; None: the set is fixed.
    `perfect` is what the metric gives a place's text as its own reference, which with some metrics is less than 1.
    """
    predicted = int(np.argmax(scores))
    if not rule.feedback:
        return Chosen(_without_feedback(scores, metric, rule, predicted, perfect), predicted, None)
    success = questions.first([predicted], True) is not None
    if success and rule.cost and rule.references != "fixed" and with_reference is not None:
        metric = with_reference(predicted)
    if success and rule.corrections_only:
        return Chosen(None, predicted, True)
    hope, fear = _orders(scores, metric, rule)
    if rule.ask_prediction_only:
        better, worse = (predicted, fear[0]) if success else (hope[0], predicted)
        return Chosen(_pair(better, worse), predicted, success)
    if success:
        return Chosen(_pair(predicted, questions.first(fear, False)), predicted, True)
    return Chosen(_pair(questions.first(hope, True), predicted), predicted, False)


def _without_feedback(
    scores: Numbers, metric: Numbers, rule: HopeFear, predicted: int, perfect: Callable[[int], float] | None
) -> tuple[int, int] | None:
    hope, fear = _orders(scores, metric, rule)
    if not rule.around_prediction:
        return _pair(hope[0], fear[0])
    best = 1.0 if perfect is None else perfect(predicted)
    return _pair(predicted, fear[0]) if metric[predicted] >= best else _pair(hope[0], predicted)


def _orders(scores: Numbers, metric: Numbers, rule: HopeFear) -> tuple[list[int], list[int]]:
    """The places by s − c, and by s + c; largest first."""
    cost = 1 - metric if rule.cost else np.zeros(len(scores))
    if rule.scale and rule.cost:
        low, high = float(scores.min()), float(scores.max())
        scores = rule.scale * (scores - low) / (high - low) if high > low else np.zeros(len(scores))
    return np.argsort(cost - scores, kind="stable").tolist(), np.argsort(-cost - scores, kind="stable").tolist()


def _pair(better: int | None, worse: int | None) -> tuple[int, int] | None:
    return None if better is None or worse is None or better == worse else (better, worse)

"""One epoch of response-based learning over a shard or a table of lists (ACL 2014, algorithm 1).

The kernel decodes, scores and updates; the pair is chosen here, between the two, because a task is asked for feedback
(itersel.learn.hope_fear). What goes in and out is as with `run_epoch`; besides, the references that a sentence won in
earlier epochs come in, by its id, and those of this epoch are added to them.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.learn.epoch import STAGES, EpochConfig, EpochResult, Progress
from itersel.learn.hope_fear import HopeFear, Questions, choose
from itersel.learn.list_epoch import check_list_config, list_epoch_result
from itersel.lists.table import ListTable
from itersel.lm.model import LanguageModel
from itersel.metrics.sentence import sentence_values
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard

Judge = Callable[[str, Sequence[str]], Sequence[bool]]
"""Feedback on hypotheses of the sentence with an id: itersel.response.protocol.Response."""
Against = Callable[[Sequence[str], str], npt.NDArray[np.float64]]
"""The metric of hypotheses, with a text as the only reference."""
STEP = "ramp"
"""The update rule of these algorithms (LearnConfig.rule): every pair counts, whatever its margin."""

COUNTS = ("successes", "skipped", "questions")
"""Sentences whose prediction succeeded; those without a pair; hypotheses looked at, asked now or known before."""


@dataclass(eq=False)
class Feedback:
    """Who is asked, how often, and what came of it."""

    rule: HopeFear = field(default_factory=HopeFear)
    judge: Judge | None = None
    """None: the rule asks nobody."""
    limit: int | None = None
    """Hypotheses asked about per sentence."""
    block: int = 1
    """Hypotheses asked about at once."""
    references: dict[str, list[str]] = field(default_factory=dict)
    """By sentence, the translations that became references."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))

    def forget_counts(self) -> None:
        """Count from 0 again."""
        self.counts = dict.fromkeys(COUNTS, 0)

    def learn(
        self,
        id: str,
        scores: npt.NDArray[np.float64],
        metric: npt.NDArray[np.float64],
        text: Callable[[int], str],
        rescore: Callable[[list[str]], npt.NDArray[np.float64]],
        against: Against,
    ) -> tuple[tuple[int, int] | None, int]:
        """The pair of one list, and the place of what the model ranks first; counts, and lets references grow.

        `metric` is against the sentence's own references; `rescore` gives it with more, `against` without them.
        """
        if not len(scores):
            self.counts["skipped"] += 1
            return None, 0

        def ask(places: Sequence[int]) -> Sequence[bool]:
            assert self.judge is not None
            return self.judge(id, [text(place) for place in places])

        def with_reference(place: int) -> npt.NDArray[np.float64]:
            known = self.references.get(id, [])
            new = text(place)
            if self.rule.references == "prediction":
                return against([text(other) for other in range(len(scores))], new)
            if self.rule.references == "last":
                self.references[id] = [new]
            elif new not in known:
                self.references[id] = [*known, new]
            return rescore(self.references[id])

        if self.rule.cost and self.references.get(id):
            metric = rescore(self.references[id])
        questions = Questions(ask, self.limit, self.block)

        def perfect(place: int) -> float:
            return float(against([text(place)], text(place))[0])

        chosen = choose(scores, metric, self.rule, questions, with_reference, perfect)
        self.counts["successes"] += bool(chosen.success)
        self.counts["skipped"] += chosen.pair is None
        self.counts["questions"] += len(questions.known)
        return chosen.pair, chosen.predicted


def run_response_epoch(
    shard: Shard,
    start: Vector | None,
    parts: Sequence[tuple[LanguageModel | None, Sequence[int] | None]],
    config: EpochConfig,
    feedback: Feedback,
    *,
    number: int = 0,
    lists_before: int | None = None,
    progress: Progress | None = None,
) -> EpochResult:
    """Learn from the shard's sentences, with the arguments of `run_epoch_in_parts`."""
    start = start or Vector.of([], [])
    orders = [(model, range(len(shard)) if chosen is None else chosen) for model, chosen in parts]
    if lists_before is None:
        lists_before = number * sum(len(chosen) for _, chosen in orders)
    options = config.options(number, lists_before)
    with _named(shard.path):
        epoch = _kernel.ShardEpoch(shard.native, _native(orders[0][0]), options, start.ids, start.values)
        tell, against = _Teller(progress), _against(config)
        for model, sentences in orders:
            epoch.use(_native(model))
            for place in _kernel.epoch_order(len(sentences), options):
                sentence, id = sentences[place], shard.id(sentences[place])
                scores, metric = epoch.decode(sentence)
                pair, _ = feedback.learn(id, scores, metric, epoch.text, epoch.score, against)
                epoch.learn_pair(pair)
                tell(lambda: epoch.statistics | feedback.counts)
        ids, values, mean, names, statistics, seconds, _ = epoch.finish()
    average = None if mean is None else Vector(*mean)
    return EpochResult(
        Vector(ids, values), names.decode().split("\n")[:-1], statistics | feedback.counts, seconds, average
    )


def run_response_list_epoch(
    table: ListTable,
    start: Vector | None,
    config: EpochConfig,
    feedback: Feedback,
    *,
    number: int = 0,
    lists: Sequence[int] | None = None,
    lists_before: int | None = None,
    progress: Progress | None = None,
) -> EpochResult:
    """Learn from n-best lists, with the arguments of `run_list_epoch`.

    Lists whose quality comes from outside (no references) keep it: their references do not grow.
    """
    check_list_config(config)
    start = start or Vector.of([], [])
    numbers = list(range(len(table))) if lists is None else list(lists)
    if lists_before is None:
        lists_before = number * len(numbers)
    learner = _kernel.Learner(start.values_of(table.hashes), config.learn.options(), lists_before)
    first = {"best_metric": 0.0, "best_score": 0.0}
    began = time.thread_time()
    tell, against = _Teller(progress), _against(config)
    with _named(table.path):
        for place in _kernel.epoch_order(len(numbers), config.options(number)):
            one = _OneList(table, numbers[place], config)
            scores, metric = learner.read_list(table.native, one.number)
            pair, predicted = feedback.learn(one.id, scores, metric, one.text, one.rescore, against)
            learner.learn_pair(pair)
            if len(scores):
                first["best_metric"] += float(metric[predicted])
                first["best_score"] += float(scores[predicted])
            tell(lambda: learner.statistics | feedback.counts | first)
    seconds = dict.fromkeys(STAGES, 0.0) | {"update": time.thread_time() - began}
    return list_epoch_result(table, start, config, learner, first | feedback.counts, seconds)


class _OneList:
    """A list of a table, with texts and references read when they are needed."""

    def __init__(self, table: ListTable, number: int, config: EpochConfig):
        self.table, self.number, self.config = table, number, config
        self.id = table.id(number)
        self.texts = functools.cache(lambda: table.texts(number))

    def text(self, place: int) -> str:
        return self.texts()[place]

    def rescore(self, more: list[str]) -> npt.NDArray[np.float64]:
        references = self.table.references(self.number)
        if not references:
            return self.table.metric(self.number)
        words = [[text.split(" ") for text in texts] for texts in (self.texts(), [*references, *more])]
        return sentence_values(self.config.metric, *words, order=self.config.order)


def _against(config: EpochConfig) -> Against:
    def values(hypotheses: Sequence[str], reference: str) -> npt.NDArray[np.float64]:
        words = [text.split(" ") for text in hypotheses]
        return sentence_values(config.metric, words, [reference.split(" ")], order=config.order)

    return values


class _Teller:
    """Reports progress at most ten times a second."""

    def __init__(self, progress: Progress | None):
        self.progress, self.last = progress, time.monotonic()

    def __call__(self, counts: Callable[[], dict[str, float]]) -> None:
        if self.progress is not None and time.monotonic() - self.last > 0.1:
            self.last = time.monotonic()
            self.progress(counts())


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """An InputError names the file."""
    try:
        yield
    except InputError as error:
        raise InputError(error.message, where=error.where or path, hint=error.hint) from None


def _native(model: LanguageModel | None) -> _kernel.LanguageModel | None:
    return None if model is None else model.native

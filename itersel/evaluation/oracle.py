"""Oracles of k-best lists: how good and how bad a translation could have been chosen from what the decoder found.

For each sentence, the hypothesis of the highest (oracle) and lowest (anti-oracle) BLEU+1 (Lin & Och 2004), the one
further up in the list where they are equal; beside them the first of the list. The three are then scored as systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from itersel.base.errors import InputError
from itersel.evaluation.scoring import Evaluation, EvaluationOptions, System, score_systems
from itersel.lists.reader import NbestList, read_lists
from itersel.metrics.corpus import CorpusMetric, MetricOptions
from itersel.metrics.sentence import sentence_values

SENTENCE_METRIC = "stupid_bleu"


@dataclass(frozen=True)
class Oracles:
    """First, best and worst translations of all sentences, and the number of hypotheses they were chosen from."""

    systems: tuple[System, System, System]
    hypotheses: int


@dataclass(frozen=True)
class OracleEvaluation:
    """The scores of `1-best`, `oracle` and `anti-oracle`, chosen from so many hypotheses."""

    hypotheses: int
    evaluation: Evaluation


def score_oracles(
    path: str, references: Sequence[Sequence[str]], options: EvaluationOptions | None = None
) -> OracleEvaluation:
    """Find the oracles of a file of k-best lists, and score them without tests: that they differ is no question."""
    options = options or EvaluationOptions()
    found = find_oracles(read_lists([path], ordered=False), references, options.metric, path)
    scores = score_systems(found.systems, references, replace(options, baseline=None, tests=False))
    return OracleEvaluation(found.hypotheses, scores)


def find_oracles(
    lists: Iterable[NbestList],
    references: Sequence[Sequence[str]],
    options: MetricOptions | None = None,
    where: str = "the k-best lists",
) -> Oracles:
    """Choose from lists that stream by, one for each sentence.

    If the first id is a number, ids say which sentence is meant, counted from 0; otherwise the lists are in order.
    """
    bleu = CorpusMetric("bleu", references, options)
    chosen: list[tuple[str, str, str] | None] = [None] * len(references)
    numbered = False
    hypotheses = 0
    for order, one in enumerate(lists):
        numbered = one.id.isdecimal() if order == 0 else numbered
        if numbered and not one.id.isdecimal():
            raise InputError(f"the id {one.id} is not a number, but the ids before it are", where=one.where())
        sentence = int(one.id) if numbered else order
        if sentence >= len(references) or chosen[sentence] is not None:
            raise InputError(
                f"a list too many: sentence {one.id}, but there are references for {len(references)}",
                where=one.where(),
                hint="Ids are numbers from 0, or anything in the order of the references.",
            )
        texts = one.texts()
        values = sentence_values(
            SENTENCE_METRIC,
            [bleu.words(text) for text in texts],
            [bleu.words(text) for text in references[sentence]],
        )
        chosen[sentence] = (texts[0], texts[int(values.argmax())], texts[int(values.argmin())])
        hypotheses += len(texts)
    found = [texts for texts in chosen if texts is not None]
    if len(found) < len(references):
        raise InputError(
            f"no list for sentence {chosen.index(None)}, counted from 0; there are {len(found)} lists for"
            f" {len(references)} sentences",
            where=where,
        )
    first, best, worst = (list(texts) for texts in zip(*found, strict=True))
    return Oracles((System("1-best", [first]), System("oracle", [best]), System("anti-oracle", [worst])), hypotheses)

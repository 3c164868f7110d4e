"""GeoQuery's response: parse the translated question, execute the form, compare with the gold answer (ACL 2014 §3).

The parser's files, the database and the gold answers come in; for each translation, whether the answer is right goes
out, and on record whether there was a parse at all. `response.object: geoquery` names it in a configuration.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from itersel.base.errors import InputError
from itersel.base.files import file_checksum, read_lines
from itersel.model.features import Weights
from itersel.response.config import checksum_of
from itersel.response.geoquery.data import EMPTY_ANSWER
from itersel.response.geoquery.database import read_database
from itersel.response.geoquery.execution import answer_or_empty
from itersel.response.geoquery.parser import DECODER, EXTRACTION, WEIGHTS, QuestionParser
from itersel.response.protocol import Outcome

RULES = 2
"""Counts the changes of the parser's code that change answers: those cached before are then forgotten."""


class GeoQueryResponse:
    """Sentence i is the i-th line of the gold answers, counted from 0."""

    def __init__(
        self,
        index: str | os.PathLike[str],
        language_model: str | os.PathLike[str],
        facts: str | os.PathLike[str],
        gold: str | os.PathLike[str],
        weights: str | os.PathLike[str] | None = None,
        accept_empty: bool = True,
    ):
        """`accept_empty`: whether no answer is right where the gold answer is empty. A failing query has none, too."""
        chosen = dict(WEIGHTS) if weights is None else dict(Weights.read(weights))
        self.golds = [line.strip() for line in read_lines(gold)]
        self.gold_path = os.fspath(gold)
        self.database = read_database(facts)
        self.parser = QuestionParser(index, language_model, self.database, chosen)
        files = [file_checksum(path) for path in (index, language_model, facts, gold)]
        settings = [RULES, repr(EXTRACTION), repr(DECODER), self.parser.k, sorted(chosen.items()), accept_empty]
        self.accept_empty = accept_empty
        self.checksum = checksum_of({"files": files, "settings": settings})
        self._answers: dict[str, str | None] = {}

    def __call__(self, sentence_id: str, hypotheses: Sequence[str]) -> list[bool]:
        return [outcome.success for outcome in self.outcomes(sentence_id, hypotheses)]

    def outcomes(self, sentence_id: str, hypotheses: Sequence[str]) -> list[Outcome]:
        """Attempted are the questions with a parse; the detail is the answer."""
        gold = self._gold(sentence_id)
        possible = self.accept_empty or gold != EMPTY_ANSWER
        answers = [self.answer(text) for text in hypotheses]
        return [Outcome(possible and answer == gold, answer is not None, answer or "no parse") for answer in answers]

    def answer(self, question: str) -> str | None:
        """The answer's text; None without a parse."""
        if question not in self._answers:
            parse = self.parser.parse(question)
            self._answers[question] = None if parse is None else answer_or_empty(parse.tree, self.database)
        return self._answers[question]

    def _gold(self, sentence_id: str) -> str:
        if not (sentence_id.isascii() and sentence_id.isdigit() and int(sentence_id) < len(self.golds)):
            raise InputError(
                f"there is no gold answer for sentence {sentence_id!r}",
                where=self.gold_path,
                hint="One line per sentence, and sentences numbered from 0, as itersel build numbers them.",
            )
        return self.golds[int(sentence_id)]

"""The text of ACL 2014's experiment: which pairs of general corpora the base system is made of, and the questions.

Pairs of the corpora and the training questions come in; chosen pairs go out, lines for the language model, and the
questions as a German would have spelled them. No test question is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from itersel.base.config import Range
from itersel.response.geoquery.data import normalized
from itersel.response.geoquery.database import Database
from itersel.response.geoquery.typos import correct_typos
from itersel.response.geoquery.umlauts import Spelling
from itersel.text.bitext import Bitext

Pair = tuple[str, str]
MARK = " ?"


@dataclass(frozen=True)
class SelectionOfText:
    """Which pairs of the corpora the base system is made of: it saves processor time."""

    max_words: Annotated[int, Range(1)] = 30
    """The longest sentence on either side."""
    rare: Annotated[int, Range(0)] = 3000
    """Keep pairs with a German word of a training question that at most this many pairs have."""
    every: Annotated[int, Range(1)] = 4
    """Of the other pairs up to `short_words`, keep one in this many."""
    short_words: Annotated[int, Range(1)] = 20
    questions: bool = False
    """Keep all questions, and each once more without its question mark, which GeoQuery's questions do not have."""
    names: Annotated[int, Range(0)] = 0
    """How often each place of the database is a pair of its own, the same in both languages: parliament seldom speaks
    of Rhode Island, and `ohio` or `island` would be translated."""
    model_of_all: bool = False
    """Estimate the language model on the English side of all pairs, not only of those that are kept."""


def read_pairs(corpora: Iterable[str]) -> list[Pair]:
    """The pairs of the files NAME.de.gz and NAME.en.gz, in their order; one that is there several times only once."""
    bitexts = [Bitext(f"{name}.de.gz", f"{name}.en.gz") for name in corpora]
    return list(dict.fromkeys((pair.source, pair.target) for bitext in bitexts for pair in bitext))


def select_pairs(pairs: Sequence[Pair], questions: Sequence[str], rule: SelectionOfText) -> list[Pair]:
    """The pairs that the rule keeps, in their order; copies without a question mark come last."""
    wanted = {word for line in questions for word in line.split()}
    short = [pair for pair in pairs if max(len(side.split()) for side in pair) <= rule.max_words]
    counts = Counter(word for source, _ in short for word in set(source.split()) if word in wanted)
    rare = {word for word in wanted if counts[word] < rule.rare}
    kept = [
        pair
        for number, pair in enumerate(short)
        if not rare.isdisjoint(pair[0].split())
        or (number % rule.every == 0 and max(len(side.split()) for side in pair) <= rule.short_words)
        or (rule.questions and is_question(pair))
    ]
    return kept + (without_marks(short) if rule.questions else [])


def name_pairs(database: Database, rule: SelectionOfText) -> list[Pair]:
    """Names of states, cities, rivers and mountains, which are the same in German and English."""
    entities = (*database.states, *database.cities, *database.capitals, *database.rivers, *database.places)
    names = dict.fromkeys(normalized(entity.names[0]) for entity in entities)
    return [(name, name) for name in names for _ in range(rule.names)]


def model_lines(pairs: Sequence[Pair], rule: SelectionOfText) -> list[str]:
    """The English side of all pairs, of whatever length, and of the questions once more without their mark."""
    return [pair[1] for pair in [*pairs, *(without_marks(pairs) if rule.questions else [])]]


def is_question(pair: Pair) -> bool:
    """Whether both sides end with a question mark, after something."""
    return all(side.endswith(MARK) for side in pair)


def without_marks(pairs: Sequence[Pair]) -> list[Pair]:
    """The questions among the pairs, without their question marks."""
    return [(pair[0].removesuffix(MARK), pair[1].removesuffix(MARK)) for pair in pairs if is_question(pair)]


def spelled(questions: Sequence[str], translations: Sequence[str], lines: Sequence[str]) -> list[str]:
    """The German training questions with umlauts and without typing errors; `lines` is other German text.

    The words of a question's English translation stay: they are names.
    """
    spelling = Spelling(lines)
    names = [set(line.split()) for line in translations]
    restored = [
        " ".join(word if word in keep else spelling.restored(word) for word in question.split())
        for question, keep in zip(questions, names, strict=True)
    ]
    return correct_typos(restored, names, spelling.counts)

"""The GeoQuery data set: 880 questions with their logical forms and gold answers, and its splits.

The folder's files come in, line i about question i (from 0); plain records go out. Splits are lists of question ids:
600 for training and 280 for testing, and ten folds of the 600.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.files import parallel_lines, read_lines
from itersel.response.geoquery.funql import Tree, parse

LANGUAGES = {
    "en": "geoquery.all880.tok.lc.en.gz",
    "de": "geoquery.all880.de.gz",
    "el": "geoquery.all880.el.gz",
    "th": "geoquery.all880.th.gz",
    "zh": "geoquery.all880.zh.gz",
}
"""The questions of each language, tokenised and in lower case, without the final full stop or question mark."""
FORMS_FILE = "geoquery.all880.funql.gz"
GOLD_FILE = "geoquery.all880.gold.gz"
CORRECTED_FILE = "geoquery.test280.corrected.tok.lc.de.gz"
FOLDS = 10
EMPTY_ANSWER = "[]"


@dataclass(frozen=True)
class Question:
    """A question, its logical form, and its gold answer as the gold file writes it."""

    id: int
    text: str
    form: Tree
    gold: str

    @property
    def has_empty_answer(self) -> bool:
        """Whether the gold answer is empty; a query that fails gives the same answer."""
        return self.gold == EMPTY_ANSWER


@dataclass(frozen=True)
class Fold:
    """Ids of the questions to train on and of those to test on."""

    train: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True)
class Splits:
    """The standard split, and the folds of its training part for choosing settings."""

    standard: Fold
    folds: tuple[Fold, ...]


def read_questions(folder: str | os.PathLike[str], language: str = "en") -> list[Question]:
    """All questions in a language. The German ones are as published, mostly without umlauts."""
    if language not in LANGUAGES:
        raise InputError(f"no questions in {language!r}", hint=f"Choose one of {', '.join(LANGUAGES)}.")
    text_path, form_path, gold_path = (Path(folder) / name for name in (LANGUAGES[language], FORMS_FILE, GOLD_FILE))
    texts = list(read_lines(text_path))
    forms = parallel_lines(form_path, len(texts), text_path)
    golds = parallel_lines(gold_path, len(texts), text_path)
    return [
        Question(number, normalized(text), _form(form, form_path, number), gold.strip())
        for number, (text, form, gold) in enumerate(zip(texts, forms, golds, strict=True))
    ]


def read_corrected_german(folder: str | os.PathLike[str]) -> dict[int, str]:
    """The German test questions with umlauts and commas, by question id."""
    ids = _read_ids(Path(folder) / "split880.test.ids.gz")
    lines = parallel_lines(Path(folder) / CORRECTED_FILE, len(ids), "split880.test.ids.gz")
    return dict(zip(ids, (normalized(line) for line in lines), strict=True))


def read_splits(folder: str | os.PathLike[str]) -> Splits:
    """The split into 600 and 280, and the ten folds of the 600."""
    folder = Path(folder)
    standard = _read_fold(folder / "split880.train.ids.gz", folder / "split880.test.ids.gz")
    folds = tuple(
        _read_fold(
            folder / "folds600" / f"fold-{number}-train.ids.gz", folder / "folds600" / f"fold-{number}-test.ids.gz"
        )
        for number in range(FOLDS)
    )
    return Splits(standard, folds)


def normalized(text: str) -> str:
    """A tokenised question in lower case, with single blanks and without a last full stop or question mark."""
    words = text.lower().split()
    return " ".join(words[:-1] if words[-1:] in (["."], ["?"]) else words)


def _form(text: str, path: Path, number: int) -> Tree:
    try:
        return parse(text)
    except InputError as error:
        raise InputError(error.message, where=f"{path}:{number + 1}") from None


def _read_fold(train_path: Path, test_path: Path) -> Fold:
    fold = Fold(_read_ids(train_path), _read_ids(test_path))
    common = sorted(set(fold.train) & set(fold.test))
    if common:
        raise InputError(f"question {common[0]} is also in {train_path.name}", where=test_path)
    return fold


def _read_ids(path: Path) -> tuple[int, ...]:
    ids: dict[int, None] = {}
    for number, line in enumerate(read_lines(path), 1):
        word = line.strip()
        if not (word.isascii() and word.isdecimal() and len(word) < 10):
            raise InputError(f"{line!r} is not a question id", where=f"{path}:{number}")
        if int(word) in ids:
            raise InputError(f"question {int(word)} is listed twice", where=f"{path}:{number}")
        ids[int(word)] = None
    return tuple(ids)

"""Questions, forms, gold answers and splits of the real data set, and errors in a made-up one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from itersel.base.errors import InputError
from itersel.response.geoquery.data import (
    FORMS_FILE,
    GOLD_FILE,
    LANGUAGES,
    normalized,
    read_corrected_german,
    read_questions,
    read_splits,
)


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / LANGUAGES["en"], "Which states are there ?", "name the rivers")
    write(tmp_path / FORMS_FILE, "answer(state(all))", "answer(river(all))")
    write(tmp_path / GOLD_FILE, "[stateid(alpha)]", "[]")
    write(tmp_path / "split880.train.ids.gz", "0")
    write(tmp_path / "split880.test.ids.gz", "1")
    for number in range(10):
        write(tmp_path / "folds600" / f"fold-{number}-train.ids.gz", "3", "2")
        write(tmp_path / "folds600" / f"fold-{number}-test.ids.gz", "0")
    return tmp_path


def test_questions_of_the_real_data_set(geoquery: Path):
    questions = read_questions(geoquery)
    assert [question.id for question in questions] == list(range(880))
    assert questions[3].text == "name all the rivers in colorado"
    assert str(questions[3].form) == "answer(river(loc_2(stateid('colorado'))))"
    assert questions[3].gold.startswith("[riverid(arkansas),riverid(canadian),")
    assert sum(question.has_empty_answer for question in questions) == 71


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_languages_of_the_real_data_set(language, geoquery: Path):
    questions = read_questions(geoquery, language)
    assert len(questions) == 880
    assert all(question.text == normalized(question.text) != "" for question in questions)


def test_splits_of_the_real_data_set(geoquery: Path):
    splits = read_splits(geoquery)
    train, test = splits.standard.train, splits.standard.test
    assert (len(train), len(test)) == (600, 280)
    assert sorted(train + test) == list(range(880))
    assert len(splits.folds) == 10
    assert sorted(number for fold in splits.folds for number in fold.test) == sorted(train)
    for fold in splits.folds:
        assert sorted(fold.train + fold.test) == sorted(train)


def test_corrected_german_of_the_real_data_set(geoquery: Path):
    corrected = read_corrected_german(geoquery)
    published = {question.id: question.text for question in read_questions(geoquery, "de")}
    assert tuple(corrected) == read_splits(geoquery).standard.test
    assert published[6] == "zahle die staaten welche erhebungen haben die niedriger liegen als jene in alabama"
    assert corrected[6] == "zähle die staaten , welche erhebungen haben , die niedriger liegen als jene in alabama"


def test_questions_are_normalized(folder: Path):
    assert [question.text for question in read_questions(folder)] == ["which states are there", "name the rivers"]
    assert [question.has_empty_answer for question in read_questions(folder)] == [False, True]
    assert normalized("  Name\tIt .") == "name it"
    assert normalized("?") == ""
    assert normalized("") == ""


def test_ids_keep_their_order(folder: Path):
    assert read_splits(folder).folds[0].train == (3, 2)


def test_an_unknown_language(folder: Path):
    with pytest.raises(InputError, match=r"'fr'.*\n.*en, de"):
        read_questions(folder, "fr")


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        (FORMS_FILE, ["answer(state(all))", "answer("], f"{FORMS_FILE}:2: "),
        (FORMS_FILE, ["answer(state(all))"], "ends after 1 lines"),
        (GOLD_FILE, ["[]", "[]", "[]"], "continues"),
    ],
)
def test_bad_questions(name, lines, message, folder: Path):
    write(folder / name, *lines)
    with pytest.raises(InputError, match=message):
        read_questions(folder)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1", "x"], "test.ids.gz:2: 'x' is not a question id"),
        (["-1"], "'-1' is not a question id"),
        (["1" * 5000], "is not a question id"),
        (["1", "1"], "test.ids.gz:2: question 1 is listed twice"),
        (["0"], "question 0 is also in split880.train.ids.gz"),
    ],
)
def test_bad_splits(lines, message, folder: Path):
    write(folder / "split880.test.ids.gz", *lines)
    with pytest.raises(InputError, match=message):
        read_splits(folder)


def test_a_folder_without_the_data(tmp_path: Path):
    with pytest.raises(InputError, match="cannot read"):
        read_questions(tmp_path)

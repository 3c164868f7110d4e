"""The text of ACL 2014's experiment: which pairs are kept, and how the training questions are spelled."""

import gzip
from types import SimpleNamespace

import pytest

from itersel.base.errors import InputError
from itersel.pipeline.geoquery_text import (
    SelectionOfText,
    model_lines,
    name_pairs,
    read_pairs,
    select_pairs,
    spelled,
)

PAIRS = [("a b", "x"), ("fluss a", "y"), ("a b c d fluss", "z"), ("a b", "z"), ("a", "w"), ("a c d", "v")]
QUESTION = ("was ist ?", "what is ?")


def test_a_pair_of_several_corpora_is_read_once(tmp_path):
    """A sentence may come again with another translation."""
    corpora = {"a": [("x", "1"), ("y", "2"), ("x", "1")], "b": [("y", "2"), ("x", "3"), ("z", "4")]}
    for name, pairs in corpora.items():
        for side, lines in zip(("de", "en"), zip(*pairs, strict=True), strict=True):
            (tmp_path / f"{name}.{side}.gz").write_bytes(gzip.compress("".join(f"{one}\n" for one in lines).encode()))
    names = [str(tmp_path / name) for name in corpora]
    assert read_pairs(names) == [("x", "1"), ("y", "2"), ("x", "3"), ("z", "4")]
    (tmp_path / "b.en.gz").write_bytes(gzip.compress(b"2\n"))
    with pytest.raises(InputError, match="ends after 1 lines") as raised:
        read_pairs(names)
    assert str(raised.value.where).endswith("b.en.gz:2")


def test_the_text_is_chosen_by_the_training_questions():
    rule = SelectionOfText(max_words=3, rare=2, every=2, short_words=2)
    assert select_pairs(PAIRS, ["fluss a"], rule) == [("a b", "x"), ("fluss a", "y"), ("a b", "z")]


def test_questions_are_kept_with_and_without_their_mark():
    rule = SelectionOfText(max_words=3, rare=0, every=100, short_words=1, questions=True)
    pairs = [*PAIRS, QUESTION, ("was ?", "so ."), ("und was ist denn ?", "so what ?"), ("?", "?")]
    assert select_pairs(pairs, [], rule) == [QUESTION, ("was ist", "what is")]
    assert model_lines(pairs[-4:], rule) == ["what is ?", "so .", "so what ?", "?", "what is", "so what"]


def test_each_name_is_a_pair_as_often_as_asked_for():
    def entities(*names):
        return [SimpleNamespace(names=(name, "tx")) for name in names]

    database = SimpleNamespace(
        states=entities("texas"),
        cities=entities("Austin"),
        capitals=entities("Austin"),
        rivers=entities("red"),
        places=[],
    )
    names = name_pairs(database, SelectionOfText(names=2))
    assert names == [(name, name) for name in ("texas", "texas", "austin", "austin", "red", "red")]
    assert name_pairs(database, SelectionOfText()) == []


def test_the_questions_are_spelled_as_german():
    """Umlauts first, then typing errors; a name that the translation has stays, and so does a genitive."""
    lines = ["viele flüsse fließen durch die städte"] * 3 + ["viele höchst"]
    questions = ["wie viele fluesse", "viele staedte", "viele stadte", "veile fluesse in fluesso und texass", "staede"]
    translations = ["how many rivers", "", "", "many rivers in fluesso and texas", "cities"]
    found = spelled(questions, translations, lines)
    assert found[:3] == ["wie viele flüsse", "viele städte", "viele städte"]
    assert found[3] == "viele flüsse in fluesso und texass"

"""Noun phrases of the database and of the data set's list, and the text a parser is trained on."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.response.geoquery.data import Question, read_questions
from itersel.response.geoquery.database import read_database
from itersel.response.geoquery.execution import execute
from itersel.response.geoquery.funql import Call, Name, from_tokens, parse
from itersel.response.geoquery.parser_text import Line, parser_lines, write_parser_text
from itersel.response.geoquery.phrases import LIST_FILE, Phrase, database_phrases, listed_phrases

XML = """<?xml version='1.0' encoding='UTF-8'?>
<examples>
 <example id='1'>
  <nl lang='en'> New York ? </nl>
  <nl lang='en'> city of  new york </nl>
  <nl lang='de'> stadt new york </nl>
  <mrl lang='geo-funql'> cityid ( ' new york ' , _ ) </mrl>
  <mrl lang='geo-prolog'>  </mrl>
 </example>
 <example id='2'>
  <nl lang='en'> sea level </nl>
  <mrl lang='geo-funql'> ' 0 ' </mrl>
 </example>
</examples>
"""


def test_phrases_of_a_small_database(small_database):
    pairs = {(phrase.text, " ".join(phrase.tokens)) for phrase in database_phrases(small_database)}
    assert len(pairs) == len(database_phrases(small_database))
    assert {pair for pair in pairs if "gamma" in pair[0] and "cee" not in pair[0]} == {
        ("new gamma", "new_gamma@s"),
        ("new gamma", "cc@s"),
        ("new gamma", "stateid@1 new_gamma@s"),
        ("new gamma state", "stateid@1 new_gamma@s"),
        ("state of new gamma", "stateid@1 new_gamma@s"),
    }
    assert {pair for pair in pairs if "twin" in pair[0]} == {
        ("twin", "twin@s"),
        ("twin", "cityid@2 twin@s _@0"),
        ("city of twin", "cityid@2 twin@s _@0"),
        ("twin alpha", "cityid@2 twin@s aa@s"),
        ("twin beta", "cityid@2 twin@s bb@s"),
    }
    assert ("beeville", "cityid@2 beeville@s _@0") in pairs
    assert {pair for pair in pairs if "brook" in pair[0]} == {
        ("brook", "brook@s"),
        ("brook", "riverid@1 brook@s"),
        ("brook river", "riverid@1 brook@s"),
    }
    assert ("mount a", "placeid@1 mount_a@s") in pairs
    assert ("united states", "countryid@1 usa@s") in pairs
    assert ("united states", "usa@s") in pairs


def test_every_term_of_the_real_database_names_something(geoquery: Path):
    database = read_database(geoquery)
    phrases = database_phrases(database)
    for phrase in phrases:
        assert from_tokens(phrase.tokens, root=None) == phrase.term
        assert phrase.is_short == isinstance(phrase.term, Name)
        if not phrase.is_short:
            assert execute(Call("answer", (phrase.term,)), database)
    assert {"st. louis", "winston-salem", "st. louis missouri"} <= {phrase.text for phrase in phrases}


def test_the_database_knows_the_names_of_the_list(geoquery: Path):
    terms = {phrase.term for phrase in database_phrases(read_database(geoquery))}
    unknown = {str(phrase.term) for phrase in listed_phrases(geoquery)} - {str(term) for term in terms}
    assert unknown == {"0", "cityid('springfield', 'sd')"}  # there is no such city


def test_the_list_of_the_real_data_set(geoquery: Path):
    english, german = listed_phrases(geoquery), listed_phrases(geoquery, "de")
    assert (len(english), len(german)) == (254, 281)
    assert Phrase("red river", parse("riverid('red')")) in english
    assert Phrase("vereinigten staaten", parse("countryid('usa')")) in german


def test_a_list_by_hand(tmp_path: Path):
    (tmp_path / LIST_FILE).write_bytes(gzip.compress(XML.encode()))
    city = parse("cityid('new york', _)")
    sea_level = Phrase("sea level", Call("0"))
    assert listed_phrases(tmp_path) == [Phrase("new york", city), Phrase("city of new york", city), sea_level]
    assert listed_phrases(tmp_path, "de") == [Phrase("stadt new york", city)]
    with pytest.raises(InputError, match="no phrases in the language 'fr'"):
        listed_phrases(tmp_path, "fr")
    (tmp_path / LIST_FILE).write_bytes(gzip.compress(XML.replace("_ )", "_").encode()))
    with pytest.raises(InputError, match=f"{LIST_FILE}:7: "):
        listed_phrases(tmp_path)


def test_parallel_text_by_hand(tmp_path: Path):
    questions = [
        Question(0, "which states border new gamma", parse("answer(state(next_to_2(stateid('new gamma'))))"), "[]")
    ]
    phrases = [Phrase("twin", parse("cityid('twin', _)"))]
    lines = list(parser_lines(questions, phrases, repetitions=2))
    assert lines == [
        Line("which states border new gamma", "answer@1 state@1 next_to_2@1 stateid@1 new_gamma@s"),
        Line("twin", "cityid@2 twin@s _@0"),
        Line("twin", "cityid@2 twin@s _@0"),
    ]
    paths = tmp_path / "train.en", tmp_path / "train.funql.gz"
    assert write_parser_text(lines, *paths) == 3
    assert [Line(*pair) for pair in zip(*map(read_lines, paths), strict=True)] == lines


def test_repetitions_are_not_negative():
    with pytest.raises(ConfigError, match="repetitions is -1"):
        list(parser_lines([], [], repetitions=-1))
    assert list(parser_lines([], [Phrase("twin", Name("twin"))], repetitions=0)) == []


def test_parallel_text_of_the_real_data_set(geoquery: Path, tmp_path: Path):
    questions = read_questions(geoquery)
    paths = tmp_path / "train.en", tmp_path / "train.funql"
    assert write_parser_text(parser_lines(questions), *paths) == 880
    texts, forms = (list(read_lines(path)) for path in paths)
    assert texts == [question.text for question in questions]
    assert [from_tokens(form.split(" ")) for form in forms] == [question.form for question in questions]

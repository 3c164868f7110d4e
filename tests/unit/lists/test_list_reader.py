"""N-best lists as text: what each form means, that lines come back whole, and that everything wrong is named."""

import gzip
import json
import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import Hypothesis
from itersel.lists.reader import FieldsConfig, read_lists
from itersel.lists.writer import format_kbest


def lists_of(tmp_path, text, fields=None, name="lists"):
    path = tmp_path / name
    path.write_text(text)
    return list(read_lists([path], fields))


def features_of(tmp_path, line, fields=None):
    return lists_of(tmp_path, line + "\n", fields)[0].parse()[0].features


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 ||| a man ||| lm=-2.5 tm=1 ||| -3", {"lm": -2.5, "tm": 1}),
        ("0 ||| a man ||| lm= -2.5 tm= 1 2 3 w= 4 ||| -3", {"lm": -2.5, "tm_0": 1, "tm_1": 2, "tm_2": 3, "w": 4}),
        ("0 ||| a man ||| d: 0 -1 lm: -2.5 ||| -3", {"d_0": 0, "d_1": -1, "lm": -2.5}),
        ("0 ||| a man ||| lm= -2.5 R:X:a_=:b=1 t= 1 2 ||| -3", {"lm": -2.5, "R:X:a_=:b": 1, "t_0": 1, "t_1": 2}),
        ("0 ||| a man ||| 1 2 lm= 3 ||| -3", {"field3_0": 1, "field3_1": 2, "lm": 3}),
        ("0 ||| a man ||| 0.5 ||| -3", {"field3": 0.5}),
        ("0 ||| a man ||| a=b=2 R:X:a:=1 +b=+1e-3 ||| -3", {"a=b": 2, "R:X:a:": 1, "+b": 0.001}),
        ("0 ||| ||| ||| -3", {}),
        ("0\t|||\ta man\t|||\tlm=1\t|||\t-3\r", {"lm": 1}),
        ("0 ||| a man ||| no\u00a0break=1", {"no\u00a0break": 1}),
        ("0||| a man ||| lm= -2.5 tm= 1 2 ||| -3", {"lm": -2.5, "tm_0": 1, "tm_1": 2}),  # Moses' own lists
        ("0|||a man ||| lm=1 ||| -3", {"lm": 1}),
    ],
)
def test_features_of_bar_lines(tmp_path, line, expected):
    assert features_of(tmp_path, line) == expected


def test_several_fields_of_features(tmp_path):
    line = "0 ||| a ||| lm=1 ||| -3 ||| 7 8 ||| 0.25"
    assert features_of(tmp_path, line, FieldsConfig(features=("3", "4", "5"))) == {
        "lm": 1,
        "field4": -3,
        "field5_0": 7,
        "field5_1": 8,
    }
    entry = lists_of(tmp_path, line, FieldsConfig(score="6", objective="4"))[0].parse()[0]
    assert (entry.score, entry.objective) == (0.25, -3)
    both = '{"id": 0, "text": "a", "features": {"lm": 1}, "more": {"x": 2}, "logprob": -4}'
    assert features_of(tmp_path, both, FieldsConfig(features=("features", "more", "logprob"))) == {
        "lm": 1,
        "x": 2,
        "logprob": -4,
    }


def test_lists_are_the_neighbouring_lines_of_an_id(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"0 ||| a ||| x=1\n0 ||| b ||| x=2\n3 ||| c ||| x=1\n"))
    (tmp_path / "b").write_text('{"id": 4, "text": "d", "features": {}}\n{"id": "x", "text": "", "features": {}}\n')
    found = list(read_lists([tmp_path / "a.gz", tmp_path / "b"]))
    assert [(one.id, [entry.text for entry in one.parse()]) for one in found] == [
        ("0", ["a", "b"]),
        ("3", ["c"]),
        ("4", ["d"]),
        ("x", [""]),
    ]
    assert [one.where() for one in found][1:3] == [f"{tmp_path / 'a.gz'}:3", f"{tmp_path / 'b'}:1"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("0 ||| a ||| x=1 ||| 0\n0 ||| b\n", 2, "2 fields where at least 3"),
        ("nothing at all\n", 1, "1 fields"),
        ("0 ||| a ||| x=1\n\n", 2, "empty line"),
        (" ||| a ||| x=1\n", 1, "no id"),
        ("0 ||| a ||| x=1 ||| 0\n0 ||| b ||| x=one ||| 0\n", 2, "feature 'x' is 'one'"),
        ("0 ||| a ||| x= 1 two\n", 1, "feature 'x' is 'two'"),
        ("0 ||| a ||| x=nan\n", 1, "feature 'x' is 'nan'"),
        ("0 ||| a ||| x= -inf\n", 1, "feature 'x' is '-inf'"),
        ("0 ||| a ||| x=1e999\n", 1, "feature 'x' is '1e999'"),
        ("0 ||| a ||| x=1_0\n", 1, "feature 'x' is '1_0'"),
        ("0 ||| a ||| x=1 x=2\n", 1, "'x' occurs twice"),
        ("0 ||| a ||| x= 1 2 x_1=2\n", 1, "'x_1' occurs twice"),
        ("0 ||| a ||| x= y=2\n", 1, "'x' has no value"),
        ("0 ||| a ||| y=2 x=\n", 1, "'x' has no value"),
        ("0 ||| a ||| =2\n", 1, "'' cannot be a feature's name"),
        ("0 ||| a ||| #x=2\n", 1, "'#x' cannot be"),
        ("0 ||| a ||| x=2 3\n", 1, "'3' belongs to no feature"),
        ("0 ||| a ||| x=2 ||| score\n", 1, "score is 'score'"),
        ("0 ||| a ||| x=2 ||| \n", 1, "score is ''"),
        ("1 ||| a ||| x=1\n0 ||| b ||| x=1\n", 2, "list 0 comes after list 1"),
        ("0 ||| a ||| x=1\n1 ||| b ||| x=1\n0 ||| c ||| x=1\n", 3, "list 0 comes after list 1"),
        (2 * f"{9 * 'a'} ||| a ||| x=1\n" + 2 * f"{5000 * '1'} ||| a ||| x=1\n" + "a ||| a |||\n\n", 6, "empty line"),
        ("a ||| a ||| x=1\nb ||| b ||| x=1\na ||| c ||| x=1\n", 3, "list 'a' appears twice"),
        ('{"id": 0, "text": "a", "features": {}}\n{"id": 0, "text":\n', 2, "not JSON"),
        ('{"id": 0, "text": "a", "features": {}}\n[]\n', 2, "not a JSON object"),
        ('{"text": "a", "features": {}}\n', 1, "no 'id'"),
        ('{"id": 0, "features": {}}\n', 1, "no 'text'"),
        ('{"id": 0, "text": "a"}\n', 1, "no 'features'"),
        ('{"id": null, "text": "a", "features": {}}\n', 1, "the id is None"),
        ('{"id": 0, "text": 1, "features": {}}\n', 1, "the text is 1"),
        ('{"id": 0, "text": "a", "features": {"x": "1"}}\n', 1, "x is '1'"),
        ('{"id": 0, "text": "a", "features": {"x": NaN}}\n', 1, "x is nan"),
        ('{"id": 0, "text": "a", "features": {"x": true}}\n', 1, "x is True"),
        ('{"id": 0, "text": "a", "features": {"x": 1' + 400 * "0" + "}}\n", 1, "x is 1000"),
        ('{"id": 0, "text": "a", "features": {"x y": 1}}\n', 1, "'x y' cannot be a feature's name"),
        ('{"id": 0, "text": "a", "features": [1]}\n', 1, r"features is \[1\]"),
        ('{"id": 0, "text": "a", "features": {}, "score": null}\n', 1, "score is None"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, line, message):
    with pytest.raises(InputError, match=message) as raised:
        for one in lists_of(tmp_path, text):
            one.parse()
    assert raised.value.where == f"{tmp_path / 'lists'}:{line}"
    if "JSON" not in message:
        assert raised.value.hint


def test_bad_text_and_gzip_are_named(tmp_path):
    (tmp_path / "latin").write_bytes("0 ||| a ||| x=1\n1 ||| \xfcber ||| x=1\n".encode("latin-1"))
    with pytest.raises(InputError, match="latin:2: invalid UTF-8"):
        list(read_lists([tmp_path / "latin"]))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"0 ||| a ||| x=1\n" * 1000)[:-20])
    with pytest.raises(InputError, match="damaged gzip"):
        list(read_lists([tmp_path / "cut.gz"]))
    with pytest.raises(InputError, match="No such file"):
        list(read_lists([tmp_path / "absent"]))


def test_missing_fields_are_named(tmp_path):
    with pytest.raises(InputError, match="lists:1: 4 fields where at least 5"):
        lists_of(tmp_path, "0 ||| a ||| x=1 ||| 2", FieldsConfig(objective="5"))[0].parse()
    with pytest.raises(InputError, match="lists:1: no 'quality'"):
        lists_of(tmp_path, '{"id": 0, "text": "a", "features": {}}', FieldsConfig(objective="quality"))[0].parse()
    for wrong in ("0", "x", "-1", "2"):
        with pytest.raises(ConfigError):
            lists_of(tmp_path, "0 ||| a ||| x=1 ||| 2", FieldsConfig(features=(wrong,)))
    with pytest.raises(ConfigError, match="auto, moses, json"):
        FieldsConfig(form="yaml")


def test_a_list_is_there_before_the_next_one_ends(tmp_path):
    os.mkfifo(tmp_path / "lists")
    wanted = threading.Event()

    def write():
        with open(tmp_path / "lists", "w", buffering=1) as stream:
            stream.write("0 ||| a ||| x=1\n" * 3 + "1 ||| b ||| x=1\n" + "1 ||| c ||| x=1\n" * 9000)
            assert wanted.wait(60)
            stream.write("2 ||| d ||| x=1\n")

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    lists = read_lists([tmp_path / "lists"])
    first = next(lists)
    assert (first.id, len(first.lines)) == ("0", 3)
    wanted.set()
    assert [(one.id, len(one.lines)) for one in lists] == [("1", 9001), ("2", 1)]
    writer.join()


names = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n|"), min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6).map(lambda x: float(f"{x:.9g}"))


@settings(deadline=None)
@given(st.dictionaries(names.filter(lambda n: n[0] != "#" and n[-1] != "="), numbers, max_size=5), numbers)
@pytest.mark.parametrize("form", ["cdec", "moses"])
def test_reads_what_the_decoder_writes(tmp_path_factory, form, features, score):
    path = tmp_path_factory.mktemp("lists") / "lists"
    path.write_text(format_kbest("7", [Hypothesis("a man", score, features)], form))
    (entry,) = next(read_lists([path])).parse()
    assert (entry.text, entry.features, entry.score) == ("a man", features, score)


@pytest.mark.parametrize(
    "line",
    [
        "0 ||| a man ||| lm= -2.50 tm= 1 2.000 ||| -3 ||| 0-0 1-1 ||| rest",
        "0 |||  ||| lm=1e2 ||| -3",
        '{"id": "s 1", "text": "ein Häuschen", "features": {"x": 1.25}, "score": -3, "alignment": [[0, 1]]}',
    ],
)
def test_lines_come_back_with_a_new_score(tmp_path, line):
    one = lists_of(tmp_path, line + "\n")[0]
    assert one.form.write(one.parse()[0], -0.125) == line.replace("-3", "-0.125") + "\n"


def test_a_line_without_score_gets_one(tmp_path):
    one = lists_of(tmp_path, "0 ||| a ||| x=1\n")[0]
    assert one.form.write(one.parse()[0], 2.5) == "0 ||| a ||| x=1 ||| 2.5\n"
    one = lists_of(tmp_path, '{"id": 0, "text": "a", "features": {}}\n')[0]
    assert json.loads(one.form.write(one.parse()[0], 2.5))["score"] == 2.5

"""The decoder's input: plain lines, numbered grammars, <seg> lines."""

import gzip
import os
from pathlib import Path

import pytest

from itersel.base.errors import InputError
from itersel.text.sentences import GrammarPlaces, Sentence, read_sentences


@pytest.fixture
def read(tmp_path):
    def run(content, **places):
        (tmp_path / "in").write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_sentences(tmp_path / "in", GrammarPlaces(**places)))

    return run


def test_plain_lines(read, tmp_path):
    sentences = read("ein mann\n\n \t\n zwei\u2028drei \r\n&amp; <b>", for_all=True)
    assert [one.text for one in sentences] == ["ein mann", "", "", "zwei\u2028drei", "&amp; <b>"]
    assert [one.id for one in sentences] == ["0", "1", "2", "3", "4"]
    assert sentences[3] == Sentence("3", "zwei\u2028drei", None, f"{tmp_path / 'in'}:4")
    assert read("", for_all=True) == []


def test_gzip(read):
    assert [one.text for one in read(gzip.compress(b"ja\n"), for_all=True)] == ["ja"]


def test_numbered_grammars(read, tmp_path):
    (tmp_path / "grammar.0").touch()
    (tmp_path / "grammar.2.gz").touch()
    found = [one.grammar for one in read("a\n\nb\n", folder=tmp_path)]
    assert found == [tmp_path / "grammar.0", None, tmp_path / "grammar.2.gz"]
    with pytest.raises(InputError, match=r"in:2: there is no grammar.1 or grammar.1.gz"):
        read("a\nb\n", folder=tmp_path)


@pytest.mark.parametrize(
    ("line", "name", "grammar", "text"),
    [
        ('<seg grammar="g/1.gz" id="7"> ein mann </seg>', "7", "g/1.gz", "ein mann"),
        ("<seg id='7' grammar='g/1.gz'>ein mann</seg> ", "7", "g/1.gz", "ein mann"),
        ('<seg grammar = "1" docid="a b" >x</seg>', "0", "1", "x"),
        ('  <seg\tgrammar="1" id="wmt-3"></seg>\r', "wmt-3", "1", ""),
        ('<seg grammar="a>b">&quot; &amp; < > " </seg>', "0", "a>b", '&quot; &amp; < > "'),
        ('<seg grammar="./a//b/../c"> x </seg>', "0", "a/c", "x"),
    ],
)
def test_seg_lines(read, tmp_path, line, name, grammar, text):
    (one,) = read(line)
    assert (one.id, one.grammar, one.text) == (name, tmp_path / grammar, text)


def test_seg_lines_without_grammar_and_plain_lines_mix(read, tmp_path):
    lines = 'eins\n<seg id="x"> zwei </seg>\n<seg grammar="g"> drei </seg>\n<segment> vier\n'
    found = [(one.id, one.text, one.grammar) for one in read(lines, for_all=True)]
    assert found == [
        ("0", "eins", None),
        ("x", "zwei", None),
        ("2", "drei", tmp_path / "g"),
        ("3", "<segment> vier", None),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("<seg grammar=g> a </seg>", "malformed <seg> tag: expected <seg grammar="),
        ('<seg grammar="g> a </seg>', "malformed <seg> tag"),
        ('<seg grammar="g"', "malformed <seg> tag"),
        ('<seg grammar="g"/>', "malformed <seg> tag"),
        ('<SEG grammar="g"> a </SEG>', "malformed <seg> tag"),
        ('<seg grammar="g"> a', "</seg> is missing"),
        ('<seg grammar="g"> a </seg> b </seg>', "text after </seg>: 'b </seg>'"),
        ('<seg grammar="g" grammar="h"> a </seg>', "grammar is given twice"),
        ('<seg grammar=""> a </seg>', "no usable file name"),
        ('<seg grammar="a\0b"> a </seg>', "no usable file name"),
        ('<seg grammar="g" id="1 2"> a </seg>', "the id '1 2' is not a word"),
        ('<seg grammar="g" id=""> a </seg>', "the id '' is not a word"),
        ('<seg grammar="g"> a ||| b </seg>', "||| separates the fields"),
        ("a", "this line names no grammar"),
        ("<seg> a </seg>", "this line names no grammar"),
    ],
)
def test_malformed_lines_are_named(read, tmp_path, line, problem):
    with pytest.raises(InputError) as caught:
        read('<seg grammar="g"> fine </seg>\n' + line + "\n")
    assert caught.value.where == f"{tmp_path / 'in'}:2"
    assert problem in caught.value.message


@pytest.mark.parametrize("name", ["../g", "a/../../g", "..", "/etc/passwd", "{here}/g"])
def test_grammars_outside_the_folder(read, tmp_path, name):
    name = name.format(here=tmp_path)
    with pytest.raises(InputError, match=r"in:1: the grammar .* is outside the input's folder") as caught:
        read(f'<seg grammar="{name}"> a </seg>')
    assert "--grammar-root" in caught.value.hint


def test_grammar_root(read, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (one,) = read('<seg grammar="a/g"> x </seg>', root=root)
    assert one.grammar == root / "a/g"
    (one,) = read(f'<seg grammar="{root}/g"> x </seg>', root=root)
    assert one.grammar == root / "g"
    (one,) = read(f'<seg grammar="{root}/g"> x </seg>', root=Path("/"))
    assert os.path.abspath(one.grammar) == str(root / "g")
    for name in ("../g", f"{tmp_path}/g", f"{root}2/g"):
        with pytest.raises(InputError, match="outside --grammar-root"):
            read(f'<seg grammar="{name}"> x </seg>', root=root)


def test_folders_must_exist(tmp_path):
    for option in ("folder", "root"):
        with pytest.raises(InputError, match="not a folder"):
            GrammarPlaces(**{option: tmp_path / "none"})


def test_invalid_utf8(read, tmp_path):
    with pytest.raises(InputError, match="in:2: invalid UTF-8 at byte 3"):
        read(b"a\nb \xff\n", for_all=True)

"""Files that are not plain text are refused with path and line, wherever sentences are read."""

import pytest

from itersel.base.errors import InputError
from itersel.cli import main
from itersel.evaluation.inputs import read_references, read_systems
from itersel.lists.compiler import _side_by_side
from itersel.shards.compiler import Corpus
from itersel.text.bitext import Bitext
from itersel.text.sentences import GrammarPlaces, read_sentences

SGML = [
    '<srcset setid="x" srclang="de">',
    '<doc docid="1">',
    '<DOC docid="1">',
    "</doc>",
    '<refset setid="x">',
    '<?xml version="1.0"?>',
    "<!DOCTYPE mteval SYSTEM 'x'>",
]
SEG = '<seg id="1"> ein haus </seg>'
PLF = "((('ein',0.5,1),('eine',0.5,1),),(('haus',1.0,1),),)"


@pytest.mark.parametrize("line", [*SGML, PLF])
def test_sentences_to_translate(tmp_path, line):
    (tmp_path / "in").write_text(f"ein haus\n{line}\n")
    with pytest.raises(InputError, match="in:2: this is"):
        list(read_sentences(tmp_path / "in", GrammarPlaces(for_all=True)))


@pytest.mark.parametrize("line", [*SGML, SEG, PLF])
def test_references_and_outputs(tmp_path, line):
    good, bad = str(tmp_path / "good"), str(tmp_path / "bad")
    (tmp_path / "good").write_text("ein haus\nein mann\n")
    (tmp_path / "bad").write_text(f"ein haus\n{line}\n")
    for read in (
        lambda: read_references([bad]),
        lambda: read_references([good, bad]),
        lambda: read_systems({"system": [bad]}, 2, good),
        lambda: list(_side_by_side([bad])),
        lambda: Corpus.read(good, [bad]),
    ):
        with pytest.raises(InputError, match="bad:2: this is"):
            read()


def test_a_bitext_is_refused_by_its_first_line(tmp_path):
    (tmp_path / "a").write_text('<srcset setid="x">\n')
    (tmp_path / "b").write_text("text\n")
    with pytest.raises(InputError, match="a:1: this is SGML"):
        list(Bitext(tmp_path / "a", tmp_path / "b"))


def test_words_that_look_a_little_like_markup_stay(tmp_path):
    lines = ["<document> x", "( ( ( a", "<b> fett </b>", "a <seg> b", "(((a"]
    (tmp_path / "in").write_text("\n".join(lines) + "\n")
    assert [one.text for one in read_sentences(tmp_path / "in", GrammarPlaces(for_all=True))] == lines


def test_a_second_grammar_is_refused(tmp_path):
    (tmp_path / "in").write_text('<seg id="0" grammar="g1" grammar1="g2">ein haus</seg>\n')
    with pytest.raises(InputError, match=r"in:1: the sentence has a second grammar \(grammar1\)"):
        list(read_sentences(tmp_path / "in", GrammarPlaces()))


@pytest.mark.parametrize("content", ["LM= 0.1\n", "a 1\nTM= 0.1 0.2\n", "[weight]\nLM0= 1\n"])
def test_weights_of_moses_are_not_taken_for_ours(tmp_path, capsys, content):
    (tmp_path / "weights").write_text(content)
    (tmp_path / "grammar").write_text("[X] ||| a ||| b\n")
    (tmp_path / "in").write_text("a\n")
    options = ["--weights", str(tmp_path / "weights"), "--grammar", str(tmp_path / "grammar")]
    assert main(["translate", str(tmp_path / "in"), *options]) == 2
    error = capsys.readouterr().err
    assert f"weights:{content.count(chr(10)) if 'TM' in content else 1}: " in error
    assert "itersel convert" in error


def test_bars_without_blanks_inside_a_list_are_refused(tmp_path):
    from itersel.lists.reader import read_lists

    (tmp_path / "lists").write_text("0 ||| a man |||lm=1 ||| -3\n")
    with pytest.raises(InputError, match=r"lists:1: \|\|\| inside a field"):
        next(read_lists([tmp_path / "lists"])).parse()

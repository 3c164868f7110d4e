"""`itersel translate` and its library: formats, inputs, processes, errors."""

import gzip
import io
import os
import re
from pathlib import Path

import pytest

from itersel import Decoder, Grammar, Hypothesis, Weights
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.cli import main
from itersel.decode.translator import GrammarOptions, Translator, translate
from itersel.lists.writer import format_kbest, format_number
from itersel.text.sentences import Sentence

DOCUMENT = Path(__file__).parents[3] / "docs" / "decoding.md"
GRAMMAR = """\
[X] ||| ein ||| a ||| p=0.25
[X] ||| ein ||| one ||| p=1
[X] ||| mann ||| man ||| p=0.5
[X] ||| [X,1] hut ||| hat [X,1] ||| p=0.125
"""
OTHER = "[X] ||| ein ||| eins ||| p=0\n"
ARPA = """\
\\data\\
ngram 1=5
ngram 2=1

\\1-grams:
-1\t<unk>
-99\t<s>\t-0.5
-1\t</s>
-0.75\ta\t-0.25
-2\tman

\\2-grams:
-0.125\ta man

\\end\\
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("grammars").mkdir()
    Path("g").write_text(GRAMMAR)
    Path("grammars/grammar.0").write_text(GRAMMAR)
    Path("grammars/grammar.1.gz").write_bytes(gzip.compress(OTHER.encode()))
    Path("lm.arpa").write_text(ARPA)
    Path("w").write_text("p -1\nGlue -0.5\nPassThrough -3\n")
    Path("plain").write_text("ein mann\nein\n\nmann hut neu\n")
    return tmp_path


@pytest.fixture
def call(folder, capsys):
    """Run the verb; returns exit code, standard output and standard error."""

    def run(*arguments):
        code = main(["translate", "--weights", "w", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_one_grammar_for_all(call):
    code, out, err = call("plain", "--grammar", "g")
    assert (code, out) == (0, "a man\na\n\nhat man neu\n")
    assert "translate: 4 sentences" in err


def test_standard_input(call):
    with open("plain", "rb") as stream:
        saved = os.dup(0)
        os.dup2(stream.fileno(), 0)
        try:
            code, out, _ = call("--grammar", "g")
        finally:
            os.dup2(saved, 0)
            os.close(saved)
    assert (code, out) == (0, "a man\na\n\nhat man neu\n")


def test_numbered_grammars(call):
    Path("in").write_text("ein\nein\n\n")
    assert call("in", "--grammars", "grammars")[:2] == (0, "a\neins\n\n")


def test_seg_lines(call):
    lines = ["<seg id='9' grammar='grammars/grammar.1.gz'> ein </seg>", '<seg grammar="g"> ein </seg>', "ein"]
    Path("in").write_text("\n".join(lines))
    code, out, _ = call("in", "--grammar", "grammars/grammar.0", "--kbest", "1")
    assert code == 0
    assert re.sub(r"-0\.43429\d*", "-0.4343", out) == (
        "9 ||| eins ||| WordPenalty=-0.4343 ||| 0\n"
        "1 ||| a ||| WordPenalty=-0.4343 p=0.25 ||| -0.25\n"
        "2 ||| a ||| WordPenalty=-0.4343 p=0.25 ||| -0.25\n"
    )


def test_seg_lines_in_another_folder(call):
    Path("sub").mkdir()
    Path("sub/in").write_text('<seg grammar="grammars/grammar.1.gz"> ein </seg>\n')
    assert call("sub/in", "--grammar-root", ".")[:2] == (0, "eins\n")
    code, out, err = call("sub/in")
    assert (code, out) == (2, "")
    assert "sub/grammars/grammar.1.gz: cannot read" in err
    assert "sentence 0 (sub/in:1)" in err


@pytest.mark.parametrize("options", [(), ("--kbest", "5"), ("--kbest", "5", "--format", "moses", "--features", "all")])
def test_jobs_do_not_change_a_byte(call, options):
    words = ["ein", "mann", "hut", "neu"]
    lines = [" ".join(words[(i * j) % 4] for j in range(1, 1 + i % 9)) for i in range(120)]
    Path("in").write_text("\n".join(lines) + "\n")
    for jobs in ("1", "3"):
        arguments = ("in", "--grammar", "g", "--lm", "lm.arpa", "--jobs", jobs, *options)
        assert call(*arguments, "--output", f"out.{jobs}.gz")[0] == 0
        Path(f"direct.{jobs}").write_text(call(*arguments)[1])
    assert Path("out.1.gz").read_bytes() == Path("out.3.gz").read_bytes()
    assert Path("direct.1").read_bytes() == Path("direct.3").read_bytes()
    assert gzip.decompress(Path("out.1.gz").read_bytes()) == Path("direct.1").read_bytes()
    assert len({line.split(" ||| ")[0] for line in Path("direct.1").read_text().splitlines()}) > 30


def test_list_formats():
    hypotheses = [
        Hypothesis("a man", -1.25, {"p": 1 / 3, "Glue": 1.0, "a=b": -0.0}),
        Hypothesis("", 1e-7, {}),
    ]
    assert format_kbest("x", hypotheses, "cdec") == (
        "x ||| a man ||| Glue=1 a=b=0 p=0.3333333333 ||| -1.25\nx |||  |||  ||| 1e-07\n"
    )
    assert format_kbest("x", hypotheses[:1], "moses") == "x ||| a man ||| Glue= 1 a=b= 0 p= 0.3333333333 ||| -1.25\n"
    with pytest.raises(ConfigError, match="unknown k-best format"):
        format_kbest("x", hypotheses, "xml")
    assert [format_number(value) for value in (0.1, 12345678.5, 2.0, -15.856145143508911)] == [
        "0.1",
        "12345678.5",
        "2",
        "-15.85614514",
    ]


def test_unique(call):
    Path("g").write_text(GRAMMAR + "[X] ||| ein mann ||| a man ||| p=2\n")
    Path("in").write_text("ein mann\n")

    def texts(*options):
        out = call("in", "--grammar", "g", "--kbest", "9", *options)[1]
        return [line.split(" ||| ")[1] for line in out.splitlines()]

    assert texts() == texts("--unique") == ["a man", "one man"]
    assert sorted(texts("--no-unique")) == ["a man", "a man", "one man"]


def test_lists_of_empty_sentences(call):
    Path("in").write_text("\n")
    assert call("in", "--grammar", "g", "--kbest", "3")[:2] == (0, "0 |||  |||  ||| 0\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_empty_input(call, jobs):
    Path("in").touch()
    assert call("in", "--grammar", "g", "--jobs", jobs, "--output", "out")[0] == 0
    assert Path("out").read_bytes() == b""


def test_search_options(call):
    assert call("plain", "--grammar", "g", "--pass-through", "all", "--span-limit", "0", "--pop-limit", "0")[0] == 0
    Path("labels").write_text(GRAMMAR.replace("[X", "[N"))
    assert call("plain", "--grammar", "labels", "--nonterminal", "N", "--goal", "TOP")[:2] == (
        0,
        "a man\na\n\nhat man neu\n",
    )


def test_a_weight_for_no_model_is_noticed(call):
    Path("w").write_text("LanguageModel 1\n")
    assert "no --lm" in call("plain", "--grammar", "g")[2]
    assert "no --lm" not in call("plain", "--grammar", "g", "--lm", "lm.arpa")[2]


@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize(
    ("arguments", "file", "content", "expected"),
    [
        (["in"], "in", b"<seg grammar='g'> ein </seg>\nein\n", "in:2: this line names no grammar"),
        (["in"], "in", b"<seg grammar='none.gz' id='4'> a </seg>\n", r"none.gz: cannot read: No such .*sentence 4 "),
        (["in"], "in", b"<seg grammar='g'> a\n", "in:1: </seg> is missing"),
        (["in"], "in", b"<seg grammar='../g'> a </seg>\n", r"in:1: .*outside.*\n.*--grammar-root"),
        (["in", "--grammar", "g"], "in", b"ein\nmann \xff\n", "in:2: invalid UTF-8"),
        (["in", "--grammar", "g"], "in", b"ein ||| one\n", r"in:1: \|\|\| separates the fields"),
        (["in", "--grammar", "g"], "in", b"ein\n" + b"x " * 32001, r"in:2: sentence 1: the sentence has 32001 words"),
        (["in", "--grammars", "grammars"], "in", b"a\nb\nc\n", "in:3: there is no grammar.2 or grammar.2.gz"),
        (["plain", "--grammars", "grammars"], "grammars/grammar.1.gz", b"[X] ||| a\n", r"grammar.1.gz:1: .*sentence 1"),
        (["plain", "--grammars", "grammars"], "grammars/grammar.0", b"\n[X ||| a\n", r"grammar.0:2: .*\(plain:1\)"),
        (["plain", "--grammars", "grammars"], "grammars/grammar.0", b"\xff\n", "grammar.0:1: invalid UTF-8"),
        (["plain", "--grammar", "bad"], "bad", gzip.compress(GRAMMAR.encode(), mtime=0)[:-9], "bad: damaged gzip"),
        (["plain", "--grammar", "bad"], "bad", GRAMMAR.encode() + b"[X] ||| a\n", "bad:5: "),
        (["plain", "--grammar", "none"], "x", b"", "none: cannot read"),
        (["none", "--grammar", "g"], "x", b"", "none: cannot read"),
        (["plain", "--grammars", "none"], "x", b"", r"none: not a folder\n.*--grammars"),
        (["plain", "--grammar", "g"], "w", b"p -1\np\n", "w:2: "),
        (["plain", "--grammar", "g"], "w", b"p one\n", "w:1: "),
        (["plain", "--grammar", "g", "--lm", "bad"], "bad", b"\\data\\\nngram 1=x\n", "bad: not a readable ARPA"),
        (["plain", "--grammar", "g", "--lm", "none"], "x", b"", "none: cannot read"),
        (["plain", "--grammar", "g", "--features", "magic"], "x", b"", "unknown feature group 'magic'"),
        (["plain", "--grammar", "g", "--kbest", "0"], "x", b"", "kbest is 0"),
        (["plain", "--grammar", "g", "--pop-limit", "-1"], "x", b"", "pop_limit is -1"),
        (["plain", "--grammar", "g", "--goal", "[S]"], "x", b"", r"goal is '\[S\]'"),
        (["plain", "--grammar", "g", "--format", "cdec"], "x", b"", "--kbest"),
    ],
)
def test_errors(call, jobs, arguments, file, content, expected):
    Path(file).write_bytes(content)
    code, out, err = call("--jobs", jobs, "--output", "out/made", *arguments)
    assert code == 2, err
    assert re.search(r"itersel translate: error: (.|\n)*" + expected, err), err
    assert "Traceback" not in err
    assert out == ""
    assert not Path("out").exists() or os.listdir("out") == []


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_what_precedes_an_error_is_written(call, jobs):
    Path("in").write_text("ein\n" * 50 + "<seg> ein\n" + "ein\n" * 50)
    code, out, err = call("in", "--grammar", "g", "--jobs", jobs)
    assert (code, out) == (2, "a\n" * 50)
    assert "in:51: " in err


def test_impossible_outputs(call):
    Path("file").touch()
    Path("folder").mkdir()
    for output in ("folder", "file/out"):
        code, _, err = call("plain", "--grammar", "g", "--output", output)
        assert code == 2
        assert f"{output}: cannot write" in err


def test_usage_errors(call):
    for wrong in (
        ["--grammar", "g", "--grammars", "grammars"],
        ["--jobs", "two"],
        ["--jobs", "0"],
        ["--pass-through", "some"],
    ):
        with pytest.raises(SystemExit) as caught:
            call("plain", *wrong)
        assert caught.value.code == 2


def test_a_terminal_shows_translations_only(folder, monkeypatch, capsys):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    shown = Terminal(io.BytesIO())
    monkeypatch.setattr("sys.stdout", shown)
    assert main(["translate", "plain", "--grammar", "g", "--weights", "w"]) == 0
    assert shown.buffer.getvalue() == b"a man\na\n\nhat man neu\n"
    assert capsys.readouterr().err == ""


def test_library():
    decoder = Decoder(Weights({"p": -1.0}))
    grammar = Grammar(GRAMMAR.encode())
    sentences = [Sentence("a", "ein mann"), Sentence("b", " ")]
    first, second = translate(sentences, Translator(decoder, grammar), jobs=2)
    assert (first.id, first.text, first.hypotheses) == ("a", "a man", [])
    assert (second.id, second.best_line()) == ("b", "\n")
    (listed,) = translate(sentences[:1], Translator(decoder, grammar, kbest=2))
    assert [one.text for one in listed.hypotheses] == ["a man", "one man"]
    assert format_kbest(listed.id, listed.hypotheses).startswith("a ||| a man ||| ")
    with pytest.raises(InputError, match="there is no grammar"):
        list(translate(sentences, Translator(decoder)))
    with pytest.raises(ConfigError, match="nonterminal is ''"):
        GrammarOptions(nonterminal="")


def test_memory_that_runs_out_is_no_traceback():
    class Greedy(Decoder):
        def translate(self, sentence, grammar):
            raise MemoryError

    with pytest.raises(ResourceError, match=r"memory ran out at sentence a \(in:1\)"):
        Translator(Greedy(Weights()), Grammar(b""))(Sentence("a", "ein", None, "in:1"))


def test_a_grammar_in_a_row_is_read_once(folder, monkeypatch):
    read = []
    original = GrammarOptions.read
    monkeypatch.setattr(GrammarOptions, "read", lambda self, path: read.append(path) or original(self, path))
    translator = Translator(Decoder(Weights()))
    for name in ("g", "g", "grammars/grammar.0", "g"):
        translator(Sentence("0", "ein", Path(name)))
    assert list(map(str, read)) == ["g", "grammars/grammar.0", "g"]


def test_the_documented_example_works(folder, capsys):
    text = DOCUMENT.read_text()
    files = dict(re.findall(r"`([\w.]+)`:\n\n```\n(.*?)```", text, re.DOTALL))
    assert set(files) == {"grammar.txt", "weights.txt", "input.sgm"}
    for name, content in files.items():
        Path(name).write_text(content)
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(program, str(DOCUMENT), "exec"), {})
    (shown,) = re.findall(r"prints\n\n```\n(.*?)```", text, re.DOTALL)
    assert capsys.readouterr().out == shown

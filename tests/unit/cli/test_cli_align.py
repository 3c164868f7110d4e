"""`itersel align`: outputs, and nothing left behind by bad input."""

import gzip
import hashlib
import json
import os

import pytest

from itersel.align import aligner as align
from itersel.base.errors import UserError
from itersel.cli import main

SOURCE, TARGET = "das haus\nder hund .\n", "the house\nthe dog .\n"


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run the verb in a fresh folder with these files; returns exit code and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(*options, **files):
        for name, text in {"de": SOURCE, "en": TARGET, **files}.items():
            (tmp_path / name).write_text(text)
        code = main(["align", "--source", "de", "--target", "en", *options])
        return code, capsys.readouterr()

    return run


def outputs(tmp_path):
    return sorted(os.listdir(tmp_path / "out")) if (tmp_path / "out").exists() else []


def test_eflomal_twice_gives_the_same_bytes(call, tmp_path):
    contents = []
    for _ in range(2):
        code, _ = call("--output", "out/align", "--lexicon", "out/lex.gz", "--summary", "out/summary")
        assert code == 0
        contents.append([(tmp_path / "out" / name).read_bytes() for name in outputs(tmp_path)])
    summary = json.loads((tmp_path / "out/summary").read_text())
    assert summary["pairs"] == 2
    assert summary["links_from"].startswith("eflomal 2.")
    assert summary["sha256"] == hashlib.sha256((tmp_path / "out/align").read_bytes()).hexdigest()
    assert len((tmp_path / "out/align").read_text().splitlines()) == 2
    if summary["deterministic"]:
        assert contents[0] == contents[1]


def test_links_of_another_aligner(call, tmp_path):
    files = {"f": "0-0 1-1\n0-0 1-1\n", "r": "0-0\n0-0 2-2\n"}
    assert call("--forward", "f", "--reverse", "r", "--output", "out/a", **files)[0] == 0
    assert (tmp_path / "out/a").read_text() == "0-0 1-1\n0-0 1-1 2-2\n"
    options = ["--method", "intersection"]
    assert call("--forward", "f", "--reverse", "r", "--output", "out/a", *options, **files)[0] == 0
    assert (tmp_path / "out/a").read_text() == "0-0\n0-0\n"


def test_given_links_make_a_lexicon(call, tmp_path):
    assert call("--given", "g", "--lexicon", "out/lex.gz", g="1-1 0-0\n1-1 0-0\n")[0] == 0
    lines = gzip.decompress((tmp_path / "out/lex.gz").read_bytes()).decode().splitlines()
    assert lines == [
        ". __NULL__ 1 1",
        "__NULL__ . 1 1",
        "das the 1 0.5",
        "der the 1 0.5",
        "haus house 1 1",
        "hund dog 1 1",
    ]
    code, said = call("--given", "g", g="\n0-0\n")
    assert (code, said.out) == (0, "align: 1 links in 2 pairs, 1 pairs without links\n")


@pytest.mark.parametrize(
    ("options", "files", "message"),
    [
        (["--given", "g"], {"g": "0-0\n0-3\n"}, "error: g:2: link 0-3 points beyond the target sentence"),
        (["--given", "g"], {"g": "0-0\n0-x\n"}, "error: g:2: not a link: '0-x'"),
        (["--given", "g"], {"g": "0-0\n"}, "error: g:2: the alignment ends after 1 lines"),
        (
            ["--forward", "f", "--reverse", "r"],
            {"f": "\n\n", "r": "\n\n\n"},
            "error: r:3: the alignment continues",
        ),
        (["--forward", "f"], {"f": "\n\n"}, "wrong combination of --forward, --reverse and --given"),
        (["--joint", "de"], {}, "wrong combination of --source, --target and --joint"),
        (["--samplers", "0"], {}, "0 samplers"),
        ([], {"en": "a\n"}, "error: en:2: ends after 1 lines"),
        ([], {"en": ""}, "error: en: the file is empty"),
        (["--given", "g"], {"en": "a\n__NULL__\n", "g": "\n\n"}, "error: en:2: the text contains __NULL__"),
        (["--source", "-"], {}, "standard input cannot be read twice"),
    ],
)
def test_bad_input_leaves_nothing(call, tmp_path, options, files, message):
    code, said = call(*options, "--output", "out/align", "--lexicon", "out/lex", **files)
    assert code == 2
    assert message in said.err
    assert "Traceback" not in said.err
    assert outputs(tmp_path) == []


def test_nothing_to_write(call):
    code, said = call()
    assert code == 2
    assert "nothing to write" in said.err


def test_a_failing_aligner_leaves_nothing(call, tmp_path, monkeypatch):
    def fail(*_):
        raise UserError("eflomal failed")

    monkeypatch.setattr(align, "_run_both", fail)
    code, said = call("--output", "out/align")
    assert code == 2
    assert "eflomal failed" in said.err
    assert outputs(tmp_path) == []


def test_an_eflomal_without_a_seed_is_reported(call, tmp_path, monkeypatch):
    monkeypatch.setattr(align, "_seeded_copy", lambda *_: False)
    code, said = call("--output", "out/align", "--summary", "out/summary")
    assert code == 0
    assert "cannot be seeded" in said.err
    assert json.loads((tmp_path / "out/summary").read_text())["deterministic"] is False

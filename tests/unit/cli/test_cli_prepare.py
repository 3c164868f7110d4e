"""`itersel prepare`: outputs, and nothing left behind by bad input."""

import errno
import gzip
import json
import os

import pytest

from itersel.cli import main


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run the verb in a fresh folder on these texts; returns exit code and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(source, target, *options):
        for name, text in (("de", source), ("en", target)):
            if text is not None:
                (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        arguments = ["prepare", "--output-source", "out/de", "--output-target", "out/en.gz"]
        if target is not None:
            arguments += ["--source", "de", "--target", "en"]
        code = main([*arguments, *options])
        return code, capsys.readouterr()

    return run


def outputs(tmp_path):
    return sorted(os.listdir(tmp_path / "out")) if (tmp_path / "out").exists() else []


def test_everything(call, tmp_path):
    options = ["--tokenize-source", "de", "--tokenize-target", "en", "--lowercase"]
    options += ["--kept", "out/kept", "--summary", "out/summary.json"]
    code, said = call("Ja.\n\nEin Haus, ja\n", "It's so.\nNo\nA house, yes\n", *options)
    assert code == 0
    assert (tmp_path / "out/de").read_text() == "ja .\nein haus , ja\n"
    assert gzip.decompress((tmp_path / "out/en.gz").read_bytes()).decode() == "it 's so .\na house , yes\n"
    assert (tmp_path / "out/kept").read_text() == "1\n3\n"
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["read"], summary["kept"], summary["dropped"]["empty"]) == (3, 2, 1)
    assert summary["source_cleaning"]["language"] == "de"
    assert "kept 2 of 3 pairs" in said.out
    assert outputs(tmp_path) == ["de", "en.gz", "kept", "summary.json"]


def test_tokenised_text_passes_untouched_and_again(call, tmp_path):
    text = 'it \'s so-called " text " .\nB c d\n'
    assert call(text, text)[0] == 0
    assert (tmp_path / "out/de").read_text() == text


def test_joint(call, tmp_path):
    (tmp_path / "joint").write_text("a ||| b\n")
    assert call(None, None, "--joint", "joint")[0] == 0
    assert (tmp_path / "out/de").read_text() == "a\n"


def test_one_side_alone_keeps_every_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "de").write_text("Ja.\n\n" + "x " * 500 + "\n")
    arguments = ["prepare", "--source", "de", "--tokenize-source", "de", "--output-source", "out/de"]
    assert main([*arguments, "--summary", "out/summary"]) == 0
    assert (tmp_path / "out/de").read_text() == "Ja .\n\n" + "x " * 499 + "x\n"
    assert json.loads((tmp_path / "out/summary").read_text())["source_tokens"] == 502
    assert main([*arguments, "--output-target", "out/en"]) == 2
    assert "do not fit" in capsys.readouterr().err
    (tmp_path / "de").write_text("a\n|||\n")
    assert main(["prepare", "--source", "de", "--output-source", "out/de"]) == 2
    assert "de:2: a token contains |||" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "target", "options", "message"),
    [
        ("a\nb\n", "a\n", [], "error: en:2: ends after 1 lines, but de continues"),
        (b"a\n\xe4\n", "a\nb\n", [], "error: de:2: invalid UTF-8"),
        ("a\n", "", [], "error: en: the file is empty"),
        ("x\ny\n", "a\nb ||| c\n", [], "error: en:2: a token contains |||"),
        ("\n", "\n", [], "error: de: no pair is left"),
        (gzip.compress(b"a\n" * 999, mtime=0)[:-9], "a\n" * 999, [], "error: de: damaged gzip data"),
        ("a\n", "a\n", ["--max-ratio", "0.1"], "length ratio is 0.1"),
        ("a\n", "a\n", ["--joint", "de"], "wrong combination of --source, --target and --joint"),
        ("a\n", "a\n", ["--kept", "out/de"], "two outputs have this name"),
        ("a\n", "a\n", ["--kept", "/dev/full"], "not a regular file"),
        ("a\n", "a\n", ["--kept", "de/kept"], "error: de/kept: cannot write"),
        ("a\n", "a\n", ["--source", "none"], "error: none: cannot read"),
    ],
)
def test_bad_input_leaves_nothing(call, tmp_path, source, target, options, message):
    code, said = call(source, target, *options)
    assert code == 2
    assert message in said.err
    assert "Traceback" not in said.err
    assert outputs(tmp_path) == []


def test_full_disk_leaves_the_earlier_outputs(call, tmp_path, monkeypatch):
    assert call("a\n", "b\n")[0] == 0

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, said = call("c\n", "d\n")
    assert code == 1
    assert "No space left on device" in said.err
    assert outputs(tmp_path) == ["de", "en.gz"]
    assert (tmp_path / "out/de").read_text() == "a\n"

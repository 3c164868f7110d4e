"""Standard output that is closed or full, an interrupt at the start, halves of characters: an error, no traceback."""

import os
import subprocess
import sys

import pytest

import itersel.cli
from itersel.cli import main

ITERSEL = [sys.executable, "-m", "itersel"]


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "weights"
    path.write_text("a 1\n")
    return path


def call(command, redirection):
    shell = ["sh", "-c", f'"$@" {redirection}', "sh", *ITERSEL, *map(str, command)]
    done = subprocess.run(shell, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", [["inspect"], ["--version"]], ids=" ".join)
def test_standard_output_is_closed_or_full(weights, command):
    command = [*command, weights] if command == ["inspect"] else command
    code, said = call(command, ">&-")
    assert (code, "standard output is closed" in said) == (2, True)
    code, said = call(command, ">/dev/full")
    assert (code, "cannot write to standard output: No space left on device" in said) == (1, True)


def test_standard_error_is_closed(weights):
    assert call(["inspect", weights], "2>&-") == (0, "")


def test_interrupted_before_the_verb_runs(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(itersel.cli, "build_parser", interrupted)
    assert main(["lm"]) == 130
    assert capsys.readouterr().err == "itersel: interrupted\n"


def test_half_a_character_in_json_is_named(tmp_path, weights, capsys):
    good = '{"id": 0, "text": "\\ud83d\\ude00", "features": {"a": 1}, "score": 1}\n'
    (tmp_path / "lists").write_text(good + good.replace("\\ude00", ""))
    command = ["rerank", "apply", str(tmp_path / "lists"), "--weights", str(weights), "--output"]
    assert main([*command, str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "lists:2: not JSON: \\ud83d is half a surrogate pair" in said
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_no_text(tmp_path, weights, capsys):
    name = os.fsdecode(b"weights-\xff")
    (tmp_path / name).write_bytes(weights.read_bytes())
    assert main(["inspect", str(tmp_path / name)]) == 2
    assert "weights-\\udcff' is not UTF-8" in capsys.readouterr().err

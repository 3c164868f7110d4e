"""Completion scripts in the shells they are for: bash always, zsh and fish where they are installed."""

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from itersel.cli import VERBS, build_parser, main
from itersel.cli.completion import script
from itersel.engines import RUNNERS

CAPTURE = Path(__file__).parent / "capture.zsh"
CASES = [
    ("", set(VERBS), {"apply"}),
    ("re", {"rerank"}, {"train"}),
    ("--v", {"--version"}, {"--log-json"}),
    ("rerank ", {"train", "apply"}, {"translate"}),
    ("rerank train --al", {"--algorithm"}, {"--epochs"}),
    ("train --runner ", set(RUNNERS), {"--epochs"}),
    ("--log-json train --runner mrjob", {"mrjob-inline", "mrjob-local"}, {"hadoop"}),
    ("rerank apply --", {"--weights", "--one-best"}, {"--algorithm"}),
    ("translate --pass-through ", {"all", "unknown"}, {"--weights"}),
    ("completion ", {"bash", "zsh", "fish"}, {"train"}),
    ("translate --lm file", {"file 1.txt", "file_folder"}, {"other"}),
    ("train --output f", {"folder"}, {"file 1.txt"}),
    ("translate fi", {"file 1.txt"}, {"folder"}),
    ("train --epochs ", set(), {"file 1.txt", "--epochs"}),
]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "file 1.txt").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file_folder").mkdir()
    (tmp_path / "other").write_text("")
    return tmp_path


def offered(shell, text, place):
    """What a shell offers for a command line that ends with `text`."""
    words = ["itersel", *text.split(" ")]
    (place / "_itersel").write_text(script(build_parser(), shell))
    if shell == "bash":
        code = "source ./_itersel; COMP_WORDS=({}); COMP_CWORD={}; $(complete -p itersel | sed 's/.*-F //; s/ .*//')"
        code = code.format(" ".join(map(shlex.quote, words)), len(words) - 1)
        command = ["bash", "-c", code + "; printf '%s\\n' \"${COMPREPLY[@]}\""]
    elif shell == "fish":
        command = ["fish", "--no-config", "-c", f"source ./_itersel; complete -C {shlex.quote(' '.join(words))}"]
    else:
        command = ["zsh", "-f", str(CAPTURE), " ".join(words)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    return {line.split("\t")[0].rstrip("/") for line in done.stdout.splitlines() if line}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_offers_what_can_come_next(shell, place):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for text, expected, excluded in CASES:
        found = {one.replace("\\ ", " ") for one in offered(shell, text, place)}
        assert expected <= found, text
        assert not excluded & found, text
        if not expected:
            assert not found, text


def test_knows_every_option(capsys):
    scripts = {shell: script(build_parser(), shell) for shell in ("bash", "zsh", "fish")}
    for parser in _parsers(build_parser()):
        for flag in parser._option_string_actions:
            assert flag in scripts["bash"] and flag in scripts["zsh"]
            assert f"-l {flag[2:]}" in scripts["fish"] or f"-s {flag[1:]}" in scripts["fish"], flag
    assert main(["completion", "fish"]) == 0
    assert capsys.readouterr().out == scripts["fish"]


def _parsers(parser):
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _parsers(below)


def test_no_other_verb_waits_for_the_library():
    code = "import sys; from itersel.cli import build_parser; build_parser(); sys.exit('shtab' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_new_verb_needs_no_change_here():
    parser = argparse.ArgumentParser(prog="itersel")
    verb = parser.add_subparsers().add_parser("sing", help="it's a 'song': loud")
    verb.add_argument("--key", choices=("minor", "major"), help="100%% (default: %(default)s)")
    for shell in ("bash", "zsh", "fish"):
        text = script(parser, shell)
        assert "sing" in text and "minor" in text and "major" in text
        if shutil.which(shell):
            assert subprocess.run([shell, "-n"], input=text, text=True, capture_output=True).returncode == 0

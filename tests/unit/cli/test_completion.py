"""Completion scripts in the shells they are for: bash always, zsh and fish where they are installed."""

import argparse
import shlex
import shutil
import subprocess

import pytest

from itersel.algorithms.plan import PLANS
from itersel.cli import VERBS, build_parser, main
from itersel.cli.completion_scripts import commands, script

CASES = [
    ("", set(VERBS), {"apply"}),
    ("re", {"rerank"}, {"train"}),
    ("--v", {"--version"}, {"--log-json"}),
    ("rerank ", {"train", "apply"}, {"translate"}),
    ("rerank train --al", {"--algorithm"}, {"--epochs"}),
    ("train --algorithm ", set(PLANS), {"--epochs"}),
    ("--log-json train --algorithm iter", {"iter_mix_sgd", "iter_sel_sgd"}, {"sgd"}),
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
    (place / "script").write_text(script(build_parser(), shell))
    words = ["itersel", *text.split(" ")]
    if shell == "bash":
        code = "source ./script; COMP_WORDS=({}); COMP_CWORD={}; _itersel; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        code = code.format(" ".join(map(shlex.quote, words)), len(words) - 1)
        command = ["bash", "-c", code]
    elif shell == "fish":
        command = ["fish", "--no-config", "-c", f"source ./script; complete -C {shlex.quote(' '.join(words))}"]
    else:
        # The functions that talk to the line editor print what they are given instead.
        code = """
        compdef() { :; }
        compadd() { shift; local one; for one; do [[ $one == $PREFIX* ]] && print -r -- $one; done }
        _describe() { local one; for one in "${(@P)@[-1]}"; do [[ $one == $PREFIX* ]] && print -r -- ${one%%:*}; done }
        _files() { if [[ $1 == -/ ]]; then print -rl -- $PREFIX*(N/); else print -rl -- $PREFIX*(N); fi }
        source ./script
        """
        code += f"words=({' '.join(map(shlex.quote, words))}); CURRENT={len(words)}; PREFIX={shlex.quote(words[-1])}\n"
        command = ["zsh", "-f", "-c", code + "_itersel"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=60)
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
    known = {one.name: one for one in commands(build_parser())}
    assert {f"itersel {verb}" for verb in VERBS} | {"itersel", "itersel rerank apply"} <= set(known)
    for name, one in known.items():
        parser = build_parser()
        for word in name.split()[1:]:
            action = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
            parser = action.choices[word]
        flags = {flag for option in one.options for flag in option.flags}
        assert flags == set(parser._option_string_actions), name
        for shell in ("bash", "zsh"):
            text = script(build_parser(), shell)
            assert all(flag in text for flag in flags)
    assert main(["completion", "fish"]) == 0
    assert capsys.readouterr().out == script(build_parser(), "fish")


def test_a_new_verb_needs_no_change_here():
    parser = argparse.ArgumentParser(prog="itersel")
    verb = parser.add_subparsers().add_parser("sing", help="it's a 'song': loud")
    verb.add_argument("--key", choices=("minor", "major"), help="100%% (default: %(default)s)")
    for shell in ("bash", "zsh", "fish"):
        text = script(parser, shell)
        assert "sing" in text and "minor major" in text.replace("' '", " ")
        if shutil.which(shell):
            assert subprocess.run([shell, "-n"], input=text, text=True, capture_output=True).returncode == 0

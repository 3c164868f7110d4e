"""Print a script that makes a shell complete verbs, options, choices and file names of itersel.

bash: itersel completion bash > ~/.local/share/bash-completion/completions/itersel
zsh:  itersel completion zsh > ~/.zfunc/_itersel     (a folder of $fpath)
fish: itersel completion fish > ~/.config/fish/completions/itersel.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

SUMMARY = "print a completion script for a shell"
EXAMPLE = """\
  itersel completion bash > itersel.bash && source ./itersel.bash"""

SHELLS = ("bash", "zsh", "fish")
FOLDERS = ("DIR",)
FILES = ("FILE", "CONFIG.yaml", "PLACE", "RUN", "TABLE")
"""Metavariables of arguments that name files; those of folders are FOLDERS."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(args: argparse.Namespace) -> None:
    from itersel.cli import build_parser  # here, because that module imports this one

    print(script(build_parser(), args.shell), end="")


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script for one of SHELLS, made from the argument parser: it knows every verb and option."""
    import shtab  # no other verb needs it

    for action in _actions(parser):
        if isinstance(action.choices, Mapping):
            action.choices = tuple(action.choices)  # shtab takes a mapping for verbs
        elif action.choices is None and action.nargs != 0:
            name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
            if name in (*FOLDERS, *FILES):
                action.complete = shtab.DIRECTORY if name in FOLDERS else shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All arguments of the parser and those below it, without the verbs themselves."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
        else:
            yield action

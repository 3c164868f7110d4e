"""Print a script that makes a shell complete verbs, options, choices and file names of itersel.

bash: itersel completion bash > ~/.local/share/bash-completion/completions/itersel
zsh:  itersel completion zsh > ~/.zfunc/_itersel     (a folder of $fpath)
fish: itersel completion fish > ~/.config/fish/completions/itersel.fish
"""

from __future__ import annotations

import argparse

from itersel.cli.completion_scripts import SHELLS, script

SUMMARY = "print a completion script for a shell"
EXAMPLE = """\
  itersel completion bash > itersel.bash && source ./itersel.bash"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(args: argparse.Namespace) -> None:
    from itersel.cli import build_parser  # here, because that module imports this one

    print(script(build_parser(), args.shell), end="")

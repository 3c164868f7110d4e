"""Shell completion scripts, made from the argument parser, so that they know every verb, option and choice.

In: the parser. Out: a script for bash, zsh or fish. A script walks over the words typed so far to find the command at
hand (`itersel rerank train`) and then offers its verbs, options, choices, folders or files.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

FOLDERS = ("DIR",)
FILES = ("FILE", "CONFIG.yaml", "PLACE", "RUN", "TABLE")
"""Metavariables of arguments that name files; those of folders are FOLDERS."""


@dataclass(frozen=True)
class Argument:
    """What may follow: one of some words, a folder, a file, or anything."""

    choices: tuple[str, ...] = ()
    kind: str = "any"


@dataclass(frozen=True)
class Option:
    flags: tuple[str, ...]
    help: str
    argument: Argument | None
    """None: a switch."""


@dataclass(frozen=True)
class Command:
    """A parser: the program itself, a verb, or a verb's action."""

    path: tuple[str, ...]
    options: tuple[Option, ...]
    commands: tuple[tuple[str, str], ...]
    """Names and summaries of the next level."""
    argument: Argument | None
    """Of the first positional argument."""

    @property
    def name(self) -> str:
        return " ".join(self.path)


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """The parser and all below it."""
    path = path or (parser.prog,)
    options, below, argument = [], dict[str, argparse.ArgumentParser](), None
    summaries: list[tuple[str, str]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = dict(action.choices)
            summaries = [(one.dest, one.help or "") for one in action._choices_actions]
        elif action.option_strings:
            given = None if action.nargs == 0 else _argument(action)
            options.append(Option(tuple(action.option_strings), _plain(action.help), given))
        elif argument is None:
            argument = _argument(action)
    yield Command(path, tuple(options), tuple(summaries), argument)
    for name, one in below.items():
        yield from commands(one, (*path, name))


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The completion script for one of SHELLS."""
    return SHELLS[shell](list(commands(parser)))


def _argument(action: argparse.Action) -> Argument:
    if action.choices is not None:
        return Argument(tuple(map(str, action.choices)))
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    return Argument(kind="folder" if name in FOLDERS else "file" if name in FILES else "any")


def _plain(text: str | None) -> str:
    """A help text in one line, without its placeholders."""
    return " ".join((text or "").split("(default")[0].split())


def _quoted(text: str) -> str:
    """In single quotes, for all three shells."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"


def _patterns(every: Sequence[Command], wanted: Callable[[Argument], bool]) -> list[str]:
    """`command flag` for each option whose argument is wanted."""
    return [
        _quoted(f"{command.name} {flag}")
        for command in every
        for option in command.options
        if option.argument is not None and wanted(option.argument)
        for flag in option.flags
    ]


def _choices(every: Sequence[Command]) -> dict[tuple[str, ...], list[str]]:
    """Choices with the options that have them."""
    found: dict[tuple[str, ...], list[str]] = {}
    for command in every:
        for option in command.options:
            if option.argument is not None and option.argument.choices:
                found.setdefault(option.argument.choices, []).extend(
                    _quoted(f"{command.name} {flag}") for flag in option.flags
                )
    return found


def bash(every: Sequence[Command]) -> str:
    below = "|".join(_quoted(one.name) for one in every[1:])
    lines = [
        "# bash completion for itersel; put it where bash finds it:",
        "#   itersel completion bash > ~/.local/share/bash-completion/completions/itersel",
        "_itersel() {",
        '  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command="itersel" word',
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        f'    case "$command $word" in {below}) command="$command $word" ;; esac',
        "  done",
        "  COMPREPLY=()",
        '  case "$command $before" in',
    ]
    for choices, patterns in _choices(every).items():
        lines.append(f"    {'|'.join(patterns)})")
        lines.append(f'      COMPREPLY=($(compgen -W {_quoted(" ".join(choices))} -- "$current")); return ;;')
    for kind, how in (("folder", "-d"), ("file", "-f")):
        patterns = _patterns(every, lambda one, kind=kind: one.kind == kind and not one.choices)  # type: ignore[misc]
        if patterns:
            lines.append(f"    {'|'.join(patterns)})")
            lines.append("      compopt -o filenames 2>/dev/null")
            lines.append(f"      local IFS=$'\\n'; COMPREPLY=($(compgen {how} -- \"$current\")); return ;;")
    anything = _patterns(every, lambda one: one.kind == "any" and not one.choices)
    if anything:
        lines.append(f"    {'|'.join(anything)}) return ;;")
    lines += ["  esac", "  local options= words=", '  case "$command" in']
    for one in every:
        flags = " ".join(flag for option in one.options for flag in option.flags)
        words = [name for name, _ in one.commands] or (one.argument.choices if one.argument else ())
        lines.append(f"    {_quoted(one.name)}) options={_quoted(flags)} words={_quoted(' '.join(words))} ;;")
    lines += [
        "  esac",
        "  if [[ $current == -* ]]; then",
        '    COMPREPLY=($(compgen -W "$options" -- "$current"))',
        "  elif [[ -n $words ]]; then",
        '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
        "  else",
        "    compopt -o filenames 2>/dev/null",
        "    local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$current\"))",
        "  fi",
        "}",
        "complete -F _itersel itersel",
    ]
    return "\n".join(lines) + "\n"


def zsh(every: Sequence[Command]) -> str:
    below = "|".join(_quoted(one.name) for one in every[1:])
    lines = [
        "#compdef itersel",
        "# zsh completion for itersel; put it where zsh finds it, as a file named _itersel in a folder of $fpath",
        "_itersel() {",
        '  local command="itersel" word before=${words[CURRENT-1]}',
        "  local -a offered",
        '  for word in "${(@)words[2,CURRENT-1]}"; do',
        f'    case "$command $word" in {below}) command="$command $word" ;; esac',
        "  done",
        '  case "$command $before" in',
    ]
    for choices, patterns in _choices(every).items():
        lines.append(f"    {'|'.join(patterns)}) compadd -- {' '.join(map(_quoted, choices))}; return ;;")
    for kind, how in (("folder", "_files -/"), ("file", "_files")):
        patterns = _patterns(every, lambda one, kind=kind: one.kind == kind and not one.choices)  # type: ignore[misc]
        if patterns:
            lines.append(f"    {'|'.join(patterns)}) {how}; return ;;")
    anything = _patterns(every, lambda one: one.kind == "any" and not one.choices)
    if anything:
        lines.append(f"    {'|'.join(anything)}) return ;;")
    lines += ["  esac", "  if [[ $PREFIX == -* ]]; then", '    case "$command" in']
    for one in every:
        described = [_quoted(f"{flag}:{_colons(option.help)}") for option in one.options for flag in option.flags]
        lines.append(f"      {_quoted(one.name)}) offered=({' '.join(described)}) ;;")
    lines += ["    esac", "    _describe -o option offered", "    return", "  fi", '  case "$command" in']
    for one in every:
        choices = one.argument.choices if one.argument else ()
        named = [_quoted(f"{name}:{_colons(text)}") for name, text in one.commands] or [_quoted(c) for c in choices]
        if named:
            lines.append(f"    {_quoted(one.name)}) offered=({' '.join(named)}); _describe argument offered ;;")
    lines += ["    *) _files ;;", "  esac", "}", 'if [[ $funcstack[1] == _itersel ]]; then _itersel "$@"; else']
    lines += ["  compdef _itersel itersel", "fi"]
    return "\n".join(lines) + "\n"


def fish(every: Sequence[Command]) -> str:
    below = " ".join(_quoted(one.name) for one in every[1:])
    lines = [
        "# fish completion for itersel: itersel completion fish > ~/.config/fish/completions/itersel.fish",
        "function __itersel_at",
        "  set -l command itersel",
        "  for word in (commandline -opc)[2..-1]",
        f'    contains -- "$command $word" {below}; and set command "$command $word"',
        "  end",
        '  test "$command" = "$argv"',
        "end",
        "complete -c itersel -f",
    ]
    for one in every:
        here = f'complete -c itersel -n "__itersel_at {one.name}"'
        lines += [f"{here} -a {name} -d {_quoted(text)}" for name, text in one.commands]
        if one.argument is not None and one.argument.choices:
            lines.append(f"{here} -a {_quoted(' '.join(one.argument.choices))}")
        elif not one.commands:
            lines.append(f"{here} -F")
        for option in one.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            lines.append(f"{here} {flags} -d {_quoted(option.help)}{_fish_argument(option.argument)}")
    return "\n".join(lines) + "\n"


def _fish_argument(argument: Argument | None) -> str:
    if argument is None:
        return ""
    if argument.choices:
        return f" -x -a {_quoted(' '.join(argument.choices))}"
    if argument.kind == "folder":
        return " -x -a '(__fish_complete_directories)'"
    return " -r -F" if argument.kind == "file" else " -x"


def _colons(text: str) -> str:
    """zsh takes what is before the first colon for the word."""
    return text.replace(":", " ")


SHELLS: dict[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

"""Reading references and outputs of systems from files. Errors name `path:line`.

All files are plain or gzip, with one sentence per line; SGML is refused. K-best lists are read by itersel.lists.reader.
"""

from __future__ import annotations

from collections.abc import Sequence

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import parallel_lines, read_lines
from itersel.evaluation.scoring import System
from itersel.text.markup import plain_lines


def read_references(paths: Sequence[str]) -> list[list[str]]:
    """A list of references for each sentence. A blank line means no reference; each sentence needs at least one."""
    if not paths:
        raise ConfigError("no references", hint="Give at least one file of references.")
    first = list(plain_lines(read_lines(paths[0]), paths[0]))
    if not first:
        raise InputError("the file is empty", where=paths[0], hint="Write one sentence per line.")
    columns = [first] + [_parallel(path, len(first), paths[0]) for path in paths[1:]]
    references = [[text for text in texts if text.strip()] for texts in zip(*columns, strict=True)]
    for number, texts in enumerate(references, 1):
        if not texts:
            raise InputError(
                "the sentence has no reference: the line is blank",
                where=f"{paths[0]}:{number}",
                hint="Remove the sentence from all files.",
            )
    return references


def parse_systems(arguments: Sequence[str]) -> dict[str, list[str]]:
    """Names with the files of their runs, in order: from FILE, NAME=FILE, NAME=FILE,FILE … or a NAME given again."""
    systems: dict[str, list[str]] = {}
    for argument in arguments:
        name, equals, files = argument.partition("=")
        paths = files.split(",") if equals else [argument]
        if not name or not all(paths):
            raise ConfigError(
                f"not a system: {argument!r}", hint="Give FILE, NAME=FILE, or NAME=FILE,FILE for several runs."
            )
        for path in paths:
            if path in systems.get(name, []):
                raise ConfigError(f"the file {path} is given twice for {name}", hint="Give the output of another run.")
            systems.setdefault(name, []).append(path)
    return systems


def read_systems(systems: dict[str, list[str]], sentences: int, reference: str) -> list[System]:
    """The outputs; each must have as many lines as there are sentences in the file `reference`."""
    return [System(name, [_parallel(path, sentences, reference) for path in paths]) for name, paths in systems.items()]


def _parallel(path: str, count: int, other: str) -> list[str]:
    return list(plain_lines(parallel_lines(path, count, other), path))

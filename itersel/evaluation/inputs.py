"""What is evaluated, read from files: references, outputs of systems, k-best lists. Errors name `path:line`.

All files are plain or gzip, one sentence a line; a k-best list has lines `id ||| text ||| features ||| score`, as
`itersel translate --kbest`, cdec and Moses write them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import parallel_lines, read_lines
from itersel.evaluation.scoring import System

KBEST_FIELDS = 3
"""A line has at least an id, a text and features."""


def read_references(paths: Sequence[str]) -> list[list[str]]:
    """A list of references for each sentence. A blank line is no reference; each sentence must have one."""
    if not paths:
        raise ConfigError("no references", hint="Give at least one file of references.")
    first = list(read_lines(paths[0]))
    if not first:
        raise InputError("the file is empty", where=paths[0], hint="It should hold one sentence a line.")
    columns = [first] + [list(parallel_lines(path, len(first), paths[0])) for path in paths[1:]]
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
            raise ConfigError(f"not a system: {argument!r}", hint="Give FILE, NAME=FILE, or NAME=FILE,FILE for runs.")
        for path in paths:
            if path in systems.get(name, []):
                raise ConfigError(f"the file {path} is given twice for {name}", hint="Give each run's own output.")
            systems.setdefault(name, []).append(path)
    return systems


def read_systems(systems: dict[str, list[str]], sentences: int, reference: str) -> list[System]:
    """The outputs; each must have as many lines as there are sentences in the file `reference`."""
    return [
        System(name, [list(parallel_lines(path, sentences, reference)) for path in paths])
        for name, paths in systems.items()
    ]


@dataclass(frozen=True)
class KBestTexts:
    """The texts of one sentence's list, best first, and the `path:line` where it begins."""

    id: str
    texts: list[str]
    where: str


def read_kbest_texts(path: str | os.PathLike[str]) -> Iterator[KBestTexts]:
    """The lists in the file's order, one at a time; lines of one id must follow each other."""
    seen: set[str] = set()
    for name, group in groupby(_kbest_lines(path), key=lambda line: line[0]):
        lines = list(group)
        where = f"{os.fspath(path)}:{lines[0][2]}"
        if name in seen:
            raise InputError(f"the list of sentence {name} began further up", where=where, hint="Sort the lines by id.")
        seen.add(name)
        yield KBestTexts(name, [text for _, text, _ in lines], where)


def _kbest_lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(read_lines(path), 1):
        fields = [field.strip(" \t\r") for field in line.split("|||")]
        if len(fields) < KBEST_FIELDS or not fields[0] or " " in fields[0]:
            raise InputError(
                "not a line of a k-best list: expected id ||| text ||| features ||| score",
                where=f"{os.fspath(path)}:{number}",
            )
        yield fields[0], fields[1], number

"""The decoder's input, read line by line: sentences, each with the path of its grammar.

A line is the blank-separated words of a sentence, or cdec's `<seg grammar="folder/grammar.0.gz" id="0"> words </seg>`.
Words stay as they are: XML entities are not resolved, as in cdec. Other SGML and lattices are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.text.markup import refuse_markup

BLANKS = " \t\r"
SEG_EXPECTED = 'expected <seg grammar="FILE" id="ID"> words </seg> on one line'
ATTRIBUTE = r"""[ \t]+([A-Za-z_][\w.:-]*)[ \t]*=[ \t]*("[^"]*"|'[^']*')"""
SEG_START = re.compile(r"<seg(?=[\s>/]|$)", re.IGNORECASE)
SEG_TAG = re.compile(rf"<seg((?:{ATTRIBUTE})*)[ \t]*>")
SEG_ATTRIBUTE = re.compile(ATTRIBUTE)
SECOND_GRAMMAR = re.compile(r"grammar\d+")


@dataclass(frozen=True)
class Sentence:
    """One sentence to translate. `grammar` is None if the grammar for all sentences applies."""

    id: str
    text: str
    grammar: Path | None = None
    where: str | None = None  # path:line, for errors

    def __str__(self) -> str:
        return f"sentence {self.id}" + ("" if self.where is None else f" ({self.where})")


@dataclass(frozen=True)
class GrammarPlaces:
    """Where the grammars of an input are. A line that names its own grammar always gets it."""

    for_all: bool = False  # one grammar serves all lines
    folder: Path | None = None  # has grammar.N or grammar.N.gz for line N, from 0
    root: Path | None = None  # names in <seg> lines are relative to it; None: to the input file's folder

    def __post_init__(self) -> None:
        for option, folder in (("--grammars", self.folder), ("--grammar-root", self.root)):
            if folder is not None and not folder.is_dir():
                raise InputError("not a folder", where=folder, hint=f"{option} takes an existing folder.")


def read_sentences(path: str | os.PathLike[str], places: GrammarPlaces) -> Iterator[Sentence]:
    """Read a plain or gzip file, `-` for standard input; ids default to the line number from 0.

    A blank line is an empty sentence. Errors name `path:line`.
    """
    for number, line in enumerate(read_lines(path)):
        yield _sentence(line.strip(BLANKS), number, os.fspath(path), places)


def _sentence(line: str, number: int, path: str, places: GrammarPlaces) -> Sentence:
    where = f"{path}:{number + 1}"
    refuse_markup(line, where, seg=True)
    text, attributes = _parse_seg(line, where) if SEG_START.match(line) else (line, {})
    if "|||" in text.split():
        raise InputError(
            "||| separates the fields of translations and cannot be a word",
            where=where,
            hint="Escape it, or remove the reference translation.",
        )
    name = attributes.get("id", str(number))
    if not name or any(letter.isspace() for letter in name) or name == "|||":
        raise InputError(f"the id {name!r} is not a word", where=where, hint="Give an id without blanks, or none.")
    if "grammar" in attributes:
        return Sentence(name, text, _named_grammar(attributes["grammar"], path, where, places.root), where)
    if places.folder is not None:
        # An empty sentence needs no rules, and extractors may write no file for it.
        return Sentence(name, text, _numbered_grammar(places.folder, number, where) if text else None, where)
    if not places.for_all and text:
        raise InputError(
            "this line names no grammar",
            where=where,
            hint=f"Give --grammar for all lines, or --grammars, or {SEG_EXPECTED.removeprefix('expected ')}.",
        )
    return Sentence(name, text, None, where)


def _parse_seg(line: str, where: str) -> tuple[str, dict[str, str]]:
    tag = SEG_TAG.match(line)
    if tag is None:
        raise InputError(f"malformed <seg> tag: {SEG_EXPECTED}", where=where, hint="Quote the values of attributes.")
    text, end, rest = line[tag.end() :].partition("</seg>")
    if not end or rest:
        problem = f"text after </seg>: {rest.strip(BLANKS)[:40]!r}" if end else "</seg> is missing"
        raise InputError(f"{problem}; {SEG_EXPECTED}", where=where)
    attributes: dict[str, str] = {}
    for name, value in SEG_ATTRIBUTE.findall(tag[1]):
        if name in attributes:
            raise InputError(f"the attribute {name} is given twice; {SEG_EXPECTED}", where=where)
        if SECOND_GRAMMAR.fullmatch(name):
            raise InputError(
                f"the sentence has a second grammar ({name}); one is allowed",
                where=where,
                hint="Join the files of rules and name the result as grammar.",
            )
        attributes[name] = value[1:-1]
    return text.strip(BLANKS), attributes


def _named_grammar(name: str, path: str, where: str, root: Path | None) -> Path:
    """The file a <seg> line names. It must be below the root, so that foreign input cannot make us read any file."""
    if not name or "\0" in name:
        raise InputError(f"the grammar has no usable file name; {SEG_EXPECTED}", where=where)
    base = root or (Path() if path == "-" else Path(path).parent)
    below = os.path.relpath(os.path.join(os.path.abspath(base), name), os.path.abspath(base))
    if below.split(os.sep)[0] == os.pardir or (root is None and os.path.isabs(name)):
        raise InputError(
            f"the grammar {name} is outside " + ("the input's folder" if root is None else f"--grammar-root {root}"),
            where=where,
            hint="Pass --grammar-root DIR with a folder that holds all grammars.",
        )
    return base / below


def _numbered_grammar(folder: Path, number: int, where: str) -> Path:
    for name in (f"grammar.{number}", f"grammar.{number}.gz"):
        if (folder / name).exists():
            return folder / name
    raise InputError(
        f"there is no grammar.{number} or grammar.{number}.gz in {folder}",
        where=where,
        hint="Grammars are numbered by line from 0.",
    )

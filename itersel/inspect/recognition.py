"""What a file is, by its content: every kind of file that itersel writes, and plain text.

`recognize` reads the first bytes of the decompressed content. A file of none of these kinds is an InputError.
"""

from __future__ import annotations

import re
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.files import read_head
from itersel.base.folders import MARK
from itersel.base.magic import INDEX, SHARD
from itersel.lists.table import MAGIC as LIST_TABLE
from itersel.lm.binary import MAGIC as KENLM
from itersel.lm.seen import MAGIC as SEEN
from itersel.mapreduce.record_file import MAGIC as RECORDS
from itersel.model.vectors import HEADER as VECTOR_HEADER
from itersel.model.vectors import MAGIC as VECTOR
from itersel.text.bitext import words

HEAD_BYTES = 1 << 16
"""Bytes that are read to recognise a file."""
BLANKS = " \t\r"
BINARY = {
    SHARD: "shard",
    VECTOR: "vector",
    KENLM: "kenlm",
    INDEX: "index",
    SEEN: "seen",
    LIST_TABLE: "list table",
    RECORDS: "job records",
}
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has."""
JSON_START = re.compile(r'\{\s*(?:["}]|$)')
PAGE = re.compile(r"<(?:!doctype html|html)\b", re.IGNORECASE)
SEGMENT = re.compile(r"<seg\b", re.IGNORECASE)
HYPOTHESIS = re.compile(r"\S+ ?\|\|\| ")
LINKS = re.compile(r"\d+-\d+(?: \d+-\d+)*")


def recognize(path: Path) -> str:
    """The kind of the file or folder, a key of `itersel.inspect.VIEWS`."""
    if path.is_dir():
        return "run" if (path / "run.json").is_file() else "folder"
    head = read_head(path, HEAD_BYTES)
    if not head:
        return "empty"
    for magic, kind in BINARY.items():
        if head.startswith(magic):
            return "columns" if kind == "vector" and _columns(head) not in (None, 1) else kind
    if CONTROL.search(head):
        raise InputError(
            "not a file that itersel writes, and not text",
            where=path,
            hint="Files are recognised by content; this one starts like none of them.",
        )
    return "mark" if path.name == MARK else _text_kind(_complete_lines(head))


def _columns(head: bytes) -> int | None:
    """How many columns a vector file has; None if the head is cut short."""
    return None if len(head) < VECTOR_HEADER.size else int(VECTOR_HEADER.unpack_from(head)[4])


def _complete_lines(head: bytes) -> list[str]:
    """The lines of the head that are not blank, without a last one that the head may have cut off."""
    lines = head.decode(errors="replace").split("\n")
    if len(head) == HEAD_BYTES and len(lines) > 1:
        lines.pop()
    return [text for line in lines if (text := line.strip(BLANKS))]


def _text_kind(lines: list[str]) -> str:
    first = lines[0] if lines else ""
    if JSON_START.match(first):
        return "json lines" if len(lines) > 1 and first.endswith("}") else "json"
    for pattern, kind in ((PAGE, "page"), (SEGMENT, "segments")):
        if pattern.match(first):
            return kind
    content = [line for line in lines if not line.startswith("#")]
    if content and content[0] == "\\data\\":
        return "arpa"
    if content and content[0].startswith("[") and "] |||" in content[0]:
        return "grammar"
    if HYPOTHESIS.match(first):
        return "lists"
    # One odd line in a file of weights is an error that is named; one line of a text that looks like a weight is not.
    if content and _is_weight(content[0]) and 2 * sum(map(_is_weight, content)) >= len(content):
        return "weights"
    for kind, fits in (("numbers", str.isdecimal), ("alignment", LINKS.fullmatch), ("labels", _is_label)):
        if lines and all(map(fits, lines)):
            return kind
    return "text"


def _is_weight(line: str) -> bool:
    fields = words(line)
    if len(fields) != 2:
        return False
    try:
        float(fields[1])
    except ValueError:
        return False
    return True


def _is_label(line: str) -> bool:
    return len(words(line)) == 1

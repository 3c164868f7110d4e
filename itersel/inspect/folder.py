"""A folder: its kind, its record, and what each file in it is. Runs have a view of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.folders import marked_kind
from itersel.base.json_files import find_json
from itersel.base.tables import text_table
from itersel.inspect import record
from itersel.inspect.options import ViewOptions
from itersel.inspect.recognition import recognize

RECORDS = {"build": "build.json", "demo": "build.json", "shards": "manifest.json", "wheelhouse": "manifest.json"}
"""The file that describes a folder of this kind, if it is finished."""
LABELS = {
    "arpa": "language model (ARPA)",
    "kenlm": "language model (KenLM)",
    "index": "index of a bitext",
    "seen": "sentences that a language model has seen",
    "alignment": "word alignment",
    "numbers": "line numbers",
    "lists": "n-best lists",
    "segments": "sentences with grammars",
    "list table": "compiled lists",
    "columns": "columns of features",
}
"""How a kind is called for people, where its name says too little."""


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    kind = marked_kind(path)
    try:
        entries = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", where=path) from None
    yield f"folder {path}" + (f" with {kind.holds}" if kind else "")
    described = path / RECORDS[kind.name] if kind and kind.name in RECORDS else None
    if described is not None:
        yield from record.object_lines(described, options) if described.is_file() else ["not finished"]
    found = [entry for entry in entries if options.matches(entry.name)]
    rows = [[entry.name, _what(entry), _size(entry)] for entry in found[: options.top]]
    if rows:
        yield from ("", text_table([["file", "what it is", "bytes"], *rows], left=(0, 1)))
    if len(found) > len(rows):
        yield f"… and {len(found) - len(rows):,} more"
    elif not entries:
        yield "nothing in it"


def mark_lines(path: Path, options: ViewOptions) -> Iterator[str]:  # noqa: ARG001
    """The mark that says what a folder is."""
    kind = marked_kind(path.parent)
    yield f"mark of a folder {path}"
    yield f"the folder has {kind.holds} in it" if kind else "of no kind"


def _what(path: Path) -> str:
    try:
        kind = recognize(path)
    except InputError:
        return "unknown"
    if kind == "json":
        return record.name_of(find_json(path) or {}, "JSON object")
    return LABELS.get(kind, kind)


def _size(path: Path) -> str:
    return "" if path.is_dir() else f"{path.stat().st_size:,}"

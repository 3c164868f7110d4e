"""JSON that itersel writes: records of builds, stages, shards, runs, wheelhouses and experiments, and statistics.

The keys say which record it is. Values are shown by their keys, and a list of objects as a table.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.base.json_files import parse_json, read_json
from itersel.base.tables import text_table
from itersel.inspect.options import ViewOptions

NAMES = {
    "record of a build": "kind format sets language_model",
    "record of a build's stage": "stage key outputs",
    "manifest of shards": "layout content shards",
    "record of a shard": "name key checksum",
    "record of a run": "identity",
    "manifest of a run": "epochs chosen",
    "manifest of a wheelhouse": "build python files",
    "results of an experiment": "experiment cells",
    "evaluation": "scores comparisons",
    "record of compiled lists": "paths lists version",
    "statistics of a run": "epoch shard",
    "manifest of grammars": "index options",
}
"""What an object is, by keys that it must have; the first that fits."""
COLUMNS = 6
VALUE_WIDTH = 60
"""How many columns of a table are shown, and how many characters of a value."""


def object_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    values = read_json(path)
    tables = {key: value for key, value in values.items() if _is_table(value)}
    rest = {key: value for key, value in values.items() if key not in tables}
    yield f"{name_of(values, 'JSON object')} {path}"
    shown = [[key, _shortened(value)] for key, value in flat(rest) if options.matches(key)]
    if shown:
        yield from ("", text_table([["key", "value"], *shown], left=(0, 1)))
    for key, rows in tables.items():
        yield from ("", f"{key}: {len(rows):,}", *_table(rows, options))


def line_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """One object per line."""
    rows = []
    for number, line in enumerate(read_lines(path), 1):
        try:
            values = parse_json(line)
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except ValueError as error:
            raise InputError(f"damaged: {error}", where=f"{path}:{number}") from None
        rows.append(values)
    yield f"{name_of(rows[0], 'JSON lines')} {path}"
    yield f"{len(rows):,} lines"
    yield from ("", *_table(rows, options))


def name_of(values: Mapping[str, Any], otherwise: str) -> str:
    """What the object is."""
    return next((name for name, keys in NAMES.items() if set(keys.split()) <= values.keys()), otherwise)


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Keys as for `--set`, with their values."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _table(rows: Sequence[Mapping[str, Any]], options: ViewOptions) -> Iterator[str]:
    """The first columns of the first rows that match."""
    found = [row for row in rows if options.matches(json.dumps(row, ensure_ascii=False))]
    columns = _columns(found)
    if columns and found[: options.top]:
        cells = [[_cell(row.get(name)) for name in columns] for row in found]
        yield text_table([columns, *cells[: options.top]])
    if len(found) > options.top:
        yield f"… and {len(found) - options.top:,} more"


def _columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of plain values, in the order in which they first occur."""
    names = {key: None for row in rows for key, value in row.items() if not isinstance(value, (dict, list))}
    return list(names)[:COLUMNS]


def _cell(value: Any) -> str:
    return _shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _shortened(text: str) -> str:
    return text if len(text) <= VALUE_WIDTH else f"{text[: VALUE_WIDTH - 1]}…"

"""Views: what is inside a file or a run's directory, as text for a terminal.

`view` recognises a grammar, a shard, weights, a language model or a run by its content, not by its name, and passes it
to the module of that name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_head
from itersel.base.magic import SHARD as SHARD_MAGIC
from itersel.inspect import grammar, language_model, run, shard, weights
from itersel.inspect.options import ViewOptions
from itersel.lm.binary import MAGIC as KENLM_MAGIC
from itersel.model.vectors import MAGIC
from itersel.text.bitext import words

BLANKS = " \t\r"
HEAD_BYTES = 1 << 16
"""Bytes that are read to recognise a file."""

VIEWS: dict[str, Callable[[Path, ViewOptions], Iterator[str]]] = {
    "grammar": grammar.lines,
    "shard": shard.lines,
    "weights": weights.lines,
    "vector": weights.lines,
    "arpa": language_model.lines,
    "kenlm": language_model.lines,
    "run": run.lines,
}


def view(path: str | os.PathLike[str], options: ViewOptions | None = None) -> Iterator[str]:
    """The lines to show. An option that does not apply to what the path holds is a ConfigError."""
    place = Path(path)
    options = options or ViewOptions()
    kind = recognize(place)
    if kind != "shard" and options.for_shards:
        raise ConfigError(f"{place} is not a shard", hint=f"Only shards have {', '.join(options.for_shards)}.")
    return VIEWS[kind](place, options)


def recognize(path: Path) -> str:
    """One of VIEWS; an InputError says what was found instead."""
    if path.is_dir():
        if (path / "run.json").is_file():
            return "run"
        raise InputError("a folder without run.json", where=path, hint="Name a run's directory, or a file.")
    head = read_head(path, HEAD_BYTES)
    for kind, magic in (("shard", SHARD_MAGIC), ("vector", MAGIC), ("kenlm", KENLM_MAGIC)):
        if head.startswith(magic):
            return kind
    found = _text_kind(head)
    if found is None:
        raise InputError(
            "not a grammar, shard, weights file, language model or run",
            where=path,
            hint="Files are recognised by content; the first line fits none of these.",
        )
    return found


def _text_kind(head: bytes) -> str | None:
    """By the first line that is neither blank nor a comment."""
    for line in head.decode(errors="replace").split("\n"):
        text = line.strip(BLANKS)
        if text == "\\data\\":
            return "arpa"
        if text.startswith("[") and "] |||" in text:
            return "grammar"
        if not text or text.startswith("#"):
            continue
        fields = words(text)
        return "weights" if len(fields) == 2 and _is_number(fields[1]) else None
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Folders that say what they are: a folder that a verb writes has a mark with its kind; other verbs refuse it.

The mark is the file `.itersel-folder`, one line with the name of the kind. Folders of itersel 0.1 have none; they are
recognised by their records. A folder with other content is accepted only if no name in it is one that the verb writes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, cannot_write, remove_torn

MARK = ".itersel-folder"
ANOTHER = "Name another folder, or move its content away."
LOCK_FILE = ".lock"


@dataclass(frozen=True)
class FolderKind:
    """What a verb writes into its folder."""

    name: str
    """In the mark."""
    holds: str
    """What such a folder has in it, for messages."""
    writes: tuple[str, ...]
    """Patterns of the names that the verb may write, replace or remove."""
    records: tuple[tuple[str, frozenset[str]], ...]
    """How a folder without a mark is recognised: a file, and keys of the JSON object in it, or in its first line."""

    def recorded_in(self, folder: Path) -> bool:
        return any(keys <= _keys(path) for pattern, keys in self.records for path in sorted(folder.glob(pattern))[:1])


def _kind(name: str, holds: str, writes: str, *records: tuple[str, str]) -> FolderKind:
    known = tuple((pattern, frozenset(keys.split())) for pattern, keys in records)
    return FolderKind(name, holds, tuple(writes.split()), known)


GRAMMARS = _kind(
    "grammars", "grammars", "grammar.* input.sgm manifest.jsonl", ("manifest.jsonl", "format index options")
)
SHARDS = _kind(
    "shards",
    "shards",
    "shard.*.itsh* manifest.json",
    ("manifest.json", "format layout content shards"),
    ("shard.*.itsh.json", "name key checksum"),
)
RUN = _kind("run", "a training run", "[!.]*", ("run.json", "identity"))
WHEELHOUSE = _kind("wheelhouse", "a wheelhouse", "*", ("manifest.json", "format build python files"))
DEMO = _kind(
    "demo",
    "the demo",
    "text model shards stages build.json runs test evaluation.json report.html",
    ("runs/select/run.json", "identity"),
)
BUILD = _kind("build", "a build", "text model shards stages build.json", ("stages/*.json", "format stage key"))
EXPERIMENT = _kind(
    "experiment",
    "results of an experiment",
    "results.json table.md report.html report-*.html",
    ("results.json", "experiment cells"),
)
PARSER = _kind(
    "parser", "a parser of questions", "questions forms lm.questions lm.forms work", ("work/stages/*.json", "stage key")
)
KINDS = (GRAMMARS, SHARDS, RUN, WHEELHOUSE, DEMO, BUILD, EXPERIMENT, PARSER)


def marked_kind(folder: str | os.PathLike[str]) -> FolderKind | None:
    """What the folder's mark says; None if it has none."""
    mark = Path(folder) / MARK
    try:
        name = mark.read_text(errors="replace").strip()
    except OSError:
        return None
    found = next((kind for kind in KINDS if kind.name == name), None)
    if found is None:
        raise InputError("the mark names no kind of folder that this version knows", where=mark, hint=ANOTHER)
    return found


def check_folder_kind(folder: str | os.PathLike[str], kind: FolderKind) -> None:
    """Raise a UserError unless the folder may be made, or is of this kind, or has nothing that would be replaced."""
    folder = Path(folder)
    if not folder.exists():
        if folder.is_symlink():
            raise InputError("cannot write: the link leads nowhere", where=folder, hint="Name another folder.")
        return
    if not folder.is_dir():
        raise InputError("cannot write: this is a file, not a folder", where=folder, hint="Name a folder.")
    try:
        entries = sorted(path.name for path in folder.iterdir() if path.name not in (MARK, LOCK_FILE))
    except OSError as error:
        raise cannot_write(error, folder) from None
    marked = marked_kind(folder)
    if marked is kind or (marked is None and kind.recorded_in(folder)):
        return
    found = marked or next((other for other in KINDS if other.recorded_in(folder)), None)
    if found is not None and not all(name.startswith(".") for name in entries):
        raise ConfigError(f"this folder has {found.holds} in it, not {kind.holds}", where=folder, hint=ANOTHER)
    for path in sorted(path for pattern in kind.writes for path in folder.glob(pattern)):
        if path.name not in (MARK, LOCK_FILE):
            raise ConfigError(
                f"this folder has {path.name} in it, which is not part of {kind.holds}", where=folder, hint=ANOTHER
            )


def claim_folder(folder: str | os.PathLike[str], kind: FolderKind) -> None:
    """Make the folder, if need be, and mark it; refuse one of another kind, or with files that would be replaced."""
    check_folder_kind(folder, kind)
    remove_torn(Path(folder) / MARK)
    if marked_kind(folder) is not kind:
        with atomic_write(Path(folder) / MARK) as stream:
            stream.write(f"{kind.name}\n".encode())


def _keys(path: Path) -> frozenset[str]:
    """Keys of the JSON object in the file, or of the one in its first line; none if there is no such object."""
    try:
        content = path.read_text(errors="replace")
        try:
            values = json.loads(content)
        except ValueError:
            values = json.loads(content.partition("\n")[0])
    except (OSError, ValueError, RecursionError):
        return frozenset()
    return frozenset(values) if isinstance(values, dict) else frozenset()

"""Shard files for workers: a path is read where it is; an address such as hdfs://… is copied to the node once.

Copies are in a cache folder of the node, named by the shard's checksum, so that later work items and rounds find them.
A copy appears under its name only when it is complete. The oldest ones are removed when the folder outgrows its limit.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from itersel.base.errors import InputError, ResourceError
from itersel.lists.source import AnySource, OpenSources, check_source
from itersel.mapreduce.work_item import ItemFile

CACHE_VARIABLE = "ITERSEL_NODE_CACHE"
LIMIT_VARIABLE = "ITERSEL_NODE_CACHE_GB"
DEFAULT_LIMIT_GB = 50.0

open_sources = OpenSources()


def is_address(path: str) -> bool:
    """Whether the path must be fetched: it has a scheme, such as hdfs:// or s3://."""
    return "://" in path


def open_item_source(file: ItemFile) -> AnySource:
    """The shard or table of lists that a work item names, fetched if it is not a local path.

    A damaged copy is removed: the next attempt fetches it again.
    """
    if not is_address(file.path):
        source = open_sources.open(file.path)
        check_source(source, file.checksum, file.path)
        return source
    copy = local_file(file)
    try:
        source = open_sources.open(copy)
        check_source(source, file.checksum, file.path)
    except InputError as error:
        copy.unlink(missing_ok=True)
        raise InputError(error.message, where=file.path, hint=error.hint) from None
    return source


def local_file(file: ItemFile) -> Path:
    """A copy of the addressed file on this node."""
    folder = cache_folder()
    place = folder / f"{int(file.checksum, 16):016x}.itsh"
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as temporary:
            copy = Path(temporary) / "shard"
            _copy(file.path, copy)
            _make_room(folder, copy.stat().st_size)
            os.replace(copy, place)
    with contextlib.suppress(OSError):
        os.utime(place)  # the least recently used go first
    return place


def cache_folder() -> Path:
    """This user's folder for copies on this node, which nobody else can write to."""
    named = os.environ.get(CACHE_VARIABLE)
    folder = Path(named) if named else Path(tempfile.gettempdir()) / f"itersel-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ResourceError(f"cannot make the folder for copies of shards: {error.strerror}", where=folder) from None
    facts = folder.stat() if named else folder.lstat()  # a link that the user named is the user's
    hint = f"Set {CACHE_VARIABLE} to a folder of your own."
    if stat.S_ISLNK(facts.st_mode):
        raise ResourceError("the folder for copies of shards is a link", where=folder, hint=hint)
    if facts.st_uid != os.getuid():
        raise ResourceError("the folder for copies of shards belongs to somebody else", where=folder, hint=hint)
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ResourceError(
            "others can write to the folder for copies of shards", where=folder, hint=f"{hint[:-1]}, or use chmod 700."
        )
    return folder


def _copy(address: str, place: Path) -> None:
    hadoop = shutil.which("hadoop") or _hadoop_of_home()
    if hadoop is None:
        raise ResourceError(
            "cannot fetch the shard: there is no `hadoop` command on this node", where=address, hint="Set HADOOP_HOME."
        )
    done = subprocess.run(  # noqa: S603
        [hadoop, "fs", "-copyToLocal", address, os.fspath(place)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or not place.exists():
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise InputError(f"cannot fetch the shard: {last}", where=address)


def _hadoop_of_home() -> str | None:
    homes = [os.environ.get(name) for name in ("HADOOP_HOME", "HADOOP_PREFIX", "HADOOP_INSTALL")]
    places = [Path(home) / "bin" / "hadoop" for home in homes if home]
    return next((os.fspath(place) for place in places if os.access(place, os.X_OK)), None)


def _make_room(folder: Path, size: int) -> None:
    """Remove the copies used longest ago until `size` more bytes fit. A mapped copy stays readable when removed."""
    limit = float(os.environ.get(LIMIT_VARIABLE, DEFAULT_LIMIT_GB)) * 1e9
    copies = sorted(folder.glob("*.itsh"), key=lambda path: path.stat().st_mtime)
    used = sum(path.stat().st_size for path in copies) + size
    for path in copies:
        if used <= limit:
            return
        used -= path.stat().st_size
        path.unlink(missing_ok=True)

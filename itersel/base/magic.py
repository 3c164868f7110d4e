"""First bytes of our binary files, by which they are recognised without the modules that read them."""

from __future__ import annotations

import os

SHARD = b"ITSHARD\n"
INDEX = b"iterselX"


def is_shard(path: str | os.PathLike[str]) -> bool:
    """Whether the file is a shard; False if it cannot be read, or is a pipe, whose bytes can be read only once."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as stream:
            return stream.read(len(SHARD)) == SHARD
    except OSError:
        return False

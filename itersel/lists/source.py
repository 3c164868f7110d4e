"""What training learns from: compiled shards, which are decoded, or compiled n-best lists, which are not."""

from __future__ import annotations

import os
from functools import lru_cache

from itersel.lists.table import MAGIC, ListTable
from itersel.shards.shard import Shard

Source = Shard | ListTable


def open_source(path: str | os.PathLike[str]) -> Source:
    """Open either kind, by the first bytes of the file.

    A table serves many shards at once, so one that is open already is not checked again, also not by processes that
    were forked since.
    """
    try:
        with open(path, "rb") as stream:
            is_table = stream.read(len(MAGIC)) == MAGIC
            facts = os.fstat(stream.fileno())
    except OSError:
        is_table = False  # Shard says what is wrong
    return _table(os.fspath(path), facts.st_size, facts.st_mtime_ns) if is_table else Shard(path)


@lru_cache(maxsize=8)
def _table(path: str, size: int, changed: int) -> ListTable:  # noqa: ARG001
    return ListTable(path)

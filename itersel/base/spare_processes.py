"""Idle processes for work that can use them: a count that the processes of one command share.

Code that runs several pieces of work side by side calls `share` before it forks. A piece that ends when no other piece
is waiting gives its process (`give`); the pieces that still run borrow idle processes for each of their jobs.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized

_spare: Synchronized[int] | None = None


@contextlib.contextmanager
def share(count: int = 0) -> Iterator[None]:
    """Until the end of the block, this process and those it forks share a count, which begins at `count`."""
    global _spare
    before, _spare = _spare, multiprocessing.get_context("fork").Value("i", count)
    try:
        yield
    finally:
        _spare = before


def give(count: int = 1) -> None:
    """Leave processes to others; nothing happens where none are shared."""
    if _spare is not None:
        with _spare.get_lock():
            _spare.value += count


@contextlib.contextmanager
def borrowed(most: int) -> Iterator[int]:
    """How many further processes may be started, at most so many; at the end of the block they are given back."""
    count = 0
    if _spare is not None and most > 0:
        with _spare.get_lock():
            count = min(most, _spare.value)
            _spare.value -= count
    try:
        yield count
    finally:
        give(count)

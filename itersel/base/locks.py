"""Folders that one process at a time may work in."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError, InputError

LOCK_FILE = ".lock"


@contextlib.contextmanager
def exclusive(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Make the folder, and hold it against other processes that ask for the same; waits until they are done.

    A process that was killed may have left workers that are still at their last piece: they hold the folder, too.
    """
    with _opened(folder, lambda: os.open(folder, os.O_RDONLY | os.O_CLOEXEC)) as descriptor:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                events.note(f"{os.fspath(folder)}: another process is at work here; waiting for it")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def alone(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Make the folder, and hold it; ConfigError at once if another process does.

    The lock goes with the process, and does not pass on to forked ones.
    """
    file = Path(folder) / LOCK_FILE
    with _opened(folder, lambda: os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)) as descriptor:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError("another run is at work in this directory", where=folder) from None
        yield


@contextlib.contextmanager
def _opened(folder: str | os.PathLike[str], open_it: Callable[[], int]) -> Iterator[int]:
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = open_it()
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", where=folder) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)

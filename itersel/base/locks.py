"""Folders that one process at a time may work in."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.files import cannot_write
from itersel.base.folders import LOCK_FILE


@contextlib.contextmanager
def exclusive(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Make the folder and lock it; waits until other processes release it.

    Workers of a killed process may still finish their last item: they hold the lock, too.
    """
    with _opened(folder, lambda: os.open(folder, os.O_RDONLY | os.O_CLOEXEC)) as descriptor:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                events.note(f"{os.fspath(folder)}: another process is working here; waiting for it")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def alone(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Make the folder and lock it; ConfigError at once if another process holds the lock.

    The lock ends with the process. Forked processes do not hold it.
    """
    file = Path(folder) / LOCK_FILE
    with _opened(folder, lambda: os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)) as descriptor:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigError("another run is working in this directory", where=folder) from None
        yield


@contextlib.contextmanager
def _opened(folder: str | os.PathLike[str], open_it: Callable[[], int]) -> Iterator[int]:
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = open_it()
    except OSError as error:
        raise cannot_write(error, folder) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)

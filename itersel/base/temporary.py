"""Temporary folders that do not pile up: whoever makes one first removes those whose owners were killed.

A folder is locked as long as its process lives; the kernel releases the lock when the process ends, in whatever way.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from itersel.base.errors import ResourceError
from itersel.base.files import cannot_write

HINT = "Set TMPDIR to a folder with free space."
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def temporary_folder(purpose: str, *, beside: Path | None = None) -> Iterator[Path]:
    """A folder for one purpose, in TMPDIR or beside a path; it is removed when the context ends.

    If it cannot be made, or the disk is full while it is in use, the error says so and names TMPDIR.
    """
    prefix = f"itersel.{purpose}."  # version 0.1 wrote itersel-…, without locks: those may be in use
    if beside is not None:
        parent, prefix = beside.parent, f".{beside.name}.{prefix}"
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(error, beside) from None
    else:
        parent = Path(_temporary_parent())
    with contextlib.ExitStack() as stack:
        try:
            _remove_abandoned(parent, prefix)
            # Locked before it gets its name: nobody takes it for abandoned.
            made = Path(tempfile.mkdtemp(prefix=f"..{prefix}", dir=parent))
            stack.callback(shutil.rmtree, made, ignore_errors=True)
            descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder = parent / made.name[2:]
            made.rename(folder)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        except OSError as error:
            if beside is not None:
                raise cannot_write(error, beside) from None
            raise ResourceError(f"cannot make a temporary folder: {error.strerror}", where=parent, hint=HINT) from None
        try:
            yield folder
        except OSError as error:
            if error.errno in FULL and _is_full(folder):
                raise ResourceError(
                    f"the folder for temporary files is full: {error.strerror}", where=parent, hint=HINT
                ) from None
            raise


def _is_full(folder: Path) -> bool:
    """Whether a few bytes do not fit any more: another disk may be the full one."""
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(1 << 16))
    except OSError:
        return True
    return False


def _temporary_parent() -> str:
    try:
        return tempfile.gettempdir()
    except OSError as error:  # none of the usual folders can be written to
        raise ResourceError(
            f"no folder for temporary files can be written to: {error.strerror}",
            where=os.environ.get("TMPDIR"),
            hint=HINT,
        ) from None


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove this user's folders of that prefix that no living process holds."""
    for folder in [path for path in parent.iterdir() if path.name.startswith(prefix)]:
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)

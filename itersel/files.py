"""Files as every room reads and writes them: plain or gzip text by content, atomic replacement on writing.

Lines are UTF-8 and end with a line feed only (U+2028 and its kin stay inside a line). An output appears under its final
name only when it is complete; gzip output carries no time stamp, so equal content means equal bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from itersel.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"
GZIP_LEVEL = 6


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open for reading; gzip is recognised by its first two bytes, not by the name. `-` is standard input."""
    if os.fspath(path) == "-":
        stream: IO[bytes] = os.fdopen(os.dup(0), "rb")
    else:
        try:
            stream = open(path, "rb")
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", where=path) from None
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(stream)  # type: ignore[type-var]
    if buffered.peek(2)[:2] == GZIP_MAGIC:
        return gzip.GzipFile(fileobj=buffered)  # type: ignore[return-value]
    return buffered


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The whole content, decompressed."""
    with open_bytes(path) as stream, _gzip_errors(path):
        return stream.read()


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Lines without their line feed. Invalid UTF-8 is reported as `path:line`."""
    with open_bytes(path) as stream, _gzip_errors(path):
        for number, line in enumerate(stream, 1):
            try:
                yield line.rstrip(b"\n").decode()
            except UnicodeDecodeError as error:
                raise InputError(
                    f"invalid UTF-8 at byte {error.start + 1} of the line",
                    where=f"{os.fspath(path)}:{number}",
                    hint="Convert the file to UTF-8, e.g. with iconv -f LATIN1 -t UTF-8.",
                ) from None


@contextlib.contextmanager
def _gzip_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
            raise InputError(f"cannot read: {error.strerror or error}", where=path) from None
        raise InputError(f"damaged gzip data: {error}", where=path, hint="The file may be truncated.") from None


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], *, compress: bool | None = None) -> Iterator[IO[bytes]]:
    """Write bytes to a temporary neighbour; on success it is synced and renamed to `path`, on failure removed.

    `compress` defaults to whether the name ends in `.gz`.
    """
    path = Path(path)
    if compress is None:
        compress = path.name.endswith(".gz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", where=path) from None
    try:
        with os.fdopen(descriptor, "wb") as raw:
            if compress:
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=GZIP_LEVEL, mtime=0) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(
                f"cannot write: {error.strerror or error}", where=path, hint="Nothing was left under the final name."
            ) from None
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

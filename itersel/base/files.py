"""Reading and writing files: plain or gzip text, recognised by content; atomic replacement on writing.

Lines are UTF-8 and end with a line feed only (U+2028 and similar characters stay inside a line). An output appears
under its final name only when it is complete; gzip output carries no time stamp, so equal content means equal bytes.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import gzip
import hashlib
import io
import os
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from itersel.base.errors import InputError, ResourceError, UserError

GZIP_MAGIC = b"\x1f\x8b"
GZIP_LEVEL = 6
BUFFER_BYTES = 1 << 16
CHECKED_BYTES = 1 << 20
"""Content is checked to be UTF-8 in parts of this size, so that there is never a second copy of it all."""
MACHINE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""The machine fails; all other errors of writing are about the name that was given."""


class InputStream(io.BufferedReader):
    """A binary stream of decompressed bytes; `compressed` says whether the file was gzip."""

    compressed: bool = False


def open_bytes(path: str | os.PathLike[str]) -> InputStream:
    """Open for reading; gzip is recognised by its first two bytes, not by the name. `-` is standard input."""
    try:
        raw = io.FileIO(os.dup(0) if os.fspath(path) == "-" else path, "rb")
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", where=path) from None
    stream = InputStream(raw, BUFFER_BYTES)
    with gzip_errors(path):
        if stream.peek(2)[:2] != GZIP_MAGIC:
            return stream
    unpacked = InputStream(gzip.GzipFile(fileobj=stream), BUFFER_BYTES)
    unpacked.compressed = True
    return unpacked


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The whole content, decompressed."""
    with open_bytes(path) as stream, gzip_errors(path):
        return stream.read()


def read_head(path: str | os.PathLike[str], size: int) -> bytes:
    """The first bytes of the decompressed content, up to a limit, to recognise a file by."""
    with open_bytes(path) as stream, gzip_errors(path):
        return stream.read(size)


def check_utf8(content: bytes, path: str | os.PathLike[str]) -> None:
    """Raise InputError with `path:line` if `content` is not UTF-8."""
    start, view = 0, memoryview(content)
    while start < len(content):
        end = _at_character(content, start + CHECKED_BYTES)
        try:
            str(view[start:end], "utf-8")
        except UnicodeDecodeError as error:
            before = content[: start + error.start]
            raise _not_utf8(path, before.count(b"\n") + 1, len(before) - before.rfind(b"\n")) from None
        start = end


def _at_character(content: bytes, place: int) -> int:
    """The place, or one of the three before it, where a character begins."""
    begins = (at for at in range(place, place - 4, -1) if at >= len(content) or content[at] & 0xC0 != 0x80)
    return next(begins, place)


def read_utf8(path: str | os.PathLike[str]) -> bytes:
    """The whole content, decompressed and checked to be UTF-8."""
    content = read_bytes(path)
    check_utf8(content, path)
    return content


def _not_utf8(path: str | os.PathLike[str], line: int, byte: int) -> InputError:
    return InputError(
        f"invalid UTF-8 at byte {byte} of the line",
        where=f"{os.fspath(path)}:{line}",
        hint="Convert the file to UTF-8, e.g. with iconv -f LATIN1 -t UTF-8.",
    )


def read_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Lines without their line feed. Invalid UTF-8 is reported as `path:line`."""
    with open_bytes(path) as stream, gzip_errors(path):
        for number, line in enumerate(stream, 1):
            try:
                yield line.rstrip(b"\n").decode()
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number, error.start + 1) from None


def count_lines(path: str | os.PathLike[str]) -> int:
    """How many lines `read_lines` gives."""
    with open_bytes(path) as stream, gzip_errors(path):
        return sum(1 for _ in stream)


def parallel_lines(path: str | os.PathLike[str], count: int, other: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a file that must have `count` of them, as `other` has; more or fewer are an InputError."""
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        if number > count:
            raise InputError(
                f"continues, but {os.fspath(other)} ends after {count} lines", where=f"{os.fspath(path)}:{number}"
            )
        yield line
    if number < count:
        raise InputError(
            f"ends after {number} lines, but {os.fspath(other)} has {count}",
            where=f"{os.fspath(path)}:{number + 1}",
            hint="Line i of every file belongs to sentence i; check that none was lost.",
        )


@contextlib.contextmanager
def gzip_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors of reading a stream of open_bytes into InputError."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, OSError) as error:
        if isinstance(error, OSError) and not isinstance(error, gzip.BadGzipFile):
            raise InputError(f"cannot read: {error.strerror or error}", where=path) from None
        raise InputError(f"damaged gzip data: {error}", where=path, hint="The file may be truncated.") from None


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of a temporary file beside `path`, for code that opens files by name; then as in atomic_write."""
    path = Path(path)
    with _replacing(path) as (descriptor, temporary):
        try:
            yield temporary
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def atomic_write(
    path: str | os.PathLike[str], *, compress: bool | None = None, sync: bool = True
) -> Iterator[IO[bytes]]:
    """Write bytes to a temporary file beside `path`; on success it is synced and renamed, on failure removed.

    `compress` defaults to whether the name ends in `.gz`. Without `sync`, a crash of the machine may cut the file
    short: for files that are checked before they are used again.
    """
    path = Path(path)
    if compress is None:
        compress = path.name.endswith(".gz")
    with _replacing(path) as (descriptor, _), os.fdopen(descriptor, "wb", BUFFER_BYTES) as raw:
        if compress:
            with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=GZIP_LEVEL, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield raw
        raw.flush()
        if sync:
            os.fsync(raw.fileno())


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[tuple[int, str]]:
    """Descriptor and name of a temporary file, which the caller closes; without an error it becomes `path`."""
    if path.exists() and not path.is_file():
        raise InputError("cannot write: not a regular file", where=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise cannot_write(error, path) from None
    try:
        yield descriptor, temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise cannot_write(error, path, "Nothing was left under the final name.") from None
        raise


def write_unsynced(path: Path, *content: bytes | memoryview) -> None:
    """Write a file into an existing folder, whole or not at all if this process is killed.

    A crash of the machine may cut the file short: for many small files whose checksums are kept, with `sync_folder`
    after the last one.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        try:
            with open(temporary, "wb") as stream:
                for part in content:
                    stream.write(part)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise cannot_write(error, path, "Nothing was left under the final name.") from None


def sync_folder(folder: Path) -> None:
    """Wait until all files that were written to this folder are on disk."""
    from itersel import _kernel  # here, because files are also read where the kernel is not needed

    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            number = _kernel.sync_file_system(descriptor)
            if number:
                raise OSError(number, os.strerror(number))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise cannot_write(error, folder) from None


def remove_torn(path: str | os.PathLike[str]) -> None:
    """Remove temporary files that a killed `atomic_write` of this file left. Nobody may be writing it."""
    path = Path(path)
    for torn in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        try:
            torn.unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(error, torn, "Remove it.") from None


def cannot_write(error: OSError, where: str | os.PathLike[str], hint: str | None = None) -> UserError:
    """The error to raise if writing fails: a full disk is not the user's mistake, a wrong name is."""
    kind = ResourceError if error.errno in MACHINE_ERRORS else InputError
    message = "cannot write: a file is where a folder should be"
    if not isinstance(error, NotADirectoryError | FileExistsError):
        message = f"cannot write: {error.strerror or error}"
    return kind(message, where=where, hint=hint)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def file_checksum(path: str | os.PathLike[str]) -> str:
    """SHA-256 of the file as it is on disk, in hexadecimal."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", where=path) from None

"""KenLM's binary files, which are mapped instead of read: made beside an ARPA file, or in a cache of the user's.

In: an ARPA file. Out: the same model as a binary file, equal bytes for equal input. The cache is by content: a model is
converted once, whatever it is called, and opened from there by all processes, which share its pages. The folder
belongs to the user alone, and what a process left unfinished is never opened.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from itersel import _kernel
from itersel.base.errors import InputError, ResourceError
from itersel.base.files import InputStream, atomic_path, gzip_errors, open_bytes, read_head
from itersel.base.temporary import temporary_folder

KINDS = ("probing", "trie", "quantised")
"""The fastest kind; a smaller one with the same scores; the smallest, whose values of 8 bits give other scores."""
MAGIC = b"mmap lm http://kheafield.com/code"
ARPA_ENDINGS = (".arpa.gz", ".arpa")
ENDING = ".bin"
FOLDER = "language-models"
BLOCK_BYTES = 1 << 20
KEPT_SECONDS = 30 * 24 * 3600
"""Models that were not opened for this long are removed when another is added."""


def is_binary(path: str | os.PathLike[str]) -> bool:
    return read_head(path, len(MAGIC)) == MAGIC


def binary_path(arpa: str | os.PathLike[str]) -> Path:
    """Where the binary form of an ARPA file lies if it is made beside it: lm.arpa.gz, lm.bin."""
    path = Path(arpa)
    return path.with_name(_stem(path.name) + ENDING)


def prefer_binaries(paths: Sequence[str]) -> list[str]:
    """The files without those ARPA files whose binary form is among them: a pattern may match both."""
    binaries = {os.path.normpath(path) for path in paths if path.endswith(ENDING)}
    return [path for path in paths if path.endswith(ENDING) or os.path.normpath(binary_path(path)) not in binaries]


def _stem(name: str) -> str:
    return next((name.removesuffix(ending) for ending in ARPA_ENDINGS if name.endswith(ending)), name)


def write_binary(arpa: str | os.PathLike[str], output: str | os.PathLike[str], kind: str = KINDS[0]) -> None:
    """Convert an ARPA file, plain or gzip, to one of KINDS. The output appears when it is complete."""
    with plain_arpa(arpa) as plain, atomic_path(output) as temporary:
        _kernel.LanguageModel.convert(plain, temporary, kind, os.fspath(arpa))


@contextlib.contextmanager
def plain_arpa(arpa: str | os.PathLike[str]) -> Iterator[str]:
    """The path of an uncompressed form of the file: its own, or that of a temporary copy."""
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(open_bytes(arpa))
        if not stream.compressed:
            yield os.fspath(arpa)
            return
        plain = stack.enter_context(temporary_folder("lm")) / "arpa"
        with open(plain, "wb") as copy:  # outside gzip_errors: a full disk is no fault of the file
            while block := _read_block(stream, arpa):
                copy.write(block)
        yield os.fspath(plain)


def _read_block(stream: InputStream, path: str | os.PathLike[str]) -> bytes:
    with gzip_errors(path):
        return stream.read(BLOCK_BYTES)


def cached_binary(arpa: str | os.PathLike[str]) -> str | None:
    """The binary form of an ARPA file in the cache, made now if need be; None if there is no safe place for it.

    A process that needs a model which another one is just converting waits for it.
    """
    folder = _cache_folder()
    if folder is None:
        return None
    path = folder / f"{_content_key(arpa)}{ENDING}"
    # Where the conversion fails, whoever reads the file itself says why, or does without a full disk.
    with contextlib.suppress(OSError, InputError, ResourceError), _locked(path.with_suffix(".lock")):
        if not _is_ours(path):
            path.unlink(missing_ok=True)
            write_binary(arpa, path)
            path.chmod(0o600)
            _forget_old(folder, path)
        elif time.time() - path.stat().st_mtime > KEPT_SECONDS / 30:
            os.utime(path)  # says that it is in use
        return os.fspath(path)
    return None


def forget_cached(arpa: str | os.PathLike[str]) -> None:
    """Remove the binary form of an ARPA file from the cache, for example because it is damaged."""
    folder = _cache_folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / f"{_content_key(arpa)}{ENDING}").unlink()


def _content_key(arpa: str | os.PathLike[str]) -> str:
    """Stands for the file's content and the version of the format."""
    version = str(_kernel.build_details()["kenlm"]).encode()[: hashlib.blake2b.PERSON_SIZE]
    with open(arpa, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.blake2b(digest_size=20, person=version)).hexdigest()


def _cache_folder() -> Path | None:
    """The folder, made if need be; None unless it is the user's own: not a link, and writable for nobody else."""
    root = os.environ.get("ITERSEL_CACHE")
    try:
        base = Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "itersel"
        folder = base / FOLDER
        base.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        facts = folder.lstat()
    except (OSError, RuntimeError):  # no home, or it cannot be written
        return None
    safe = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022
    return folder if safe and os.access(folder, os.W_OK | os.X_OK) else None


def _is_ours(path: Path) -> bool:
    """Whether this is a file that we wrote, not a link or a file of someone else's."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o022


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with contextlib.suppress(OSError):  # some network file systems have no locks; two conversions do no harm
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _forget_old(folder: Path, new: Path) -> None:
    """Remove models that were not opened for long, and what was left unfinished. Who maps one keeps it."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.stem != new.stem and time.time() - path.lstat().st_mtime > KEPT_SECONDS:
                path.unlink()

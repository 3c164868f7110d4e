"""Several output files that belong together: all of them appear under their final names, or none does.

Each file is first completed and synced under a hidden name beside its final one; only when all are complete
are they renamed. A failure at any point (a full disk, bad input) restores the earlier state.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from itersel.base.errors import InputError, ResourceError
from itersel.base.files import atomic_write, cannot_write


@contextlib.contextmanager
def atomic_group(paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[IO[bytes]]]:
    """Write to several files at once, one stream per path; a file is compressed if its name ends in `.gz`."""
    finals = [Path(path) for path in paths]
    _check_names(finals)
    staged = [final.with_name(f".{final.name}.{os.getpid()}.staged") for final in finals]
    try:
        with contextlib.ExitStack() as stack:
            streams = [
                stack.enter_context(_staged(final, hidden)) for final, hidden in zip(finals, staged, strict=True)
            ]
            yield streams
        _rename(staged, finals)
    finally:
        for hidden in staged:
            with contextlib.suppress(OSError):
                os.unlink(hidden)


def keep_inputs(outputs: Iterable[str | None], inputs: Iterable[str | None]) -> None:
    """Refuse an output that would replace an input; what is None is not given."""
    known = {os.path.realpath(path): path for path in inputs if path is not None and path != "-"}
    for path in outputs:
        if path is not None and os.path.realpath(path) in known:
            raise InputError("the output would replace an input", where=path, hint="Name another file.")


@contextlib.contextmanager
def open_output(path: str | os.PathLike[str] | None) -> Iterator[IO[bytes]]:
    """A file that appears when it is complete, or standard output."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with atomic_write(path) as stream:
            yield stream


@contextlib.contextmanager
def _staged(final: Path, hidden: Path) -> Iterator[IO[bytes]]:
    """`atomic_write` to the hidden name, with errors reported under the final one."""
    try:
        with atomic_write(hidden, compress=final.name.endswith(".gz")) as stream:
            yield stream
    except (InputError, ResourceError) as error:
        if error.where == os.fspath(hidden):
            raise type(error)(error.message, where=final, hint=error.hint) from None
        raise


def _check_names(finals: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for final in finals:
        place = Path(os.path.realpath(final))
        if place in seen:
            raise InputError("two outputs have this name", where=final, hint="Give each output its own name.")
        if place.exists() and not place.is_file():
            raise InputError("cannot write: not a regular file", where=final, hint="Name a file that may be replaced.")
        seen.add(place)


def _rename(staged: Sequence[Path], finals: Sequence[Path]) -> None:
    """Move all files into place; if one cannot be moved, restore the earlier files of the group."""
    undo: list[tuple[Path, Path | None]] = []
    with contextlib.ExitStack() as cleanup:
        for hidden, final in zip(staged, finals, strict=True):
            try:
                backup = None
                if final.exists():
                    backup = hidden.with_suffix(".old")
                    os.link(final, backup)
                    cleanup.callback(backup.unlink, missing_ok=True)
                os.replace(hidden, final)
                undo.append((final, backup))
            except OSError as error:
                for placed, earlier in reversed(undo):
                    with contextlib.suppress(OSError):
                        placed.unlink() if earlier is None else os.replace(earlier, placed)
                raise cannot_write(error, final, "None of the outputs was changed.") from None

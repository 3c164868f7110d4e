"""Many small files that are synced together: what is left when writing fails."""

import errno
import os
from pathlib import Path

import pytest

from itersel import _kernel
from itersel.base.errors import InputError, ResourceError
from itersel.base.files import sync_folder, write_unsynced


def test_a_file_is_replaced_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grammar.0.gz"
    write_unsynced(path, b"first")
    content = os.urandom(3_000_000)
    write_unsynced(path, content)
    sync_folder(tmp_path)
    assert path.read_bytes() == content

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ResourceError, match="cannot write: No space left on device"):
        write_unsynced(path, b"never")
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"grammar\.0\.gz: cannot write: No such file"):
        write_unsynced(tmp_path / "none" / "grammar.0.gz", b"x")
    with pytest.raises(InputError, match="none: cannot write: No such file"):
        sync_folder(tmp_path / "none")


def test_a_disk_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_kernel, "sync_file_system", lambda _: errno.EIO)
    with pytest.raises(ResourceError, match="cannot write: Input/output error"):
        sync_folder(tmp_path)


def test_the_kernel_returns_the_number_of_the_error() -> None:
    assert _kernel.sync_file_system(-1) == errno.EBADF

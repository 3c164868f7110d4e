"""Temporary folders: removed at the end, and by the next one if their owner was killed; a full disk is named."""

import errno
import multiprocessing
import os
import signal
import tempfile

import pytest

from itersel.base.errors import ResourceError
from itersel.base.temporary import temporary_folder


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_goes_at_the_end(place):
    with temporary_folder("align") as folder:
        assert folder.parent == place and folder.name.startswith("itersel.align.")
        (folder / "log").write_text("something")
    assert list(place.iterdir()) == []


def hold(purpose, pipe):
    with temporary_folder(purpose) as folder:
        (folder / "data").write_text("large")
        pipe.send(folder)
        signal.pause()


def test_the_next_one_removes_what_a_killed_process_left(place):
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=hold, args=("align", there))
    process.start()
    abandoned = here.recv()
    with temporary_folder("align"):
        assert (abandoned / "data").exists()  # its process lives
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    (place / "itersel.align.mine").write_text("no folder of ours")
    with temporary_folder("lm"):
        assert abandoned.exists()  # of another purpose
    with temporary_folder("align"):
        assert not abandoned.exists()
    assert [path.name for path in place.iterdir()] == ["itersel.align.mine"]


def test_a_full_disk_is_named(place, monkeypatch):
    real = tempfile.TemporaryFile
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def no_room(*_, **__):
        raise full

    monkeypatch.setattr(tempfile, "TemporaryFile", no_room)
    with pytest.raises(ResourceError, match="folder for temporary files is full") as caught, temporary_folder("lm"):
        raise full
    assert (caught.value.where, caught.value.exit_code) == (str(place), 1)
    assert "TMPDIR" in caught.value.hint
    monkeypatch.setattr(tempfile, "TemporaryFile", real)
    with pytest.raises(OSError, match="No space"), temporary_folder("lm"):
        raise full  # another disk is the full one
    assert list(place.iterdir()) == []


def test_a_missing_parent_is_named(place, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(place / "gone"))
    with pytest.raises(ResourceError, match="cannot make a temporary folder: No such file"), temporary_folder("lm"):
        pass

"""Groups of outputs: all or nothing."""

import errno
import os
import subprocess
import threading
import time

import pytest

from itersel.base.errors import InputError, ResourceError
from itersel.base.locks import exclusive
from itersel.base.outputs import atomic_group


def test_all_appear(tmp_path):
    with atomic_group([tmp_path / "a", tmp_path / "b.gz"]) as (first, second):
        first.write(b"one\n")
        second.write(b"two\n")
        assert not (tmp_path / "a").exists()
    assert sorted(os.listdir(tmp_path)) == ["a", "b.gz"]
    assert (tmp_path / "b.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_a_failure_leaves_the_earlier_files(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(RuntimeError), atomic_group([tmp_path / "a", tmp_path / "b"]) as streams:
        streams[0].write(b"new")
        raise RuntimeError
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


@pytest.mark.parametrize("failing", [0, 1])
def test_a_failing_rename_is_rolled_back(tmp_path, monkeypatch, failing):
    names = ["a", "b"]
    (tmp_path / "a").write_text("old")
    replace = os.replace

    def fail(source, destination):
        if str(destination) == str(tmp_path / names[failing]) and str(source).endswith(".staged"):
            raise OSError(errno.EIO, "Input/output error")
        replace(source, destination)

    monkeypatch.setattr(os, "replace", fail)
    with (
        pytest.raises(ResourceError, match="Input/output error"),
        atomic_group([tmp_path / "a", tmp_path / "b"]) as streams,
    ):
        for stream in streams:
            stream.write(b"new")
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_one_name_twice_and_no_regular_file(tmp_path):
    with (
        pytest.raises(InputError, match="two outputs have this name"),
        atomic_group([tmp_path / "a", tmp_path / "." / "a"]),
    ):
        pass
    with pytest.raises(InputError, match="not a regular file"), atomic_group([tmp_path]):
        pass
    with pytest.raises(InputError, match="not a regular file"), atomic_group(["/dev/full"]):
        pass
    assert os.listdir(tmp_path) == []


def test_a_full_disk_seen_at_the_end(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(ResourceError, match="No space left") as caught,
        atomic_group([tmp_path / "a", tmp_path / "b"]),
    ):
        pass
    assert caught.value.where in (str(tmp_path / "a"), str(tmp_path / "b"))
    assert os.listdir(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system is not permitted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_really_full_disk(small_disk):
    with (
        pytest.raises(ResourceError, match="No space left"),
        atomic_group([small_disk / "a", small_disk / "b"]) as streams,
    ):
        for _ in range(100):
            for stream in streams:
                stream.write(b"x" * 1024)
    assert os.listdir(small_disk) == []


def test_a_folder_is_held_by_one(tmp_path, capfd):
    order = []
    started = threading.Event()

    def second():
        started.set()
        with exclusive(tmp_path / "a" / "b"):
            order.append("second")

    with exclusive(tmp_path / "a" / "b"):
        thread = threading.Thread(target=second)
        thread.start()
        started.wait()
        said = ""
        while "another process is working here" not in said:  # it waits now
            time.sleep(0.01)
            said += capfd.readouterr().err
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"), exclusive(tmp_path / "file"):
        pass

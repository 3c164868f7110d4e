"""Copies of shards on a node: fetched once, complete or not at all, the least recently used go first."""

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from engine_cases import write_shard
from itersel.base.errors import InputError, ResourceError
from itersel.mapreduce.fetch import cache_folder, open_item_source
from itersel.mapreduce.work_item import ItemFile
from itersel.shards.shard import Shard


@pytest.fixture
def node(tmp_path, monkeypatch):
    """A node with a `hadoop` command that copies from a folder and counts its calls."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "hadoop"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n'
        f'case "$3" in *missing*) echo "copyToLocal: no such file" >&2; exit 1;; esac\n'
        f'exec cp "{tmp_path}/store/$(basename "$3")" "$4"\n'
    )
    script.chmod(0o755)
    (tmp_path / "store").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("ITERSEL_NODE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def file_of(node: Path, name: str, seed: int) -> ItemFile:
    path = write_shard(node / "store" / name, 5, seed)
    return ItemFile(f"hdfs:///shards/{name}", f"{Shard(path).checksum:016x}")


def test_fetched_once(node):
    file = file_of(node, "a.itsh", 1)
    for _ in range(3):
        assert open_item_source(file).checksum == file.checksum
    assert (node / "calls").read_text().count("-copyToLocal hdfs:///shards/a.itsh") == 1
    assert sorted(path.name for path in (node / "cache").iterdir()) == [f"{file.checksum}.itsh"]
    assert stat.S_IMODE((node / "cache").stat().st_mode) == 0o700


def test_plain_paths_are_read_where_they_are(node):
    path = write_shard(node / "here.itsh", 5, 1)
    assert len(open_item_source(ItemFile(path, f"{Shard(path).checksum:016x}"))) == 5
    assert not (node / "cache").exists()


def test_failures_leave_nothing(node):
    with pytest.raises(InputError, match=r"hdfs:///missing\.itsh: cannot fetch the shard: copyToLocal: no such file"):
        open_item_source(ItemFile("hdfs:///missing.itsh", "1"))
    assert list(cache_folder().iterdir()) == []


def test_the_least_recently_used_go(node, monkeypatch):
    files = [file_of(node, f"{name}.itsh", seed) for seed, name in enumerate("abc")]
    size = max(path.stat().st_size for path in (node / "store").iterdir())
    monkeypatch.setenv("ITERSEL_NODE_CACHE_GB", str(2.5 * size / 1e9))
    for number, file in enumerate(files[:2]):
        open_item_source(file)
        os.utime(node / "cache" / f"{file.checksum}.itsh", (number, number))
    open_item_source(files[2])
    left = {path.name for path in (node / "cache").iterdir()}
    assert left == {f"{file.checksum}.itsh" for file in files[1:]}


def test_nothing_to_fetch_with(node, monkeypatch):
    file = file_of(node, "a.itsh", 1)
    monkeypatch.setenv("PATH", str(node))
    for name in ("HADOOP_HOME", "HADOOP_PREFIX", "HADOOP_INSTALL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ResourceError, match="no `hadoop` command"):
        open_item_source(file)
    (node / "home" / "bin").mkdir(parents=True)
    shutil.copy2(node / "bin" / "hadoop", node / "home" / "bin" / "hadoop")
    monkeypatch.setenv("HADOOP_HOME", str(node / "home"))
    monkeypatch.setenv("PATH", f"{node}:/usr/bin:/bin")
    assert open_item_source(file).checksum == file.checksum


def test_a_damaged_copy_is_fetched_again(node):
    file = file_of(node, "a.itsh", 1)
    stored = node / "store" / "a.itsh"
    whole = stored.read_bytes()
    stored.write_bytes(whole[: len(whole) // 2] + b"?" + whole[len(whole) // 2 + 1 :])
    with pytest.raises(InputError, match=r"^hdfs:///shards/a\.itsh: section \d+ was altered"):
        open_item_source(file)
    stored.write_bytes(whole)
    assert open_item_source(file).checksum == file.checksum


def test_the_cache_is_a_folder_that_nobody_else_can_write_to(tmp_path, monkeypatch):
    monkeypatch.setenv("ITERSEL_NODE_CACHE", str(tmp_path / "named"))
    assert cache_folder().stat().st_mode & 0o777 == 0o700
    (tmp_path / "named").chmod(0o770)
    with pytest.raises(ResourceError, match="others can write to the folder") as caught:
        cache_folder()
    assert "chmod 700" in caught.value.hint
    monkeypatch.delenv("ITERSEL_NODE_CACHE")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"itersel-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ResourceError, match="is a link"):
        cache_folder()
    monkeypatch.setenv("ITERSEL_NODE_CACHE", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(ResourceError, match="belongs to somebody else"):
        cache_folder()

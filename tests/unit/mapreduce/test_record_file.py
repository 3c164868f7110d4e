"""Files of records: what is written is read, by range; damage is noticed; many files need few descriptors."""

import os
import resource

import pytest

from itersel.base.errors import InputError
from itersel.mapreduce import record_file
from itersel.mapreduce.job import DRIVER, Record
from itersel.mapreduce.record_file import RecordFile, write_records

RECORDS = [Record(0, 7, 0, b"first"), Record(DRIVER, 7, 1, b""), Record(1, 7, 2, b"x" * 5000), Record(0, 7, 3, b"last")]


@pytest.mark.parametrize("mapped", [1, 1000, 1 << 20])
def test_records_are_read_by_range(tmp_path, monkeypatch, mapped):
    """Whether a value is mapped or not."""
    monkeypatch.setattr(record_file, "MAPPED", mapped)
    write_records(tmp_path / "r", RECORDS, "a note")
    file = RecordFile(tmp_path / "r")
    assert file.note == "a note"
    assert [record._replace(value=bytes(record.value)) for record in file.records()] == RECORDS
    assert [bytes(record.value) for record in file.records(0)] == [b"first", b"last"]
    assert [bytes(record.value) for record in file.records(1, DRIVER)] == [b"", b"x" * 5000]


def test_damage_is_noticed(tmp_path):
    write_records(tmp_path / "r", RECORDS)
    good = (tmp_path / "r").read_bytes()
    for content, message in (
        (good[:10], "too short"),
        (b"otherrec" + good[8:], "not a file of records of version"),
        (good[:25] + b"?" + good[26:], "the index's checksum is wrong"),
        (good[:-1], "a checksum is wrong"),
        (good[:-1] + b"?", "a checksum is wrong"),
    ):
        (tmp_path / "r").write_bytes(content)
        with pytest.raises(InputError, match=message):
            list(RecordFile(tmp_path / "r").records())
    with pytest.raises(InputError, match="cannot read: No such file"):
        RecordFile(tmp_path / "nothing")


def test_records_of_many_files_need_few_descriptors(tmp_path):
    """A reducer holds a row of every shard, and there may be more shards than files that a process may have open."""
    paths = [tmp_path / f"{number}" for number in range(60)]
    for number, path in enumerate(paths):
        write_records(path, [Record(0, number, 0, b"%d" % number)])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 20, hard))
    try:
        held = [record for path in paths for record in RecordFile(path).records(0)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [bytes(record.value) for record in held] == [b"%d" % number for number in range(60)]

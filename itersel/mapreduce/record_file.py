"""A file of records: written at once, read range by range without loading the rest.

An index of (key, item, sequence, offset, length, CRC-32) comes first, then the values. What is read is checked.
"""

from __future__ import annotations

import base64
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgpack

from itersel.base.errors import InputError
from itersel.base.files import atomic_write, cannot_write, write_unsynced
from itersel.mapreduce.job import Record

MAGIC = b"itersrec"
VERSION = 1
HEADER = struct.Struct("<8sIII")
"""Magic, version, bytes of the index, its CRC-32."""
MAPPED = 16 << 20
"""Bytes from which on a value is mapped."""


def write_records(
    path: str | os.PathLike[str], records: Iterable[Record], note: str = "", *, sync: bool = True
) -> None:
    """Write the records; `note` says what they belong to. `sync` is that of `atomic_write`."""
    index, values, offset = [], [], 0
    for record in records:
        index.append((record.key, record.item, record.sequence, offset, len(record.value), zlib.crc32(record.value)))
        values.append(record.value)
        offset += len(record.value)
    packed = msgpack.packb([note, index])
    parts = [HEADER.pack(MAGIC, VERSION, len(packed), zlib.crc32(packed)), packed, *values]
    if not sync:
        place = Path(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(error, place) from None
        write_unsynced(place, *parts)
        return
    with atomic_write(path, compress=False) as stream:
        for part in parts:
            stream.write(part)


class RecordFile:
    """The records of a file. Large values are mapped into memory; others are read, because a mapping keeps its file
    open, and a process may have as many of these as a job has shards."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        try:
            with open(path, "rb") as stream:
                header = stream.read(HEADER.size)
                if len(header) < HEADER.size:
                    raise InputError("not a file of records: too short", where=path)
                magic, version, size, checksum = HEADER.unpack(header)
                packed = stream.read(size)
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror or error}", where=path) from None
        if magic != MAGIC or version != VERSION:
            raise InputError(f"not a file of records of version {VERSION}", where=path)
        if zlib.crc32(packed) != checksum:
            raise InputError("damaged file of records: the index's checksum is wrong", where=path)
        self.note, self.index = msgpack.unpackb(packed)
        self.start = HEADER.size + size

    def records(self, *keys: int) -> Iterator[Record]:
        """The records of these keys (none given: all), in the file's order. Large values are views of the file."""
        try:
            with open(self.path, "rb") as stream:
                for key, item, sequence, offset, length, checksum in self.index:
                    if not keys or key in keys:
                        value = self._value(stream, self.start + offset, length)
                        if len(value) != length or zlib.crc32(value) != checksum:
                            raise InputError("damaged file of records: a checksum is wrong", where=self.path)
                        yield Record(key, item, sequence, value)  # type: ignore[arg-type]
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror or error}", where=self.path) from None

    def check(self) -> None:
        """Read all of it; damage is an InputError."""
        for _ in self.records():
            pass

    @staticmethod
    def _value(stream: BinaryIO, begin: int, length: int) -> bytes | memoryview:
        if length < MAPPED:
            stream.seek(begin)
            return stream.read(length)
        return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))[begin : begin + length]


def record_line(record: Record) -> tuple[str, str]:
    """A record as key and value of a line-based engine."""
    packed: bytes = msgpack.packb([record.item, record.sequence, bytes(record.value)])
    return str(record.key), base64.b64encode(packed).decode()


def parse_record_line(key: str, value: str) -> Record:
    """The record of such a line."""
    try:
        item, sequence, content = msgpack.unpackb(base64.b64decode(value, validate=True))
        return Record(int(key), int(item), int(sequence), bytes(content))
    except (ValueError, TypeError) as error:
        raise InputError(f"a record is damaged: {error}") from None

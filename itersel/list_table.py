"""N-best lists compiled for training: features as numbers, every hypothesis with its metric, in one mapped file.

Parsing and scoring happen once; an epoch then reads records in place, one list at a time, so memory holds weights and
the one list. The file is written in one pass:

    offset  0  8 bytes  "iterslst"
            8  uint64   version, 1
           16  records, one a list (kernel/list_table.hh)
            …  uint64 offsets of the records and of their end; uint64 keys, the hash of each id
            …  ids, then names of the features, each ended by a line feed
         −48  uint64   position of the offsets; number of lists; of features; of bytes of the ids; of the names
          −8  uint32   CRC-32 of everything before; uint32 0
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.errors import InputError
from itersel.files import atomic_write
from itersel.vectors import Vector, feature_id, feature_ids

MAGIC = b"iterslst"
VERSION = 1
HEADER = struct.Struct("<8sQ")
FOOTER = struct.Struct("<5QII")


@dataclass(frozen=True, eq=False)
class CompiledList:
    """One list: hypotheses as rows of features, which are numbered in the order of `names`."""

    id: str
    names: list[str]
    ends: npt.NDArray[np.uint32]
    """Row i has the features and values before ends[i] that the rows before it have not."""
    features: npt.NDArray[np.uint32]
    values: npt.NDArray[np.float64]
    metric: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls, id: str, vectors: Sequence[dict[str, float]], metric: npt.ArrayLike, scores: npt.ArrayLike
    ) -> CompiledList:
        numbers: dict[str, int] = {}
        features = [numbers.setdefault(name, len(numbers)) for vector in vectors for name in vector]
        return cls(
            id,
            list(numbers),
            np.cumsum([len(vector) for vector in vectors], dtype=np.uint32),
            np.array(features, dtype=np.uint32),
            np.array([value for vector in vectors for value in vector.values()], dtype=np.float64),
            np.asarray(metric, dtype=np.float64),
            np.asarray(scores, dtype=np.float64),
        )

    def record(self, numbers: dict[str, int]) -> bytes:
        """The record for the kernel. Features get the table's numbers, new ones the next, and are sorted by them."""
        table = np.array([numbers.setdefault(name, len(numbers)) for name in self.names], dtype=np.uint32)
        features = table[self.features]
        rows = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=np.uint32(0)))
        order = np.lexsort((features, rows))
        parts = [np.array([len(self.ends), len(features)], dtype="<u4"), self.metric, self.scores, self.values[order]]
        content = b"".join(part.tobytes() for part in (*parts, self.ends, features[order]))
        return content + bytes(-len(content) % 8)


def write_table(lists: Iterable[CompiledList], path: str | os.PathLike[str]) -> None:
    """Write the lists in one pass; features are numbered in the order they are met."""
    numbers: dict[str, int] = {}
    ids: list[str] = []
    with atomic_write(path, compress=False) as stream:
        out = _Checked(stream)
        out.write(HEADER.pack(MAGIC, VERSION))
        offsets = [out.position]
        for one in lists:
            ids.append(one.id)
            out.write(one.record(numbers))
            offsets.append(out.position)
        index = out.position
        out.write(np.array(offsets, dtype="<u8").tobytes())
        out.write(np.array([feature_id(name) for name in ids], dtype="<u8").tobytes())
        texts = ["".join(f"{name}\n" for name in each).encode() for each in (ids, numbers)]
        for text in texts:
            out.write(text)
        counts = (index, len(ids), len(numbers), *map(len, texts))
        out.write(FOOTER.pack(*counts, 0, 0)[:-8])
        stream.write(struct.pack("<II", out.checksum, 0))


class ListTable:
    """A compiled file, mapped and checked."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        try:
            with open(path, "rb") as stream:
                if os.fstat(stream.fileno()).st_size < HEADER.size + FOOTER.size:
                    raise self._damaged("it is too short")
                data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", where=path) from None
        magic, version = HEADER.unpack_from(data)
        if (magic, version) != (MAGIC, VERSION):
            raise InputError("not compiled lists of this version of itersel", where=path)
        index, count, features, id_bytes, name_bytes, checksum, _ = FOOTER.unpack_from(data, len(data) - FOOTER.size)
        if zlib.crc32(memoryview(data)[:-8]) != checksum:
            raise self._damaged("the checksum is wrong")
        if index + 8 * (2 * count + 1) + id_bytes + name_bytes + FOOTER.size != len(data):
            raise self._damaged("the index does not fit the file")
        offsets = np.frombuffer(data, "<u8", count + 1, index)
        keys = np.frombuffer(data, "<u8", count, index + offsets.nbytes)
        texts = len(data) - FOOTER.size - id_bytes - name_bytes
        self.ids = data[texts : texts + id_bytes].decode().split("\n")[:-1]
        self.names = data[texts + id_bytes : texts + id_bytes + name_bytes].decode().split("\n")[:-1]
        if (len(self.ids), len(self.names)) != (count, features):
            raise self._damaged("ids or names are missing")
        try:
            self.native = _kernel.ListTable(np.frombuffer(data, np.uint8), offsets, keys, features)
        except InputError as error:
            raise InputError(error.message, where=path) from None
        self.hashes = feature_ids(self.names)

    def __len__(self) -> int:
        return len(self.ids)

    def spread(self, weights: Vector) -> npt.NDArray[np.float64]:
        """The weights by the table's feature numbers."""
        dense = np.zeros(len(self.names))
        at = np.searchsorted(weights.ids, self.hashes)
        known = at < len(weights)
        known[known] = weights.ids[at[known]] == self.hashes[known]
        dense[known] = weights.values[at[known]]
        return dense

    def collect(self, dense: npt.NDArray[np.float64], start: Vector) -> Vector:
        """The way back; weights of features that the table does not have stay as they were at the start."""
        carried = ~np.isin(start.ids, self.hashes)
        ids = np.concatenate([start.ids[carried], self.hashes])
        return Vector.of(ids, np.concatenate([start.values[carried], dense]))

    def best(self, weights: Vector) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
        """For each list, which hypothesis the weights rank first (the earlier one of equals), and its metric."""
        return self.native.best(self.spread(weights))

    def _damaged(self, what: str) -> InputError:
        return InputError(f"damaged lists: {what}", where=self.path, hint="Remove the file; it is made again.")


class _Checked:
    """A stream that counts and sums up what goes through."""

    def __init__(self, stream: IO[bytes]):
        self.stream, self.position, self.checksum = stream, 0, 0

    def write(self, content: bytes) -> None:
        self.stream.write(content)
        self.position += len(content)
        self.checksum = zlib.crc32(content, self.checksum)

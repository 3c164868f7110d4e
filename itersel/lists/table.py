"""N-best lists compiled for training: features as numbers, every hypothesis with its metric and the metric's sufficient
statistics, in one mapped file.

Parsing and scoring happen once; an epoch then reads records in place, one list at a time, so memory holds weights and
the one list. Such a file stands wherever a shard can: mappers learn from it (itersel.learn.list_epoch), layouts deal
its lists out, devtest reranks it. It is written in one pass:

    offset  0  8 bytes  "iterslst"
            8  uint64   version, 2
           16  for each list, in multiples of 8 bytes: a record (kernel/lists/list_table.hh), then texts and references
            …  uint64 begin and end of each record; uint64 keys, the hash of each id
            …  ids, then names of the features, each ended by a line feed; then the name of the corpus metric
         −56  uint64   position of the begins; number of lists; of features; of bytes of the ids; of the names; of the
                       corpus metric's name
          −8  8 bytes  BLAKE2b of everything before
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import IO

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.base.files import atomic_write
from itersel.model.vectors import Vector, feature_id, feature_ids

MAGIC = b"iterslst"
VERSION = 2
HEADER = struct.Struct("<8sQ")
FOOTER = struct.Struct("<7Q")


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
    texts: Sequence[str]
    """Texts of the hypotheses, then of the references."""
    statistics: npt.NDArray[np.float32]
    """The metric's statistics, one row per hypothesis; without columns if the metric's values come from outside."""

    @classmethod
    def of(
        cls,
        id: str,
        vectors: Sequence[dict[str, float]],
        metric: npt.ArrayLike,
        scores: npt.ArrayLike,
        texts: Sequence[str] = (),
        statistics: npt.ArrayLike | None = None,
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
            texts,
            np.zeros((len(vectors), 0), np.float32) if statistics is None else np.asarray(statistics, np.float32),
        )

    def record(self, numbers: dict[str, int]) -> bytes:
        """The record for the kernel. Features get the table's numbers, new ones the next, and are sorted by them."""
        table = np.array([numbers.setdefault(name, len(numbers)) for name in self.names], dtype=np.uint32)
        features = table[self.features]
        rows = np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=np.uint32(0)))
        order = np.lexsort((features, rows))
        header = np.array([len(self.ends), len(features), self.statistics.shape[1], 0], dtype="<u4")
        numbers_of_8_bytes = (self.metric, self.scores, self.values[order])
        numbers_of_4_bytes = (self.ends, features[order], self.statistics)
        content = b"".join(part.tobytes() for part in (header, *numbers_of_8_bytes, *numbers_of_4_bytes))
        return _padded(content)


def write_table(lists: Iterable[CompiledList], path: str | os.PathLike[str], corpus_metric: str = "") -> None:
    """Write the lists in one pass; features are numbered in the order they are met.

    `corpus_metric` names what the lists' statistics are: bleu, chrf or ter; nothing if they have none.
    """
    numbers: dict[str, int] = {}
    ids: list[str] = []
    with atomic_write(path, compress=False) as stream:
        out = _Checked(stream)
        out.write(HEADER.pack(MAGIC, VERSION))
        offsets = []
        for one in lists:
            ids.append(one.id)
            offsets.append(out.position)
            out.write(one.record(numbers))
            offsets.append(out.position)
            out.write(_padded(_lines(one.texts)))
        index = out.position
        out.write(np.array(offsets, dtype="<u8").tobytes())
        out.write(np.array([feature_id(name) for name in ids], dtype="<u8").tobytes())
        texts = [_lines(ids), _lines(numbers), corpus_metric.encode()]
        for text in texts:
            out.write(text)
        out.write(struct.pack("<6Q", index, len(ids), len(numbers), *map(len, texts)))
        stream.write(struct.pack("<Q", _checksum(out.content)))


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
        *counts, checksum = FOOTER.unpack_from(data, len(data) - FOOTER.size)
        if _checksum(hashlib.blake2b(memoryview(data)[:-8], digest_size=8)) != checksum:
            raise self._damaged("the checksum is wrong")
        index, count, features, id_bytes, name_bytes, metric_bytes = counts
        if index + 24 * count + id_bytes + name_bytes + metric_bytes + FOOTER.size != len(data):
            raise self._damaged("the index does not fit the file")
        self.checksum: int = checksum
        self._data, self._end = data, index
        self._offsets = np.frombuffer(data, "<u8", 2 * count, index)
        keys = np.frombuffer(data, "<u8", count, index + self._offsets.nbytes)
        names = index + 24 * count + id_bytes
        self.ids = data[names - id_bytes : names].decode().split("\n")[:-1]
        self.names = data[names : names + name_bytes].decode().split("\n")[:-1]
        self.corpus_metric = data[names + name_bytes : names + name_bytes + metric_bytes].decode()
        """What the statistics are: bleu, chrf or ter; empty if there are none."""
        if (len(self.ids), len(self.names)) != (count, features):
            raise self._damaged("ids or names are missing")
        try:
            self.native = _kernel.ListTable(np.frombuffer(data, np.uint8), self._offsets, keys, features)
        except InputError as error:
            raise InputError(error.message, where=path) from None
        self.hashes = feature_ids(self.names)

    def __len__(self) -> int:
        return len(self.ids)

    def id(self, number: int) -> str:
        return self.ids[number]

    def domain(self, number: int) -> str:  # noqa: ARG002
        """Lists have no domain labels."""
        return ""

    def texts(self, number: int) -> list[str]:
        """The hypotheses of a list."""
        return self._lines(number)[: self._size(number)]

    def features(self, number: int) -> list[dict[str, float]]:
        """The feature vectors of a list's hypotheses, by name."""
        rows, entries = struct.unpack_from("<II", self._data, begin := int(self._offsets[2 * number]))
        at = begin + 16 + 16 * rows  # behind the header, the metric and the scores
        values = np.frombuffer(self._data, "<f8", entries, at)
        ends = np.frombuffer(self._data, "<u4", rows, at + 8 * entries)
        features = np.frombuffer(self._data, "<u4", entries, at + 8 * entries + 4 * rows)
        pairs = [(self.names[k], value) for k, value in zip(features.tolist(), values.tolist(), strict=True)]
        return [dict(pairs[low:high]) for low, high in pairwise([0, *ends.tolist()])]

    def references(self, number: int) -> list[str]:
        return self._lines(number)[self._size(number) :]

    def metric(self, number: int) -> npt.NDArray[np.float64]:
        """The metric of each hypothesis of a list."""
        return self.native.scores(number)[0]

    def statistics(self, number: int) -> npt.NDArray[np.float32]:
        """The sufficient statistics of each hypothesis of a list, one per row; of no columns if there are none."""
        return self.native.scores(number)[1]

    def _size(self, number: int) -> int:
        return int(struct.unpack_from("<I", self._data, int(self._offsets[2 * number]))[0])

    def _lines(self, number: int) -> list[str]:
        begin = int(self._offsets[2 * number + 1])
        end = int(self._offsets[2 * number + 2]) if number + 1 < len(self) else self._end
        return self._data[begin:end].rstrip(b"\0").decode().split("\n")[:-1]

    def collect(self, dense: npt.NDArray[np.float64], start: Vector) -> Vector:
        """Weights by feature number as a vector; those that the table does not have are as they were at the start."""
        carried = ~np.isin(start.ids, self.hashes)
        ids = np.concatenate([start.ids[carried], self.hashes])
        return Vector.of(ids, np.concatenate([start.values[carried], dense]))

    def best(self, weights: Vector) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]:
        """For each list, which hypothesis the weights rank first (the earlier one of equals), and its metric."""
        return self.native.best(weights.values_of(self.hashes))

    def translate(self, weights: Vector) -> list[str]:
        """The text that the weights rank first, for each list."""
        return [self.texts(number)[place] for number, place in enumerate(self.best(weights)[0].tolist())]

    def _damaged(self, what: str) -> InputError:
        return InputError(f"damaged lists: {what}", where=self.path, hint="Remove the file, and make it again.")


def _checksum(content: hashlib.blake2b) -> int:
    return int.from_bytes(content.digest(), "little")


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 8)


def _lines(texts: Iterable[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


class _Checked:
    """A stream that counts and sums up what goes through."""

    def __init__(self, stream: IO[bytes]):
        self.stream, self.position, self.content = stream, 0, hashlib.blake2b(digest_size=8)

    def write(self, content: bytes) -> None:
        self.stream.write(content)
        self.position += len(content)
        self.content.update(content)

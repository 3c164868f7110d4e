"""Sparse weight vectors as they travel between machines: sorted 64-bit feature ids with float64 values.

Names become ids by `feature_id` (FNV-1a, then MurmurHash3's finaliser). The wire format is a 32-byte header
and then plain little-endian arrays, 16 bytes for each non-zero, so a file can be memory-mapped:
there is nothing to parse.

    offset  0  8 bytes  "itersvec"
            8  uint32   version, 1
           12  uint32   CRC-32 of everything, with this field as 0
           16  uint64   number of features n
           24  uint64   number of columns c (1 for weights)
           32  n × uint64, strictly ascending; then c times n × float64
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.base.files import atomic_write

Ids = npt.NDArray[np.uint64]
Values = npt.NDArray[np.float64]

MAGIC = b"itersvec"
VERSION = 1
HEADER = struct.Struct("<8sIIQQ")
CHECKSUM_AT = 12
ID_SPACE = 2**64

feature_id = _kernel.feature_hash
feature_ids = _kernel.feature_hashes


@dataclass(frozen=True, eq=False, repr=False)
class Vector:
    """Ids strictly ascending, values finite and not 0. Use `Vector.of` for arrays that may not be so."""

    ids: Ids
    values: Values

    @classmethod
    def of(cls, ids: npt.ArrayLike, values: npt.ArrayLike) -> Vector:
        """From arrays in any order, without zeros. Repeated ids and values that are not finite are errors."""
        given_ids, given = np.asarray(ids, dtype=np.uint64), np.asarray(values, dtype=np.float64)
        if given_ids.shape != given.shape or given.ndim != 1:
            raise InputError(f"{given_ids.shape} feature ids but {given.shape} values")
        used = given != 0
        given_ids, given = given_ids[used], given[used]
        order = np.argsort(given_ids, kind="stable")
        vector = cls(given_ids[order], given[order])
        _check(vector.ids, [vector.values], None)
        return vector

    @classmethod
    def of_names(cls, weights: Mapping[str, float]) -> Vector:
        """From named weights."""
        return cls.of(feature_ids(list(weights)), list(weights.values()))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Vector of {len(self):,} features>"

    def range(self, low: int, high: int) -> Vector:
        """The features with low ≤ id < high; `high` may be 2^64. The arrays are views."""
        begin, end = _position(self.ids, low), _position(self.ids, high)
        return Vector(self.ids[begin:end], self.values[begin:end])

    def values_of(self, ids: Ids) -> Values:
        """The values of these features, 0 where there is none."""
        at, known = look_up(self.ids, ids)
        values = np.zeros(len(ids))
        values[known] = self.values[at[known]]
        return values

    def cut(self, bounds: Sequence[int]) -> list[Vector]:
        """The pieces between neighbouring bounds."""
        return [self.range(low, high) for low, high in pairwise(bounds)]

    def to_bytes(self) -> bytes:
        """The wire format."""
        return pack(self.ids, self.values)

    @classmethod
    def from_bytes(cls, data: bytes | memoryview | mmap.mmap, source: str | os.PathLike[str] | None = None) -> Vector:
        """Reads the wire format into read-only views; anything wrong is an InputError that names `source`."""
        ids, columns = unpack(data, 1, source)
        if not columns[0].all():
            raise InputError("damaged vector: a stored value is 0", where=source)
        return cls(ids, columns[0])

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the wire format, atomically."""
        with atomic_write(path, compress=False) as stream:
            stream.write(self.to_bytes())

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, mapped: bool = False) -> Vector:
        """Reads and checks a file; `mapped` leaves it in the page cache but keeps it open."""
        data: bytes | mmap.mmap
        try:
            with open(path, "rb") as stream:
                if mapped and os.fstat(stream.fileno()).st_size > 0:
                    data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
                else:
                    data = stream.read()
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", where=path) from None
        return cls.from_bytes(data, path)


def even_bounds(count: int) -> list[int]:
    """Bounds that cut the ids into `count` ranges of equal width: nearly equal load, as ids are hashes."""
    return [k * ID_SPACE // count for k in range(count + 1)]


def join(pieces: Iterable[Vector]) -> Vector:
    """The inverse of `cut`: pieces in the order of their ranges."""
    parts = list(pieces) or [Vector.of([], [])]
    vector = Vector(np.concatenate([p.ids for p in parts]), np.concatenate([p.values for p in parts]))
    _check(vector.ids, [vector.values], None)
    return vector


def pack(ids: Ids, *columns: Values) -> bytes:
    """The wire format of ids with any number of columns beside them."""
    payload = [np.ascontiguousarray(ids, dtype="<u8").data]
    payload += [np.ascontiguousarray(column, dtype="<f8").data for column in columns]
    checksum = zlib.crc32(HEADER.pack(MAGIC, VERSION, 0, len(ids), len(columns)))
    for array in payload:
        checksum = zlib.crc32(array, checksum)
    return b"".join([HEADER.pack(MAGIC, VERSION, checksum, len(ids), len(columns)), *payload])


def unpack(
    data: bytes | memoryview | mmap.mmap, columns: int, source: str | os.PathLike[str] | None = None
) -> tuple[Ids, list[Values]]:
    """Ids and columns of the wire format, as read-only views of `data`, after all checks."""
    if len(data) < HEADER.size:
        raise InputError(f"not a vector: {len(data)} bytes, shorter than the header", where=source)
    magic, version, checksum, count, width = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise InputError("not a vector: the file does not start with 'itersvec'", where=source)
    if version != VERSION:
        raise InputError(f"vector of version {version}; this program reads version {VERSION}", where=source)
    if width != columns:
        raise InputError(f"vector with {width} columns where {columns} were expected", where=source)
    size = HEADER.size + 8 * count * (1 + width)
    if len(data) != size:
        raise InputError(
            f"damaged vector: {len(data)} bytes, but {count} features need {size}",
            where=source,
            hint="Copy it again.",
        )
    view = memoryview(data)
    found = zlib.crc32(view[CHECKSUM_AT + 4 :], zlib.crc32(b"\0\0\0\0", zlib.crc32(view[:CHECKSUM_AT])))
    if found != checksum:
        raise InputError("damaged vector: the checksum is wrong", where=source, hint="Copy it again.")
    ids = np.frombuffer(data, dtype="<u8", count=count, offset=HEADER.size)
    values = [
        np.frombuffer(data, dtype="<f8", count=count, offset=HEADER.size + 8 * count * (1 + k)) for k in range(width)
    ]
    _check(ids, values, source)
    return ids, values


def look_up(ids: Ids, wanted: Ids) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """Where the wanted ids are among ascending ones, and which of them are there at all."""
    at = np.searchsorted(ids, wanted)
    known = at < len(ids)
    known[known] = ids[at[known]] == wanted[known]
    return at, known


def _position(ids: Ids, bound: int) -> int:
    return len(ids) if bound >= ID_SPACE else int(np.searchsorted(ids, np.uint64(bound)))


def _check(ids: Ids, columns: Sequence[Values], source: str | os.PathLike[str] | None) -> None:
    if (ids[1:] <= ids[:-1]).any():
        raise InputError("a vector's feature ids must ascend without repetition", where=source)
    if not all(np.isfinite(column).all() for column in columns):
        raise InputError("a vector has a value that is not a finite number", where=source)

"""Mixing: what the reducer makes of the shards' weight vectors (ACL 2012 §4, algorithms 1 to 4).

Stacked, the vectors are a sparse Z×D matrix W. Columns are ranked by a norm, the best are kept, and each kept
column becomes its mean over all Z shards; a feature absent in a shard counts as 0 there. Sums over shards are
taken one by one in shard order, so the result is the same to the last bit for any number of reducers and any
order of arrival.

A reducer owns a range of feature ids and walks through it in chunks, working on one chunk of W and its best
columns so far. With top K it hands on its K best columns *and all that tie with the last of them*; the
driver's `merge` of those is then exactly the global top K. Ties are broken by feature name, ascending by code
point.
"""

from __future__ import annotations

import heapq
import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from itersel import _kernel
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import InputError
from itersel.model.feature_names import Names
from itersel.model.vectors import ID_SPACE, Ids, Values, Vector, pack, unpack

if TYPE_CHECKING:
    import scipy.sparse

NORMS = ("l2", "l1", "linf", "l0")
CHUNK = 2**18
"""Entries of W held at once: small enough to stay in a processor's cache while they are sorted."""


@dataclass(frozen=True)
class SelectionConfig:
    """Which columns survive. All conditions must hold; without any, every column does."""

    norm: Annotated[str, OneOf(*NORMS)] = "l2"
    """l2, l1, linf, or l0 (the number of shards that have the feature)."""
    top: Annotated[int, Range(1)] | None = None
    """Keep the K columns of largest norm."""
    threshold: Annotated[float, Range(0)] | None = None
    """Keep columns whose norm is at least this."""
    shards: Annotated[int, Range(1)] | None = None
    """Keep features that at least this many shards have."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of W: ids ascending; ranking keys, i.e. norms (for l2 the square, not rounded again); means."""

    ids: Ids
    keys: Values
    means: Values

    def __len__(self) -> int:
        return len(self.ids)

    def where(self, chosen: np.ndarray) -> Columns:
        """The columns of a mask or an index."""
        return Columns(self.ids[chosen], self.keys[chosen], self.means[chosen])

    def vector(self) -> Vector:
        """The means as a weight vector."""
        used = self.means != 0
        return Vector(self.ids[used], self.means[used])

    def to_bytes(self) -> bytes:
        """What a reducer sends: 24 bytes per column."""
        return pack(self.ids, self.keys, self.means)

    @classmethod
    def from_bytes(cls, data: bytes | mmap.mmap, source: str | os.PathLike[str] | None = None) -> Columns:
        """Reads and checks what a reducer sent."""
        ids, (keys, means) = unpack(data, 2, source)
        return cls(ids, keys, means)


def in_shard_order(pieces: Iterable[tuple[int, Vector]], shards: int) -> list[Vector]:
    """Numbered vectors, in any order, as the rows 0 … Z − 1. A missing or doubled shard is an InputError."""
    rows: dict[int, Vector] = {}
    for number, vector in pieces:
        if not 0 <= number < shards:
            raise InputError(f"weights of shard {number}, but shards are numbered 0 to {shards - 1}")
        if number in rows:
            raise InputError(f"weights of shard {number} came twice")
        rows[number] = vector
    missing = [number for number in range(shards) if number not in rows]
    if missing:
        shown = ", ".join(map(str, missing[:5])) + (" …" if len(missing) > 5 else "")
        raise InputError(f"weights of {len(missing)} of {shards} shards are missing: {shown}")
    return [rows[number] for number in range(shards)]


def stack(vectors: Sequence[Vector]) -> tuple[Ids, scipy.sparse.csr_array]:
    """W itself, for those who want to look at it, and the ids of its columns. Holds all of W in memory."""
    import scipy.sparse  # here, because a reducer starts faster without it

    everything = np.concatenate([vector.ids for vector in vectors])
    ids, columns = np.unique(everything, return_inverse=True)
    rows = np.cumsum([0] + [len(vector) for vector in vectors])
    values = np.concatenate([vector.values for vector in vectors])
    return ids, scipy.sparse.csr_array((values, columns, rows), shape=(len(vectors), len(ids)))


def norms(columns: Columns, norm: str = "l2") -> Values:
    """The norms that belong to the ranking keys."""
    return np.sqrt(columns.keys) if norm == "l2" else columns.keys


def reduce_range(
    vectors: Sequence[Vector],
    selection: SelectionConfig,
    *,
    low: int = 0,
    high: int = ID_SPACE,
    names: Names | None = None,
    chunk: int = CHUNK,
) -> Columns:
    """What one reducer does: the surviving columns with low ≤ id < high of the vectors, given in shard order.

    With `top`, all columns that tie with the K-th best are handed on, unless `names` is given: then just K.
    """
    kept: list[Columns] = []
    waiting, least = 0, -np.inf
    for columns in _chunks(vectors, selection, low, high, chunk):
        if selection.top is not None:
            columns = columns.where(columns.keys >= least)
        kept.append(columns)
        waiting += len(columns)
        if selection.top is not None and waiting > 2 * selection.top:
            best = _best(_concatenate(kept), selection.top, names, ties=True)
            kept, waiting = [best], 0
            if len(best) >= selection.top:
                least = float(best.keys.min())
    everything = _concatenate(kept)
    if selection.top is not None:
        everything = _best(everything, selection.top, names, ties=True)
    return everything.where(np.argsort(everything.ids))


def merge(parts: Iterable[Columns], selection: SelectionConfig, *, names: Names | None = None) -> Columns:
    """The final columns from the reducers', in any order. `names` is needed if K cuts through equal norms."""
    everything = _concatenate(list(parts))
    order = np.argsort(everything.ids, kind="stable")
    everything = everything.where(order)
    doubled = np.flatnonzero(everything.ids[1:] == everything.ids[:-1])
    if len(doubled):
        raise InputError(f"two reducers sent feature id {int(everything.ids[doubled[0]]):#018x}")
    return everything if selection.top is None else _best(everything, selection.top, names, ties=False)


def mix(vectors: Sequence[Vector], selection: SelectionConfig | None = None, *, names: Names | None = None) -> Columns:
    """Select and average in one process: `merge` of a single `reduce_range`."""
    selection = selection or SelectionConfig()
    return merge([reduce_range(vectors, selection)], selection, names=names)


def average(vectors: Sequence[Vector]) -> Vector:
    """The mean of all vectors, summed in their order."""
    return mix(vectors).vector()


def total(vectors: Sequence[Vector]) -> Vector:
    """The sum of all vectors, taken in their order."""
    found, _, sums, _ = _kernel.column_sums(
        np.concatenate([vector.ids for vector in vectors]), np.concatenate([vector.values for vector in vectors]), "l1"
    )
    return Vector.of(found, sums)


def sgd(epochs: Sequence[Vector]) -> Vector:
    """Algorithm 1: the average of the weights at the end of each epoch."""
    return average(epochs)


def mix_sgd(shards: Sequence[Sequence[Vector]]) -> Vector:
    """Algorithm 2: the mean over shards z of the mean over epochs t of `shards[z][t]`."""
    return average([average(epochs) for epochs in shards])


def iter_mix_sgd(shards: Sequence[Vector]) -> Vector:
    """Algorithm 3, end of an epoch: the start of the next one."""
    return average(shards)


def iter_sel_sgd(shards: Sequence[Vector], selection: SelectionConfig, *, names: Names | None = None) -> Vector:
    """Algorithm 4, end of an epoch: the means of the selected columns, the start of the next one."""
    return mix(shards, selection, names=names).vector()


def _chunks(
    vectors: Sequence[Vector], selection: SelectionConfig, low: int, high: int, chunk: int
) -> Iterator[Columns]:
    """Columns that pass threshold and count, chunk by chunk; inside a chunk in no particular order of ids."""
    if not vectors:
        raise InputError("nothing to mix: there are no shards")
    pieces = [vector.range(low, high) for vector in vectors]
    count = -(-sum(map(len, pieces)) // chunk)
    bounds = np.array([low + (high - low) * k // count for k in range(1, count)], dtype=np.uint64)
    cuts = [[0, *np.searchsorted(piece.ids, bounds).tolist(), len(piece)] for piece in pieces]
    for k in range(count):
        slices = [slice(cut[k], cut[k + 1]) for cut in cuts]
        ids = np.concatenate([piece.ids[s] for piece, s in zip(pieces, slices, strict=True)])
        values = np.concatenate([piece.values[s] for piece, s in zip(pieces, slices, strict=True)])
        yield _columns(ids, values, len(vectors), selection)


def _columns(ids: Ids, values: Values, shards: int, selection: SelectionConfig) -> Columns:
    """Sums by id. The kernel adds the entries of an id one by one in the given (shard) order."""
    found, keys, sums, counts = _kernel.column_sums(ids, values, selection.norm)
    columns = Columns(found, keys, sums / shards)
    if selection.shards is not None:
        columns = columns.where(counts >= selection.shards)
    if selection.threshold is not None:
        columns = columns.where(norms(columns, selection.norm) >= selection.threshold)
    return columns


def _best(columns: Columns, top: int, names: Names | None, *, ties: bool) -> Columns:
    """The `top` best columns. Ties at the border go by name; without names all stay if `ties`."""
    if len(columns) <= top:
        return columns
    border = np.partition(columns.keys, len(columns) - top)[len(columns) - top]
    chosen = columns.keys > border
    tied = np.flatnonzero(columns.keys == border)
    room = top - int(np.count_nonzero(chosen))
    if room < len(tied) and names is not None:
        ranked = heapq.nsmallest(room, zip(names(columns.ids[tied]), tied.tolist(), strict=True))
        tied = np.array([position for _, position in ranked], dtype=np.intp)
    elif room < len(tied) and not ties:
        raise InputError(
            f"the {top} best features cut through {len(tied)} of equal norm, and their names are not known",
            hint="Give the features' names, by which ties are broken.",
        )
    chosen[tied] = True
    return columns.where(chosen)


def _concatenate(parts: Sequence[Columns]) -> Columns:
    if not parts:
        return Columns(np.zeros(0, np.uint64), np.zeros(0), np.zeros(0))
    ids, keys, means = ([getattr(p, field) for p in parts] for field in ("ids", "keys", "means"))
    return Columns(np.concatenate(ids), np.concatenate(keys), np.concatenate(means))

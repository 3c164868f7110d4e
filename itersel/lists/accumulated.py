"""Lists that grow: all hypotheses that a shard's sentences ever had, each once, with features and statistics.

Tuners decode with new weights again and again and learn from everything seen so far. The lists of a shard are its state
from round to round, compressed. A hypothesis is known by its text and its features in single precision, except for
features that lists have only so that they can be drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import msgpack
import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.errors import InputError

ARRAYS = {
    "offsets": "<i8",
    "starts": "<i8",
    "features": "<u4",
    "values": "<f8",
    "statistics": "<f4",
    "keys": "<u8",
}


@dataclass(frozen=True, eq=False)
class NewList:
    """Hypotheses of one sentence: row i has features[starts[i] : starts[i + 1]] and the values beside them."""

    texts: Sequence[str]
    names: Sequence[str]
    """Names of the features, by number."""
    starts: npt.NDArray[np.int64]
    features: npt.NDArray[np.uint32]
    values: npt.NDArray[np.float64]
    statistics: npt.NDArray[np.float32]
    only_drawn: frozenset[str] = frozenset()
    """Names of features that do not tell hypotheses apart."""

    @classmethod
    def of(
        cls, texts: Sequence[str], vectors: Sequence[dict[str, float]], statistics: npt.NDArray[np.float32]
    ) -> NewList:
        """From named features."""
        number: dict[str, int] = {}
        features = [number.setdefault(name, len(number)) for vector in vectors for name in vector]
        return cls(
            texts,
            list(number),
            np.cumsum([0, *map(len, vectors)], dtype=np.int64),
            np.array(features, dtype=np.uint32),
            np.array([value for vector in vectors for value in vector.values()], dtype=np.float64),
            statistics,
        )


@dataclass(frozen=True, eq=False)
class AccumulatedLists:
    """The lists of a shard's sentences, in the shard's order."""

    sentences: list[str]
    """What identifies each sentence; lists of other sentences cannot be added."""
    names: list[str]
    """Names of the features, by number."""
    offsets: npt.NDArray[np.int64]
    """List s has the rows offsets[s] … offsets[s + 1] − 1, in the order they were met."""
    starts: npt.NDArray[np.int64]
    features: npt.NDArray[np.uint32]
    """Row i has features[starts[i] : starts[i + 1]], ascending."""
    values: npt.NDArray[np.float64]
    statistics: npt.NDArray[np.float32]
    keys: npt.NDArray[np.uint64]
    """Hash of each row."""

    @classmethod
    def empty(cls, sentences: Sequence[str], width: int) -> AccumulatedLists:
        """No list has a hypothesis yet; `width` is the number of columns of the statistics."""
        return cls(
            list(sentences),
            [],
            np.zeros(len(sentences) + 1, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
            np.zeros(0, dtype=np.uint32),
            np.zeros(0),
            np.zeros((0, width), dtype=np.float32),
            np.zeros(0, dtype=np.uint64),
        )

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def rows(self) -> int:
        return len(self.keys)

    def extended(self, new: Sequence[NewList]) -> AccumulatedLists:
        """With the new lists' hypotheses, one list per sentence, except for those that are known."""
        if len(new) != len(self):
            raise InputError(f"{len(new)} lists for {len(self)} sentences")
        number = {name: k for k, name in enumerate(self.names)}
        parts: dict[str, list[npt.NDArray[np.generic]]] = {key: [] for key in ARRAYS}
        ends = [0]
        for place, (one, (begin, end)) in enumerate(zip(new, pairwise(self.offsets.tolist()), strict=True)):
            low, high = int(self.starts[begin]), int(self.starts[end])
            added = _new_rows(one, number, set(self.keys[begin:end].tolist()))
            lengths = np.concatenate([np.diff(self.starts[begin : end + 1]), np.diff(added.starts)])
            ends.append(ends[-1] + len(lengths))
            if not len(lengths):
                raise InputError(f"sentence {self.sentences[place]} has no hypothesis")
            parts["starts"].append(lengths)
            parts["features"] += [self.features[low:high], added.features]
            parts["values"] += [self.values[low:high], added.values]
            parts["statistics"] += [self.statistics[begin:end], added.statistics]
            parts["keys"] += [self.keys[begin:end], added.keys]
        lengths = np.concatenate([np.zeros(1, dtype=np.int64), *parts["starts"]])
        return replace(
            self,
            names=list(number),
            offsets=np.array(ends, dtype=np.int64),
            starts=np.cumsum(lengths, dtype=np.int64),
            features=np.concatenate(parts["features"]),
            values=np.concatenate(parts["values"]),
            statistics=np.concatenate(parts["statistics"]),
            keys=np.concatenate(parts["keys"]),
        )

    def spread(self) -> npt.NDArray[np.float64]:
        """For each feature, the sum over all rows of the squared deviation from its list's mean."""
        total = np.zeros(len(self.names))
        number = np.zeros(len(self.names), dtype=np.intp)  # within a list
        for begin, end in pairwise(self.offsets.tolist()):
            low, high = int(self.starts[begin]), int(self.starts[end])
            features, values = self.features[low:high], self.values[low:high]
            present = np.zeros(len(self.names), dtype=bool)
            present[features] = True
            used = np.flatnonzero(present)
            number[used] = np.arange(len(used))
            local = number[features]
            counts = np.bincount(local, minlength=len(used))
            sums = np.bincount(local, values, minlength=len(used))
            means = sums / (end - begin)
            deviations = np.bincount(local, (values - means[local]) ** 2, minlength=len(used))
            deviations += (end - begin - counts) * means**2  # rows without the feature have a value of 0
            some = np.zeros(len(used))
            some[local] = values
            different = np.bincount(local, values != some[local], minlength=len(used))
            deviations[(counts == end - begin) & (different == 0)] = 0.0  # not the rounding error of a mean
            total[used] += deviations
        return total

    def to_bytes(self) -> bytes:
        arrays = {key: getattr(self, key).astype(kind, copy=False).tobytes() for key, kind in ARRAYS.items()}
        width = self.statistics.shape[1]
        fields = {"sentences": self.sentences, "names": self.names, "width": width} | arrays
        return _kernel.zstd_compress(msgpack.packb(fields))

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> AccumulatedLists:
        try:
            fields = msgpack.unpackb(_kernel.zstd_decompress(data))
            arrays = {key: np.frombuffer(fields[key], kind) for key, kind in ARRAYS.items()}
            arrays["statistics"] = arrays["statistics"].reshape(-1, fields["width"])
            return cls(fields["sentences"], fields["names"], **arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"damaged lists of a shard: {error}", hint="Start again.") from None


@dataclass(frozen=True, eq=False)
class _Rows:
    starts: npt.NDArray[np.int64]
    features: npt.NDArray[np.uint32]
    values: npt.NDArray[np.float64]
    statistics: npt.NDArray[np.float32]
    keys: npt.NDArray[np.uint64]


def _new_rows(new: NewList, number: dict[str, int], known: set[int]) -> _Rows:
    """The rows whose keys are not known yet, with the lists' own numbers of features; new names get the next ones."""
    if not np.isfinite(new.values).all():
        raise InputError("a hypothesis has a feature whose value is not a finite number")
    table = np.array([number.setdefault(name, len(number)) for name in new.names], dtype=np.uint32)
    features = table[new.features] if len(new.features) else new.features
    rows = np.repeat(np.arange(len(new.texts)), np.diff(new.starts))
    order = np.lexsort((features, rows))
    features, values = features[order], new.values[order]
    tells = ~np.isin(features, [number[name] for name in new.names if name in new.only_drawn])
    ids, single = features[tells].astype("<u4", copy=False).tobytes(), values[tells].astype("<f4").tobytes()
    ends = np.concatenate([[0], np.cumsum(tells)])[new.starts]
    digests = bytearray()
    for text, (low, high) in zip(new.texts, pairwise((4 * ends).tolist()), strict=True):
        digests += hashlib.blake2b(ids[low:high] + single[low:high] + text.encode(), digest_size=8).digest()
    kept, keys = [], []
    for row, key in enumerate(np.frombuffer(digests, "<u8").tolist()):
        if key not in known:
            known.add(key)
            kept.append(row)
            keys.append(key)
    lengths = np.diff(new.starts)[kept]
    is_kept = np.zeros(len(new.texts), dtype=bool)
    is_kept[kept] = True
    chosen = is_kept[rows]
    return _Rows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        features[chosen],
        values[chosen],
        new.statistics[kept],
        np.array(keys, dtype=np.uint64),
    )

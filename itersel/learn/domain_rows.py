"""What the domains learned, feature by feature: the rows of W in the columns that were kept (WMT 2013 §3).

Mixing keeps of a column its mean over the shards. Where each shard is a domain, the rows themselves say what the
domains share: in how many of them a feature has a weight, and whether they agree on its sign.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import msgpack
import numpy as np
import numpy.typing as npt

from itersel.base.files import read_lines
from itersel.model.vectors import Ids, Vector

FILE = re.compile(r"row\.(.+)\.vec")
"""In the folder of an epoch, for each domain: its row as a vector."""
CANCELLED = "cancelled.txt"
"""There, too: the names of kept columns whose mean is 0, which the model does not have."""


@dataclass(frozen=True, eq=False)
class DomainRows:
    """A row for each domain, with the weights of the kept columns that are not 0."""

    domains: tuple[str, ...]
    rows: tuple[Vector, ...]
    cancelled: tuple[str, ...] = ()
    """The names of the features whose weights cancel out over the domains."""

    @classmethod
    def collect(
        cls, domains: Sequence[str], parts: Sequence[bytes], kept: Ids, cancelled: Sequence[str] = ()
    ) -> DomainRows:
        """Join what the reducers sent (`pack_rows`), by ascending ids, and leave the columns that were kept."""
        pieces = [[Vector.from_bytes(piece) for piece in msgpack.unpackb(part)] for part in parts]
        rows = []
        for number in range(len(domains)):
            mine = [part[number] for part in pieces]
            joined = Vector(
                np.concatenate([piece.ids for piece in mine]), np.concatenate([piece.values for piece in mine])
            )
            rows.append(restrict(joined, kept))
        return cls(tuple(domains), tuple(rows), tuple(cancelled))

    def matrix(self, ids: Ids) -> npt.NDArray[np.float64]:
        """Features × domains; ids in any order, 0 where a domain has no weight."""
        found = np.zeros((len(ids), len(self.rows)))
        for column, row in enumerate(self.rows):
            if len(row.ids):
                at = np.minimum(np.searchsorted(row.ids, ids), len(row.ids) - 1)
                found[:, column] = np.where(row.ids[at] == ids, row.values[at], 0.0)
        return found

    def files(self) -> dict[str, bytes]:
        """A file for each domain, by name; one more if weights cancel out."""
        named = zip(self.domains, self.rows, strict=True)
        files = {f"row.{quote(domain, safe=' ')}.vec": row.to_bytes() for domain, row in named}
        names = "".join(f"{name}\n" for name in self.cancelled).encode()
        return files | ({CANCELLED: names} if names else {})

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> DomainRows | None:
        """The rows of an epoch, in code point order of the domains; None if it has none."""
        found = {unquote(match[1]): path for path in Path(folder).iterdir() if (match := FILE.fullmatch(path.name))}
        domains = sorted(found)
        if not found:
            return None
        place = Path(folder) / CANCELLED
        cancelled = tuple(read_lines(place)) if place.exists() else ()
        return cls(tuple(domains), tuple(Vector.read(found[domain]) for domain in domains), cancelled)


def pack_rows(rows: Sequence[Vector], kept: Ids) -> bytes:
    """What a reducer sends of its range."""
    packed: bytes = msgpack.packb([restrict(row, kept).to_bytes() for row in rows])
    return packed


def restrict(vector: Vector, ids: Ids) -> Vector:
    """The weights of these ids."""
    chosen = np.isin(vector.ids, ids)
    return Vector(vector.ids[chosen], vector.values[chosen])

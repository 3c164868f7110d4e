"""An epoch as map and reduce functions on plain records, for engines that move data themselves (jobs/train_epoch.py).

    map     address of a shard          → for each range of feature ids: the shard's piece; and its statistics
    reduce  all shards' pieces of range → the range's best columns, and their names
    collect what the reducers sent      → the epoch's model

Keys are texts, values are base64 of msgpack, so that records survive any line-based engine. Pieces may arrive in any
order; a shard that is missing, or came twice because its address was read twice, is an error. For the plans whose
shards all start from one model: iter_mix_sgd and iter_sel_sgd.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from itersel.epoch import EpochConfig, run_epoch
from itersel.errors import InputError
from itersel.language_model import LanguageModel
from itersel.mix import Columns, Selection, in_shard_order, merge, reduce_range
from itersel.names import NameTable
from itersel.shard import Shard
from itersel.vectors import Vector, even_bounds, feature_ids

STATISTICS = "statistics"
Record = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Model:
    """What an epoch made: the weights, their names by id as far as the shards know them, statistics by shard."""

    weights: Vector
    names: NameTable
    statistics: list[dict[str, Any]]


def parse_address(line: str) -> tuple[int, str]:
    """Number and path of a line `number TAB path`."""
    number, tab, path = line.rstrip("\n").partition("\t")
    if not tab or not number.strip().isdigit() or not path:
        raise InputError(f"not the address of a shard: {line!r}", hint="Write the shard's number, a tab and its path.")
    return int(number), path


def map_shard(
    number: int,
    path: str,
    start: Vector | None,
    model: LanguageModel | None,
    config: EpochConfig,
    *,
    epoch: int = 0,
    reducers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Record]:
    """Train on the shard and cut the result into ranges."""
    result = run_epoch(Shard(path), start, model, config, number=epoch, progress=progress)
    bounds = even_bounds(reducers)
    ends = np.searchsorted(feature_ids(result.names), np.array(bounds[1:-1], dtype=np.uint64)).tolist()
    cuts = [0, *ends, len(result.names)]
    for key, piece in enumerate(result.weights.cut(bounds)):
        names = "\n".join(result.names[cuts[key] : cuts[key + 1]])
        yield str(key), _encode({"shard": number, "vector": piece.to_bytes(), "names": names})
    yield STATISTICS, _encode({"shard": number} | result.statistics | {"seconds": result.seconds})


def reduce_pieces(key: str, values: Iterable[str], shards: int, selection: Selection) -> Iterator[Record]:
    """The columns of one range, all ties included; statistics pass through."""
    if key == STATISTICS:
        yield from ((key, value) for value in values)
        return
    pieces, names = [], set[str]()
    for value in values:
        piece = _decode(value)
        pieces.append((piece["shard"], Vector.from_bytes(piece["vector"])))
        names.update(name for name in piece["names"].split("\n") if name)
    columns = reduce_range(in_shard_order(pieces, shards), selection)
    known = sorted(names)
    kept = np.isin(feature_ids(known), columns.ids) if known else np.zeros(0, bool)
    text = "\n".join(name for name, keep in zip(known, kept.tolist(), strict=True) if keep)
    yield key, _encode({"columns": columns.to_bytes(), "names": text})


def collect(
    records: Iterable[Record], shards: int, reducers: int, selection: Selection, names: Iterable[str] = ()
) -> Model:
    """The model from all records of all reducers, in any order. `names` are those of the start weights."""
    parts: dict[str, Columns] = {}
    known, statistics = set(names), dict[int, dict[str, Any]]()
    for key, value in records:
        fields = _decode(value)
        if key == STATISTICS:
            statistics[fields["shard"]] = fields
            continue
        if key in parts:
            raise InputError(f"the columns of range {key} came twice")
        parts[key] = Columns.from_bytes(fields["columns"])
        known.update(name for name in fields["names"].split("\n") if name)
    missing = [str(k) for k in range(reducers) if str(k) not in parts]
    if missing or len(statistics) != shards:
        raise InputError(
            f"the job's output is not complete: {len(statistics)} of {shards} shards"
            f" and {reducers - len(missing)} of {reducers} ranges",
            hint="Look for failed tasks in the engine's log, and run the job again.",
        )
    table = NameTable(known)
    weights = merge(parts.values(), selection, names=table).vector()
    return Model(weights, table, [statistics[number] for number in sorted(statistics)])


def _encode(fields: dict[str, Any]) -> str:
    return base64.b64encode(msgpack.packb(fields)).decode()


def _decode(value: str) -> dict[str, Any]:
    try:
        fields = msgpack.unpackb(base64.b64decode(value, validate=True))
    except ValueError as error:
        raise InputError(f"a record is damaged: {error}") from None
    if not isinstance(fields, dict):
        raise InputError("a record is damaged: not a group of fields")
    return fields

"""Map and reduce as functions on plain records, for engines that move data themselves (jobs/, itersel.engines).

    map        a task (one line)           → for each range of feature ids: the shard's piece; statistics; its state
    reduce     all shards' pieces of range → the range's best columns, and their names
    collect    what the reducers sent      → the epoch's outcome
    translate  a block of sentences        → their translations

Keys are texts, values are base64 of msgpack, so that records survive any line-based engine. Pieces may arrive in any
order; a shard that is missing, or came twice because its task was read twice, is an error.
"""

from __future__ import annotations

import base64
import json
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from itersel.algorithms.plan import plan_of_name
from itersel.base.config import build
from itersel.base.errors import ConfigError, InputError, UserError
from itersel.base.version import __version__, build_id, describe_build
from itersel.decode.shard_decoder import ShardDecoder
from itersel.learn.epoch import Progress
from itersel.learn.mixing import Columns, Selection, in_shard_order, merge, reduce_range
from itersel.lm.model import LanguageModel, LanguageModels
from itersel.mapreduce.fetch import open_part
from itersel.mapreduce.work_item import MapResult, MapTask, Part, State, run_map_task, select_names
from itersel.model.feature_names import NameTable
from itersel.model.vectors import Vector, even_bounds, feature_ids
from itersel.run.config import TrainConfig
from itersel.shards.shard import Shard

SHARD = "shard"
"""Key of the records that reducers let pass: a shard's statistics and state."""
FINISHED = "finished"
"""Last words of a map task in its log."""
Record = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Collected:
    """What an epoch's job made: kept columns, names of at least those, and by shard statistics and state."""

    columns: Columns
    names: NameTable
    statistics: list[dict[str, Any]]
    states: list[bytes | None]


def read_configuration(path: str) -> TrainConfig:
    """The configuration of a run's run.json, made by a driver that runs the same code as this worker."""
    with open(path, encoding="utf-8") as stream:
        description = json.load(stream)
    theirs = description["versions"]
    if (theirs["itersel"], theirs["build"]) != (__version__, build_id()):
        raise ConfigError(
            f"the driver runs itersel {theirs['itersel']} (build {theirs['build']}),"
            f" but the worker {socket.gethostname()} has {describe_build()} in {sys.prefix}",
            hint="Build a wheelhouse with the driver's itersel and install or ship it (docs/engines.md).",
        )
    return build(TrainConfig, description["configuration"], path)


def task_line(task: MapTask, state: State | None = None) -> str:
    """A map task as one line of text."""
    return json.dumps(task.to_json() | {"state": None if state is None else state.to_text()})


def parse_task_line(line: str) -> tuple[MapTask, State | None]:
    """The task of such a line, and the state that it goes on from."""
    try:
        values = json.loads(line)
        text = values["state"]
        state = None if text is None else State.from_bytes(base64.b64decode(text, validate=True))
    except (ValueError, KeyError, TypeError):
        raise InputError(f"not a map task: {line[:200]!r}", hint="Write lines as in docs/training.md.") from None
    return MapTask.from_json(values), state


def map_shard(
    line: str,
    start: Vector | None,
    models: LanguageModels,
    config: TrainConfig,
    *,
    epoch: int,
    reducers: int = 1,
    begin: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Iterator[Record]:
    """Do the map task of the line and cut its row into ranges. Errors begin with the shard's name.

    `begin` is told the shard's name first of all, for a log that outlives a process that is killed.
    """
    task, state = parse_task_line(line)
    if begin is not None:
        begin(task.name)
    own = plan_of_name(config.algorithm).own_weights
    try:
        result = run_map_task(
            task, start, state, models, config.epoch, epoch=epoch, own_weights=own, opener=open_part, progress=progress
        )
    except UserError as error:
        known = error.where is None or error.where in task.name
        text = error.message if known else f"{error.where}: {error.message}"
        raise type(error)(text, where=task.name, hint=error.hint) from None
    yield from map_records(task.number, result, reducers)


def map_records(number: int, result: MapResult, reducers: int) -> Iterator[Record]:
    """What a mapper sends: a piece for each reducer, and what the driver needs."""
    bounds = even_bounds(reducers)
    ids = feature_ids(result.names)
    cuts = [0, *np.searchsorted(ids, np.array(bounds[1:-1], dtype=np.uint64)).tolist(), len(ids)]
    for key, piece in enumerate(result.row.cut(bounds)):
        names = "\n".join(result.names[cuts[key] : cuts[key + 1]])
        yield str(key), _encode({"shard": number, "vector": piece.to_bytes(), "names": names})
    state = None if result.state is None else result.state.to_bytes()
    yield SHARD, _encode({"shard": number, "statistics": result.statistics, "state": state})


def reduce_pieces(key: str, values: Iterable[str], shards: int, selection: Selection) -> Iterator[Record]:
    """The columns of one range, all ties included; records of shards pass through."""
    if key == SHARD:
        yield from ((key, value) for value in values)
        return
    pieces, names = [], set[str]()
    for value in values:
        piece = _decode(value)
        pieces.append((piece["shard"], Vector.from_bytes(piece["vector"])))
        names.update(name for name in piece["names"].split("\n") if name)
    columns = reduce_range(in_shard_order(pieces, shards), selection)
    kept = "\n".join(select_names(sorted(names), columns.ids))
    yield key, _encode({"columns": columns.to_bytes(), "names": kept})


def collect(
    records: Iterable[Record], shards: int, reducers: int, selection: Selection, names: Iterable[str] = ()
) -> Collected:
    """The model from all records of all reducers, in any order. `names` are those of the start weights."""
    parts: dict[str, Columns] = {}
    known, found = set(names), dict[int, dict[str, Any]]()
    for key, value in records:
        fields = _decode(value)
        if key == SHARD:
            found[fields["shard"]] = fields
            continue
        if key in parts:
            raise InputError(f"the columns of range {key} came twice")
        parts[key] = Columns.from_bytes(fields["columns"])
        known.update(name for name in fields["names"].split("\n") if name)
    missing = [str(k) for k in range(reducers) if str(k) not in parts]
    if missing or len(found) != shards:
        raise InputError(
            f"the job's output is not complete: {len(found)} of {shards} shards"
            f" and {reducers - len(missing)} of {reducers} ranges",
            hint="Look for failed tasks in the engine's log, and run the job again.",
        )
    table = NameTable(known)
    columns = merge(parts.values(), selection, names=table)
    in_order = [found[number] for number in sorted(found)]
    return Collected(columns, table, [one["statistics"] for one in in_order], [one["state"] for one in in_order])


@dataclass(frozen=True)
class Block:
    """Consecutive sentences of one shard file to translate."""

    number: int
    """Of the block, from 0: the order of the output."""
    part: Part

    def to_line(self) -> str:
        sentences = self.part.sentences or ()
        return json.dumps([self.number, self.part.path, f"{self.part.checksum:016x}", sentences[0], len(sentences)])

    @classmethod
    def from_line(cls, line: str) -> Block:
        try:
            number, path, checksum, first, count = json.loads(line)
            return cls(int(number), Part(str(path), int(checksum, 16), tuple(range(first, first + count))))
        except (ValueError, TypeError):
            raise InputError(f"not a block of sentences: {line[:200]!r}") from None


class BlockTranslator:
    """Translates blocks with one model, keeping the last shard open."""

    def __init__(self, weights: Vector, model: LanguageModel | None, config: TrainConfig):
        self.weights, self.model, self.options = weights, model, config.epoch.decoder
        self.checksum: int | None = None

    def __call__(self, line: str) -> Record:
        block = Block.from_line(line)
        if self.checksum != block.part.checksum:
            shard = open_part(block.part)
            if not isinstance(shard, Shard):
                raise InputError("not a shard: there is nothing to decode", where=block.part.path)
            self.decoder = ShardDecoder(shard, self.weights, self.model, self.options)
            self.checksum = block.part.checksum
        lines = [self.decoder.translate(sentence) for sentence in block.part.sentences or ()]
        return str(block.number), _encode({"lines": lines})


def collect_translations(records: Iterable[Record], blocks: int) -> list[str]:
    """All lines in order, from the blocks' records in any order."""
    found = {int(key): _decode(value)["lines"] for key, value in records}
    missing = [number for number in range(blocks) if number not in found]
    if missing:
        raise InputError(f"the translations of {len(missing)} of {blocks} blocks are missing, first {missing[0]}")
    return [line for number in range(blocks) for line in found[number]]


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

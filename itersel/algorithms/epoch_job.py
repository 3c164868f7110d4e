"""The job of an epoch: map learns on a shard, reduce mixes the shards' weights in a range of feature ids.

    map     shard, start weights or state → for each range: the piece of the shard's row, and its features' names;
                                            for the driver: statistics, and what the shard carries on
    reduce  all shards' pieces of a range → the range's kept columns (itersel.learn.mixing), and their names;
                                            if wanted, the shards' rows of these columns (itersel.learn.domain_rows)

Shards that continue from their own weights (`carry`: sgd, mix_sgd) have a state; their row is the mean over the epochs
so far. What AdaGrad has added up goes the way of the weights, if it is to last (`account`): it is a part of the state,
or mappers send it after the names, and its mean over the shards comes back as a side file. Work items are those of
itersel.mapreduce.shard_item; the parts of an item are learned from one after the other.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgpack
import numpy as np

from itersel.base.errors import InputError
from itersel.learn.domain_rows import pack_rows
from itersel.learn.epoch import EpochConfig, EpochResult, Progress, run_epoch_in_parts
from itersel.learn.list_epoch import run_list_epoch
from itersel.learn.mixing import Columns, SelectionConfig, merge, reduce_range, total
from itersel.lists.source import AnySource, ShardSource
from itersel.lm import model as lm
from itersel.lm.model import LanguageModel, LanguageModels
from itersel.mapreduce.job import DRIVER, Job, Record, Tell
from itersel.mapreduce.shard_item import Part, open_parts
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.feature_names import NameTable, join_names, select_names, split_names
from itersel.model.vectors import Vector, even_bounds, feature_ids, join

START, ACCOUNT, MODEL, FOLD = "start", "account", "model", "fold"
"""Names of side files: the start weights (none: all 0), what AdaGrad added up, the language model, and those by fold
(fold.0 …)."""
COUNTS = ("lists", "updates", "pairs", "rank_errors", "best_metric", "nonzero")


@dataclass(frozen=True, eq=False)
class State:
    """What a shard that continues from its own weights carries: these, and the sum of its rows over the epochs."""

    weights: Vector
    sums: Vector
    names: list[str]
    """Of the shard's features among both: a weight whose sum is 0 may come to count in a later epoch."""
    account: Vector | None = None
    """What AdaGrad has added up, if it lasts."""

    def to_bytes(self) -> bytes:
        fields = {"weights": self.weights.to_bytes(), "sums": self.sums.to_bytes(), "names": join_names(self.names)}
        fields |= {} if self.account is None else {"account": self.account.to_bytes()}
        packed: bytes = msgpack.packb(fields)
        return packed

    @classmethod
    def from_bytes(cls, data: bytes, source: str | os.PathLike[str] | None = None) -> State:
        try:
            fields = msgpack.unpackb(data)
            names = split_names(fields["names"])
            account = Vector.from_bytes(fields["account"]) if "account" in fields else None
            return cls(Vector.from_bytes(fields["weights"]), Vector.from_bytes(fields["sums"]), names, account)
        except (ValueError, KeyError, TypeError, AttributeError, InputError) as error:
            raise InputError(f"damaged state of a shard: {error}", where=source, hint="Start again.") from None


@dataclass(frozen=True, eq=False)
class ShardResult:
    """What a mapper hands over."""

    row: Vector
    names: list[str]
    """Of the shard's features among the row's, in the order of their ids."""
    statistics: dict[str, Any] = field(default_factory=dict)
    """Sums over the sentences, and `seconds` of processor time by stage."""
    state: bytes | None = None
    """What the shard carries to the next epoch."""
    account: Vector | None = None
    """What AdaGrad has added up."""

    @property
    def sent(self) -> int:
        """Bytes of it, however many ranges it is divided into: 16 for each weight, the names, and the state."""
        vectors = [self.row] if self.account is None else [self.row, self.account]
        names = sum(len(name.encode()) + 1 for name in self.names)
        return 16 * sum(map(len, vectors)) + names + len(self.state or b"")


@dataclass(frozen=True)
class EpochJob(Job):
    """One epoch over all shards."""

    epoch: EpochConfig = field(default_factory=EpochConfig)
    number: int = 0
    """The epoch's, from 0."""
    carry: bool = False
    """Each shard continues from its own weights; otherwise all start from the same."""
    selection: SelectionConfig = field(default_factory=SelectionConfig)
    rows: bool = False
    """Hand over the shards' rows, too, of the columns that are kept."""
    account: bool = False
    """What AdaGrad adds up lasts longer than an epoch."""

    counts: ClassVar[Mapping[str, str]] = {key: "max" if key == "nonzero" else "sum" for key in COUNTS}

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        content = item.read_state()
        state = None if content is None else State.from_bytes(content, item.state)
        before = Vector.read(side.path(ACCOUNT), mapped=True) if ACCOUNT in side else None
        result = self.learn(item, self.start(side), state, language_models(side), self.progress(tell), before)
        tell(item.size, result.statistics)
        yield from self.pieces(result)

    def start(self, side: Side) -> Vector | None:
        """The start weights; None: all are 0."""
        return Vector.read(side.path(START), mapped=True) if START in side else None

    def progress(self, tell: Tell) -> Progress:
        """The counts that an epoch reports to the engine."""

        def progress(sums: dict[str, float]) -> None:
            tell(sums["lists"], sums)

        return progress

    def learn(
        self,
        item: WorkItem,
        start: Vector | None,
        state: State | None,
        models: LanguageModels,
        progress: Progress | None = None,
        account: Vector | None = None,
    ) -> ShardResult:
        """Learn from the shard once, from its state or else the start weights and the account."""
        begin, before = (start, account) if state is None else (state.weights, state.account)
        result = learn_item(item, begin, models, self.number, progress, self.learn_from, account=before)
        statistics = result.statistics | {"seconds": result.seconds}
        if not self.carry:
            return self.plain_row(result)
        sums = result.row if state is None else total([state.sums, result.row])
        known = set(result.names) | set(() if state is None else state.names)
        row, carried = Vector.of(sums.ids, sums.values / (self.number + 1)), _by_id(known, result.weights, sums)
        lasting = result.account if self.account else None
        carried_on = State(result.weights, sums, carried, lasting).to_bytes()
        return ShardResult(row, _by_id(known, row), statistics, carried_on)

    def learn_from(self, file: FileParts) -> EpochResult:
        """One file's sentences, by pairs."""
        if isinstance(file.source, ShardSource):
            return run_epoch_in_parts(
                file.source.data, file.weights, file.chosen(), self.epoch, account=file.account, **file.options
            )
        return run_list_epoch(file.source.data, file.weights, self.epoch, lists=file.lists(), **file.options)

    def plain_row(self, result: EpochResult) -> ShardResult:
        """The row of a shard that starts from the last model."""
        names = result.names if result.average is None else _by_id(set(result.names), result.row)
        statistics = result.statistics | {"seconds": result.seconds}
        return ShardResult(result.row, names, statistics, account=result.account if self.account else None)

    def pieces(self, result: ShardResult) -> Iterable[tuple[int, bytes]]:
        """What a mapper sends: for each range its piece of the row and the names of that; the rest for the driver."""
        bounds = even_bounds(self.partitions)
        ids = feature_ids(result.names)
        cuts = [0, *np.searchsorted(ids, np.array(bounds[1:-1], dtype=np.uint64)).tolist(), len(ids)]
        accounts = [] if result.account is None else result.account.cut(bounds)
        for key, piece in enumerate(result.row.cut(bounds)):
            yield key, piece.to_bytes()
            yield key, join_names(result.names[cuts[key] : cuts[key + 1]]).encode()
            if accounts:
                yield key, accounts[key].to_bytes()
        statistics = result.statistics | {"sent": result.sent}
        yield DRIVER, msgpack.packb({"statistics": statistics, "state": result.state})

    def reduce(self, key: int, values: Sequence[bytes], side: Side) -> Iterable[bytes]:
        del key, side
        step = 3 if self.account and not self.carry else 2
        rows = [Vector.from_bytes(value) for value in values[::step]]
        columns = self.mix(rows)
        kept = set[str]()
        for value in values[1::step]:
            kept.update(select_names(split_names(bytes(value).decode()), columns.ids))
        yield columns.to_bytes()
        yield join_names(sorted(kept)).encode()
        if self.rows or step == 3:
            yield pack_rows(rows, columns.ids) if self.rows else b""
        if step == 3:
            sums = total([Vector.from_bytes(value) for value in values[2::step]])
            yield Vector.of(columns.ids, sums.values_of(columns.ids) / len(rows)).to_bytes()

    def mix(self, rows: Sequence[Vector]) -> Columns:
        """The columns of a range that are kept, of the shards' rows in their order."""
        return reduce_range(rows, self.selection)

    def warm(self, side: Side) -> None:
        language_models(side).open_all()


@dataclass(frozen=True, eq=False)
class Mixed:
    """What an epoch's job made: kept columns, names of at least those, by shard statistics and state, and the shards'
    rows, range by range, if the job hands them over."""

    columns: Columns
    names: NameTable
    statistics: list[dict[str, Any]]
    states: list[bytes]
    rows: list[bytes]
    account: Vector | None = None
    """Of the kept columns, the mean of what AdaGrad has added up, if the job hands it over."""


def collect(records: Iterable[Record], selection: SelectionConfig, names: Iterable[str] = ()) -> Mixed:
    """The model of all records for the driver. `names` are those of the start weights."""
    columns, known, shards = list[Columns](), set(names), list[dict[str, Any]]()
    rows: dict[int, bytes] = {}
    accounts: dict[int, Vector] = {}
    for record in records:
        if record.key == DRIVER:
            shards.append(msgpack.unpackb(record.value))
        elif record.sequence == 0:
            columns.append(Columns.from_bytes(bytes(record.value)))
        elif record.sequence == 2:
            rows |= {record.key: bytes(record.value)} if record.value else {}
        elif record.sequence == 3:
            accounts[record.key] = Vector.from_bytes(bytes(record.value))
        else:
            known.update(split_names(bytes(record.value).decode()))
    table = NameTable(known)
    merged = merge(columns, selection, names=table)
    states = [shard["state"] for shard in shards if shard["state"] is not None]
    statistics = [shard["statistics"] for shard in shards]
    kept = None
    if accounts:
        every = join(accounts[key] for key in sorted(accounts))
        kept = Vector.of(merged.ids, every.values_of(merged.ids))
    return Mixed(merged, table, statistics, states, [rows[key] for key in sorted(rows)], kept)


def language_models(side: Side) -> LanguageModels:
    """The language models among the side files, each opened once per process."""
    folds = [f"{FOLD}.{number}" for number in range(len(side.paths)) if f"{FOLD}.{number}" in side]
    names = {side.path(name): name for name in (*folds, *([MODEL] if MODEL in side else []))}

    def load(path: str | os.PathLike[str]) -> LanguageModel:
        name = names[os.fspath(path)]
        return side.cached(f"language model {name}", (name,), lm.LanguageModel)

    return LanguageModels(side.path(MODEL) if MODEL in side else None, [side.path(name) for name in folds], load=load)


@dataclass(frozen=True, eq=False)
class FileParts:
    """Some sentences of one file, the weights to begin with, and what an epoch over them wants to know."""

    source: AnySource
    parts: Sequence[Part]
    weights: Vector | None
    models: LanguageModels
    options: Mapping[str, Any]
    """The epoch's number, how many lists were learned from before, and whom to tell of progress."""
    account: Vector | None = None
    """What AdaGrad has added up before."""

    def chosen(self) -> list[tuple[LanguageModel | None, Sequence[int] | None]]:
        """A shard's sentences by part, each with its language model; None: all sentences."""
        return [(self.models.open(part.fold), part.sentences) for part in self.parts]

    def lists(self) -> list[int]:
        """The numbers of all lists that the parts name."""
        every = range(len(self.source))
        return [k for part in self.parts for k in (every if part.sentences is None else part.sentences)]


LearnFrom = Callable[[FileParts], EpochResult]
"""Learns from some sentences of one file: `EpochJob.learn_from`."""


def learn_item(
    item: WorkItem,
    start: Vector | None,
    models: LanguageModels,
    number: int,
    progress: Progress | None,
    learn_from: LearnFrom,
    counts: Sequence[str] = COUNTS,
    account: Vector | None = None,
) -> EpochResult:
    """An epoch over all files of an item, one after the other; `counts` are the statistics that progress tells, and
    `account` is what AdaGrad has added up before."""
    weights, names, averages = start, set[str](), list[Vector]()
    statistics, seconds, files = dict[str, float](), dict[str, float](), 0
    tell = _teller(statistics, progress, counts)
    for source, parts in open_parts(item):  # sentences of several folds lie side by side in one file
        files += 1
        before = number * item.size + int(statistics.get("lists", 0))
        options = {"number": number, "lists_before": before, "progress": tell}
        result = learn_from(FileParts(source, parts, weights, models, options, account))
        weights, account = result.weights, result.account
        names.update(result.names)
        if result.average is not None:  # of the file's sentences; below, of all
            share = result.statistics["lists"] / item.size
            averages.append(Vector(result.average.ids, result.average.values * share))
        for sums, more in ((statistics, result.statistics), (seconds, result.seconds)):
            for key, value in more.items():
                sums[key] = sums.get(key, 0) + value
    assert weights is not None
    average = total(averages) if averages else None
    row = weights if average is None else average
    statistics["nonzero"] = len(row)
    known = result.names if files == 1 else _by_id(names, weights, row)
    return EpochResult(weights, known, statistics, seconds, average, account)


def _teller(before: Mapping[str, float], progress: Progress | None, counts: Sequence[str]) -> Progress:
    def tell(part: dict[str, float]) -> None:
        if progress is not None:
            sums = {key: before.get(key, 0) + part[key] for key in counts}
            progress(sums | {"nonzero": part["nonzero"]})

    return tell


def _by_id(names: set[str], *vectors: Vector) -> list[str]:
    """The names of the vectors' features, in the order of their ids."""
    return select_names(sorted(names), functools.reduce(np.union1d, (vector.ids for vector in vectors)))

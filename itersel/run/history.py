"""What a run measured: the declaration of its algorithm, and the numbers of every finished epoch and shard.

Reads run.json, manifest.json and statistics.jsonl (itersel.run.directory) and never writes. Only declared numbers are
read: the facts and sums that the figures of the declaration are made of. They may be absent, but whatever is there has
to be a number. Only epochs that the manifest lists as finished are read.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError
from itersel.base.figures import Choice, Declaration, Figure
from itersel.base.files import read_lines
from itersel.base.json_files import read_json
from itersel.run.directory import FORMAT


@dataclass(frozen=True)
class Measures:
    """Declared numbers of one shard, or of all shards together."""

    sums: Mapping[str, float]
    seconds: Mapping[str, float]
    """Processor time by stage."""

    def value(self, figure: Figure) -> float | None:
        """None if a part of the figure is absent, or the division has no finite result."""
        try:
            found = figure.value(self.sums)
        except OverflowError:
            return None
        return found if found is not None and math.isfinite(found) else None

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())


@dataclass(frozen=True)
class EpochRecord:
    """One finished epoch, counted from 1."""

    number: int
    whole: Measures
    """Facts of the manifest's entry, and sums over all shards."""
    shards: tuple[Measures, ...]
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Relative to the run's directory."""
    norm: str | None = None
    """The norm by which the columns in norms.vec are ranked, if the epoch recorded it."""
    made: Mapping[str, Any] | None = None
    """What the epoch took (itersel.base.usage); None if it did not record it."""


@dataclass(frozen=True)
class History:
    """A run's declaration and its finished epochs."""

    declaration: Declaration
    epochs: tuple[EpochRecord, ...]
    start: EpochRecord | None
    """Epoch 0: the weights that the run started from, if they were measured."""
    chosen: int | None
    """The epoch whose weights are the run's, counted from 1; none before the run has ended."""
    stopped: bool = False
    """The algorithm ended the run before the planned number of epochs."""

    @property
    def choice(self) -> Choice:
        return self.declaration.choice

    def decisive(self, epoch: EpochRecord) -> float | None:
        """The value of the fact that decides which epoch is chosen."""
        return epoch.whole.sums.get(self.choice.key)

    @property
    def best(self) -> EpochRecord | None:
        """The chosen epoch; before there is one, the best so far, or the last if nothing decides."""
        if self.chosen is not None:
            return self.epochs[self.chosen - 1]
        scored = [(epoch, value) for epoch in self.epochs if (value := self.decisive(epoch)) is not None]
        if scored:
            return scored[self.choice.best([value for _, value in scored])][0]
        return self.epochs[-1] if self.epochs else None

    def out_of_patience(self, patience: int) -> bool:
        """Whether the last `patience` epochs brought nothing better."""
        values = [self.decisive(epoch) for epoch in self.epochs]
        known = [value for value in values if value is not None]
        return len(known) == len(values) and self.choice.rounds_without_gain(known) >= patience


def read_history(directory: str | os.PathLike[str]) -> History:
    """Read a run's records. What is damaged, or of another version, is an InputError that names the file."""
    folder = Path(directory)
    declaration = read_declaration(folder)
    manifest: dict[str, Any] = {"epochs": []}
    where = folder / "manifest.json"
    if where.exists():
        manifest = read_json(where)
        check_format(manifest, where)
    entries = manifest.get("epochs")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("damaged: there is no list of epochs", where=where)
    parts = _parts(declaration)
    wholes, shards = _statistics(folder / "statistics.jsonl", parts) if entries else ({}, {})
    epochs = []
    for number, entry in enumerate(entries, 1):
        if number not in wholes:
            raise InputError(f"there are no statistics of epoch {number}", where=folder / "statistics.jsonl")
        whole, made = wholes[number]
        rows = tuple(measures for _, measures in sorted(shards.get(number, {}).items()))
        epochs.append(_epoch(number, entry, whole, rows, made, parts, where))
    chosen = manifest.get("chosen")
    if chosen is not None and not (_whole_number(chosen) and 1 <= chosen <= len(epochs)):
        raise InputError(f"damaged: epoch {chosen!r} is chosen, but missing", where=where)
    first = manifest.get("start")
    start = _epoch(0, first, Measures({}, {}), (), None, parts, where) if isinstance(first, dict) else None
    return History(declaration, tuple(epochs), start, chosen, manifest.get("stopped") is True)


def read_declaration(directory: str | os.PathLike[str]) -> Declaration:
    """What the run's algorithm declares, from run.json."""
    where = Path(directory) / "run.json"
    described = read_json(where)
    check_format(described, where)
    if "declaration" not in described:
        raise InputError(
            "written by an older version of itersel: the algorithm's declaration is missing",
            where=where,
            hint="Run the same `itersel train` command again: it adds the declaration and trains nothing twice.",
        )
    try:
        return Declaration.from_json(described["declaration"])
    except InputError as error:
        raise InputError(error.message, where=where) from None


def check_format(values: Mapping[str, Any], where: Path) -> None:
    if values.get("format") != FORMAT:
        raise InputError("written by another version of itersel", where=where)


def number_of(values: Mapping[str, Any], key: str, where: str | os.PathLike[str]) -> float:
    """The finite number under the key; anything else is an InputError."""
    value = values.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if math.isfinite(value):
                return value
        except OverflowError:  # a whole number beyond all floats
            pass
    raise InputError(f"damaged: '{key}' is {value!r}, not a number", where=where)


def _parts(declaration: Declaration) -> tuple[str, ...]:
    """The keys of all numbers that are declared."""
    keys = [statistic.key for statistic in declaration.statistics] + [declaration.choice.key]
    for figure in declaration.figures:
        keys += [figure.of] if figure.per is None else [figure.of, figure.per]
    return tuple(dict.fromkeys(keys))


def _sums(values: Mapping[str, Any], parts: tuple[str, ...], where: str | os.PathLike[str]) -> dict[str, float]:
    return {key: number_of(values, key, where) for key in parts if values.get(key) is not None}


def _epoch(
    number: int,
    entry: Mapping[str, Any],
    whole: Measures,
    shards: tuple[Measures, ...],
    made: Mapping[str, Any] | None,
    parts: tuple[str, ...],
    where: Path,
) -> EpochRecord:
    warnings, files, norm = (entry.get(key) for key in ("warnings", "files", "norm"))
    return EpochRecord(
        number=number,
        whole=Measures({**whole.sums, **_sums(entry, parts, where)}, whole.seconds),
        shards=shards,
        warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
        files=tuple(files) if isinstance(files, dict) else (),
        norm=norm if isinstance(norm, str) else None,
        made=made,
    )


Wholes = dict[int, tuple[Measures, Mapping[str, Any] | None]]


def _statistics(place: Path, parts: tuple[str, ...]) -> tuple[Wholes, dict[int, dict[int, Measures]]]:
    """Measures by epoch, with what the epoch cost, and by epoch and shard."""
    wholes: Wholes = {}
    shards: dict[int, dict[int, Measures]] = {}
    for number, text in enumerate(read_lines(place), 1):
        where = f"{place}:{number}"
        try:
            line = json.loads(text)
        except ValueError as error:
            raise InputError(f"damaged: {error}", where=where) from None
        if not isinstance(line, dict) or "shard" not in line:
            raise InputError("damaged: not a line of statistics", where=where)
        epoch, seconds, made = int(number_of(line, "epoch", where)), line.get("seconds", {}), line.get("made")
        if not isinstance(seconds, dict):
            raise InputError("damaged: 'seconds' are not times by stage", where=where)
        times = {stage: number_of(seconds, stage, where) for stage in seconds}
        measures = Measures(_sums(line, parts, where), times)
        if line["shard"] is None:
            wholes[epoch] = measures, made if isinstance(made, dict) else None
        else:
            shards.setdefault(epoch, {})[int(number_of(line, "shard", where))] = measures
    return wholes, shards


def _whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

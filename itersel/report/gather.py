"""A run's directory as the report needs it: configuration, figures of every epoch and shard, which epoch counts.

Reads run.json, manifest.json and statistics.jsonl (itersel.run.directory) and never writes. A run that is still going
on is shown as far as it has come: what the manifest calls finished, and nothing else.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.base.json_files import read_json
from itersel.run.config import flat
from itersel.run.directory import FORMAT, RunDirectory


@dataclass(frozen=True)
class Figures:
    """Sums over the sentences of a shard, or of all shards: what statistics.jsonl says of them."""

    lists: int
    pairs: int
    rank_errors: int
    updates: int
    best_metric: float
    seconds: Mapping[str, float]
    """Processor time by stage."""

    @property
    def pair_error(self) -> float:
        """Share of the pairs that the model ranked wrongly."""
        return self.rank_errors / max(self.pairs, 1)

    @property
    def metric(self) -> float:
        """Mean of the training metric over the best translations."""
        return self.best_metric / max(self.lists, 1)

    @property
    def updates_per_sentence(self) -> float:
        return self.updates / max(self.lists, 1)

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds.values())


@dataclass(frozen=True)
class Epoch:
    """One finished epoch, counted from 1."""

    number: int
    features: int
    """Weights that are not 0."""
    bleu: float | None
    """Of the devtest translations, 0 to 100."""
    length_ratio: float | None
    warnings: tuple[str, ...]
    whole: Figures
    shards: tuple[Figures, ...]


@dataclass(frozen=True)
class Run:
    """One training run."""

    name: str
    """Short, and different from the names of the other runs."""
    directory: RunDirectory
    configuration: dict[str, Any]
    """All keys in one level, joined by dots."""
    identity: dict[str, Any]
    """What the result depends on; data by checksum."""
    versions: dict[str, str]
    epochs: tuple[Epoch, ...]
    start: float | None
    """Devtest BLEU of the weights that the run started from, if it was measured."""
    chosen: int | None
    """The epoch whose weights are the run's, counted from 1; none before the run has ended."""

    @property
    def algorithm(self) -> str:
        return str(self.configuration["algorithm"])

    @property
    def planned(self) -> int:
        return int(self.configuration["epochs"])

    @property
    def finished(self) -> bool:
        return self.chosen is not None and (len(self.epochs) >= self.planned or self._out_of_patience)

    @property
    def _out_of_patience(self) -> bool:
        patience, scores = self.configuration.get("patience"), [epoch.bleu or 0.0 for epoch in self.epochs]
        return isinstance(patience, int) and len(scores) - 1 - scores.index(max(scores)) >= patience

    @property
    def shard_count(self) -> int:
        """As trained on; before the first epoch, the number of files."""
        return len(self.epochs[-1].shards) if self.epochs else len(self.checksums("shards"))

    def checksums(self, key: str) -> tuple[str, ...]:
        """Of the run's `shards`, `devtest` or `fold_models` files."""
        return tuple(str(self.identity.get(f"{key}.{k}")) for k in range(int(self.identity.get(f"{key}.count", 0))))

    @property
    def translated(self) -> range:
        """The epochs after which devtest was translated, the start weights being number 0."""
        if not self.epochs or self.epochs[0].bleu is None:
            return range(0)
        return range(1 if self.start is None else 0, len(self.epochs) + 1)

    @property
    def best(self) -> Epoch | None:
        """The chosen epoch; before there is one, the best on devtest so far, or the last."""
        if self.chosen is not None:
            return self.epochs[self.chosen - 1]
        scored = [epoch for epoch in self.epochs if epoch.bleu is not None]
        if scored:
            return max(scored, key=lambda epoch: epoch.bleu or 0.0)
        return self.epochs[-1] if self.epochs else None

    @property
    def seconds(self) -> float:
        """Processor time of all finished epochs' map tasks."""
        return sum(epoch.whole.total_seconds for epoch in self.epochs)

    def folder(self, epoch: int) -> Path:
        """Where the files of an epoch, counted from 1, are; 0: of the start weights."""
        return self.directory.epoch(epoch - 1)


def gather(paths: Sequence[str | os.PathLike[str]]) -> list[Run]:
    """Read all runs. A folder that is none, a damaged file or a run named twice is an error that names it."""
    if not paths:
        raise ConfigError("there are no runs to report on", hint="Name at least one directory of itersel train.")
    places = [Path(path) for path in paths]
    seen: set[str] = set()
    for place in places:
        real = os.path.realpath(place)
        if real in seen:
            raise ConfigError("the run is named twice", where=place)
        seen.add(real)
    return [_read(place, name) for place, name in zip(places, short_names(places), strict=True)]


def short_names(places: Sequence[Path]) -> list[str]:
    """As many of the last parts of each path as it takes to tell it from the others."""
    parts = [Path(os.path.abspath(place)).parts for place in places]
    names = []
    for one in parts:
        rivals = [other for other in parts if other != one]
        length = 1
        while length < len(one) and any(other[-length:] == one[-length:] for other in rivals):
            length += 1
        names.append("/".join(one[-length:]))
    return names


def _read(place: Path, name: str) -> Run:
    if not (place / "run.json").is_file():
        raise InputError("not a run: there is no run.json", where=place, hint="Name a directory of itersel train.")
    described = read_json(place / "run.json")
    directory = RunDirectory(place)
    if (place / "manifest.json").exists():
        directory.manifest = read_json(place / "manifest.json")
    for values, file in ((described, "run.json"), (directory.manifest, "manifest.json")):
        if values.get("format") != FORMAT:
            raise InputError("written by another version of itersel", where=place / file)
    configuration, identity, versions = (described.get(key) for key in ("configuration", "identity", "versions"))
    if not isinstance(configuration, dict) or not isinstance(configuration.get("algorithm"), str):
        raise InputError("damaged: there is no configuration", where=place / "run.json")
    if not isinstance(identity, dict) or not isinstance(versions, dict):
        raise InputError("damaged: there is no identity, or no versions", where=place / "run.json")
    for values, key in ((configuration, "epochs"), (identity, "shards.count"), (identity, "devtest.count")):
        _number(values, key, place / "run.json")
    epochs = _epochs(directory)
    chosen = directory.manifest.get("chosen")
    if chosen is not None and not (isinstance(chosen, int) and 1 <= chosen <= len(epochs)):
        raise InputError(f"damaged: epoch {chosen!r} is chosen, but not there", where=place / "manifest.json")
    entry = directory.manifest.get("start")
    start = None if not isinstance(entry, dict) else _number(entry, "devtest_bleu", place / "manifest.json")
    return Run(name, directory, dict(flat(configuration)), identity, versions, epochs, start, chosen)


def _epochs(directory: RunDirectory) -> tuple[Epoch, ...]:
    """The manifest's epochs with their lines of statistics."""
    entries = directory.manifest.get("epochs")
    where = directory.path / "manifest.json"
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("damaged: there is no list of epochs", where=where)
    wholes, shards = _statistics(directory.path / "statistics.jsonl") if entries else ({}, {})
    made = []
    for number, entry in enumerate(entries, 1):
        if number not in wholes:
            raise InputError(f"there are no statistics of epoch {number}", where=directory.path / "statistics.jsonl")
        bleu, ratio, warnings = (entry.get(key) for key in ("devtest_bleu", "devtest_length_ratio", "warnings"))
        made.append(
            Epoch(
                number=number,
                features=int(_number(entry, "weights", where)),
                bleu=None if bleu is None else _number(entry, "devtest_bleu", where),
                length_ratio=None if ratio is None else _number(entry, "devtest_length_ratio", where),
                warnings=tuple(map(str, warnings)) if isinstance(warnings, list) else (),
                whole=wholes[number],
                shards=tuple(figures for _, figures in sorted(shards.get(number, {}).items())),
            )
        )
    return tuple(made)


def _statistics(place: Path) -> tuple[dict[int, Figures], dict[int, dict[int, Figures]]]:
    """Figures by epoch, and by epoch and shard."""
    wholes: dict[int, Figures] = {}
    shards: dict[int, dict[int, Figures]] = {}
    for number, text in enumerate(read_lines(place), 1):
        where = f"{place}:{number}"
        try:
            line = json.loads(text)
        except ValueError as error:
            raise InputError(f"damaged: {error}", where=where) from None
        if not isinstance(line, dict) or "shard" not in line:
            raise InputError("damaged: not a line of statistics", where=where)
        epoch, figures = int(_number(line, "epoch", where)), _figures(line, where)
        if line["shard"] is None:
            wholes[epoch] = figures
        else:
            shards.setdefault(epoch, {})[int(_number(line, "shard", where))] = figures
    return wholes, shards


def _figures(line: Mapping[str, Any], where: str) -> Figures:
    seconds = line.get("seconds")
    if not isinstance(seconds, dict):
        raise InputError("damaged: no 'seconds'", where=where)
    return Figures(
        lists=int(_number(line, "lists", where)),
        pairs=int(_number(line, "pairs", where)),
        rank_errors=int(_number(line, "rank_errors", where)),
        updates=int(_number(line, "updates", where)),
        best_metric=_number(line, "best_metric", where),
        seconds={stage: _number(seconds, stage, where) for stage in seconds},
    )


def _number(values: Mapping[str, Any], key: str, where: str | os.PathLike[str]) -> float:
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"damaged: '{key}' is {value!r}, not a number", where=where)
    return value

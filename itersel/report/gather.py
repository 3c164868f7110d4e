"""The runs of a report: name, configuration and what was measured, and which epoch counts.

Reads the directories of itersel train (itersel.run.directory, itersel.run.history) and never writes. A run that is
still going on is shown as far as it has come: what the manifest calls finished, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError, InputError
from itersel.base.json_files import read_json
from itersel.run.config import flat
from itersel.run.directory import RunDirectory
from itersel.run.history import EpochRecord, History, check_format, number_of, read_history

TRANSLATIONS = "devtest.txt.gz"
"""Translations of an epoch, in its folder."""


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
    history: History

    @property
    def epochs(self) -> tuple[EpochRecord, ...]:
        return self.history.epochs

    @property
    def best(self) -> EpochRecord | None:
        """The chosen epoch; before there is one, the best so far, or the last."""
        return self.history.best

    @property
    def planned(self) -> int:
        return int(self.configuration["epochs"])

    @property
    def finished(self) -> bool:
        if self.history.chosen is None:
            return False
        patience = self.configuration.get("patience")
        exhausted = isinstance(patience, int) and self.history.out_of_patience(patience)
        return len(self.epochs) >= self.planned or exhausted or self.history.stopped

    @property
    def shard_count(self) -> int:
        """The number of shards; before the first epoch, that of files."""
        return len(self.epochs[-1].shards) if self.epochs else len(self.checksums("shards"))

    def checksums(self, key: str) -> tuple[str, ...]:
        """Checksums of the run's `shards`, `devtest` or `fold_models` files."""
        return tuple(str(self.identity.get(f"{key}.{k}")) for k in range(int(self.identity.get(f"{key}.count", 0))))

    @property
    def domain(self) -> str:
        """The only domain that it learns from and is scored on; empty: all."""
        return str(self.configuration.get("domain") or "")

    @property
    def translated(self) -> tuple[int, ...]:
        """The epochs after which devtest was translated, the start weights being number 0; none before the first."""
        start = () if self.history.start is None or not self.epochs else (self.history.start,)
        return tuple(
            epoch.number
            for epoch in (*start, *self.epochs)
            if str((self.folder(epoch.number) / TRANSLATIONS).relative_to(self.directory.path)) in epoch.files
        )

    def folder(self, epoch: int) -> Path:
        """Where the files of an epoch, counted from 1, are; 0: of the start weights."""
        return self.directory.epoch(epoch - 1)


def gather(paths: Sequence[str | os.PathLike[str]], names: Sequence[str] | None = None) -> list[Run]:
    """Read all runs. A folder that is none, a damaged file or a run named twice is an error that names it.

    `names` are the runs' names; by default, as much of each path as it takes to tell the runs apart.
    """
    if not paths:
        raise ConfigError("there are no runs to report on", hint="Name at least one directory of itersel train.")
    places = [Path(path) for path in paths]
    seen: set[str] = set()
    for place in places:
        real = os.path.realpath(place)
        if real in seen:
            raise ConfigError("the run is named twice", where=place)
        seen.add(real)
    if names is None:
        names = short_names(places)
    elif len(set(names)) != len(places) or len(names) != len(places):
        raise ConfigError(f"{len(places)} runs need as many different names, got {', '.join(names) or 'none'}")
    return [_read(place, name) for place, name in zip(places, names, strict=True)]


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
    check_format(described, place / "run.json")
    configuration, identity, versions = (described.get(key) for key in ("configuration", "identity", "versions"))
    if not isinstance(configuration, dict) or not isinstance(configuration.get("algorithm"), str):
        raise InputError("damaged: there is no configuration", where=place / "run.json")
    if not isinstance(identity, dict) or not isinstance(versions, dict):
        raise InputError("damaged: there is no identity, or no versions", where=place / "run.json")
    for values, key in ((configuration, "epochs"), (identity, "shards.count"), (identity, "devtest.count")):
        number_of(values, key, place / "run.json")
    return Run(name, RunDirectory(place), dict(flat(configuration)), identity, versions, read_history(place))

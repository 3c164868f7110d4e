"""What a finished build left for training and testing: `build.json` in its work folder.

`itersel build` writes the record last (itersel.pipeline.build); `itersel train --build`, `itersel evaluate --build` and
`itersel extract --build` find shards, models, index and options by it. Paths in it are relative to the folder, which
may move.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from itersel.algorithms.registry import algorithm_class
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import remove_torn
from itersel.base.json_files import read_json, write_json
from itersel.run.config import TrainConfig

RECORD = "build.json"
KIND = "build"
FORMAT = 1
TRAIN, DEV, DEVTEST = "train", "dev", "devtest"
SHARD_PATTERN = "*.itsh"


@dataclass(frozen=True)
class BuildFolder:
    """The products of a build, with paths that can be opened."""

    folder: Path
    sets: Mapping[str, Path]
    """Folders of shards by the name of the set."""
    language_model: Path
    """The model to translate with."""
    fold_models: Sequence[Path] = ()
    """Models that each lack a fold of the training text."""
    unseen_model: Path | None = None
    """The model without the sentences of the training shards, if there is one."""
    index: Path | None = None
    extract: Mapping[str, Any] = field(default_factory=dict)
    """Options of the extraction, without those that are for training sentences only."""

    def shards(self, name: str) -> str:
        """The pattern of a set's shard files."""
        if name not in self.sets:
            raise ConfigError(
                f"the build has no set {name!r}", where=self.folder, hint=f"Choose one of {', '.join(self.sets)}."
            )
        return os.fspath(self.sets[name] / SHARD_PATTERN)

    def write(self) -> None:
        """Write the record."""
        write_json(
            self.folder / RECORD,
            {
                "kind": KIND,
                "format": FORMAT,
                "sets": {name: self._relative(path) for name, path in self.sets.items()},
                "language_model": self._relative(self.language_model),
                "fold_models": [self._relative(path) for path in self.fold_models],
                "unseen_model": None if self.unseen_model is None else self._relative(self.unseen_model),
                "index": None if self.index is None else self._relative(self.index),
                "extract": dict(self.extract),
            },
        )

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> BuildFolder:
        place = Path(folder)
        if not (place / RECORD).is_file():
            raise InputError(
                "there is no finished build here",
                where=place,
                hint="Run itersel build first, and name its work folder.",
            )
        values = read_json(place / RECORD)
        if values.get("kind") != KIND or values.get("format") != FORMAT:
            raise InputError(
                "written by another version of itersel", where=place / RECORD, hint="Run itersel build again."
            )
        try:
            return cls(
                place,
                {name: place / path for name, path in values["sets"].items()},
                place / values["language_model"],
                tuple(place / path for path in values["fold_models"]),
                None if values["unseen_model"] is None else place / values["unseen_model"],
                None if values["index"] is None else place / values["index"],
                values["extract"],
            )
        except (KeyError, TypeError, AttributeError):
            raise InputError("damaged", where=place / RECORD, hint="Run itersel build again.") from None

    def _relative(self, path: Path) -> str:
        """The path as seen from the folder; absolute if the file is not below it (a given language model)."""
        path, folder = Path(os.path.abspath(path)), Path(os.path.abspath(self.folder))
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else os.fspath(path)


def forget_build(folder: Path) -> None:
    """Remove the record, before a build changes what it describes."""
    (folder / RECORD).unlink(missing_ok=True)
    remove_torn(folder / RECORD)


def with_build(config: TrainConfig) -> TrainConfig:
    """The configuration with shards, devtest and language models of its build, as far as it does not name its own.

    Whoever learns from the training sentences gets models that do not know their references, if the build has such.
    """
    if config.build is None:
        if config.learn_from is not None:
            raise ConfigError(
                f"learn_from is {config.learn_from!r}, but there is no build", hint="Name the build's work folder."
            )
        return config
    folder = BuildFolder.read(config.build)
    found: dict[str, Any] = {}
    name = config.learn_from or _default_set(folder, config.algorithm)
    if not config.shards:
        found["shards"] = (folder.shards(name),)
    elif config.learn_from is not None:
        raise ConfigError("learn_from and shards exclude each other", hint="Leave out one of them.")
    if not config.devtest:
        devtest = next((one for one in (DEVTEST, DEV) if one in folder.sets and one != name), None)
        found["devtest"] = () if devtest is None else (folder.shards(devtest),)
        if devtest is None:
            events.warn("the build has no set devtest to choose an epoch by: the last epoch is taken")
    if config.language_model is None:
        training = name == TRAIN and not config.shards
        unseen = folder.unseen_model if training else None
        found["language_model"] = os.fspath(unseen or folder.language_model)
        if training and not config.fold_models:
            found["fold_models"] = tuple(map(os.fspath, folder.fold_models))
    return replace(config, **found)


def _default_set(folder: BuildFolder, algorithm: str) -> str:
    if (algorithm_class(algorithm).small_set and DEV in folder.sets) or TRAIN not in folder.sets:
        return DEV
    return TRAIN

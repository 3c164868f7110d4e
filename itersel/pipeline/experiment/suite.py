"""Several experiments under one name: a file that names the files of others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.base.config import PathStr, load
from itersel.base.errors import ConfigError
from itersel.base.settings import Settings
from itersel.pipeline.experiment.config import ExperimentConfig, load_experiment
from itersel.pipeline.set_config import Name


@dataclass(frozen=True)
class SuiteFile:
    """What the file holds."""

    experiments: tuple[PathStr, ...]
    """Files of experiments, in the order in which they run."""
    name: Name | None = None
    """Default: the name of the file."""

    def __post_init__(self) -> None:
        if not self.experiments:
            raise ConfigError("experiments is []; give at least one")


@dataclass(frozen=True)
class Suite:
    name: str
    experiments: tuple[ExperimentConfig, ...]


def load_suite(path: str | os.PathLike[str], build_overrides: Sequence[str] = ()) -> Suite | None:
    """Read the file and all that it names; None if it is an experiment itself."""
    settings = Settings.read(path)
    if settings.find("experiments") is None:
        return None
    file = load(SuiteFile, settings)
    found = tuple(load_experiment(one, build_overrides) for one in file.experiments)
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"two experiments are called {name}", where=path, hint="Give the file of one of them another `name`."
            )
    return Suite(file.name or Path(path).stem, found)

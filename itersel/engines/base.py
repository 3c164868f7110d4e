"""What the driver asks of an engine, and what it gets back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError
from itersel.learn.mixing import Columns, Selection
from itersel.mapreduce.work_item import COUNTS, MapTask
from itersel.model.feature_names import NameTable
from itersel.model.vectors import Vector
from itersel.run.config import TrainConfig
from itersel.run.directory import RunDirectory
from itersel.shards.shard import Shard

Tell = Callable[[dict[str, float]], None]
"""Told of `summary`, so far, as often as the engine knows it."""


@dataclass(frozen=True)
class EpochWork:
    """One epoch: map tasks, where they start from, and what the reducers keep."""

    epoch: int
    """Its number, from 0."""
    tasks: Sequence[MapTask]
    start: Path | None
    """Vector file that all shards start from; none: all weights 0, or their own states."""
    states: Sequence[Path] | None
    """sgd, mix_sgd, from the second epoch on: the state file that each shard goes on from."""
    own_weights: bool
    """sgd, mix_sgd: the engine writes each shard's new state to `RunDirectory.state`."""
    selection: Selection
    names: frozenset[str]
    """Of the start weights' features, which the shards may not know."""


@dataclass(frozen=True, eq=False)
class EpochOutcome:
    """What an epoch came to."""

    columns: Columns
    """The model: kept columns with their norms and means."""
    names: NameTable
    """Names of at least the columns."""
    statistics: list[dict[str, Any]]
    """In shard order."""


@dataclass(frozen=True)
class TranslateWork:
    """Shards to translate with one model."""

    shards: Sequence[Shard]
    weights: Vector
    file: Path
    """The same weights, as a vector file."""


def summary(shards: Iterable[dict[str, float]]) -> dict[str, float]:
    """map_task.COUNTS over all shards: sums, and the largest number of weights."""
    made = dict.fromkeys(COUNTS, 0.0)
    for one in shards:
        for key in COUNTS:
            made[key] = max(made[key], one[key]) if key == "nonzero" else made[key] + one[key]
    return made


class Engine(ABC):
    """Runs the tasks of a training run. `close` is called in the end, also after errors and interrupts."""

    def __init__(self, config: TrainConfig, directory: RunDirectory):
        self.config, self.directory = config, directory

    @abstractmethod
    def train_epoch(self, work: EpochWork, tell: Tell) -> EpochOutcome:
        """Do all map tasks, then reduce."""

    @abstractmethod
    def translate(self, work: TranslateWork) -> list[str]:
        """Translations of all sentences, in order."""

    @classmethod
    def dry_run(cls, config: TrainConfig) -> str:
        """What a run would make and cost, for people, without making or asking anything."""
        raise ConfigError(f"the engine {config.run.runner} has no dry run", hint="It costs nothing: run it.")

    def close(self) -> None:
        """Stop what is still under way, on whatever machine, and remove temporary data."""
        return

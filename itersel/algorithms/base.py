"""What a training algorithm is: rounds, each of any number of map-reduce jobs and a step on the driver.

The driver (itersel.run.driver) owns rounds, checkpoints, devtest and the choice of the round; it knows no algorithm by
name. An algorithm knows no engine: it hands jobs to its `RunContext`. To add one, write a module with a subclass of
`Algorithm`; docs/algorithms.md shows it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol

from itersel.base.figures import Choice, CrossSections, Declaration, Figure, Listing, Statistic
from itersel.learn.epoch import EpochConfig
from itersel.learn.mixing import SelectionConfig
from itersel.mapreduce.job import Job, Record
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem
from itersel.model.feature_names import NameTable
from itersel.model.vectors import Vector
from itersel.response.config import ResponseConfig


class Settings(Protocol):
    """What an algorithm reads of a run's configuration."""

    @property
    def epoch(self) -> EpochConfig: ...

    @property
    def selection(self) -> SelectionConfig: ...

    @property
    def response(self) -> ResponseConfig | None:
        """Who gives feedback, where an algorithm asks for it."""

    @property
    def own(self) -> Any:
        """The algorithm's own configuration, an `Algorithm.config_class`; None if it has none."""


@dataclass(frozen=True, eq=False)
class Model:
    """Where a round starts from."""

    weights: Vector
    names: frozenset[str] = frozenset()
    """Names of at least the weights' features."""
    file: Path | None = None
    """The weights as a vector file; None: all weights are 0."""
    states: tuple[Path, ...] = ()
    """For each shard, what it carries from the last round, as the algorithm wrote it; none before the first round."""
    domains: Mapping[str, Vector] = field(default_factory=dict)
    """Weights of the domains, where an algorithm has them."""


@dataclass(frozen=True, eq=False)
class Round:
    """The result of a round."""

    weights: Vector
    names: NameTable
    """Names of at least the weights' features."""
    statistics: Sequence[Mapping[str, Any]]
    """By shard, in order: what the algorithm declares, and `seconds` by stage."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Numbers about the round as a whole, for the manifest and the figures."""
    states: Sequence[bytes] = ()
    """For each shard, what it carries to the next round."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Further files of the round's folder, by name."""
    domains: Mapping[str, Vector] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class RunContext(Protocol):
    """What a run offers to its algorithm in a round."""

    @property
    def reducers(self) -> int:
        """Ranges of keys that the user wants reduced one by one; has no influence on results."""

    @property
    def models(self) -> Mapping[str, SideFile]:
        """The language models as side files; `itersel.algorithms.epoch_job.language_models` opens them."""

    @property
    def answers(self) -> str:
        """The file for a response's answers in the run's directory, which workers elsewhere may not see."""

    def items(self, number: int) -> Sequence[WorkItem]:
        """The shards of a round as work items."""

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> list[Record]:
        """Run a job on the run's engine; its records for the driver. A finished job of a round is not run again."""


class ItemsContext:
    """A run as seen by an algorithm that works on some of its shards for another one: these, numbered from 0."""

    def __init__(self, run: RunContext, items: Sequence[WorkItem]):
        self._run, self._items = run, [replace(item, number=k) for k, item in enumerate(items)]
        self.reducers, self.models, self.answers = run.reducers, run.models, run.answers

    def items(self, number: int) -> Sequence[WorkItem]:
        del number
        return self._items

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> list[Record]:
        return self._run.run(job, items, side)


class Algorithm(ABC):
    """One training algorithm, made for one run."""

    name: ClassVar[str]
    label: ClassVar[str]
    """For people, as in a paper: IterSelSGD."""
    number: ClassVar[int | None] = None
    """As in the papers' tables."""
    config_class: ClassVar[type | None] = None
    """A frozen dataclass for the key of a configuration that is called like the algorithm."""
    options: ClassVar[Mapping[str, str | None]] = {}
    """Common options of the command line, such as eta, that stand for keys of the algorithm's own, or for none."""
    statistics: ClassVar[tuple[Statistic, ...]] = ()
    figures: ClassVar[tuple[Figure, ...]] = ()
    choice: ClassVar[Choice] = Choice()
    choice_without_devtest: ClassVar[Choice | None] = None
    """What decides where there is no devtest; None: the last round's model is the run's."""
    sections: ClassVar[CrossSections | None] = None
    """Which file of a round has the score as a function of each weight; None: there is none."""
    listing: ClassVar[Listing | None] = None
    """Which file of a round has a table for people; None: there is none."""
    one_shard: ClassVar[bool] = False
    """All sentences make up one shard, unless the layout says otherwise."""
    by_domain: ClassVar[bool] = False
    """Rounds have weights for each domain: files domain.NAME.txt (itersel.model.domain_weights)."""
    small_set: ClassVar[bool] = False
    """Tunes on a small set: of a build, it learns from dev, not from train, unless told otherwise."""
    settings_by_data: ClassVar[bool] = False
    """Rate, pairs, metric and order that the configuration leaves open are chosen by the data (run/defaults.py)."""

    def __init__(self, settings: Settings):
        self.settings = settings

    @classmethod
    def declaration(cls, more: Sequence[Figure] = ()) -> Declaration:
        """What the algorithm measures, with `more` figures of the driver's: those of devtest, where there is one."""
        choice = cls.choice if more or cls.choice_without_devtest is None else cls.choice_without_devtest
        figures = (*cls.figures, *more)
        return Declaration(cls.name, cls.label, cls.number, cls.statistics, figures, choice, cls.sections, cls.listing)

    def check(self, items: Sequence[WorkItem]) -> None:
        """Raise ConfigError if the algorithm cannot work with these shards."""
        del items

    def other_files(self) -> Sequence[str]:
        """Files besides the shards whose references the algorithm learns from, with the model that no fold lacks."""
        return ()

    def kept(self) -> int | None:
        """The most features that a round's model can have; None: no limit."""
        return None

    def decodings(self) -> int:
        """About how often a round decodes its sentences: for estimates of the work."""
        return 1

    @abstractmethod
    def round(self, number: int, model: Model, run: RunContext) -> Round:
        """One round, counted from 0."""

    def finished(self, history: Sequence[Mapping[str, Any]]) -> bool:
        """Whether further rounds are not worth running. `history` has the manifest's facts of the rounds so far."""
        del history
        return False

    def remarks(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> Sequence[str]:
        """Warnings about the run as it stands after its last round. They are shown, not stored."""
        del history, chosen
        return ()

    def conclude(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> None:
        """Raise InputError if the run must not count as a success. `chosen` is the chosen round's entry."""
        del history, chosen

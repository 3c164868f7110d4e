"""The configuration of an experiment: a build, and a grid of trainings on its sets (conf/experiments/*.yaml).

A grid is a list of blocks. Each block is multiplied out: algorithms × tuning sets × feature groups × varied keys; every
combination is a cell with a name and a training configuration. `repeats` trains it several times, with other seeds:
each of these runs is a cell, and together they are one system of the table. Paths in the file are relative to its
folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from itersel.algorithms.registry import DEFAULT, algorithm_class
from itersel.base.config import PathStr, Range, Settings, load, validate
from itersel.base.errors import ConfigError
from itersel.base.given import Given
from itersel.decode.decoder import DecoderConfig
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.pipeline.build_config import TRAIN, BuildConfig, FeatureGroups
from itersel.pipeline.experiment.chosen_shards import ChosenShards, ShardChoice, file_name
from itersel.pipeline.set_config import Name
from itersel.run.config import TrainConfig, check_search, load_train_config
from itersel.run.layout import RANDOM_KINDS

GIVEN = "given"
"""The algorithm of a cell that takes weights from a file: nothing is trained."""
BY_DOMAIN = "by_domain"
RUN_KEYS = ("shards", "devtest", "language_model", "fold_models", "algorithm", "run", "domain")
"""Keys of a training that the experiment itself fills in."""


@dataclass(frozen=True)
class SignificanceConfig:
    """The test of differences on the test sets: approximate randomisation, two-sided."""

    level: Annotated[float, Range(above=0, below=1)] = 0.05
    trials: Annotated[int, Range(1)] = 10_000
    """Shuffles."""
    seed: int = 1

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class TableConfig:
    """Tables in the form of WMT 2013: test sets as rows, tuning modes as columns, a table for each learner."""

    domains: str | None = None
    """The test set with a row for each of its domains, and their average."""


@dataclass(frozen=True)
class BlockConfig:
    """A part of the grid: algorithms × tuning sets × feature groups × varied keys."""

    algorithm: tuple[str, ...]
    tuning: tuple[ShardChoice, ...] = ()
    features: tuple[Annotated[str, FeatureGroups()], ...] = ("all",)
    set: Settings = field(default_factory=Settings)
    """Keys of conf/train.yaml, their parts joined by dots, with their values in this block."""
    vary: Settings = field(default_factory=Settings)
    """The same, with lists of values, all of which are tried."""
    weights: PathStr | None = None
    name: str = ""
    repeats: Annotated[int, Range(1)] = 1
    by_domain: tuple[bool, ...] = (False,)
    """True: each sentence of a test set is translated with the weights of its domain. Algorithms that have such weights
    learn them in one training; with others there is a training for each domain of the tuning set."""
    replications: bool = False
    """The tuning sets are replications of one another: together they are one system, with the block's name."""
    start_from: str | None = None
    """Start from the weights of an earlier system of the grid: run by run, or all from its first run."""
    dev: ShardChoice | None = None
    """A set of the build, for algorithms with a key `dev`, such as hols."""
    table: str = ""
    """With `table` in the file: the table that the block's system is in, such as `margin perceptron`."""
    column: str = ""
    """The column that it is there, such as `pooled`. Of varied settings, the one that devtest chooses is shown."""

    @property
    def label(self) -> str:
        """What the names of the cells begin with: the given name, or the place in the tables."""
        return self.name or "-".join(part for part in (self.table, self.column.rstrip(".")) if part)

    def __post_init__(self) -> None:
        validate(self)
        for name in self.algorithm:
            if name != GIVEN:
                algorithm_class(name)
        if not self.algorithm:
            raise ConfigError("algorithm is []; give at least one")
        if not self.features:
            raise ConfigError("features is []; give at least one")
        if self.replications and (not self.label or self.repeats > 1 or len(self.algorithm) > 1):
            raise ConfigError("replications needs a name and one algorithm, and no repeats")
        if not self.by_domain:
            raise ConfigError("by_domain is []; give true or false")
        for key, given in self.vary.items():
            if given.value == []:
                raise ConfigError(f"vary.{key} is []; give at least one value", where=given.origin.where)
        if GIVEN in self.algorithm:
            others = bool(self.tuning or self.set.items() or self.vary.items() or self.repeats > 1)
            if self.weights is None or others or True in self.by_domain:
                raise ConfigError(
                    "algorithm is 'given', which needs `weights`, and no `tuning`, `set`, `vary`, `repeats` or"
                    " `by_domain`",
                    hint="Give a weight file.",
                )
        elif not self.tuning:
            raise ConfigError("tuning is missing: the set to train on")


@dataclass(frozen=True)
class ExperimentFile:
    """What the file holds, before the grid is multiplied out."""

    build: PathStr
    """The configuration of the build."""
    devtest: str
    tests: tuple[ShardChoice, ...]
    grid: tuple[BlockConfig, ...]
    name: Name | None = None
    """Default: the name of the file."""
    build_set: Settings = field(default_factory=Settings)
    """Keys of the build, their parts joined by dots, with values instead of those in its file."""
    train: Settings = field(default_factory=Settings)
    """Keys of conf/train.yaml, for all cells."""
    decoder: DecoderConfig | None = None
    table: TableConfig | None = None
    """Tables with a column for each block, instead of one with a row for each cell."""
    significance: SignificanceConfig = SignificanceConfig()
    run: RunConfig = field(default_factory=RunConfig)
    """The engine that trains the cells."""

    def __post_init__(self) -> None:
        for key in ("tests", "grid"):
            if not getattr(self, key):
                raise ConfigError(f"{key} is []; give at least one")
        if self.decoder is not None:
            check_search(self.decoder, "decoder")


def run_suffix(run: int) -> str:
    """What the name of a cell ends with, beyond that of its system; nothing for the first run."""
    return f"-run={run}" if run > 1 else ""


@dataclass(frozen=True)
class Cell:
    """One training of the grid, or given weights. `training` lacks the data, which the build makes."""

    algorithm: str
    tuning: str
    """Set to train on, or some of its shards, or several sets (ShardChoice). Empty for given weights."""
    features: str
    training: TrainConfig
    varied: dict[str, Any] = field(default_factory=dict)
    """The keys in which cells of a block differ, for the name and the table."""
    weights: str | None = None
    label: str = ""
    run: int = 1
    """Which of the repeats."""
    by_domain: bool = False
    """Whether each sentence is translated with the weights of its domain."""
    table: str = ""
    column: str = ""
    """Where it is in tables of the form of WMT 2013."""
    replication: bool = False
    """The tuning set is one of several of the same system."""
    start_from: str = ""
    """The system whose weights the training starts from."""
    dev: str = ""
    """The set for the algorithm's own key `dev`."""

    @property
    def name(self) -> str:
        """Unique in the experiment, and fit for a folder's name."""
        return self.system + run_suffix(self.run)

    @property
    def system(self) -> str:
        """The name that all repeats share."""
        return self._system(self.varied)

    @property
    def training_name(self) -> str:
        """The name of its training, which a cell that translates in another way may share."""
        varied = {key: value for key, value in self.varied.items() if key != BY_DOMAIN}
        return self._system(varied) + run_suffix(self.run)

    @property
    def family(self) -> str:
        """The name that systems share if they differ in nothing but varied settings."""
        return self._system({BY_DOMAIN: True} if self.by_domain else {})

    def _system(self, varied: Mapping[str, Any]) -> str:
        tuning = "" if self.replication else file_name(self.tuning)
        parts = [self.label, self.algorithm_name, tuning, self.features.replace(",", "+")]
        parts += [f"{key.rpartition('.')[2]}={value}" for key, value in varied.items()]
        return re.sub(r"[^A-Za-z0-9_.+=-]", "_", "-".join(part for part in parts if part))

    @property
    def algorithm_name(self) -> str:
        """The algorithm's label."""
        return GIVEN if self.algorithm == GIVEN else algorithm_class(self.algorithm).name

    @property
    def tuning_sets(self) -> tuple[str, ...]:
        """The names of the sets to train on; none for given weights."""
        return tuple(part.name for part in ChosenShards.parse(self.tuning)) if self.tuning else ()


@dataclass(frozen=True)
class ExperimentConfig:
    """A build, the set that chooses among epochs, the sets to test on, and the grid."""

    name: str
    build: BuildConfig
    devtest: str
    tests: tuple[str, ...]
    cells: tuple[Cell, ...]
    significance: SignificanceConfig = SignificanceConfig()
    decoder: DecoderConfig | None = None
    """How the test sets are translated, by all cells; none: as each cell's training decodes."""
    document: dict[str, Any] = field(default_factory=dict)
    """The file's content, kept with the results."""
    run: RunConfig = field(default_factory=RunConfig)
    """The engine that trains the cells."""
    table: TableConfig | None = None
    """Tables in the form of WMT 2013; none: a table in that of ACL 2012."""


def load_experiment(path: str | os.PathLike[str], build_overrides: Sequence[str] = ()) -> ExperimentConfig:
    """Read the file; `build_overrides` are `section.key=value` for the build, as of `itersel build --set`."""
    settings = Settings.read(path)
    file = load(ExperimentFile, settings)
    made = load(BuildConfig, _with(Settings.read(file.build), file.build_set).override(build_overrides))
    sets = made.set_names
    for key, names in (("devtest", (file.devtest,)), ("tests", file.tests)):
        for name in names:
            _check_sets(name, sets, key, settings.find(key))
    cells: list[Cell] = []
    for number, block in enumerate(file.grid, 1):
        given = _block(settings, number)
        if block.dev is not None:
            _check_sets(block.dev, sets, f"grid[{number}].dev", given)
        for tuning in block.tuning:
            _check_sets(tuning, sets, f"grid[{number}].tuning", given)
        try:
            _check_start(block, cells)
            cells += list(_cells(block, file.train))
        except ConfigError as error:
            where = error.where or (None if given is None else given.origin.where)
            raise ConfigError(error.message, where=where, hint=error.hint) from None
        _check_columns(file, block, cells, given)
    if file.table is not None and file.table.domains not in (None, *file.tests):
        raise ConfigError(
            f"table.domains is {file.table.domains!r}, which is not among the tests",
            where=_where(settings.find("table.domains")),
            hint=f"Choose one of {', '.join(file.tests)}.",
        )
    divided = None if file.table is None else file.table.domains
    if divided is not None and not all(made.labelled(part.name) for part in ChosenShards.parse(divided)):
        raise ConfigError(
            f"table.domains is {divided!r}, whose sentences have no domains",
            where=_where(settings.find("table.domains")),
            hint="Give the set labels (docs/building.md).",
        )
    cell_names = [cell.name for cell in cells]
    for name in cell_names:
        if cell_names.count(name) > 1:
            raise ConfigError(f"two cells of the grid are {name}", where=path, hint="Give one of the blocks a name.")
    return ExperimentConfig(
        file.name or Path(path).stem,
        made,
        file.devtest,
        file.tests,
        tuple(cells),
        file.significance,
        file.decoder,
        settings.plain(),
        file.run,
        file.table,
    )


def _where(given: Given | None) -> str | None:
    return None if given is None else given.origin.where


def _check_columns(file: ExperimentFile, block: BlockConfig, cells: Sequence[Cell], given: Given | None) -> None:
    """With tables by column, every block is one column of its own, whatever settings it varies; otherwise, there are no
    columns."""
    if file.table is None:
        if block.table or block.column:
            raise ConfigError("a block has a column, but the file has no `table`", where=_where(given), hint="Add it.")
        return
    if not (block.table and block.column):
        hint = "Give it both, such as `table: margin perceptron` and `column: pooled`."
        raise ConfigError("a block has no table or no column", where=_where(given), hint=hint)
    mine = {cell.family for cell in cells if (cell.table, cell.column) == (block.table, block.column)}
    if len(mine) > 1:
        raise ConfigError(
            f"{len(mine)} systems are the column {block.column!r} of {block.table!r}: {', '.join(sorted(mine))}",
            where=_where(given),
            hint="Give each a block and a column of its own.",
        )


def _block(settings: Settings, number: int) -> Given | None:
    grid = settings.find("grid")
    return grid.value[number - 1] if grid is not None and isinstance(grid.value, list) else grid


def _with(settings: Settings, changes: Settings | Mapping[str, Any]) -> Settings:
    for key, value in changes.items():
        settings = settings.put(key, value)
    return settings


def _cells(block: BlockConfig, common: Settings) -> Iterator[Cell]:
    for algorithm in block.algorithm:
        if algorithm == GIVEN:
            # Nothing is trained, but devtest is decoded as after the others' epochs.
            decoder = _training(common, DEFAULT).epoch.decoder
            training = TrainConfig(epoch=EpochConfig(decoder=decoder))
            yield Cell(
                GIVEN,
                "",
                block.features[0],
                training,
                weights=block.weights,
                label=block.label,
                table=block.table,
                column=block.column,
            )
            continue
        vary = {key: given.value if isinstance(given.value, list) else [given] for key, given in block.vary.items()}
        for tuning, group, by_domain in product(block.tuning, block.features, block.by_domain):
            for values in product(*vary.values()):
                varied = dict(zip(vary, values, strict=True))
                training = _training(_with(_with(common, block.set), varied), algorithm)
                plain = {key: value.plain() for key, value in varied.items()}
                plain |= {BY_DOMAIN: True} if by_domain else {}
                first = block.tuning.index(tuning) + 1 if block.replications else 1
                for run, seeded in enumerate(_repeated(training, block.repeats), first):
                    yield Cell(
                        algorithm,
                        tuning,
                        group,
                        seeded,
                        plain,
                        None,
                        block.label,
                        run,
                        by_domain,
                        block.table,
                        block.column,
                        block.replications,
                        block.start_from or "",
                        block.dev or "",
                    )


def _check_start(block: BlockConfig, before: Sequence[Cell]) -> None:
    systems = list(dict.fromkeys(cell.system for cell in before if cell.algorithm != GIVEN and not cell.by_domain))
    if block.start_from is not None and block.start_from not in systems:
        raise ConfigError(
            f"start_from is {block.start_from!r}, but no earlier block has such a system",
            hint=f"There are {', '.join(systems)}." if systems else "Put that block before this one.",
        )


def _repeated(training: TrainConfig, repeats: int) -> Iterator[TrainConfig]:
    """The training with its own seeds, then with the following ones."""
    epoch, own = training.epoch, training.own
    kind = algorithm_class(training.algorithm).config_class
    if own is None and kind is not None:
        own = kind()
    seeded = hasattr(own, "seed")  # the algorithm's own configuration has one
    layout, dealt = training.layout, training.layout.kind in RANDOM_KINDS
    if repeats > 1 and not epoch.shuffle and not seeded and not dealt:
        raise ConfigError(
            f"repeats is {repeats}, but all runs would be the same", hint="Set epoch.shuffle: true, which has a seed."
        )
    pairs = epoch.learn.pairs
    for more in range(repeats):
        learn = replace(epoch.learn, pairs=replace(pairs, seed=pairs.seed + more))
        changed = replace(own, seed=own.seed + more) if seeded and more else training.own
        yield replace(
            training,
            epoch=replace(epoch, seed=epoch.seed + more, learn=learn),
            layout=replace(layout, seed=layout.seed + more) if dealt else layout,
            own=changed,
        )


def _training(settings: Settings, algorithm: str) -> TrainConfig:
    for key in RUN_KEYS:
        found = settings.find(key)
        if found is not None:
            raise ConfigError(f"{key} is filled in by the experiment", where=found.origin.where, hint="Leave it out.")
    # The names of the devtest shards are not known yet, but that there are some is part of a valid configuration.
    return load_train_config(settings.put("algorithm", algorithm).put("devtest", ["devtest"]))


def _check_sets(text: str, sets: Sequence[str], key: str, given: Given | None) -> None:
    where = None if given is None else given.origin.where
    names = [part.name for part in ChosenShards.parse(text)]
    for name in names:
        if name not in sets:
            raise ConfigError(
                f"{key} is {name!r}, but the build has no such set", where=where, hint=f"It has {', '.join(sets)}."
            )
    if TRAIN in names and set(names) != {TRAIN}:
        raise ConfigError(
            f"{key} is {text!r}, but train cannot be joined with other sets: it is decoded with other language models",
            where=where,
            hint="Choose a set from it (`of: train` of a build).",
        )

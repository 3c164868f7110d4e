"""The configuration of an experiment: a build, and a grid of trainings on its sets (conf/experiments/*.yaml).

A grid is a list of blocks. Each block is multiplied out: algorithms × tuning sets × feature groups × varied keys; every
combination is a cell with a name and a training configuration. `repeats` trains it several times, with other seeds:
each of these runs is a cell, and together they are one system of the table. Paths in the file are relative to its
folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from itersel.base.config import assign, build, read_yaml
from itersel.base.errors import ConfigError
from itersel.decode.decoder import DecoderOptions
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.model.features import parse_groups
from itersel.pipeline.build_config import TRAIN, BuildConfig, load_config
from itersel.run.config import TrainConfig, check_search

GIVEN = "given"
"""The algorithm of a cell that takes weights from a file: nothing is trained."""
BLOCK_KEYS = ("algorithm", "tuning", "features", "set", "vary", "weights", "name", "repeats")
KEYS = ("name", "build", "build_set", "devtest", "tests", "decoder", "train", "grid", "significance", "run")
RUN_KEYS = ("shards", "devtest", "language_model", "fold_models", "algorithm", "run")
"""Keys of a training that the experiment itself fills in."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Significance:
    """The test of differences on the test sets: approximate randomisation, two-sided."""

    level: float = 0.05
    trials: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ConfigError(f"significance.level is {self.level}", hint="Give a probability such as 0.05.")
        if self.trials < 1:
            raise ConfigError(
                f"significance.trials is {self.trials}", hint="Give the number of shuffles, such as 10000."
            )


def run_suffix(run: int) -> str:
    """What the name of a cell ends with, beyond that of its system; nothing for the first run."""
    return f"-run={run}" if run > 1 else ""


@dataclass(frozen=True)
class Cell:
    """One training of the grid, or given weights. `training` lacks the data, which the build makes."""

    algorithm: str
    tuning: str
    """Set to train on; `train:8` means its first 8 shards. Empty for given weights."""
    features: str
    training: TrainConfig
    varied: dict[str, Any] = field(default_factory=dict)
    """The keys in which cells of a block differ, for the name and the table."""
    weights: str | None = None
    label: str = ""
    run: int = 1
    """Which of the repeats."""

    @property
    def name(self) -> str:
        """Unique in the experiment, and fit for a folder's name."""
        return self.system + run_suffix(self.run)

    @property
    def system(self) -> str:
        """The name that all repeats share."""
        parts = [self.label, self.algorithm, self.tuning.replace(":", "."), self.features.replace(",", "+")]
        parts += [f"{key.rpartition('.')[2]}={value}" for key, value in self.varied.items()]
        return re.sub(r"[^A-Za-z0-9_.+=-]", "_", "-".join(part for part in parts if part))

    def tuning_set(self) -> tuple[str, int | None]:
        """The set's name and the number of shards to take of it; None: all."""
        name, _, first = self.tuning.partition(":")
        return name, int(first) if first else None


@dataclass(frozen=True)
class ExperimentConfig:
    """A build, the set that chooses among epochs, the sets to test on, and the grid."""

    name: str
    build: BuildConfig
    devtest: str
    tests: tuple[str, ...]
    cells: tuple[Cell, ...]
    significance: Significance = Significance()
    decoder: DecoderOptions | None = None
    """How the test sets are translated, by all cells; none: as each cell's training decodes."""
    document: dict[str, Any] = field(default_factory=dict)
    """The file's content, kept with the results."""
    run: RunConfig = field(default_factory=RunConfig)
    """Where the cells are trained. Has no influence on the result."""


def load_experiment(path: str | os.PathLike[str], build_overrides: Sequence[str] = ()) -> ExperimentConfig:
    """Read the file; `build_overrides` are `section.key=value` for the build, as of `itersel build --set`."""
    document = read_yaml(path)
    try:
        return _experiment(document, Path(path), build_overrides)
    except ConfigError as error:
        raise ConfigError(error.message, where=error.where or path, hint=error.hint) from None


def _experiment(document: dict[str, Any], path: Path, build_overrides: Sequence[str]) -> ExperimentConfig:
    _check_keys(document, KEYS, "")
    for key in ("build", "devtest", "tests", "grid"):
        if not document.get(key):
            raise ConfigError(f"the experiment lacks the key {key!r}", hint=f"Its keys are {', '.join(KEYS)}.")
    name = document.get("name", path.stem)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConfigError(f"name is {name!r}", hint="Use letters, digits, `_`, `-` and `.`.")
    made = load_config(path.parent / _text(document["build"], "build"), _assignments(document) + list(build_overrides))
    sets = [TRAIN] * made.train.shards + [*made.train.held_out, *made.sets]
    tests = tuple(_texts(document["tests"], "tests"))
    devtest = _text(document["devtest"], "devtest")
    for one in (devtest, *tests):
        _check_set(one, sets)
    blocks = document["grid"]
    if not isinstance(blocks, list):
        raise ConfigError("grid is not a list of blocks", hint=f"A block's keys are {', '.join(BLOCK_KEYS)}.")
    common = _mapping(document.get("train"), "train")
    cells = [cell for block in blocks for cell in _cells(block, common, path.parent, sets)]
    names = [cell.name for cell in cells]
    for one in names:
        if names.count(one) > 1:
            raise ConfigError(f"two cells of the grid are {one}", hint="Give one of the blocks a name.")
    significance = build(Significance, _mapping(document.get("significance"), "significance"), path)
    decoder = None
    if document.get("decoder") is not None:
        decoder = build(DecoderOptions, _mapping(document["decoder"], "decoder"), path)
        check_search(decoder, "decoder")
    run = build(RunConfig, _run_values(document, path.parent), path)
    return ExperimentConfig(name, made, devtest, tests, tuple(cells), significance, decoder, document, run)


def _run_values(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The keys of `run`; a store that is a folder is relative to the file's."""
    values = _mapping(document.get("run"), "run")
    store = values.get("store")
    if isinstance(store, str) and "://" not in store:
        return values | {"store": os.fspath(folder / store)}
    return values


def _assignments(document: Mapping[str, Any]) -> list[str]:
    # Values go through YAML, of which JSON is a part.
    return [f"{key}={json.dumps(value)}" for key, value in _mapping(document.get("build_set"), "build_set").items()]


def _cells(block: Any, common: dict[str, Any], folder: Path, sets: Sequence[str]) -> Iterator[Cell]:
    block = _mapping(block, "a block of the grid")
    _check_keys(block, BLOCK_KEYS, "a block of the grid: ")
    label = str(block.get("name", ""))
    algorithms = _texts(block.get("algorithm"), "algorithm")
    features = _texts(block.get("features", "all"), "features")
    vary = {key: _list(value) for key, value in _mapping(block.get("vary"), "vary").items()}
    for algorithm in algorithms:
        if algorithm == GIVEN:
            if "weights" not in block or {"tuning", "set", "vary", "repeats"} & block.keys():
                raise ConfigError(
                    "given weights need `weights`, and no `tuning`, `set`, `vary` or `repeats`",
                    hint="Give a weight file.",
                )
            weights = os.fspath(folder / _text(block["weights"], "weights"))
            # Nothing is trained, but devtest is decoded as after the others' epochs.
            decoder = _training(common, TrainConfig.algorithm, folder).epoch.decoder
            training = TrainConfig(epoch=EpochConfig(decoder=decoder))
            yield Cell(GIVEN, "", features[0], training, {}, weights, label)
            continue
        for tuning, group in product(_texts(block.get("tuning"), "tuning"), features):
            _check_set(_checked_tuning(tuning), sets)
            parse_groups(group)
            for values in product(*vary.values()):
                varied = dict(zip(vary, values, strict=True))
                settings = common
                for key, value in {**_mapping(block.get("set"), "set"), **varied}.items():
                    settings = assign(settings, key, value)
                training = _training(settings, algorithm, folder)
                for run, seeded in enumerate(_repeated(training, block.get("repeats", 1)), 1):
                    yield Cell(algorithm, tuning, group, seeded, varied, None, label, run)


def _repeated(training: TrainConfig, repeats: Any) -> Iterator[TrainConfig]:
    """The training with its own seeds, then with the following ones."""
    if not isinstance(repeats, int) or isinstance(repeats, bool) or repeats < 1:
        raise ConfigError(f"repeats is {repeats!r}", hint="Give the number of runs, such as 3.")
    epoch = training.epoch
    if repeats > 1 and not epoch.shuffle:
        raise ConfigError(
            f"repeats is {repeats}, but all runs would be the same", hint="Set epoch.shuffle: true, which has a seed."
        )
    pairs = epoch.learn.pairs
    for more in range(repeats):
        learn = replace(epoch.learn, pairs=replace(pairs, seed=pairs.seed + more))
        yield replace(training, epoch=replace(epoch, seed=epoch.seed + more, learn=learn))


def _training(settings: dict[str, Any], algorithm: str, folder: Path) -> TrainConfig:
    for key in RUN_KEYS:
        if key in settings:
            hint = "Set `run` beside `train`, for all cells." if key == "run" else "Leave it out."
            raise ConfigError(f"{key!r} is filled in by the experiment", hint=hint)
    if settings.get("start") is not None:
        settings = settings | {"start": os.fspath(folder / _text(settings["start"], "start"))}
    # The names of the devtest shards are not known yet, but that there are some is part of a valid configuration.
    return build(TrainConfig, settings | {"algorithm": algorithm, "devtest": ["devtest"]})


def _checked_tuning(tuning: str) -> str:
    name, colon, first = tuning.partition(":")
    if colon and not (first.isascii() and first.isdigit() and int(first) > 0):
        raise ConfigError(f"tuning is {tuning!r}", hint="Write train:8 for the first 8 shards of train.")
    return name


def _check_set(name: str, sets: Sequence[str]) -> None:
    if name not in sets:
        raise ConfigError(f"the build has no set {name!r}", hint=f"It has {', '.join(sets)}.")


def _check_keys(values: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
    for key in values:
        if key not in known:
            raise ConfigError(f"{prefix}unknown key {key!r}", hint=f"Known here: {', '.join(known)}.")


def _mapping(value: Any, name: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ConfigError(f"{name} is not a group of keys: {value!r}")
    return value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _texts(value: Any, name: str) -> list[str]:
    found = [_text(one, name) for one in _list(value)]
    if not found:
        raise ConfigError(f"{name} is empty")
    return found


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{name} is {value!r}", hint="Give a name.")
    return value

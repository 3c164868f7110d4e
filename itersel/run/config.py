"""The configuration of a training run (conf/train.yaml), and its identity: what the result depends on."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

from itersel.algorithms.registry import DEFAULT, algorithm_class
from itersel.base.config import build
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import file_checksum
from itersel.decode.decoder import DecoderOptions
from itersel.engines.config import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.learn.mixing import Selection
from itersel.lists.source import AnySource
from itersel.run.layout import TrainLayout

Config = TypeVar("Config")

RESULT_FREE = ("epochs", "patience", "run")
"""Keys that a run may be resumed with another value of."""
PATHS = ("shards", "devtest", "language_model", "fold_models", "start")
"""Keys that enter the identity by content, not by name."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything a run needs to know."""

    shards: tuple[str, ...] = ()
    """Shard files or patterns such as shards/*.itsh, in shard order; the matches of a pattern are sorted by name."""
    devtest: tuple[str, ...] = ()
    """Shards that are translated after every epoch; the epoch of the best corpus BLEU is chosen."""
    language_model: str | None = None
    fold_models: tuple[str, ...] = ()
    """Models that have not seen a fold of the training text, for learning from that text: of n models (or matches of
    patterns, sorted by the numbers in their names), the k-th is for sentences i with i mod n = k, counted from 0.
    Devtest is translated with language_model."""
    start: str | None = None
    """Weight file to start from; none: all weights 0."""
    layout: TrainLayout = field(default_factory=TrainLayout)
    """How the files' sentences are dealt out into the shards of the algorithm."""
    algorithm: str = DEFAULT
    epochs: int = 10
    patience: int | None = None
    """Stop when so many epochs in a row brought no better devtest BLEU; none: do all epochs."""
    epoch: EpochConfig = field(default_factory=EpochConfig)
    selection: Selection = field(default_factory=lambda: Selection(top=100_000))
    """Of iter_sel_sgd."""
    run: RunConfig = field(default_factory=RunConfig)
    own: Any = None
    """The algorithm's own configuration: what stands under the key that is called like the algorithm."""

    def __post_init__(self) -> None:
        algorithm_class(self.algorithm)
        if not 1 <= self.epochs <= 999:
            raise ConfigError(f"epochs is {self.epochs}", hint="Give a number from 1 to 999.")
        if self.patience is not None and (self.patience < 1 or not self.devtest):
            raise ConfigError(
                f"patience is {self.patience}" + ("" if self.devtest else " without devtest"),
                hint="Give a number of epochs, at least 1, and shards to score them on.",
            )
        if self.fold_models and self.language_model is None:
            raise ConfigError(
                "fold_models without language_model",
                hint="Name the model of the whole text, too: devtest is translated with it.",
            )
        check_search(self.epoch.decoder, "epoch.decoder")


def load_train_config(values: Mapping[str, Any], where: str | os.PathLike[str] | None = None) -> TrainConfig:
    """The configuration of these values. The key called like the algorithm holds the algorithm's own configuration."""
    return load_with_own(TrainConfig, values, where)


def load_with_own(kind: type[Config], values: Mapping[str, Any], where: str | os.PathLike[str] | None) -> Config:
    """A configuration that names an algorithm, with that algorithm's own."""
    name = values.get("algorithm", DEFAULT)
    algorithm = algorithm_class(name) if isinstance(name, str) else None
    if algorithm is None or algorithm.config_class is None:
        return build(kind, values, where)
    common = {key: value for key, value in values.items() if key != algorithm.name}
    own: Any = build(algorithm.config_class, values.get(algorithm.name) or {}, where)
    made: Any = build(kind, common, where)
    return replace(made, own=own)


def check_search(options: DecoderOptions, key: str) -> None:
    """ConfigError for an option that shards do not leave open."""
    if options.pass_through != "unknown":
        raise ConfigError(
            f"{key}.pass_through has no effect here", hint="Which words may be copied is up to the shards."
        )


def expand(patterns: Sequence[str], key: str, order: Callable[[str], Any] | None = None) -> list[str]:
    """The files that the patterns name, those of one pattern sorted; one that matches nothing is an error."""
    found: list[str] = []
    for pattern in patterns:
        matches = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern), key=order)
        if not matches:
            raise InputError(f"{key}: no such file", where=pattern)
        found += matches
    for path in found:
        if found.count(path) > 1:
            raise ConfigError(f"{key}: {path} is named twice")
    return found


def fold_model_paths(config: TrainConfig) -> list[str]:
    """The files of the models by fold, in the order of the folds."""
    found = expand(config.fold_models, "fold_models", by_numbers) if config.fold_models else []
    if len(found) == 1:
        raise ConfigError("fold_models is one model, which leaves no fold that it knows", hint="Give at least 2.")
    return found


def by_numbers(path: str) -> tuple[list[str | int], str]:
    """Sorts names by the numbers in them: lm.2 is before lm.10, as `itersel lm --folds` calls them."""
    return [int(part) if at % 2 else part for at, part in enumerate(re.split("([0-9]+)", path))], path


def identity(config: TrainConfig, shards: Sequence[AnySource], devtest: Sequence[AnySource]) -> dict[str, Any]:
    """What the result is a function of, as flat keys; data by checksum, so that files may move."""
    values = asdict(config)
    if config.own is None:
        del values["own"]
    for key in (*RESULT_FREE, *PATHS):
        del values[key]
    made = dict(flat(values))
    made["language_model"] = None if config.language_model is None else file_checksum(config.language_model)
    models = fold_model_paths(config)
    if models:
        made["fold_models.count"] = len(models)
        made |= {f"fold_models.{number}": file_checksum(path) for number, path in enumerate(models)}
    made["start"] = None if config.start is None else file_checksum(config.start)
    for key, opened in (("shards", shards), ("devtest", devtest)):
        made[f"{key}.count"] = len(opened)
        for number, shard in enumerate(opened):
            made[f"{key}.{number}"] = shard.checksum
    return made


def flat(values: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The values of nested mappings with their keys, joined by dots."""
    if not isinstance(values, dict):
        return [(prefix, list(values) if isinstance(values, tuple) else values)]
    return [pair for key, value in values.items() for pair in flat(value, f"{prefix}.{key}" if prefix else key)]

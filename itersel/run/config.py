"""The configuration of a training run (conf/train.yaml), and its identity: what the result depends on."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from itersel.algorithms.plan import plan_of_name
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import file_checksum
from itersel.decode.decoder import DecoderOptions
from itersel.learn.epoch import EpochConfig
from itersel.learn.mixing import Selection
from itersel.lists.source import Source
from itersel.run.layout import TrainLayout

RUNNERS = {
    "inline": "local:LocalEngine",
    "local": "local:LocalEngine",
    "mrjob-inline": "mrjob:MapReduceEngine",
    "mrjob-local": "mrjob:MapReduceEngine",
    "hadoop": "hadoop:HadoopEngine",
    "spark": "spark:SparkEngine",
    "emr": "emr:EmrEngine",
    "slurm": "slurm:SlurmEngine",
    "sge": "sge:SgeEngine",
}
"""Engines by name: module and class in itersel.engines."""
RESULT_FREE = ("epochs", "patience", "run")
"""Keys that a run may be resumed with another value of."""
PATHS = ("shards", "devtest", "language_model", "fold_models", "start")
"""Keys that enter the identity by content, not by name."""


@dataclass(frozen=True)
class RunConfig:
    """Where the work is done. Has no influence on the result."""

    runner: str = "local"
    """inline: in this process; local: in processes of this machine; others: docs/engines.md."""
    jobs: int = 1
    """local: number of processes."""
    reducers: int = 1
    """Ranges of feature ids that are mixed one by one."""
    store: str | None = None
    """A folder or address that all workers reach, for what they need of the driver's files."""
    options: tuple[str, ...] = ()
    """Further options for the engine: of sbatch, or of mrjob's runner."""

    def __post_init__(self) -> None:
        if self.runner not in RUNNERS:
            raise ConfigError(f"run.runner is {self.runner!r}", hint=f"Choose one of {', '.join(RUNNERS)}.")
        for key in ("jobs", "reducers"):
            if not 1 <= getattr(self, key) <= 100_000:
                raise ConfigError(f"run.{key} is {getattr(self, key)}", hint="Give a number of at least 1.")

    @property
    def processes(self) -> int:
        """Processes that the driver may use on its own machine."""
        return 1 if self.runner == "inline" else self.jobs


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
    algorithm: str = "iter_sel_sgd"
    epochs: int = 10
    patience: int | None = None
    """Stop when so many epochs in a row brought no better devtest BLEU; none: do all epochs."""
    epoch: EpochConfig = field(default_factory=EpochConfig)
    selection: Selection = field(default_factory=lambda: Selection(top=100_000))
    """Of iter_sel_sgd."""
    run: RunConfig = field(default_factory=RunConfig)

    def __post_init__(self) -> None:
        plan_of_name(self.algorithm)
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


def identity(config: TrainConfig, shards: Sequence[Source], devtest: Sequence[Source]) -> dict[str, Any]:
    """What the result is a function of, as flat keys; data by checksum, so that files may move."""
    values = asdict(config)
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
            made[f"{key}.{number}"] = f"{shard.checksum:016x}"
    return made


def flat(values: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The values of nested mappings with their keys, joined by dots."""
    if not isinstance(values, dict):
        return [(prefix, list(values) if isinstance(values, tuple) else values)]
    return [pair for key, value in values.items() for pair in flat(value, f"{prefix}.{key}" if prefix else key)]

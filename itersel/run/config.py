"""The configuration of a training run (conf/train.yaml), and its identity: what the result depends on."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, TypeVar, get_type_hints

from itersel.algorithms.registry import DEFAULT, algorithm_class, registered
from itersel.base.config import Internal, PathStr, Range, Settings, load_sections, validate
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import file_checksum
from itersel.decode.decoder import DecoderConfig
from itersel.engines.config import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.learn.mixing import SelectionConfig
from itersel.lists.source import AnySource
from itersel.lm.binary import prefer_binaries
from itersel.lm.seen import SUFFIX as SEEN_SUFFIX
from itersel.response.config import ResponseConfig
from itersel.response.opening import open_response
from itersel.run.layout import LayoutConfig
from itersel.shards.assignment import OLD_KINDS

Config = TypeVar("Config")
RESULT_FREE = (
    "epochs",
    "patience",
    "run",
    "build",
    "learn_from",
    "allow_seen_references",
    "open_choices",
    "keep_start",
)
"""Keys whose values may change when a run is resumed."""
PATHS = ("shards", "devtest", "language_model", "fold_models", "start")
"""Keys that enter the identity by content, not by name."""

LATER: dict[str, Any] = {
    "epoch.background": None,
    "epoch.learn.account": "epoch",
    "epoch.learn.cost_scale": 20.0,
    "epoch.learn.l2": 0.0,
    "own.sections": [],
    "own.line_search.sections": [],
}
"""Keys that earlier runs do not have. With the values that these had, they are no part of the identity."""

RATE, METRIC, SHUFFLE, PAIRS = "rate", "metric", "shuffle", "pairs"
OPEN_KEYS = {
    RATE: ("epoch.learn.eta", "epoch.learn.schedule", "epoch.learn.batch"),
    METRIC: ("epoch.metric",),
    SHUFFLE: ("epoch.shuffle",),
    PAIRS: ("epoch.learn.pairs.kind", "epoch.learn.pairs.share", "epoch.learn.pairs.dtrain"),
}
"""What is chosen, with the keys that decide it if one of them is given."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything a run needs to know."""

    shards: tuple[PathStr, ...] = ()
    """Shard files or patterns such as shards/*.itsh, in shard order; the matches of a pattern are sorted by name."""
    devtest: tuple[PathStr, ...] = ()
    """Shards that are translated after every epoch; the epoch of the best corpus BLEU is chosen."""
    language_model: PathStr | None = None
    fold_models: tuple[PathStr, ...] = ()
    """Models that have not seen a fold of the training text, for learning from that text: of n models (or matches of
    patterns, sorted by the numbers in their names), the k-th is for sentences i with i mod n = k, counted from 0.
    Devtest is translated with language_model."""
    start: PathStr | None = None
    """Weight file to start from; none: all weights 0."""
    domain: str | None = None
    """Learn from sentences of this domain only, and choose among epochs by those of devtest; none: all sentences."""
    layout: LayoutConfig = field(default_factory=LayoutConfig)
    """How the files' sentences are dealt out into the shards of the algorithm."""
    algorithm: str = DEFAULT
    epochs: Annotated[int, Range(1, 999)] = 10
    patience: Annotated[int, Range(1)] | None = None
    """Stop after this many epochs in a row without a better devtest BLEU; none: run all epochs."""
    epoch: EpochConfig = field(default_factory=EpochConfig)
    selection: SelectionConfig = field(default_factory=lambda: SelectionConfig(top=100_000))
    """Which features iter_sel_sgd keeps."""
    response: ResponseConfig | None = None
    """Who says whether a translation did its job, for exec and rebol."""
    run: RunConfig = field(default_factory=RunConfig)
    build: PathStr | None = None
    """The work folder of a finished `itersel build`: it has shards, devtest and language models, unless they are named
    here (itersel.run.build_folder)."""
    learn_from: str | None = None
    """The set of the build to learn from. Default: dev for sgd and tuners, train for others."""
    allow_seen_references: bool = False
    """Train even if the language model has seen the references of the sentences to learn from."""
    keep_start: Internal = None
    """Take the start weights if no epoch is better on devtest."""
    open_choices: Internal = None
    """What the settings left open, to be chosen by the data (itersel.run.defaults)."""
    own: Internal = None
    """The algorithm's own configuration: what stands under the key that is called like the algorithm."""

    def __post_init__(self) -> None:
        validate(self)
        algorithm_class(self.algorithm)
        if self.patience is not None and not self.devtest and self.build is None:
            raise ConfigError(
                f"patience is {self.patience}, but there is no devtest", hint="Give devtest shards, to score epochs on."
            )
        if self.fold_models and self.language_model is None:
            raise ConfigError(
                "fold_models is given without language_model",
                hint="Name the model of the whole text, too: devtest is translated with it.",
            )
        check_search(self.epoch.decoder, "epoch.decoder")


def load_train_config(settings: Settings | Mapping[str, Any]) -> TrainConfig:
    """The configuration with these settings; see `load_with_algorithm`. What they leave open is chosen by the data."""
    settings = settings if isinstance(settings, Settings) else Settings.of(settings)
    return replace(load_with_algorithm(TrainConfig, settings), open_choices=open_choices(settings))


def open_choices(settings: Settings) -> tuple[str, ...]:
    """What the settings leave open. A key with the value null counts as not given."""
    given = {
        key for keys in OPEN_KEYS.values() for key in keys if (found := settings.find(key)) and found.value is not None
    }
    return tuple(name for name, keys in OPEN_KEYS.items() if not given.intersection(keys))


def load_with_algorithm(kind: type[Config], settings: Settings | Mapping[str, Any]) -> Config:
    """A configuration with the fields `algorithm` and `own`.

    The key called like the algorithm holds its own configuration. Those of other algorithms may be there, too, as
    several cells of an experiment share settings: they are checked, and have no effect.
    """
    settings = settings if isinstance(settings, Settings) else Settings.of(settings)
    given = settings.find("algorithm")
    chosen = given.value if given is not None and isinstance(given.value, str) else DEFAULT
    try:
        found = [algorithm_class(chosen)]
    except ConfigError as error:
        where = None if given is None else given.origin.where
        raise ConfigError(error.message, where=where, hint=error.hint) from None
    found += [algorithm_class(name) for name, _ in settings.items() if name in registered() and name != chosen]
    sections = {one.name: one.config_class for one in found if one.config_class is not None}
    config, made = load_sections(kind, settings, sections)
    return replace(config, own=made.get(found[0].name))  # type: ignore[type-var]


def check_search(options: DecoderConfig, key: str) -> None:
    """Raise ConfigError for an option that shards fix."""
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
    for path, times in Counter(found).items():
        if times > 1:
            raise ConfigError(f"{key}: {path} is named twice")
    return found


def check_files(config: TrainConfig) -> None:
    """Raise an InputError that names the key if the file does not exist."""
    for key in ("language_model", "start"):
        path = getattr(config, key)
        if path is not None and not os.path.isfile(path):
            raise InputError(f"{key}: no such file", where=path)


def fold_model_paths(config: TrainConfig) -> list[str]:
    """The files of the models by fold, in the order of the folds."""
    found = expand(config.fold_models, "fold_models", by_numbers) if config.fold_models else []
    found = [path for path in found if not path.endswith(SEEN_SUFFIX)]  # a pattern finds these beside their models
    found = prefer_binaries(found)  # of model/lm.without-fold.*, which a build has in two forms
    if len(found) == 1:
        raise ConfigError("fold_models needs at least two models, got one")
    return found


def by_numbers(path: str) -> tuple[list[str | int], str]:
    """Sorts names by the numbers in them: lm.2 is before lm.10, as `itersel lm --folds` calls them."""
    return [int(part) if at % 2 else part for at, part in enumerate(re.split("([0-9]+)", path))], path


def identity(config: TrainConfig, shards: Sequence[AnySource], devtest: Sequence[AnySource]) -> dict[str, Any]:
    """What the result is a function of, as flat keys; data by checksum, so that files may move."""
    values = asdict(config)
    if config.own is None:
        del values["own"]
    if config.domain is None:  # runs from before there was the key are to be resumed
        del values["domain"]
    for key in (*RESULT_FREE, *PATHS, "response"):
        del values[key]
    if config.response is not None:
        values["response"] = {"checksum": open_response(config.response).checksum, "limit": config.response.limit}
    made = dict(flat(values))
    # Runs of itersel 0.1 have the former words in theirs, and are to be resumed.
    made["layout.kind"] = {new: old for old, new in OLD_KINDS.items()}.get(config.layout.kind, config.layout.kind)
    made = {key: value for key, value in made.items() if key not in LATER or value != LATER[key]}
    for key in path_fields(config.own):
        made[f"own.{key}"] = [file_checksum(path) for path in getattr(config.own, key)]
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


def path_fields(own: Any) -> list[str]:
    """Which keys of an algorithm's own configuration are lists of files: they enter the identity by content."""
    if own is None:
        return []
    types = get_type_hints(type(own), include_extras=True)
    return [key for key in types if types[key] == tuple[PathStr, ...]]


def flat(values: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """The values of nested mappings with their keys, joined by dots."""
    if not isinstance(values, dict):
        return [(prefix, list(values) if isinstance(values, tuple) else values)]
    return [pair for key, value in values.items() for pair in flat(value, f"{prefix}.{key}" if prefix else key)]

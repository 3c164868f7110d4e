"""The configuration of `itersel build`: frozen dataclasses, read from one commented YAML file.

Paths in the file are relative to its folder, those given on the command line to the current one. An unknown key or a
value of the wrong type is a ConfigError that says where and what is valid.
"""

from __future__ import annotations

import dataclasses
import os
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from itersel.base.config import assign, parse_assignment, read_yaml
from itersel.base.errors import ConfigError
from itersel.grammar.extraction import CACHE_BYTES, ExtractOptions
from itersel.shards.assignment import Layout
from itersel.shards.compiler import ShardOptions

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
TRAIN = "train"


@dataclass(frozen=True)
class TextSection:
    """How text is cleaned (itersel.text.bitext). The defaults leave tokenised text alone but for blanks and NFC."""

    normalization: str = "nfc"
    tokenize_source: str | None = None
    tokenize_target: str | None = None
    punctuation: bool = False
    escape: bool = False
    lowercase: bool = False
    # Training pairs only; a development or test set loses no line.
    max_length: int = 100
    max_ratio: float = 9.0
    drop_separator: bool = False


@dataclass(frozen=True)
class TrainSection:
    """The training bitext. `held_out` takes pairs out of it for other sets: name and number."""

    source: Path
    target: Path
    tasks: Path | None = None
    held_out: dict[str, int] = field(default_factory=dict)
    shards: bool = True


@dataclass(frozen=True)
class SetSection:
    """A development or test set: sentences and one or more reference translations."""

    source: Path
    references: tuple[Path, ...]
    tasks: Path | None = None


@dataclass(frozen=True)
class AlignSection:
    """Word alignment by eflomal, or `given` links: one Pharaoh line for each line of the training files."""

    given: Path | None = None
    method: str = "grow-diag-final-and"
    samplers: int = 3
    effort: float = 1.0
    null_prior: float = 0.2


@dataclass(frozen=True)
class LmSection:
    """Estimation on the training target side or on `text`; or a `given` ARPA or KenLM file.

    `unseen` makes a second model without the training shards' sentences: one to train on them with, as it does not
    know their references, just as no model knows those of a test. `folds` is for training on all of the text: so many
    models, the k-th without the sentences i with i mod folds = k (default: as many as `extract` has folds)."""

    given: Path | None = None
    text: tuple[Path, ...] = ()
    order: int = 3
    prune: tuple[int, ...] = ()
    vocabulary: int | None = None
    discount_fallback: bool = True
    unseen: bool = False
    folds: int | None = None


@dataclass(frozen=True)
class ShardSection:
    """Shards (itersel.shards.assignment, itersel.shards.compiler). Other sets than the training set are one shard each,
    in their order: SGD tunes on a single shard, and translation spreads sentences over processes, not shards."""

    layout: str = "random"
    size: int | None = None
    shards: int | None = None
    first: int | None = None
    features: str = "all"
    pass_through: str = "unknown"
    goal: str = "S"
    nonterminal: str = "X"

    def train_layout(self, seed: int) -> Layout:
        return Layout(self.layout, self.size, self.shards, seed, self.first)

    def set_layout(self, seed: int) -> Layout:
        return Layout("sequential", shards=1, seed=seed)

    def options(self) -> ShardOptions:
        return ShardOptions(self.features, self.pass_through, self.goal, self.nonterminal)


@dataclass(frozen=True)
class BuildConfig:
    """Everything `itersel build` does. `extract`'s leave_one_out and folds are for the training shards only."""

    work: Path
    train: TrainSection
    sets: dict[str, SetSection] = field(default_factory=dict)
    text: TextSection = TextSection()
    align: AlignSection = AlignSection()
    lm: LmSection = LmSection()
    extract: ExtractOptions = field(default_factory=ExtractOptions)
    shards: ShardSection = ShardSection()
    seed: int = 1
    jobs: int = 1
    cache: int = CACHE_BYTES >> 20
    """Megabytes a process may keep of what it found while extracting rules: changes speed, never results."""

    def __post_init__(self) -> None:
        names = [TRAIN, *self.train.held_out, *self.sets]
        for name in names:
            if not NAME.fullmatch(name):
                raise ConfigError(f"{name!r} cannot name a set", hint="Use letters, digits, `_`, `-` and `.`.")
            if names.count(name) > 1:
                raise ConfigError(f"two sets have the name {name!r}")
        for name, size in self.train.held_out.items():
            if size < 1:
                raise ConfigError(f"train.held_out.{name} is {size}", hint="Hold out at least one pair.")
        if self.jobs < 1:
            raise ConfigError(f"jobs is {self.jobs}", hint="Give the number of processes, at least 1.")
        if self.cache < 0:
            raise ConfigError(f"cache is {self.cache}", hint="Give megabytes for each process, such as 256.")
        if not -(2**63) <= self.seed < 2**63:
            raise ConfigError(f"the seed {self.seed} has more than 64 bits")
        for key, wanted in (("lm.unseen", self.lm.unseen), ("lm.folds", self.lm.folds)):
            if wanted and (self.lm.given is not None or self.lm.text):
                raise ConfigError(f"{key} is for models of the training text", hint="Leave out lm.given and lm.text.")
        if self.lm.unseen and self.lm_folds:
            raise ConfigError("lm.unseen and models by fold exclude each other", hint="Leave out one of them.")
        if self.lm.folds is not None and (self.lm.folds < 2 or self.extract.folds not in (0, self.lm.folds)):
            raise ConfigError(
                f"lm.folds is {self.lm.folds}, extract.folds is {self.extract.folds}",
                hint="Give at least 2, and as many as extract.folds if there are any.",
            )
        if self.lm.unseen and (self.shards.first is None or not self.train.shards):
            raise ConfigError(
                "lm.unseen needs training shards of a part of the corpus",
                hint="Give shards.first.",
            )
        self.shards.train_layout(self.seed)
        self.shards.options()

    @property
    def lm_folds(self) -> int:
        """How many language models by fold there are."""
        if self.lm.given is not None or self.lm.text:
            return 0
        return self.lm.folds or self.extract.folds


class _Here(str):
    """A path from the command line."""

    __slots__ = ()


def load_config(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> BuildConfig:
    """Read the file, then apply overrides `section.key=value`, the value in YAML."""
    document = read_yaml(path)
    for assignment in overrides:
        key, value = parse_assignment(assignment)
        document = assign(document, key, _mark(value))
    try:
        return typing.cast(BuildConfig, _section(BuildConfig, document, "", Path(path).parent))
    except ConfigError as error:
        raise ConfigError(error.message, where=error.where or path, hint=error.hint) from None


def _mark(value: Any) -> Any:
    if isinstance(value, str):
        return _Here(value)
    if isinstance(value, list):
        return [_mark(item) for item in value]
    return {key: _mark(item) for key, item in value.items()} if isinstance(value, dict) else value


def _section(kind: type, given: object, name: str, folder: Path) -> Any:
    shown = name or "the configuration"
    if not isinstance(given, dict):
        raise ConfigError(f"{shown} is not a mapping", hint=f"Its keys are {_keys(kind)}.")
    fields = {one.name: one for one in dataclasses.fields(kind)}
    unknown = [key for key in given if key not in fields]
    if unknown:
        raise ConfigError(f"unknown key {unknown[0]!r} in {shown}", hint=f"Valid keys: {_keys(kind)}.")
    for key, one in fields.items():
        required = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
        if required and given.get(key) is None:
            raise ConfigError(f"{shown} lacks the key {key!r}", hint=f"Its keys are {_keys(kind)}.")
    hints = typing.get_type_hints(kind)
    values = {
        key: _value(hints[key], value, f"{name}.{key}" if name else key, folder)
        for key, value in given.items()
        if value is not None  # `key:` with nothing behind it means the default
    }
    return kind(**values)


def _keys(kind: type) -> str:
    return ", ".join(one.name for one in dataclasses.fields(kind))


def _value(hint: Any, value: object, name: str, folder: Path) -> Any:
    if dataclasses.is_dataclass(hint):
        return _section(typing.cast(type, hint), value, name, folder)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        return _value(arguments[0], value, name, folder)  # `X | None`, and None was dealt with
    if origin is tuple:
        items = value if isinstance(value, list) else [value]
        return tuple(_value(arguments[0], item, name, folder) for item in items)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{name} is not a mapping from names")
        return {str(key): _value(arguments[1], item, f"{name}.{key}", folder) for key, item in value.items()}
    if hint is Path and isinstance(value, str) and value:
        return Path(os.path.abspath(value if isinstance(value, _Here) else folder / value))
    if hint is float and type(value) is int:
        return float(value)
    if hint is str and isinstance(value, str):
        return str(value)
    if type(value) is hint and hint in (int, float, bool):
        return value
    wanted = {Path: "a path", str: "text", int: "a whole number", float: "a number", bool: "true or false"}[hint]
    raise ConfigError(f"{name} is {value!r}, expected {wanted}")

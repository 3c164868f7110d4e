"""The configuration of `itersel build`, which one commented YAML file holds (conf/sample.yaml)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from itersel.align.links import SYMMETRIZATIONS
from itersel.base.config import OneOf, Range, Rule, Settings, load, validate
from itersel.base.errors import ConfigError
from itersel.grammar.extraction import CACHE_BYTES, ExtractConfig
from itersel.grammar.grammar import PASS_THROUGH
from itersel.lm.binary import KINDS as BINARY_KINDS
from itersel.lm.estimate import ORDERS
from itersel.model.features import GROUPS, parse_groups
from itersel.pipeline.set_config import (
    BitextConfig,
    HeldOutConfig,
    Name,
    SetConfig,
    check_sets,
    is_labelled,
    kept_out,
    parent_of,
)
from itersel.run.build_folder import TRAIN as TRAIN
from itersel.shards.assignment import DOMAINS, KINDS, OLD_KINDS, Layout
from itersel.shards.compiler import ShardOptions
from itersel.text.bitext import NORMALIZATIONS

FOLDS = 10
"""Language models by fold by default."""


class FeatureGroups(Rule):
    """Names of sparse feature groups."""

    def apply(self, value: Any) -> Any:
        try:
            parse_groups(value)
        except ConfigError:
            raise ValueError from None
        return value

    def wanted(self, noun: str) -> str:  # noqa: ARG002
        return f"choose dense, all, or some of {', '.join(GROUPS)}, joined by commas"


@dataclass(frozen=True)
class TextConfig:
    """How text is cleaned (itersel.text.bitext). The defaults only normalise tokenised text: blanks and NFC."""

    normalization: Annotated[str, OneOf(*NORMALIZATIONS)] = "nfc"
    tokenize_source: str | None = None
    tokenize_target: str | None = None
    punctuation: bool = False
    escape: bool = False
    lowercase: bool = False
    split_source: bool = False
    """Split the compounds of the source side (itersel.text.compounds), by the words of the training text."""
    # Training pairs only; a development or test set loses no line.
    max_length: Annotated[int, Range(0)] = 100
    max_ratio: Annotated[float, Range(0)] = 9.0
    drop_separator: bool = False


@dataclass(frozen=True)
class AlignConfig:
    """Word alignment by eflomal, or `given` links: one Pharaoh line for each line of the training files."""

    given: Path | None = None
    method: Annotated[str, OneOf(*SYMMETRIZATIONS)] = "grow-diag-final-and"
    samplers: Annotated[int, Range(1)] = 3
    effort: Annotated[float, Range(above=0)] = 1.0
    null_prior: Annotated[float, Range(above=0, below=1)] = 0.2


@dataclass(frozen=True)
class LmConfig:
    """Estimation on the training target side or on `text`; or a `given` ARPA or KenLM file.

    `unseen` makes a second model without the training shards' sentences: one to train on them with, as it does not
    know their references, just as no model knows those of a test. `folds` is for training on all of the text: that many
    models, the k-th without the sentences i with i mod folds = k; 0: none. Default: as many as `extract` has folds, and
    10 with `extract.leave_one_out`."""

    given: Path | None = None
    text: tuple[Path, ...] = ()
    order: Annotated[int, Range(min(ORDERS), max(ORDERS))] = 3
    prune: tuple[Annotated[int, Range(0)], ...] = ()
    vocabulary: Annotated[int, Range(1)] | None = None
    discount_fallback: bool = True
    unseen: bool = False
    folds: Annotated[int, Range(0)] | None = None
    binary: Annotated[str, OneOf(*BINARY_KINDS)] = BINARY_KINDS[0]
    """The form that every process maps (itersel.lm.binary)."""

    def __post_init__(self) -> None:
        validate(self)
        if self.folds == 1:
            raise ConfigError("folds is 1: no text would be left", hint="Give at least 2, or 0 for no models by fold.")


@dataclass(frozen=True)
class ShardsConfig:
    """Shards (itersel.shards.assignment, itersel.shards.compiler). Other sets than the training set are one shard each,
    in their order, unless they have a layout of their own: SGD tunes on a single shard, and translation spreads
    sentences over processes, not shards."""

    layout: Annotated[str, OneOf(*KINDS, old=OLD_KINDS)] = "random"
    size: Annotated[int, Range(1)] | None = None
    shards: Annotated[int, Range(1)] | None = None
    first: Annotated[int, Range(1)] | None = None
    features: Annotated[str, FeatureGroups()] = "all"
    pass_through: Annotated[str, OneOf(*PASS_THROUGH)] = "unknown"
    goal: str = "S"
    nonterminal: str = "X"

    def __post_init__(self) -> None:
        validate(self)
        self.train_layout(0)
        self.options()

    def train_layout(self, seed: int) -> Layout:
        return Layout(self.layout, self.size, self.shards, seed, self.first)

    def options(self) -> ShardOptions:
        return ShardOptions(self.features, self.pass_through, self.goal, self.nonterminal)


@dataclass(frozen=True)
class BuildConfig:
    """Everything `itersel build` does. `extract`'s leave_one_out and folds are for the training shards only."""

    work: Path
    train: BitextConfig
    sets: dict[Name, SetConfig] = field(default_factory=dict)
    text: TextConfig = TextConfig()
    align: AlignConfig = AlignConfig()
    lm: LmConfig = LmConfig()
    extract: ExtractConfig = field(default_factory=ExtractConfig)
    shards: ShardsConfig = ShardsConfig()
    seed: Annotated[int, Range(-(2**63), 2**63 - 1)] = 1
    jobs: Annotated[int, Range(1, 100_000)] = 1
    cache: Annotated[int, Range(0)] = CACHE_BYTES >> 20
    """Megabytes a process may keep of what it found while extracting rules: changes speed, never results."""

    def __post_init__(self) -> None:
        validate(self)
        names = [TRAIN, *self.other_sets]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"sets.{name}: another set has the same name", hint="Rename one of them.")
        check_sets(self.train, self.sets)
        for key, wanted in (("lm.unseen", self.lm.unseen), ("lm.folds", self.lm.folds)):
            if wanted and (self.lm.given is not None or self.lm.text):
                raise ConfigError(f"{key} needs a model of the training text", hint="Leave out lm.given and lm.text.")
        if self.text.split_source and self.align.given is not None:
            raise ConfigError(
                "text.split_source and align.given exclude each other",
                hint="Split the text before it is aligned (itersel split), and leave out text.split_source.",
            )
        if self.lm.unseen and (self.lm.folds or self.extract.folds):
            raise ConfigError("lm.unseen and models by fold exclude each other", hint="Leave out one of them.")
        if self.lm.folds and self.extract.folds not in (0, self.lm.folds):
            raise ConfigError(
                f"lm.folds is {self.lm.folds}, but extract.folds is {self.extract.folds}",
                hint="Give the same number, or leave out one of them.",
            )
        if self.lm.unseen and (self.shards.first is None or not self.train.shards):
            raise ConfigError(
                "lm.unseen needs training shards of a part of the corpus",
                hint="Give shards.first.",
            )

    @property
    def other_sets(self) -> list[str]:
        """The names of all sets besides the training text; what is held out of a set follows it."""
        return [*self.train.held_out, *(name for one in self.sets for name in (one, *self.sets[one].held_out))]

    @property
    def set_names(self) -> list[str]:
        """The names of all sets that have shards."""
        return [TRAIN] * self.train.shards + self.other_sets

    def labelled(self, name: str) -> bool:
        """Whether the sentences of a set have domains."""
        return is_labelled(self.train, self.sets, name)

    def references(self, name: str) -> int:
        """How many references each sentence of a set has."""
        if name not in self.sets:
            parent = parent_of(self.sets, name)
            return 1 if parent is None else self.references(parent)
        one = self.sets[name]
        return self.references(one.of) if one.of is not None else len(next(iter(one.files().values())).references)

    def layout(self, name: str) -> Layout:
        """How a set is divided into shards."""
        if name == TRAIN:
            return self.shards.train_layout(self.seed)
        if name in self.sets:
            one: SetConfig | HeldOutConfig = self.sets[name]
        else:
            parent = parent_of(self.sets, name)
            one = kept_out(self.train.held_out if parent is None else self.sets[parent].held_out)[name]
        domains = one.layout == DOMAINS
        if domains:
            return Layout(DOMAINS, seed=self.seed)
        return Layout("sequential", size=one.size, shards=1 if one.size is None else None, seed=self.seed)

    @property
    def lm_folds(self) -> int:
        """How many language models by fold there are: what to train with on the text that the model was made of."""
        if self.lm.given is not None or self.lm.text or self.lm.unseen:
            return 0
        if self.lm.folds is not None:
            return self.lm.folds
        by_default = FOLDS if self.extract.leave_one_out and self.train.shards else 0
        return self.extract.folds or by_default


def load_config(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> BuildConfig:
    """Read the file, then apply overrides `section.key=value`, the value in YAML."""
    return load(BuildConfig, Settings.read(path).override(overrides))

"""The sets of a build, as its configuration names them: the training bitext, what is held out of it, and other sets.

A set is one text, or several parts that are joined in their order; every sentence may have the label of a domain. A
part's name is the label of its sentences, unless it has a file of labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from itersel.base.config import Formerly, Matches, OneOf, Range, validate
from itersel.base.errors import ConfigError
from itersel.run.build_folder import TRAIN
from itersel.shards.assignment import DOMAINS

Name = Annotated[str, Matches("[A-Za-z0-9_][A-Za-z0-9_.-]*", "letters, digits, `_`, `-` and `.`")]
"""The name of a set, a part or an experiment, which also names files."""
LAYOUTS = ("sequential", DOMAINS)


@dataclass(frozen=True)
class BitextPart:
    """A part of the training bitext. `groups` has a label for each line, such as a document or a day: what comes first
    in the line, up to a tab."""

    source: Path
    target: Path
    domains: Path | None = None
    groups: Path | None = None


@dataclass(frozen=True)
class SetPart:
    """A part of a development or test set."""

    source: Path
    references: tuple[Path, ...]
    domains: Path | None = None
    groups: Path | None = None
    """As of a part of the training bitext."""

    def __post_init__(self) -> None:
        if not self.references:
            raise ConfigError("references is []; give at least one")


@dataclass(frozen=True)
class HeldOutConfig:
    """Pairs that are taken out of the training text, or of a set, for another set, by the seed."""

    pairs: Annotated[int, Range(1)] | None = None
    """So many pairs in total; with `groups`, at least so many."""
    each: Annotated[int, Range(1)] | None = None
    """Or: so many pairs of each domain."""
    groups: bool = False
    """Take out all pairs of some groups, so that no pair of these groups remains. With `each`, those that are not
    needed are in no set."""
    layout: Annotated[str, OneOf(*LAYOUTS)] = LAYOUTS[0]
    """As of other sets."""
    size: Annotated[int, Range(1)] | None = None
    """As of other sets."""

    def __post_init__(self) -> None:
        validate(self)
        _check_size(self)
        if (self.pairs is None) == (self.each is None):
            raise ConfigError("give either `pairs`, a total, or `each`, a number for each domain")


HeldOut = dict[Name, Annotated[int, Range(1)] | HeldOutConfig]
"""What is held out of a text, by the name of the set that it becomes; a plain number is so many pairs."""


def kept_out(held_out: HeldOut) -> dict[str, HeldOutConfig]:
    """The same, where a plain number is so many pairs."""
    return {name: HeldOutConfig(pairs=one) if isinstance(one, int) else one for name, one in held_out.items()}


def _check_held_out(held_out: HeldOut, *, labelled: bool, grouped: bool) -> None:
    for name, one in kept_out(held_out).items():
        if one.each is not None and not labelled:
            raise ConfigError(f"held_out.{name}.each needs labels", hint="Give parts, or `domains`.")
        if one.layout == DOMAINS and not labelled:
            raise ConfigError(f"held_out.{name}.layout needs labels", hint="Give parts, or `domains`.")
        if one.groups and not grouped:
            raise ConfigError(f"held_out.{name}.groups needs labels of groups", hint="Give a file: `groups`.")


@dataclass(frozen=True)
class BitextConfig:
    """The training bitext: two files, or several parts. `held_out` takes pairs out of it for other sets."""

    source: Path | None = None
    target: Path | None = None
    domains: Annotated[Path | None, Formerly("tasks")] = None
    groups: Path | None = None
    parts: dict[Name, BitextPart] = field(default_factory=dict)
    unique: bool = False
    """Of pairs that occur several times, also in different parts, keep the first."""
    held_out: HeldOut = field(default_factory=dict)
    shards: bool = True

    def __post_init__(self) -> None:
        validate(self)
        _either(self, ("source", "target"), ("domains", "groups"))
        _check_held_out(self.held_out, labelled=self.labelled, grouped=_grouped(self))

    @property
    def labelled(self) -> bool:
        """Whether every sentence has a domain."""
        return self.domains is not None or bool(self.parts)

    def files(self) -> Mapping[str, BitextPart]:
        """The parts by name; a bitext without parts is one, without a name."""
        if self.source is None or self.target is None:
            return self.parts
        return {"": BitextPart(self.source, self.target, self.domains, self.groups)}


@dataclass(frozen=True)
class SetConfig:
    """A development or test set: sentences and one or more reference translations, from files, several parts, or
    another set."""

    source: Path | None = None
    references: tuple[Path, ...] = ()
    domains: Annotated[Path | None, Formerly("tasks")] = None
    groups: Path | None = None
    parts: dict[Name, SetPart] = field(default_factory=dict)
    held_out: HeldOut = field(default_factory=dict)
    """Sentences that are taken out for other sets."""
    of: Name | None = None
    """The set that the sentences are chosen from."""
    each: Annotated[int, Range(1)] | None = None
    """Choose so many sentences of each domain, by the seed; they stay in their order."""
    pairs: Annotated[int, Range(1)] | None = None
    """Or: choose so many in total."""
    layout: Annotated[str, OneOf(*LAYOUTS)] = LAYOUTS[0]
    """sequential: one shard; domains: a shard for each domain, in code point order of the labels."""
    size: Annotated[int, Range(1)] | None = None
    """sequential: the most sentences of a shard, instead of one shard for all."""

    def __post_init__(self) -> None:
        validate(self)
        if self.of is None:
            _either(self, ("source", "references"), ("domains", "groups"))
        elif self.source or self.references or self.domains or self.groups or self.parts or self.held_out:
            raise ConfigError(
                "of excludes source, references, domains, groups, parts and held_out", hint="Leave them out."
            )
        elif not self.chooses:
            raise ConfigError("each is missing: how many sentences of each domain; or give `pairs`, a total")
        if self.each is not None and self.pairs is not None:
            raise ConfigError("give either `pairs`, a total, or `each`, a number for each domain")
        _check_size(self)
        counts = {name: len(part.references) for name, part in self.parts.items()}
        for name, count in counts.items():
            first = next(iter(counts))
            if count != counts[first]:
                raise ConfigError(
                    f"parts.{name}.references: {count} files, but {first} has {counts[first]}",
                    hint="Give every part as many references.",
                )
        labelled = self.domains is not None or bool(self.parts or self.of)
        for key, wanted in (("each", self.each is not None), ("layout", self.layout == DOMAINS)):
            if wanted and not labelled:
                raise ConfigError(f"{key} needs labels", hint="Give parts, or `domains`.")
        _check_held_out(self.held_out, labelled=labelled, grouped=_grouped(self))
        if self.held_out and self.each is not None:
            raise ConfigError("each and held_out exclude each other", hint="Choose from this set by another: `of`.")

    def files(self) -> Mapping[str, SetPart]:
        """The parts by name; a set without parts is one, without a name. Empty if it is chosen from another set."""
        if self.source is None:
            return self.parts
        return {"": SetPart(self.source, self.references, self.domains, self.groups)}

    @property
    def chooses(self) -> bool:
        """Whether it has some sentences of its source, not all."""
        return self.each is not None or self.pairs is not None


def _grouped(config: BitextConfig | SetConfig) -> bool:
    """Whether any sentence has a group."""
    return config.groups is not None or any(part.groups is not None for part in config.parts.values())


def _check_size(config: HeldOutConfig | SetConfig) -> None:
    if config.size is not None and config.layout == DOMAINS:
        raise ConfigError("size and layout: domains exclude each other", hint="Leave out one of them.")


def _either(config: BitextConfig | SetConfig, wanted: Sequence[str], further: Sequence[str]) -> None:
    """Either files, or parts that have files."""
    if not config.parts:
        for key in wanted:
            if not getattr(config, key):
                raise ConfigError(f"{key} is missing", hint=f"Give {' and '.join(wanted)}, or `parts` that have them.")
        return
    for key in (*wanted, *further):
        if getattr(config, key):
            raise ConfigError(f"{key} and `parts` exclude each other", hint=f"Give every part its own {key}.")


def check_sets(train: BitextConfig, sets: Mapping[str, SetConfig]) -> None:
    """That sets are chosen from sets that there are, and have the labels that the choice needs."""
    for name, one in sets.items():
        if one.of is None:
            continue
        plain = [other for other in sets if sets[other].of is None]
        others = [name for other in plain for name in (other, *sets[other].held_out)]
        if one.of not in (TRAIN, *train.held_out, *others):
            raise ConfigError(
                f"sets.{name}.of is {one.of!r}; give a set that is not itself chosen from another",
                hint=f"Choose one of {', '.join([TRAIN, *train.held_out, *others])}.",
            )
        if (one.each is not None or one.layout == DOMAINS) and not is_labelled(train, sets, one.of):
            raise ConfigError(f"sets.{name}.of is {one.of!r}, whose sentences have no domains", hint="Give it labels.")


def is_labelled(train: BitextConfig, sets: Mapping[str, SetConfig], name: str) -> bool:
    """Whether the sentences of a set have domains."""
    if name not in sets:
        parent = parent_of(sets, name)
        return train.labelled if parent is None else is_labelled(train, sets, parent)
    one = sets[name]
    return is_labelled(train, sets, one.of) if one.of is not None else one.domains is not None or bool(one.parts)


def parent_of(sets: Mapping[str, SetConfig], name: str) -> str | None:
    """The set that another one is held out of; None: the training text."""
    return next((other for other, one in sets.items() if name in one.held_out), None)

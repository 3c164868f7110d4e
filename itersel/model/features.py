"""Feature groups and weights: which sparse templates a grammar gets, and weight files in cdec's `name value` form.

Dense features (`EgivenFCoherent`, `Glue`, `LanguageModel` …) are always there. The sparse groups, with the names cdec
gives them, are `id` (rule identity `R:…`), `ng` (source and target bigrams `RBS:…`, `RBT:…`) and `shape` (`Shape_…`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping

from itersel import _kernel
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write, read_utf8

GROUPS = ("id", "ng", "shape")
PREFIXES = {"id": ("R:",), "ng": ("RBS:", "RBT:"), "shape": ("Shape_",)}
"""Prefixes of the feature names of each group."""
TEMPLATE_BITS = {"id": 1, "ng": 2 | 4, "shape": 8}
"""How a compiled shard stores its groups."""
SHOWN = 8
"""`repr` shows all weights if there are at most this many."""
BLANKS = frozenset(" \t\r\n")  # what separates words, names and values
NAME_RULES = "Names have no blanks, do not start with # and do not end with =."


def is_feature_name(name: str) -> bool:
    """Whether a weights file can have the name. A no-break space may be part of it."""
    return bool(name) and name[0] != "#" and name[-1] != "=" and BLANKS.isdisjoint(name)


def parse_groups(text: str) -> frozenset[str]:
    """`dense`, `all`, or names of GROUPS joined by commas or `+`, such as `id,shape`."""
    names = [name for name in text.replace("+", ",").split(",") if name]
    if names == ["dense"] or not names:
        return frozenset()
    if names == ["all"]:
        return frozenset(GROUPS)
    return _known(names)


def _known(names: Iterable[str]) -> frozenset[str]:
    chosen = frozenset(names)
    unknown = sorted(chosen - set(GROUPS))
    if unknown:
        raise ConfigError(
            f"unknown feature group {', '.join(map(repr, unknown))}",
            hint=f"Choose dense, all, or any of {', '.join(GROUPS)} joined by commas.",
        )
    return chosen


def group_of(name: str) -> str | None:
    """The sparse group of a feature; None for a dense one."""
    return next((group for group, prefixes in PREFIXES.items() if name.startswith(prefixes)), None)


def named_groups(names: Iterable[str]) -> frozenset[str]:
    """The sparse groups that the names belong to: what a model with such weights needs."""
    return frozenset(group for group in map(group_of, names) if group is not None)


def templates(groups: Iterable[str]) -> _kernel.TemplateOptions:
    """The kernel's switches for a set of groups."""
    chosen = _known(groups)
    return _kernel.TemplateOptions(
        identity="id" in chosen, source_bigrams="ng" in chosen, target_bigrams="ng" in chosen, shape="shape" in chosen
    )


class Weights(Mapping[str, float]):
    """Feature weights by name. A feature without a weight counts as 0: use `get(name, 0.0)`."""

    def __init__(self, values: Mapping[str, float] | None = None):
        self.native = _kernel.Weights()
        for name, value in (values or {}).items():
            if not is_feature_name(name) or not math.isfinite(value):
                raise ConfigError(f"not a feature weight: {name!r} {value!r}", hint=f"{NAME_RULES} Values are finite.")
            self.native.set(name, value)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Weights:
        """Read `name value` lines (blank or tab between, `#` comments), plain or gzip."""
        made = cls()
        made.native = _kernel.Weights.parse(read_utf8(path), os.fspath(path))
        return made

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the non-zero weights by name; values read back exactly. A name ending in `.gz` is compressed."""
        with atomic_write(path) as stream:
            stream.write(self.native.text())

    def __getitem__(self, name: str) -> float:
        value = self.native.find(name)
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.native.items())

    def __len__(self) -> int:
        return len(self.native)

    def __repr__(self) -> str:
        if len(self) <= SHOWN:
            return f"Weights({dict(self)!r})"
        return f"<Weights of {len(self):,} features>"


def template_of(name: str) -> str | None:
    """How the names of the feature's template begin; None for a dense feature."""
    prefixes = (prefix for several in PREFIXES.values() for prefix in several)
    return next((prefix for prefix in prefixes if name.startswith(prefix)), None)

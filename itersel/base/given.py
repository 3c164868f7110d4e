"""Values that remember where they were given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """Where a value was given."""

    where: str | None = None
    """For messages: `file:line`, or the option."""
    folder: str = ""
    """What its paths are relative to; empty: the current folder."""


@dataclass(frozen=True)
class Given:
    """A value: a scalar, a list of Given, or a dict from text to Given."""

    value: Any
    origin: Origin = Origin()
    text: str | None = None
    """A number as it was written: a field that wants text takes it so."""

    @classmethod
    def of(cls, value: Any, origin: Origin) -> Given:
        """A plain value, whose parts all have the same origin."""
        if isinstance(value, Holder):
            return value.given
        if isinstance(value, Given):
            return value
        if isinstance(value, Mapping):
            return cls({str(key): cls.of(item, origin) for key, item in value.items()}, origin)
        if isinstance(value, list | tuple):
            return cls([cls.of(item, origin) for item in value], origin)
        return cls(value, origin)

    def plain(self) -> Any:
        """The value without origins."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return [item.plain() for item in self.value] if isinstance(self.value, list) else self.value


class Holder:
    """Has such a value, and stands for it within others."""

    given: Given

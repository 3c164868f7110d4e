"""What a field of a configuration requires beyond its type, as marks in `Annotated` (itersel.base.config)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any


class Rule:
    """What a value must be beyond its type. To make another rule, give both methods."""

    def apply(self, value: Any) -> Any:
        """The value, or another word for it; ValueError if it is not valid."""
        raise NotImplementedError

    def wanted(self, noun: str) -> str:
        """What to do instead, as in `give a whole number from 1 to 9`; the noun is that of the type."""
        raise NotImplementedError


@dataclass(frozen=True)
class Range(Rule):
    """A number from `low` to `high`, both included, or greater than `above` and less than `below`."""

    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None

    def apply(self, value: Any) -> Any:
        inside = (
            (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )
        if not inside:
            raise ValueError
        return value

    def wanted(self, noun: str) -> str:
        if self.low is not None and self.high is not None:
            return f"give {noun} from {_number(self.low)} to {_number(self.high)}"
        ends = {"at least": self.low, "greater than": self.above, "at most": self.high, "less than": self.below}
        text = " and ".join(f"{words} {_number(end)}" for words, end in ends.items() if end is not None)
        return f"give {noun} {'of ' if text.startswith('at ') else ''}{text}"


class OneOf(Rule):
    """One of some words. `old` are former words, with what they are called now."""

    def __init__(self, *choices: str, old: Mapping[str, str] | None = None):
        self.choices, self.old = choices, dict(old or {})

    def apply(self, value: Any) -> Any:
        value = self.old.get(value, value)
        if value not in self.choices:
            raise ValueError
        return value

    def wanted(self, noun: str) -> str:  # noqa: ARG002
        return f"choose one of {', '.join(self.choices)}"


class Matches(Rule):
    """A text that a regular expression matches as a whole; `like` says in words what it may be."""

    def __init__(self, pattern: str, like: str):
        self.pattern, self.like = re.compile(pattern), like

    def apply(self, value: Any) -> Any:
        if not self.pattern.fullmatch(value):
            raise ValueError
        return value

    def wanted(self, noun: str) -> str:  # noqa: ARG002
        return f"give {self.like}"


@dataclass(frozen=True)
class Formerly:
    """Mark: another name of the key that is still accepted."""

    name: str


class _Mark:
    """A mark without content."""


LOCATION, INTERNAL = _Mark(), _Mark()
PathStr = Annotated[str, LOCATION]
"""A path, a pattern of paths, or an address: relative to the file that names it, or, on the command line, to the
current folder. `~` is the home folder. Addresses (`s3://…`) and `-` stay as they are. A field of type Path follows the
same rule and is made absolute."""
Internal = Annotated[Any, INTERNAL]
"""A field that is no key of the file: the program fills it in."""


def _number(value: float) -> str:
    if isinstance(value, int) and value.bit_length() > 31 and (value + 1).bit_count() == 1:
        return f"2^{value.bit_length()} - 1"
    if isinstance(value, int) and -value > 2**31 and (-value).bit_count() == 1:
        return f"-2^{(-value).bit_length() - 1}"
    return f"{value:,}" if isinstance(value, int) else f"{value}"

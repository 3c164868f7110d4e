"""Which shards a cell is tuned or tested on, as a grid names them: sets, some shards of a set, or several sets.

val  all shards of val        train:8  the first eight of train
tune+search  those of both    train:3-4  the third and the fourth
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from itersel.base.config import Matches
from itersel.base.errors import ConfigError

_PART = "[^:+]+(:0*[1-9][0-9]*(-0*[1-9][0-9]*)?)?"
ShardChoice = Annotated[
    str,
    Matches(
        rf"{_PART}(\+{_PART})*",
        "a set, train:8 for the first 8 shards of train, train:3-4 for the third and the fourth, or several sets,"
        " joined by +",
    ),
]


@dataclass(frozen=True)
class ChosenShards:
    """A set, or some of its shards."""

    name: str
    first: int = 1
    last: int | None = None
    """None: to the end."""

    @classmethod
    def parse(cls, text: str) -> tuple[ChosenShards, ...]:
        """The parts of a `ShardChoice`."""
        return tuple(map(cls._parse, text.split("+")))

    @classmethod
    def _parse(cls, text: str) -> ChosenShards:
        name, _, shards = text.partition(":")
        first, dash, last = shards.partition("-")
        if not shards:
            return cls(name)
        return cls(name, int(first), int(last)) if dash else cls(name, 1, int(first))

    @property
    def only_first(self) -> int | None:
        """How many shards there are, if they are the first ones of several."""
        return self.last if self.first == 1 else None

    def of(self, shards: Sequence[str], key: str, text: str) -> tuple[str, ...]:
        """The chosen ones of the set's shards; `key` is the option whose value is `text`."""
        if self.last is not None and not self.first <= self.last <= len(shards):
            raise ConfigError(
                f"{key} is {text!r}, but {self.name} has {len(shards)} shards",
                hint="Ask for fewer.",
            )
        return tuple(shards[self.first - 1 : self.last])


def chosen_shards(text: str, key: str, shards_of: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
    """All shards that the text names, in its order; none may be named twice."""
    found = [shard for part in ChosenShards.parse(text) for shard in part.of(shards_of(part.name), key, text)]
    if len(set(found)) < len(found):
        raise ConfigError(f"{key} is {text!r}, which names a shard twice", hint="Name each shard once.")
    return tuple(found)


def file_name(text: str) -> str:
    """The choice as a part of a file name."""
    return text.replace(":", ".")

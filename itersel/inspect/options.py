"""What to show of a file, for all views."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from itersel.base.errors import ConfigError
from itersel.decode.decoder import DecoderConfig

SHARD_OPTIONS = ("sentence", "weights", "language_model", "derivation", "rank")


@dataclass(frozen=True)
class ViewOptions:
    """`top` limits lists, `grep` is a regular expression that listed items must match; the others are for shards."""

    top: int = 10
    grep: str | None = None
    sentence: int | None = None
    weights: str | None = None
    language_model: str | None = None
    derivation: bool = False
    rank: int | None = None  # of the translation whose derivation is shown, from 1
    decoder: DecoderConfig = field(default_factory=DecoderConfig)

    def __post_init__(self) -> None:
        if self.top < 0:
            raise ConfigError(f"top is {self.top}", hint="Give the number of rows, at least 0.")
        if self.grep is not None:
            try:
                re.compile(self.grep)
            except re.error as error:
                raise ConfigError(f"grep {self.grep!r}: {error}", hint="Give a regular expression.") from None
        if self.weights is not None and self.sentence is None:
            raise ConfigError("--weights needs a sentence", hint="Give --sentence N, counted from 0.")
        if (self.derivation or self.language_model is not None) and self.weights is None:
            raise ConfigError("translating needs weights", hint="Give --weights FILE.")
        if self.rank is not None and (self.rank < 1 or not self.derivation):
            raise ConfigError(f"rank is {self.rank}", hint="Give --derivation and a rank of at least 1.")

    @property
    def for_shards(self) -> list[str]:
        """The given options that only shards have."""
        given = {name: getattr(self, name) for name in SHARD_OPTIONS}
        return [name for name, value in given.items() if value is not None and value is not False]  # 0 is a sentence

    def matches(self, text: str) -> bool:
        return self.grep is None or re.search(self.grep, text) is not None

"""Which sentences go into which shard: at random by a seed, in input order, or by domain.

In: a number of sentences and their labels. Out: lists of sentence numbers, a function of the options alone: the
shuffle sorts by SplitMix64 (the kernel's generator) of seed and sentence number, so every platform has the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itersel.base.errors import ConfigError

DOMAINS = "domains"
KINDS = ("random", "sequential", DOMAINS)
OLD_KINDS = {"tasks": DOMAINS}
"""Former names of kinds, which are still accepted."""
DEFAULT_SIZE = 1000
MASK = 2**64 - 1


@dataclass(frozen=True)
class Assignment:
    """The sentences of one shard, by number from 0, in the order they are learned from."""

    name: str
    sentences: tuple[int, ...]
    domain: str = ""  # the domain of all of them, where shards are made by domain


@dataclass(frozen=True)
class Layout:
    """How sentences are divided into shards. Shards (of one label) differ by at most one sentence in size.

    random      shuffled by the seed, then cut
    sequential  cut in input order
    domains     for each domain, in code point order of the labels, its sentences in input order, cut
    """

    kind: str = "random"
    size: int | None = None
    """The most sentences a shard may have. Default: 1000; for domains, one shard for each."""
    shards: int | None = None
    """The number of shards instead of their size; not for domains."""
    seed: int = 1
    first: int | None = None
    """Make only this many shards, the first ones, to train on a part of the corpus."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", current_kind(self.kind))
        if self.kind not in KINDS:
            raise ConfigError(f"layout is {self.kind!r}; choose one of {', '.join(KINDS)}")
        for name in ("size", "shards", "first"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}; give a whole number of at least 1")
        if self.size is not None and self.shards is not None:
            raise ConfigError("size and shards exclude each other", hint="Give one of them.")
        if self.kind == DOMAINS and self.shards is not None:
            raise ConfigError("shards: their number follows from the domains", hint="Give size, or nothing.")

    def assign(self, count: int, domains: Sequence[str] = ()) -> list[Assignment]:
        """The shards of `count` sentences; `domains` has a label for each, and is read by the layout `domains` only."""
        if not count:
            raise ConfigError("there are no sentences to put into shards")
        groups: list[tuple[str, list[int]]]
        if self.kind == DOMAINS:
            if len(domains) != count or not all(domains):
                raise ConfigError(
                    "the layout `domains` needs a label for every sentence",
                    hint="Give a file of labels, one per line, or choose another layout.",
                )
            by_label: dict[str, list[int]] = {label: [] for label in sorted(set(domains))}
            for number, label in enumerate(domains):
                by_label[label].append(number)
            groups = list(by_label.items())
        else:
            groups = [("", shuffled(count, self.seed) if self.kind == "random" else list(range(count)))]
        pieces = [(label, piece) for label, numbers in groups for piece in even_pieces(numbers, self._parts(numbers))]
        chosen = pieces[: self.first]
        return [Assignment(shard_name(i), tuple(piece), label) for i, (label, piece) in enumerate(chosen)]

    def _parts(self, numbers: Sequence[int]) -> int:
        if self.shards is not None:
            if self.shards > len(numbers):
                raise ConfigError(
                    f"{len(numbers)} sentences do not fill {self.shards} shards", hint="Ask for fewer shards."
                )
            return self.shards
        size = self.size or (len(numbers) if self.kind == DOMAINS else DEFAULT_SIZE)
        return -(-len(numbers) // size)


def current_kind(kind: str) -> str:
    """The name of a kind of layout, also of the former one."""
    return OLD_KINDS.get(kind, kind)


def shard_name(number: int) -> str:
    return f"shard.{number:04d}.itsh"


def random_bits(seed: int, counter: int) -> int:
    """64 bits that depend only on seed and counter: SplitMix64 addressed by counter, as in kernel/base/random.hh."""
    x = (seed + (counter + 1) * 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def shuffled(count: int, seed: int) -> list[int]:
    """0 … count − 1, sorted by `random_bits(seed, number)`; these differ, as the mixing is one-to-one."""
    return sorted(range(count), key=lambda number: random_bits(seed, number))


def even_pieces(numbers: Sequence[int], parts: int) -> list[Sequence[int]]:
    """Cut into parts whose sizes differ by at most one, the larger ones first."""
    size, larger = divmod(len(numbers), parts)
    starts = [part * size + min(part, larger) for part in range(parts + 1)]
    return [numbers[starts[part] : starts[part + 1]] for part in range(parts)]

"""Which sentences go into which shard: at random by a seed, in input order, or by task label.

In: a number of sentences and their labels. Out: lists of sentence numbers, a function of the options alone: the
shuffle sorts by SplitMix64 (the kernel's generator) of seed and sentence number, so every platform has the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itersel.base.errors import ConfigError

KINDS = ("random", "sequential", "tasks")
DEFAULT_SIZE = 1000
MASK = 2**64 - 1


@dataclass(frozen=True)
class Assignment:
    """The sentences of one shard, by number from 0, in the order they are learned from."""

    name: str
    sentences: tuple[int, ...]
    task: str = ""  # the label of all of them, where shards are made by task


@dataclass(frozen=True)
class Layout:
    """How sentences are dealt out. Shards (of one label) differ by at most one sentence in size.

    random      shuffled by the seed, then cut
    sequential  cut in input order
    tasks       for each label, in code point order of the labels, its sentences in input order, cut
    """

    kind: str = "random"
    size: int | None = None
    """The most sentences a shard may have. Default: 1000; for tasks, one shard for each label."""
    shards: int | None = None
    """The number of shards instead of their size; not for tasks."""
    seed: int = 1
    first: int | None = None
    """Make only so many of the shards, the first ones: training on a part of the corpus."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"unknown layout {self.kind!r}", hint=f"Choose one of {', '.join(KINDS)}.")
        for name in ("size", "shards", "first"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} is {value}", hint="Give at least 1.")
        if self.size is not None and self.shards is not None:
            raise ConfigError("size and shards exclude each other", hint="Give one of them.")
        if self.kind == "tasks" and self.shards is not None:
            raise ConfigError("the number of shards follows from the tasks", hint="Give size, or nothing.")

    def assign(self, count: int, tasks: Sequence[str] = ()) -> list[Assignment]:
        """The shards of `count` sentences; `tasks` has a label for each, and is read by the layout `tasks` only."""
        if not count:
            raise ConfigError("there are no sentences to put into shards")
        groups: list[tuple[str, list[int]]]
        if self.kind == "tasks":
            if len(tasks) != count or not all(tasks):
                raise ConfigError("the layout `tasks` needs a task label for every sentence")
            by_label: dict[str, list[int]] = {label: [] for label in sorted(set(tasks))}
            for number, label in enumerate(tasks):
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
                raise ConfigError(f"{self.shards} shards of {len(numbers)} sentences", hint="Ask for fewer shards.")
            return self.shards
        size = self.size or (len(numbers) if self.kind == "tasks" else DEFAULT_SIZE)
        return -(-len(numbers) // size)


def shard_name(number: int) -> str:
    return f"shard.{number:04d}.itsh"


def random_bits(seed: int, counter: int) -> int:
    """64 bits that depend on seed and counter alone: SplitMix64 addressed by counter, as in kernel/random.hh."""
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

"""Sources: where lists of hypotheses come from. A compiled shard is decoded now; a table of lists was decoded before.

Learners, tuners and translators use any source in the same way; `decodes` tells the kinds apart.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from itersel.base.errors import InputError
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lists.table import MAGIC, ListTable
from itersel.lm.model import LanguageModel
from itersel.metrics.sentence import sentence_statistics
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard

Data = TypeVar("Data", Shard, ListTable)


@dataclass(frozen=True)
class ListOptions:
    """How a source makes lists, if it decodes."""

    k: int = 100
    unique: bool = True
    """Only the best derivation of each target string."""
    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    model: LanguageModel | None = None
    metric: str = "stupid_bleu"
    """Whose sufficient statistics the hypotheses get; of lists that exist already, those that they have."""


@dataclass(frozen=True, eq=False)
class KBest:
    """One sentence's hypotheses, best model score first."""

    id: str
    texts: list[str]
    features: list[dict[str, float]]
    scores: npt.NDArray[np.float64]
    """⟨w, features⟩ with the weights of the request."""
    references: list[str]
    statistics: npt.NDArray[np.float32]
    """The metric's sufficient statistics, one row per hypothesis; of no columns if there are none."""


class Source(ABC, Generic[Data]):
    """Numbered sentences with references and, for each, a list of hypotheses."""

    decodes: ClassVar[bool]
    """Lists depend on the weights and the language model; they are made on request."""

    def __init__(self, data: Data):
        self.data: Data = data

    @property
    def path(self) -> str:
        return self.data.path

    @property
    def checksum(self) -> str:
        """The checksum of the content, in hexadecimal."""
        return f"{self.data.checksum:016x}"

    def __len__(self) -> int:
        return len(self.data)

    def id(self, number: int) -> str:
        return self.data.id(number)

    def domain(self, number: int) -> str:
        """The sentence's domain label; empty if it has none."""
        return self.data.domain(number)

    def references(self, number: int) -> list[str]:
        return self.data.references(number)

    @abstractmethod
    def lists(self, weights: Vector, numbers: Sequence[int], options: ListOptions) -> Iterator[KBest]:
        """The lists of these sentences, in this order, ranked by the weights."""

    @abstractmethod
    def translate(self, weights: Vector, numbers: Sequence[int], options: ListOptions) -> list[str]:
        """What the weights rank first, for each of these sentences."""


class ShardSource(Source[Shard]):
    """A compiled shard, decoded with a language model."""

    decodes = True

    def lists(self, weights: Vector, numbers: Sequence[int], options: ListOptions) -> Iterator[KBest]:
        decoder = self._decoder(weights, options)
        for number in numbers:
            found = decoder.kbest(number, options.k, unique=options.unique)
            references = self.references(number)
            yield KBest(
                self.id(number),
                [one.text for one in found],
                [one.features for one in found],
                np.array([one.score for one in found]),
                references,
                sentence_statistics(
                    options.metric, [one.text.split(" ") for one in found], [text.split(" ") for text in references]
                ),
            )

    def translate(self, weights: Vector, numbers: Sequence[int], options: ListOptions) -> list[str]:
        decoder = self._decoder(weights, options)
        return [decoder.translate(number) for number in numbers]

    def _decoder(self, weights: Vector, options: ListOptions) -> ShardDecoder:
        return ShardDecoder(self.data, weights, options.model, options.decoder)


class TableSource(Source[ListTable]):
    """Compiled n-best lists, ranked again by the weights."""

    decodes = False

    def lists(self, weights: Vector, numbers: Sequence[int], options: ListOptions) -> Iterator[KBest]:
        del options
        for number in numbers:
            features, texts = self.data.features(number), self.data.texts(number)
            by_name = weights.values_of(self.data.hashes)
            numbered = {name: value for name, value in zip(self.data.names, by_name.tolist(), strict=True) if value}
            scores = np.array([sum(numbered.get(name, 0.0) * v for name, v in row.items()) for row in features])
            order = np.argsort(-scores, kind="stable").tolist()
            yield KBest(
                self.id(number),
                [texts[k] for k in order],
                [features[k] for k in order],
                scores[order],
                self.references(number),
                self.data.statistics(number)[order],
            )

    def translate(self, weights: Vector, numbers: Sequence[int], options: ListOptions) -> list[str]:
        del options
        places = self.data.best(weights)[0].tolist()
        return [self.data.texts(number)[places[number]] for number in numbers]


AnySource = ShardSource | TableSource


def open_source(path: str | os.PathLike[str]) -> AnySource:
    """Open either kind, by the first bytes of the file.

    A table serves many work items. One that is already open is not checked again, not even by processes forked since.
    """
    try:
        with open(path, "rb") as stream:
            is_table = stream.read(len(MAGIC)) == MAGIC
            facts = os.fstat(stream.fileno())
    except OSError:
        is_table = False  # Shard raises the error
    return _table(os.fspath(path), facts.st_size, facts.st_mtime_ns) if is_table else ShardSource(Shard(path))


def is_shard(path: str | os.PathLike[str]) -> bool:
    """Whether the file is a shard and not a table of lists, by its first bytes."""
    with open(path, "rb") as stream:
        return stream.read(len(MAGIC)) != MAGIC


class OpenSources:
    """The two sources that were used last: opening one takes as long as decoding a hundred sentences, and a run with
    one shard goes back and forth between it and devtest.

    Only the newest one is kept where the files of both have more bytes than the limit: shards are large.
    """

    def __init__(self, limit: int = 256 * 2**20):
        self.limit = limit
        self._sources: dict[tuple[str, int, int, int], AnySource] = {}
        """By path, file, size and time of change; the one that was used last is the last."""

    def open(self, path: str | os.PathLike[str]) -> AnySource:
        """As open_source; a file that was replaced is opened again."""
        try:
            facts = os.stat(path)
        except OSError:
            return open_source(path)  # which says what is wrong
        key = os.fspath(path), facts.st_ino, facts.st_size, facts.st_mtime_ns
        source = self._sources.pop(key, None)
        for known in list(self._sources)[:-1] if self._fits_beside(key) else list(self._sources):
            del self._sources[known]  # before the next one takes memory
        self._sources[key] = open_source(path) if source is None else source
        return self._sources[key]

    def _fits_beside(self, new: tuple[str, int, int, int]) -> bool:
        """Whether the one that was used last may stay open."""
        path, _, size, _ = next(reversed(self._sources), new)
        return path != new[0] and size + new[2] <= self.limit


def check_source(source: AnySource, checksum: str, where: str) -> None:
    """InputError unless the source has the expected content."""
    if source.checksum != checksum:
        raise InputError(
            f"another shard than the driver's: checksum {source.checksum} instead of {checksum}",
            where=where,
            hint="Give all machines the same file, or give this file another name.",
        )


@lru_cache(maxsize=8)
def _table(path: str, size: int, changed: int) -> TableSource:  # noqa: ARG001
    return TableSource(ListTable(path))

"""Which sentences a language model was estimated on: hashes of them, in a small file beside the model.

A model that knows the references of the training sentences spoils training, so whoever trains asks this file
(itersel.run.seen). `lm.arpa.gz`, `lm.arpa` and `lm.bin` share `lm.seen`. Of a large text, the file keeps the hashes
below a limit: a sample by content, which is enough to tell the share of a text that the model has seen.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.base.files import atomic_write, read_bytes
from itersel.lm.corpus import Fold, split

SUFFIX = ".seen"
MODEL_SUFFIX = re.compile(r"(\.arpa)?(\.(gz|bin|binary|kenlm|mmap))?$")
MAGIC = b'{"itersel": "seen sentences"'
FORMAT = 1
MOST = 1 << 20
"""Hashes that are kept: 8 MB."""
CHUNK = 10_000
LARGEST = (1 << 64) - 1

Hashes = NDArray[np.uint64]


def seen_path(model: str | os.PathLike[str]) -> Path:
    """The file beside a model, under the name that all its forms share."""
    path = Path(model)
    return path.with_name(MODEL_SUFFIX.sub("", path.name, count=1) + SUFFIX)


@dataclass(frozen=True, eq=False)
class SeenSentences:
    """Hashes of distinct sentences, ascending; `limit` is the largest hash that would have been kept."""

    hashes: Hashes
    limit: int = LARGEST
    sentences: int = 0
    """The number of sentences in the text, repeated ones included."""

    def find(self, texts: Sequence[str]) -> list[bool | None]:
        """Whether the model has seen each text; None for one that a sample cannot tell."""
        wanted = _hashes(texts)
        known = np.searchsorted(self.hashes, wanted, side="right") > np.searchsorted(self.hashes, wanted)
        told = wanted <= np.uint64(self.limit)
        return [bool(one) if sure else None for one, sure in zip(known, told, strict=True)]

    def write(self, path: str | os.PathLike[str]) -> None:
        head = {"itersel": "seen sentences", "format": FORMAT, "sentences": self.sentences, "limit": str(self.limit)}
        with atomic_write(path, compress=False) as stream:
            stream.write(json.dumps(head).encode() + b"\n" + self.hashes.astype("<u8").tobytes())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> SeenSentences:
        content = read_bytes(path)
        first, _, rest = content.partition(b"\n")
        try:
            head = json.loads(first)
            if head["format"] != FORMAT:
                raise ValueError
            hashes = np.frombuffer(rest, "<u8").astype(np.uint64)
            return cls(hashes, int(head["limit"]), int(head["sentences"]))
        except (ValueError, KeyError, TypeError):
            raise InputError(
                "damaged: not a list of seen sentences", where=path, hint="Estimate the language model again."
            ) from None


class SeenWriter:
    """Collects the sentences that pass through `watch`, in memory that does not grow with the text."""

    def __init__(self, without: Fold | None = None, most: int = MOST):
        """The sentences of the fold `without` are not seen."""
        self.without, self.most = without, most
        self._parts: list[Hashes] = []
        self._lines: list[str] = []
        self._kept = self._sentences = 0
        self._limit = LARGEST

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the same lines."""
        for number, line in enumerate(lines):
            if self.without is None or number not in self.without:
                self._lines.append(line)
                self._sentences += 1
                if len(self._lines) == CHUNK:
                    self._take()
            yield line

    def _take(self) -> None:
        found = _hashes(self._lines)
        self._parts.append(found[found <= np.uint64(self._limit)])
        self._kept += len(self._parts[-1])
        self._lines = []
        if self._kept > 4 * self.most:
            self._shrink()

    def _shrink(self) -> None:
        distinct = np.unique(np.concatenate([*self._parts, np.zeros(0, np.uint64)]))
        if len(distinct) > self.most:
            distinct = distinct[: self.most]
            self._limit = int(distinct[-1])
        self._parts, self._kept = [distinct], len(distinct)

    def result(self) -> SeenSentences:
        self._take()
        self._shrink()
        return SeenSentences(self._parts[0], self._limit, self._sentences)


def find_seen(model: str | os.PathLike[str]) -> SeenSentences | None:
    """What is known about the text of the model; None if nothing is."""
    path = seen_path(model)
    return SeenSentences.read(path) if path.is_file() else None


def _hashes(texts: Iterable[str]) -> Hashes:
    """Hashes of the words, however they are separated."""
    return _kernel.feature_hashes([" ".join(split(text)) for text in texts])

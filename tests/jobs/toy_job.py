"""A small job with everything that a job may have: for the tests of engines, and a module that workers do not have."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from itersel.base.errors import InputError
from itersel.mapreduce.fetch import is_address, local_file
from itersel.mapreduce.job import DRIVER, Job, Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import ItemFile, WorkItem

PREFIX, SUFFIX = "prefix", "suffix"
"""Side files: one of the run, one of the job."""


@dataclass(frozen=True)
class Marks:
    """A configuration within the job."""

    left: str = "<"
    right: str = ">"


@dataclass(frozen=True)
class ToyJob(Job):
    """Sorts the words of the items' files into ranges; a reducer joins its range's words in the items' order."""

    marks: Marks = field(default_factory=Marks)
    repeat: int = 1

    unit: ClassVar[str] = "words"
    counts: ClassVar[Mapping[str, str]] = {"words": "sum", "longest": "max"}

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        if message := item.values.get("fail"):
            raise InputError(message, where=item.files[0].path, hint="Give a better one.")
        words = [word for file in item.files for word in _read(file).split()]
        prefix = Path(side.path(PREFIX)).read_text()
        state = item.read_state()
        longest = 0
        for number, word in enumerate(words, 1):
            longest = max(longest, len(word))
            tell(number, {"words": number, "longest": longest})
            if self.partitions:
                yield zlib.crc32(word.encode()) % self.partitions, (prefix + word * self.repeat).encode()
        carried = (state or b"") + bytes([len(words)])
        yield DRIVER, json.dumps([item.name, words if not self.partitions else len(words)]).encode()
        yield DRIVER, carried  # any bytes may be in a record
        yield DRIVER, Path(side.path(SUFFIX)).read_bytes()

    def reduce(self, key: int, values: Sequence[bytes], side: Side) -> Iterable[bytes]:
        suffix = Path(side.path(SUFFIX)).read_text()
        text = " ".join(bytes(value).decode() for value in values)
        yield f"{self.marks.left}{key}: {text}{self.marks.right}{suffix}".encode()
        yield bytes(range(256))


def _read(file: ItemFile) -> str:
    path = local_file(file) if is_address(file.path) else Path(file.path)
    return path.read_text()

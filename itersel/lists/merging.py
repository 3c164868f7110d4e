"""Lists of the same sentences from several files, joined: what an outside decoder found in successive iterations.

Hypotheses keep the order of the files. One that an earlier file has with the same text and the same features is left
out. Lists stream: memory holds one sentence's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from itersel.base.errors import InputError
from itersel.lists.reader import Entry, FieldsConfig, NbestList, read_lists, whole_number


@dataclass(frozen=True)
class MergedList:
    """One sentence's lists, in the order of the files. Has what readers of NbestList need."""

    id: str
    parts: tuple[NbestList, ...]

    def where(self) -> str:
        return self.parts[0].where()

    def parse(self) -> list[Entry]:
        found: dict[tuple[str, frozenset[tuple[str, float]]], Entry] = {}
        for part in self.parts:
            for entry in part.parse():
                found.setdefault((entry.text, frozenset(entry.features.items())), entry)
        return list(found.values())


def read_merged_lists(
    paths: Sequence[str | os.PathLike[str]], fields: FieldsConfig | None = None
) -> Iterator[MergedList]:
    """The lists of all files, by ascending id; a file may lack some sentences. Ids must be whole numbers."""
    files = [read_lists([path], fields) for path in paths]
    waiting = [next(lists, None) for lists in files]
    while found := [_number(one) for one in waiting if one is not None]:
        lowest = min(found)
        parts = []
        for place, one in enumerate(waiting):
            if one is not None and _number(one) == lowest:
                parts.append(one)
                waiting[place] = next(files[place], None)
        yield MergedList(parts[0].id, tuple(parts))


def _number(one: NbestList) -> int:
    number = whole_number(one.id)
    if number is None:
        raise InputError(
            f"the id {one.id!r} is not a whole number",
            where=one.where(),
            hint="Number the sentences from 0, so that their lists in all files can be joined.",
        )
    return number

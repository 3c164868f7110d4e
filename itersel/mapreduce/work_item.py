"""A work item: what one mapper gets. It names its data by address and checksum, and says how large it is."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError


@dataclass(frozen=True)
class ItemFile:
    """A file that a mapper reads: a path that it sees, or an address that it fetches (itersel.mapreduce.fetch)."""

    path: str
    checksum: str
    """The checksum of the content, by which a worker notices another file of the same name."""


@dataclass(frozen=True)
class WorkItem:
    """What one mapper has to do. Engines see files, state and size; `values` are for the job alone."""

    number: int
    """The number of the item, from 0. Reducers and the driver see results in this order."""
    name: str
    """The name of the item in messages."""
    size: int = 1
    """Units of work, such as sentences: progress counts them, and large items start first."""
    files: tuple[ItemFile, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    """Values that can be written as JSON."""
    state: str | None = None
    """A file whose content travels with the item: what the item's shard carries from round to round."""
    state_content: bytes | None = None
    """The same, where it has travelled."""

    def read_state(self) -> bytes | None:
        """What the shard carries; None if it carries nothing."""
        if self.state_content is not None or self.state is None:
            return self.state_content
        try:
            return Path(self.state).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror}", where=self.state) from None

    def addressed(self, address: Callable[[ItemFile], str]) -> WorkItem:
        """The same with other addresses of its files."""
        return replace(self, files=tuple(replace(one, path=address(one)) for one in self.files))

    def absolute(self) -> WorkItem:
        """The same for a worker in another folder."""
        state = None if self.state is None else os.path.abspath(self.state)
        return replace(self.addressed(lambda one: os.path.abspath(one.path)), state=state)

    def to_json(self, *, with_state: bool = False) -> dict[str, Any]:
        """The item as JSON; `with_state` adds the state's content, for workers that do not see the driver's files."""
        content = self.read_state() if with_state else self.state_content
        return {
            "number": self.number,
            "name": self.name,
            "size": self.size,
            "files": [[one.path, one.checksum] for one in self.files],
            "values": dict(self.values),
            "state": None if with_state else self.state,
            "state_content": None if content is None else base64.b64encode(content).decode(),
        }

    @classmethod
    def from_json(cls, values: Any) -> WorkItem:
        """Reads what `to_json` made; InputError for anything else."""
        try:
            content, state = values["state_content"], values["state"]
            return cls(
                number=int(values["number"]),
                name=str(values["name"]),
                size=int(values["size"]),
                files=tuple(ItemFile(str(path), str(checksum)) for path, checksum in values["files"]),
                values=dict(values["values"]),
                state=None if state is None else str(state),
                state_content=None if content is None else base64.b64decode(content, validate=True),
            )
        except (KeyError, TypeError, ValueError):
            raise InputError(f"not a work item: {str(values)[:200]}") from None


def largest_first(items: Sequence[WorkItem]) -> list[WorkItem]:
    """In the order in which they should start, so that no large one is left for the end."""
    return sorted(items, key=lambda item: (-item.size, item.number))

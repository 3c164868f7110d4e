"""Names of feature ids: for people, and to break ties between features of equal norm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from itersel.base.errors import InputError
from itersel.model.vectors import Ids, feature_ids, look_up

Names = Callable[[Ids], Sequence[str]]
"""Anything that gives the names of an array of ids, in its order."""


class NameTable:
    """A table of known names. Two names with the same id are an InputError (chance: 1 in 370,000 for 10 million)."""

    def __init__(self, names: Iterable[str]):
        distinct = sorted(set(names))
        ids = feature_ids(distinct)
        order = np.argsort(ids, kind="stable")
        self.ids: Ids = ids[order]
        self.names = [distinct[k] for k in order.tolist()]
        for k in np.flatnonzero(self.ids[1:] == self.ids[:-1]).tolist():
            raise InputError(
                f"the features '{self.names[k]}' and '{self.names[k + 1]}' have the same 64-bit id",
                hint="Rename one of them.",
            )

    def __len__(self) -> int:
        return len(self.names)

    def __call__(self, ids: Ids) -> list[str]:
        at, known = look_up(self.ids, ids)
        if not known.all():
            missing = int(np.asarray(ids)[~known][0])
            raise InputError(f"no name is known for feature id {missing:#018x}")
        return [self.names[k] for k in at.tolist()]


def select_names(names: Sequence[str], ids: Ids) -> list[str]:
    """The names whose ids are among the given ones, which must ascend, in the order of the ids."""
    if not names:
        return []
    mine = feature_ids(list(names))
    order = np.argsort(mine, kind="stable")
    _, known = look_up(ids, mine[order])
    return [names[k] for k in order[known].tolist()]


def join_names(names: Iterable[str]) -> str:
    """Names as one text, to be sent between machines."""
    return "\n".join(names)


def split_names(text: str) -> list[str]:
    """The inverse of `join_names`."""
    return text.split("\n") if text else []

"""From n-best lists and references to a compiled table: parse, say how good each hypothesis is, number the features.

Lists and references are read side by side, so memory holds one list per process and the references of lists in
progress. Every list is parsed and scored by one of several processes; the table is the same for any number of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy.typing as npt

from itersel.base import events
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.base.progress import Progress
from itersel.base.workers import ordered_map
from itersel.lists.merging import MergedList, read_merged_lists
from itersel.lists.reader import Entry, FieldsConfig, NbestList, read_lists, whole_number, words_of
from itersel.lists.table import CompiledList, write_table
from itersel.metrics.sentence import CORPUS_METRICS, MAX_ORDER, METRICS, ORDER, metric_of
from itersel.text.markup import plain_lines

ORDERS = ("id", "list")
"""How lists find their references: by id, or by their place."""


AnyList = NbestList | MergedList


@dataclass(frozen=True)
class ObjectiveConfig:
    """What makes a hypothesis good: the objective its line carries, or else a metric against references.

    With references, every hypothesis gets the metric's sufficient statistics, too."""

    metric: Annotated[str, OneOf(*METRICS)] = "stupid_bleu"
    order: Annotated[int, Range(1, MAX_ORDER)] = ORDER
    """Longest n-gram of the metric."""
    lower_is_better: bool = False
    """Whether low values of the objective that lines carry are good."""
    unique: bool = True
    """Keep only the first of equal texts."""

    def __post_init__(self) -> None:
        validate(self)

    def compile(self, item: tuple[AnyList, Sequence[str]], *, own_score: bool = False) -> CompiledList:
        """A list with the references of its sentence; with `own_score`, the system's score is one of its features."""
        given, references = item
        entries = given.parse()
        if self.unique:
            first: dict[str, Entry] = {}
            for entry in entries:
                first.setdefault(entry.text, entry)
            entries = list(first.values())
        scores = [entry.score or 0.0 for entry in entries]
        sign = -1.0 if self.lower_is_better else 1.0
        values: npt.ArrayLike = [sign * entry.objective for entry in entries if entry.objective is not None]
        texts = [entry.text for entry in entries]
        statistics = None
        if references or not values:
            metric = metric_of(self.metric, order=self.order)
            statistics = metric.statistics(list(map(words_of, texts)), list(map(words_of, references)))
            values = values or metric.sentence_scores(statistics)
        vectors = [entry.with_score if own_score else entry.features for entry in entries]
        return CompiledList.of(given.id, vectors, values, scores, [*texts, *references], statistics)


@dataclass(frozen=True)
class Part:
    """Every n-th list, or all others, by their place in the files."""

    every: int
    held_out: bool

    def __contains__(self, place: int) -> bool:
        return (place % self.every == self.every - 1) == self.held_out


def compile_lists(
    lists: Sequence[str],
    references: Sequence[str],
    output: str | os.PathLike[str],
    *,
    fields: FieldsConfig,
    objective: ObjectiveConfig,
    references_by: str = "id",
    own_score: bool = False,
    part: Part | None = None,
    merge: bool = False,
    jobs: int = 1,
) -> None:
    """Write the table of all lists, or of a `part` of them; no list at all is an error.

    References may be absent if lines have objectives. With `merge`, the files' lists of a sentence are joined
    (itersel.lists.merging).
    """
    missing = list[int]()
    given: Iterable[AnyList] = read_merged_lists(lists, fields) if merge else read_lists(lists, fields)
    if merge:  # equal texts with different features are what tuners learn from
        objective = replace(objective, unique=False)
    items: Iterable[tuple[AnyList, Sequence[str]]]
    items = with_references(given, references, references_by, missing) if references else ((one, ()) for one in given)
    if part is not None:
        items = (item for place, item in enumerate(items) if place in part)
    make = partial(objective.compile, own_score=own_score)
    compiled = ordered_map(make, items, jobs, describe=lambda item: item[0].where())
    with contextlib.closing(compiled), Progress("compile", unit="lists") as progress:
        corpus_metric = CORPUS_METRICS[objective.metric] if references else ""
        write_table(_counted(compiled, progress, lists), output, corpus_metric)
    if missing and (part is None or not part.held_out):
        events.warn(
            f"{len(missing)} of the references have no list (the first: {references[0]}:{missing[0]}): their sentences"
            " do not count"
        )


def _counted(compiled: Iterable[CompiledList], progress: Progress, paths: Sequence[str]) -> Iterator[CompiledList]:
    for one in compiled:
        yield one
        progress.advance()
    if progress.done == 0:
        raise InputError("there are no lists in it", where=paths[0])


def with_references(
    lists: Iterable[AnyList], paths: Sequence[str], by: str = "id", missing: list[int] | None = None
) -> Iterator[tuple[AnyList, Sequence[str]]]:
    """Each list with its lines of the references: the line of its id, from 0 (`id`), or of its place (`list`).

    The numbers of lines without a list, from 1, are added to `missing`; empty lines are none.
    """
    lines = _side_by_side(paths)
    read = 0
    current: Sequence[str] = ()
    for place, one in enumerate(lists):
        wanted = whole_number(one.id) if by == "id" else place
        if wanted is None:
            raise InputError(
                f"the id {one.id!r} is not a line number of the references",
                where=one.where(),
                hint="Where the k-th list belongs to the k-th line, whatever its id, give references_by: list.",
            )
        while read <= wanted:
            following = next(lines, None)
            if following is None:
                raise InputError(
                    f"list {one.id} has no reference: {paths[0]} has {read} lines",
                    where=one.where(),
                    hint="Ids count lines from 0." if by == "id" else "There must be a line for every list.",
                )
            current, read = following, read + 1
            if missing is not None and read <= wanted and any(line.strip() for line in current):
                missing.append(read)
        yield one, current
    for following in lines:
        read += 1
        if by == "list":
            raise InputError(f"there are references for more than the {read - 1} lists", where=f"{paths[0]}:{read}")
        if missing is not None and any(line.strip() for line in following):
            missing.append(read)


def _side_by_side(paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    files = [plain_lines(read_lines(path), path) for path in paths]
    number = 0
    while True:
        found = [next(lines, None) for lines in files]
        if all(line is None for line in found):
            return
        number += 1
        for path, line in zip(paths, found, strict=True):
            if line is None:
                longer = paths[next(k for k, other in enumerate(found) if other is not None)]
                raise InputError(
                    f"ends after {number - 1} lines, but {longer} continues",
                    where=path,
                    hint="Files of references belong together line by line.",
                )
        yield tuple(line for line in found if line is not None)

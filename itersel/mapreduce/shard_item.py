"""A shard as a work item: some sentences of one or several compiled files, each with the fold of its language model.

Sentences can be divided again without compiling anything (itersel.run.layout): an item names them by file and
number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from itersel.base.errors import InputError
from itersel.lists.source import AnySource
from itersel.mapreduce.fetch import open_item_source
from itersel.mapreduce.work_item import ItemFile, WorkItem


@dataclass(frozen=True)
class Part:
    """Sentences of one file, in the order they are learned from."""

    file: ItemFile
    sentences: tuple[int, ...] | None = None
    """Numbers of the sentences; None: all."""
    fold: int | None = None
    """Which of the run's language models by fold the sentences are decoded with; None: the run's one model."""


def shard_item(number: int, parts: Sequence[Part], size: int, domain: str = "") -> WorkItem:
    """The work item of a shard of `size` sentences; `domain` is the label that all of them share, if they do."""
    files = list(dict.fromkeys(part.file for part in parts))
    values = {"parts": [[files.index(part.file), part.sentences, part.fold] for part in parts], "domain": domain}
    where = files[0].path if len(files) == 1 else f"{len(files)} files"
    name = f"shard {number} ({f'{domain}, ' if domain else ''}{where})"
    return WorkItem(number, name, size, tuple(files), values)


def fold_of(source: AnySource, sentence: int, folds: int) -> int:
    """As itersel.lm and itersel.grammar.extraction cut a corpus: by the number of the sentence in it."""
    name = source.id(sentence)
    if not (name.isascii() and name.isdigit()):
        raise InputError(
            f"the id {name!r} of a sentence is not its number in the corpus",
            where=source.path,
            hint="Language models by fold need shards that were made of plain text, as by itersel build.",
        )
    return int(name) % folds


def domain_of(item: WorkItem) -> str:
    return str(item.values.get("domain", ""))


def parts_of(item: WorkItem) -> list[Part]:
    """The parts of a shard's item; InputError if it is none."""
    try:
        return [
            Part(
                item.files[file],
                None if sentences is None else tuple(map(int, sentences)),
                None if fold is None else int(fold),
            )
            for file, sentences, fold in item.values["parts"]
        ]
    except (KeyError, TypeError, ValueError, IndexError):
        raise InputError(f"not the work item of a shard: {str(item.values)[:200]}") from None


def open_parts(item: WorkItem) -> Iterator[tuple[AnySource, list[Part]]]:
    """The item's files, opened one after the other, each with its parts."""
    for file, parts in groupby(parts_of(item), key=lambda part: part.file):
        yield open_item_source(file), list(parts)

"""Which sentences make up which shard in training: as compiled, dealt out at random, anew for each epoch, or by label.

In: the compiled files. Out: work items, a function of the files, the options and the epoch alone. Nothing is compiled
again: an item names sentences by file and number. Within an item the files come one after the other, and within a file
the folds, if there are language models by fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import ConfigError, InputError
from itersel.lists.source import AnySource
from itersel.mapreduce.shard_item import Part, fold_of, shard_item
from itersel.mapreduce.work_item import ItemFile, WorkItem
from itersel.shards.assignment import DOMAINS, OLD_KINDS, Layout, random_bits

KINDS = ("files", "random", "reshard", "sequential", DOMAINS)
RANDOM_KINDS = ("random", "reshard")
"""Those that depend on the seed."""


@dataclass(frozen=True)
class LayoutConfig:
    """How the sentences of all files are dealt out.

    files       each file is a shard
    random      shuffled once by the seed, then cut
    reshard     shuffled anew for each epoch
    sequential  cut in the order of the files
    domains     a shard for each domain, in code point order of the labels
    """

    kind: Annotated[str, OneOf(*KINDS, old=OLD_KINDS)] = "files"
    shards: Annotated[int, Range(1)] | None = None
    """random, reshard, sequential: the number of shards. Default: as many as files; 1 for sgd."""
    size: Annotated[int, Range(1)] | None = None
    """All but files: the most sentences a shard may have, instead of the number."""
    seed: Annotated[int, Range(0, 2**64 - 1)] = 1

    def __post_init__(self) -> None:
        validate(self)
        if self.kind == "files" and (self.shards, self.size) != (None, None):
            key = "size" if self.shards is None else "shards"
            raise ConfigError(
                f"{key} has no effect here: the layout `files` has a shard for each file",
                hint="Leave it out, or set the kind of the layout, too.",
            )
        self._layout(1, 0)  # checks the rest

    def items(
        self,
        files: Sequence[AnySource],
        epoch: int,
        default_shards: int | None = None,
        folds: int = 0,
        domain: str | None = None,
    ) -> list[WorkItem]:
        """The shards of an epoch, counted from 0, as work items. With `folds`, each part has sentences of one fold.

        With a domain, only its sentences are dealt out.
        """
        chosen = [sentences_of(one, domain) for one in files]
        if domain is not None and not any(chosen):
            raise InputError(
                f"no sentence has the domain {domain!r}",
                where=files[0].path if files else None,
                hint="Compile the shards with labels (itersel shard --domains).",
            )
        if self.kind == "files":
            if domain is None:
                return [shard_item(k, list(_parts(one, None, folds)), len(one)) for k, one in enumerate(files)]
            kept = [(one, some) for one, some in zip(files, chosen, strict=True) if some]
            return [
                shard_item(k, list(_parts(one, some, folds)), len(some), domain) for k, (one, some) in enumerate(kept)
            ]
        places = [(file, sentence) for file, sentences in enumerate(chosen) for sentence in sentences]
        labels = [_label(files[file], sentence) for file, sentence in places] if self.kind == DOMAINS else []
        layout = self._layout(default_shards or len(files), epoch)
        made = []
        for number, dealt in enumerate(layout.assign(len(places), labels)):
            by_file: dict[int, list[int]] = {}
            for file, sentence in map(places.__getitem__, dealt.sentences):
                by_file.setdefault(file, []).append(sentence)
            parts = [part for k in sorted(by_file) for part in _parts(files[k], by_file[k], folds)]
            made.append(shard_item(number, parts, len(dealt.sentences), dealt.domain))
        return made

    def _layout(self, default_shards: int, epoch: int) -> Layout:
        if self.kind == DOMAINS:
            return Layout(DOMAINS, self.size, self.shards)
        seed = random_bits(self.seed, epoch) if self.kind == "reshard" else self.seed
        shards = self.shards if self.shards is not None or self.size is not None else default_shards
        return Layout("sequential" if self.kind == "sequential" else "random", self.size, shards, seed)


def sentences_of(source: AnySource, domain: str | None) -> Sequence[int]:
    """The numbers of a domain's sentences; None: of all."""
    numbers = range(len(source))
    return numbers if domain is None else [number for number in numbers if source.domain(number) == domain]


def _parts(source: AnySource, sentences: Sequence[int] | None, folds: int) -> Iterator[Part]:
    """The sentences of a file (None: all), one part for each fold that they belong to."""
    file = ItemFile(source.path, source.checksum)
    if not folds or not source.decodes:  # where nothing is decoded, no model is asked
        yield Part(file, None if sentences is None else tuple(sentences))
        return
    by_fold: dict[int, list[int]] = {}
    for sentence in range(len(source)) if sentences is None else sentences:
        by_fold.setdefault(fold_of(source, sentence, folds), []).append(sentence)
    for fold in sorted(by_fold):
        yield Part(file, tuple(by_fold[fold]), fold)


def _label(shard: AnySource, sentence: int) -> str:
    label = shard.domain(sentence)
    if not label:
        raise InputError(
            f"sentence {shard.id(sentence)} has no domain",
            where=shard.path,
            hint="Compile the shards with labels (itersel shard --domains), or choose another layout.",
        )
    return label

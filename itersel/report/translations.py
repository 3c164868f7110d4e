"""Devtest translations of all runs and epochs, sentence by sentence, with source, references and a sentence score.

Sources and references come from the devtest shards that a run's configuration names. They are looked for where the
run was started, that is here or in a folder above the run's own, and taken only if their checksums are the run's.
Without them the translations are shown alone. Runs are compared with each other if they translated the same data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import InputError, UserError
from itersel.base.files import read_lines
from itersel.metrics.sentence import sentence_values
from itersel.report.feature_table import Sentence
from itersel.report.gather import TRANSLATIONS, Run
from itersel.run.config import expand
from itersel.shards.shard import Shard

METRIC = "stupid_bleu"
"""BLEU+1 of a sentence: defined for short ones, and known to most readers."""


@dataclass(frozen=True)
class Source:
    """One devtest sentence; without shards, only its number is known."""

    id: str
    domain: str = ""
    text: str | None = None
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outputs:
    """A run's translations of one sentence: the different ones, and which of them each epoch gave."""

    texts: tuple[str, ...]
    scores: tuple[float, ...]
    """BLEU+1 of each text, 0 to 100; none without references."""
    epochs: tuple[int, ...]
    """For each of the run's translated epochs, the number of its text."""


@dataclass(frozen=True)
class DevtestSet:
    """Sentences that some of the runs translated."""

    total: int
    sources: tuple[Source, ...]
    """The sentences that are shown, taken evenly from all."""
    outputs: dict[int, tuple[Outputs, ...]]
    """Outputs by number of the run, in the order of the sentences."""
    note: str = ""
    """Why there are no sources, if so."""


def devtest_sets(runs: Sequence[Run], limit: int) -> list[DevtestSet]:
    """The devtest sets of the runs, at most `limit` sentences of each."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, run in enumerate(runs):
        if run.translated:
            groups.setdefault((*run.checksums("devtest"), run.domain), []).append(number)
    return [_devtest_set(runs, members, limit) for members in groups.values()]


def _devtest_set(runs: Sequence[Run], members: Sequence[int], limit: int) -> DevtestSet:
    first = runs[members[0]]
    shards, note = open_shards(first, "devtest")
    lines = {
        number: [list(read_lines(_place(runs[number], epoch))) for epoch in runs[number].translated]
        for number in members
    }
    places = _places(shards, first.domain)
    total = len(places) if shards else len(lines[members[0]][0])
    for number in members:
        for epoch, found in zip(runs[number].translated, lines[number], strict=True):
            if len(found) != total:
                raise InputError(f"{len(found)} translations of {total} sentences", where=_place(runs[number], epoch))
    chosen = evenly(total, limit)
    sources = _sources([places[k] for k in chosen]) if shards else tuple(Source(str(k + 1)) for k in chosen)
    outputs = {
        number: tuple(
            _outputs([epoch[k] for epoch in lines[number]], source) for k, source in zip(chosen, sources, strict=True)
        )
        for number in members
    }
    return DevtestSet(total, sources, outputs, note)


def evenly(total: int, limit: int) -> list[int]:
    """At most `limit` numbers below `total`, evenly spaced, the first of them 0."""
    count = min(total, limit)
    return [k * total // count for k in range(count)]


def _place(run: Run, epoch: int) -> Path:
    return run.folder(epoch) / TRANSLATIONS


def _places(shards: Sequence[Shard], domain: str) -> list[tuple[Shard, int]]:
    """The sentences that a run translates: all, or its domain's if any sentence has it (itersel.run.devtest)."""
    places = [(shard, k) for shard in shards for k in range(len(shard))]
    return [(shard, k) for shard, k in places if domain and shard.domain(k) == domain] or places


def _sources(places: Sequence[tuple[Shard, int]]) -> tuple[Source, ...]:
    return tuple(
        Source(shard.id(k), shard.domain(k), shard.source(k), tuple(shard.references(k))) for shard, k in places
    )


def _outputs(lines: Sequence[str], source: Source) -> Outputs:
    texts = list(dict.fromkeys(lines))
    scores: tuple[float, ...] = ()
    if source.references:
        words = [reference.split(" ") for reference in source.references]
        scores = tuple(100 * sentence_values(METRIC, [text.split(" ") for text in texts], words))
    return Outputs(tuple(texts), scores, tuple(texts.index(line) for line in lines))


def open_shards(run: Run, key: str, most: int | None = None) -> tuple[list[Shard], str]:
    """The run's `shards` or `devtest`, or none and the reason; `most` ends it after this many sentences."""
    wanted = run.checksums(key)
    given = run.configuration.get(key)
    patterns = [str(pattern) for pattern in given] if isinstance(given, list) else []
    if not wanted or not patterns:
        return [], f"the run has no {key}"
    for folder in _folders(run):
        try:
            paths = expand([str(folder / pattern) for pattern in patterns], key)
        except UserError:
            continue
        if len(paths) != len(wanted):
            continue
        shards: list[Shard] = []
        for path, checksum in zip(paths, wanted, strict=True):
            try:
                shard = Shard(path)
            except InputError as error:
                return [], str(error)
            if f"{shard.checksum:016x}" != checksum:
                return [], f"{path} is no longer the file of this run"
            shards.append(shard)
            if most is not None and sum(map(len, shards)) >= most:
                break
        return shards, ""
    return [], f"the {key} files are not where the run found them: {', '.join(patterns)}"


def _folders(run: Run) -> Iterator[Path]:
    """Where the paths of a configuration may begin: here, or above the run."""
    yield Path()
    yield from Path(os.path.abspath(run.directory.path)).parents


def example_sentences(run: Run, sets: Sequence[DevtestSet], number: int, limit: int) -> list[Sentence]:
    """Sentences to find features in: the run's own devtest translations, then training data with its references."""
    best, found, translated = run.best, [], run.translated
    for one in sets:
        for source, outputs in zip(one.sources, one.outputs.get(number, ()), strict=False):
            if source.text is not None and best is not None and best.number in translated:
                text = outputs.texts[outputs.epochs[translated.index(best.number)]]
                found.append(Sentence("devtest", source.id, source.text, text))
    shards, _ = open_shards(run, "shards", limit)
    for shard in shards:
        for k in range(len(shard)):
            if len(found) < 2 * limit and shard.references(k):
                found.append(Sentence("train", shard.id(k), shard.source(k), shard.references(k)[0]))
    return found

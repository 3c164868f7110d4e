"""Shards with other feature groups, compiled from shards instead of text: nothing is extracted again.

A shard holds its sentences' rules whatever groups it was compiled with, so the same rules with other sparse templates
are only a matter of writing them anew. Experiments compare feature groups this way from one build.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from itersel.compile import ShardOptions
from itersel.errors import InputError
from itersel.features import parse_groups
from itersel.files import atomic_write
from itersel.progress import Progress
from itersel.shard import Shard
from itersel.workers import ordered_map


def regroup(shard: Shard, options: ShardOptions) -> bytes:
    """The content of a shard of the same sentences and rules; `options` must be those it was made with, but for
    `features`."""
    writer = options.writer()
    for number in range(len(shard)):
        writer.add(
            shard.source(number),
            shard.references(number),
            shard.grammar(number),
            id=shard.id(number),
            task=shard.task(number),
            path=f"{shard.path}: sentence {shard.id(number)}",
        )
    return writer.to_bytes()


def regrouped(
    paths: Sequence[str], features: str, options: ShardOptions, folder: Path, jobs: int = 1
) -> tuple[str, ...]:
    """The shards at `paths` with these feature groups, in the same order: themselves where they have just these.

    Others are in the folder under the checksum of what they were made from, so they are made once.
    """
    wanted = parse_groups(features)
    shards = [Shard(path) for path in paths]
    places = {
        number: folder / f"{shard.checksum:016x}.{'+'.join(sorted(wanted)) or 'dense'}.itsh"
        for number, shard in enumerate(shards)
        if shard.groups != wanted
    }
    missing = [number for number, place in places.items() if not _whole(place)]

    def make(number: int) -> int:
        content = regroup(shards[number], replace(options, features=features))
        with atomic_write(places[number], compress=False) as stream:
            stream.write(content)
        return len(shards[number])

    if missing:
        with Progress(f"features {features}", sum(len(shards[number]) for number in missing)) as progress:
            for count in ordered_map(make, missing, min(jobs, len(missing)), describe=lambda number: paths[number]):
                progress.advance(count)
    return tuple(str(places.get(number, path)) for number, path in enumerate(paths))


def _whole(place: Path) -> bool:
    with contextlib.suppress(InputError):
        Shard(place)
        return True
    return False

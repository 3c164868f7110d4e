"""Mapping and reducing where driver and workers see the same files: each result is a file of records.

An interrupted job resumes with the missing results. A result appears when it is complete; if it is not synced, a crash
of the machine may still cut it short, which `is_whole` notices.

    00000.mapped   records of work item 0, for the driver and for all ranges; noted in it: units of work and counts
    00000.reduced  records that the reducer of range 0 made
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.base.errors import InputError
from itersel.mapreduce.execution import map_item, reduce_range, silent
from itersel.mapreduce.job import DRIVER, Job, Record, Tell
from itersel.mapreduce.record_file import RecordFile, write_records
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem

JOBS = "jobs"
"""The folder, in an engine's own, of jobs under way; each has one named by its fingerprint."""


def mapped_path(folder: Path, item: int) -> Path:
    return folder / f"{item:05d}.mapped"


def reduced_path(folder: Path, key: int) -> Path:
    return folder / f"{key:05d}.reduced"


def is_whole(path: Path) -> bool:
    """Whether the result is there, and undamaged."""
    if not path.exists():
        return False
    try:
        RecordFile(path).check()
    except InputError:
        return False
    return True


def map_to_file(
    job: Job, item: WorkItem, side: Side, path: str | os.PathLike[str], tell: Tell = silent, *, sync: bool = True
) -> None:
    """Map the item into the file."""
    last: dict[str, float] = {}

    def listen(done: float, counts: Mapping[str, float]) -> None:
        last.update({key: float(counts.get(key, 0.0)) for key in job.counts})
        tell(done, counts)

    records = list(map_item(job, item, side, listen))
    write_records(path, records, json.dumps(last), sync=sync)


def reduce_to_file(
    job: Job,
    key: int,
    mapped: Sequence[str | os.PathLike[str]],
    side: Side,
    path: str | os.PathLike[str],
    *,
    sync: bool = True,
) -> None:
    """Reduce one range of the mapped items' files into the file."""
    records = (record for one in mapped for record in RecordFile(one).records(key))
    write_records(path, reduce_range(job, key, records, len(mapped), side), sync=sync)


def counts_of(path: str | os.PathLike[str]) -> dict[str, float]:
    """The counts that the mapper of this file reported last."""
    counts: dict[str, float] = json.loads(RecordFile(path).note)
    return counts


def driver_records(mapped: Sequence[Path], reduced: Sequence[Path]) -> Iterator[Record]:
    """What the files hold for the driver."""
    for path in mapped:
        yield from RecordFile(path).records(DRIVER)
    for path in reduced:
        yield from RecordFile(path).records()

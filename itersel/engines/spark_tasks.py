"""What Spark's workers run: a job's mapper over a partition of work items, its reducer over a partition of records.

Instances are pickled, so they hold what is small: the job's description and where its side files are. Those of the
whole run are files that Spark keeps once on each executor; those of one job come as broadcasts, which the first task
on an executor writes into a file beside them. A process that Spark uses again for the next task keeps what is loaded.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from itersel.base.errors import UserError
from itersel.base.files import atomic_write
from itersel.base.version import describe_build
from itersel.mapreduce import source_code
from itersel.mapreduce.execution import map_item, reduce_range
from itersel.mapreduce.failure import WorkerError
from itersel.mapreduce.job import DRIVER, Job, Record, load_job
from itersel.mapreduce.same_build import check_build
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem

DONE = "units of work"
"""The accumulator of the sizes of finished items; the others are called like the job's counts."""
PASSING = "itersel-passing"
"""The folder, beside Spark's own files of an executor, of what came as broadcasts."""
Sent = tuple[int, int, int, bytes]
"""A record as Spark carries it."""


class Largest:
    """How Spark adds to an accumulator that keeps the largest value."""

    def zero(self, value: float) -> float:
        return value

    def addInPlace(self, one: float, other: float) -> float:  # noqa: N802
        return max(one, other)


@dataclass(frozen=True)
class ShippedJob:
    """A job and its side files, as they travel."""

    description: Mapping[str, Any]
    lasting: Mapping[str, str]
    """Name of a side file → the name under which Spark has it."""
    passing: Mapping[str, str]
    """Name of a side file → the name of its local copy, which is by content."""
    contents: Mapping[str, Any]
    """Name of a local copy → broadcast of its bytes."""
    build: str = field(default_factory=describe_build)
    """The driver's."""

    def open(self) -> tuple[Job, Side]:
        """The job, and its side files as local paths, on a worker that runs the driver's code."""
        check_build(self.build)
        from pyspark import SparkFiles

        folder = Path(SparkFiles.getRootDirectory()).absolute() / PASSING
        self._write_passing(folder)
        paths = {name: os.path.abspath(SparkFiles.get(file)) for name, file in self.lasting.items()}
        paths |= {name: os.fspath(folder / copy) for name, copy in self.passing.items()}
        side = Side(paths)
        source_code.unpack(side)
        return load_job(self.description), side

    def _write_passing(self, folder: Path) -> None:
        """Write what is missing; what no longer serves goes then. A removed file that is mapped stays readable."""
        missing = [name for name in self.contents if not (folder / name).exists()]
        for name in missing:
            with atomic_write(folder / name, compress=False) as stream:
                stream.write(self.contents[name].value)
        for path in folder.iterdir() if missing else ():
            if path.name not in self.contents and not path.name.startswith("."):
                with contextlib.suppress(OSError):
                    path.unlink()


@dataclass(frozen=True)
class MapItems:
    """The map side: each element of a partition is a work item as JSON."""

    job: ShippedJob
    accumulators: Mapping[str, Any]
    """They report finished items to the driver."""

    def __call__(self, items: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Sent]]:
        try:
            job, side = self.job.open()
            for item in map(WorkItem.from_json, items):
                counts = _LastCounts()
                for record in map_item(job, item, side, counts.hear):
                    yield record.key, sent(record)
                self.accumulators[DONE].add(float(item.size))
                for key in job.counts:
                    self.accumulators[key].add(float(counts.values.get(key, 0.0)))
        except UserError as error:
            raise WorkerError(error) from None


class _LastCounts:
    """What a mapper reported last."""

    def __init__(self) -> None:
        self.values: Mapping[str, float] = {}

    def hear(self, done: float, counts: Mapping[str, float]) -> None:
        del done
        self.values = dict(counts)


@dataclass(frozen=True)
class Partitioner:
    """Range k goes to partition k; what is for the driver, to one more."""

    ranges: int

    def __call__(self, key: int) -> int:
        return self.ranges if key == DRIVER else key


@dataclass(frozen=True)
class ReducePartition:
    """The reduce side: a partition holds all items' records of one range; those for the driver pass."""

    job: ShippedJob
    ranges: int
    items: int

    def __call__(self, partition: int, records: Iterable[tuple[int, Sent]]) -> Iterator[Sent]:
        if partition == self.ranges:
            yield from (record for _, record in records)
            return
        try:
            job, side = self.job.open()
            received = (Record(*record) for _, record in records)
            yield from map(sent, reduce_range(job, partition, received, self.items, side))
        except UserError as error:
            raise WorkerError(error) from None


def sent(record: Record) -> Sent:
    return record.key, record.item, record.sequence, bytes(record.value)

"""A run's jobs, one after the other, on its engine: finished ones are kept until their round is over.

What a job handed to the driver is a file of records in the round's folder, under the job's fingerprint. A killed
round resumes after its last finished job; the engine itself may know which parts of an unfinished job are done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.figures import Declaration
from itersel.base.progress import Progress
from itersel.engines import Engine
from itersel.mapreduce import source_code
from itersel.mapreduce.fingerprint import fingerprint
from itersel.mapreduce.job import Job, Record
from itersel.mapreduce.record_file import MAPPED, RecordFile, write_records
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem


class JobRunner:
    """Runs jobs for one round, and keeps their records in the folder."""

    def __init__(self, engine: Engine, folder: Path, declaration: Declaration):
        self.engine, self.folder, self.declaration = engine, folder, declaration
        self.number = 0

    def run(
        self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], title: str | None = None
    ) -> list[Record]:
        """The job's records for the driver, from the engine or from the file of an earlier attempt.

        With a `title`, progress is shown under it.
        """
        self.number += 1
        note = fingerprint(job, items, side)
        place = self.folder / f"{self.number:03d}-{type(job).__name__}.records"
        known = _known_records(place, note)
        if known is not None:
            return known
        with source_code.with_code(job, side) as files:
            records = self._run(job, items, files, title)
        # Not synced, which would take as long as a short job: a file that a crash of the machine cut short is noticed.
        write_records(place, records, note, sync=False)
        if any(len(record.value) >= MAPPED for record in records):
            return list(RecordFile(place).records())
        return records

    def _run(
        self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], title: str | None
    ) -> list[Record]:
        if title is None:
            return list(self.engine.run(job, items, side, lambda *_: None))
        with Progress(title, sum(item.size for item in items), unit=job.unit) as progress:

            def tell(done: float, counts: Mapping[str, float]) -> None:
                progress.update(int(done), self.note(counts))

            return list(self.engine.run(job, items, side, tell))

    def note(self, counts: Mapping[str, float]) -> str:
        """The declared figures of the counts so far, for the progress line."""
        figures = [(figure, figure.value(counts)) for figure in self.declaration.shown("progress")]
        if not any(value for _, value in figures):
            return ""  # nothing yet, or an engine that knows only how far it is
        return ", ".join(f"{figure.label} {figure.text(value)}" for figure, value in figures if value is not None)


def _known_records(place: Path, note: str) -> list[Record] | None:
    """The records of an earlier attempt; None if there are none, they are of another job, or the file is damaged."""
    if not place.exists():
        return None
    try:
        known = RecordFile(place)
        return list(known.records()) if known.note == note else None
    except InputError:
        return None

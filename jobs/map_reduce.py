"""Any job of itersel as a job of mrjob: maps each work item, reduces each range of keys (code: itersel.mapreduce).

Input lines are work items as JSON. The job itself is a file (itersel.mapreduce.shipped_job), and its side files follow
in the order that the file names them. Output lines are records (itersel.mapreduce.record_file). docs/engines-hadoop.md
says how to make all of this by hand:

    python jobs/map_reduce.py -r local items.jsonl --job job.json --side lm.bin --side weights.vec > epoch.records
"""

import contextlib
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping

from mrjob.job import MRJob
from mrjob.protocol import RawProtocol, RawValueProtocol
from mrjob.step import MRStep

from itersel.base.errors import InputError, UserError
from itersel.mapreduce.execution import map_item, reduce_range
from itersel.mapreduce.failure import FINISHED, Failure, wait_until_read
from itersel.mapreduce.job import DRIVER
from itersel.mapreduce.record_file import parse_record_line, record_line
from itersel.mapreduce.shipped_job import read_job
from itersel.mapreduce.work_item import WorkItem

STATUS_INTERVAL = 30.0
"""Seconds between signs of life: engines end tasks that say nothing for long."""


class MapReduce(MRJob):
    INPUT_PROTOCOL = RawValueProtocol
    INTERNAL_PROTOCOL = RawProtocol
    OUTPUT_PROTOCOL = RawProtocol

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--job", help="description of the job, as itersel.mapreduce.shipped_job writes it")
        self.add_file_arg("--side", action="append", default=[], help="side files, in the order of the description")
        self.add_passthru_arg("--map-only", action="store_true", help="the job has no ranges to reduce")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        if self.options.job is None:
            self.arg_parser.error("--job is missing: name the file that describes the job")

    def steps(self) -> list[MRStep]:
        mapper = {"mapper_init": self.load, "mapper": self.mapper}
        if self.options.map_only:
            return [MRStep(**mapper)]
        return [MRStep(**mapper, reducer_init=self.load, reducer=self.reducer)]

    def load(self) -> None:
        with self.failure_told():
            self.shipped = read_job(self.options.job, self.options.side)
        self.told = time.monotonic()

    def mapper(self, _: None, line: str) -> Iterator[tuple[str, str]]:
        with self.failure_told():
            item = parse_item(line)
            self.note(item.name)  # first of all, so that the log of a task that was killed says which item it had
            job = self.shipped.job

            def tell(done: float, counts: Mapping[str, float]) -> None:
                del counts
                if time.monotonic() - self.told > STATUS_INTERVAL:
                    self.told = time.monotonic()
                    self.set_status(f"{done:.0f} of {item.size} {job.unit}")

            yield from map(record_line, map_item(job, item, self.shipped.side, tell))
        self.note(FINISHED)

    def reducer(self, key: str, values: Iterable[str]) -> Iterator[tuple[str, str]]:
        if int(key) == DRIVER:
            yield from ((key, value) for value in values)
            return
        shipped = self.shipped
        with self.failure_told():
            records = (parse_record_line(key, value) for value in values)
            yield from map(record_line, reduce_range(shipped.job, int(key), records, shipped.items, shipped.side))

    def note(self, text: str) -> None:
        self.stderr.write(f"{text}\n".encode())
        self.stderr.flush()

    @contextlib.contextmanager
    def failure_told(self) -> Iterator[None]:
        """An error that a user can mend goes into the log in a form that the driver finds there."""
        try:
            yield
        except UserError as error:
            self.note(Failure.of(error).line())
            with contextlib.suppress(OSError, ValueError):  # in a test, or inline, stderr is no file
                wait_until_read(self.stderr.fileno())
            raise


def parse_item(line: str) -> WorkItem:
    try:
        return WorkItem.from_json(json.loads(line))
    except ValueError:
        raise InputError(f"not a work item: {line[:200]!r}", hint="See docs/engines-hadoop.md.") from None


if __name__ == "__main__":
    sys.exit(MapReduce.run())

"""The records of finished jobs: kept, and made again if they are damaged or another job's."""

from __future__ import annotations

import contextlib

import pytest

from engine_contract import toy_data
from itersel.base.figures import Declaration
from itersel.engines.config import RunConfig
from itersel.engines.local import LocalEngine
from itersel.run.job_runner import JobRunner
from toy_job import ToyJob


@pytest.fixture
def again(tmp_path):
    """Runs a job as a new driver would; returns its records, and whether the engine had to work."""
    items, side = toy_data(tmp_path)
    worked = []

    class Watched(LocalEngine):
        def run(self, *arguments):
            worked.append(True)
            return super().run(*arguments)

    def run(job):
        worked.clear()
        with contextlib.closing(Watched(RunConfig("inline"), tmp_path / "engine")) as engine:
            records = JobRunner(engine, tmp_path / "jobs", Declaration("toy", "toy")).run(job, items, side)
        return [record._replace(value=bytes(record.value)) for record in records], bool(worked)

    return run


def test_finished_jobs_are_kept(again):
    first, worked = again(ToyJob(partitions=2))
    assert worked and first
    assert again(ToyJob(partitions=2)) == (first, False)
    assert again(ToyJob(partitions=3))[1], "another job in its place"


def test_damaged_records_are_made_again(again, tmp_path):
    """Cut short anywhere, as by a crash of the machine, or with one byte changed."""
    expected, _ = again(ToyJob(partitions=2))
    (place,) = (tmp_path / "jobs").iterdir()
    whole = place.read_bytes()
    damaged = [whole[:length] for length in range(0, len(whole), 7)]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 11)]
    for content in damaged:
        place.write_bytes(content)
        assert again(ToyJob(partitions=2)) == (expected, True)
        assert place.read_bytes() == whole

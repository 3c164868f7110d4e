"""The local engine's processes: how long they stay, what goes to which, and what becomes of them after an error."""

import contextlib
import json
import multiprocessing
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from itersel.base import workers
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.spare_processes import borrowed, share
from itersel.base.usage import cpu_seconds
from itersel.engines import crew
from itersel.engines.config import RunConfig
from itersel.engines.file_work import JOBS, map_to_file, mapped_path, reduce_to_file, reduced_path
from itersel.engines.local import LocalEngine
from itersel.mapreduce.fingerprint import fingerprint
from itersel.mapreduce.job import DRIVER, Job
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import WorkItem

seen = []
"""What this process has done: forked processes have lists of their own."""


@dataclass(frozen=True)
class PidJob(Job):
    """Says which process worked on an item or a range, and what that one had done before."""

    step: int = 0

    def map(self, item, side, tell):
        if item.values.get("fail") == self.step:
            raise InputError("this one fails")
        if item.values.get("die") == self.step:
            os.kill(os.getpid(), signal.SIGKILL)
        yield DRIVER, json.dumps([os.getpid(), item.number, list(seen)]).encode()
        seen.append([self.step, item.number])

    def reduce(self, key, values, side):
        yield json.dumps([os.getpid(), -1, list(seen)]).encode()


@dataclass(frozen=True)
class LoadingJob(PidJob):
    """Loads something that PidJob does not."""

    def warm(self, side):
        seen.append(["loaded", Path(side.path("text")).read_text()])


@dataclass(frozen=True)
class BusyJob(Job):
    """Uses a tenth of a second of processor time per item."""

    def map(self, item, side, tell):
        end = cpu_seconds() + 0.1
        while cpu_seconds() < end:
            pass
        yield DRIVER, b"done"


def items(count=2, **values):
    return [WorkItem(number, f"item {number}", values=values if number == 1 else {}) for number in range(count)]


@pytest.fixture(name="engine")
def _engine(tmp_path):
    del seen[:]
    with contextlib.closing(LocalEngine(RunConfig("local", jobs=2), tmp_path)) as engine:
        yield engine
    assert not multiprocessing.active_children()


def run(engine, job, work, side=None):
    """(process, item, what it had done) of each record."""
    return [json.loads(record.value) for record in engine.run(job, work, side or {}, lambda *_: None)]


def test_processes_stay_for_jobs_over_the_same_items(engine):
    work, homes = items(), set()
    for step in range(4):
        made = run(engine, PidJob(2, step), work)
        mapped = {item: pid for pid, item, _ in made if item >= 0}
        homes.add((mapped[0], mapped[1]))
        assert {pid for pid, *_ in made} == set(mapped.values()), "ranges are reduced by the same two"
        assert os.getpid() not in mapped.values()
        for _, item, before in made[:2]:
            assert before == [[earlier, item] for earlier in range(step)]
    assert len(homes) == 1 and len(set(*homes)) == 2, "each item stays with its process"


def test_idle_processes_are_borrowed_and_given_back(tmp_path):
    with share(1), contextlib.closing(LocalEngine(RunConfig("local", jobs=1), tmp_path)) as engine:
        mapped = {pid for pid, item, _ in run(engine, PidJob(), items(3)) if item >= 0}
        assert len(mapped) == 2 and os.getpid() not in mapped
        with borrowed(1) as count:
            assert count == 0, "they stay for the next job"
        engine.rest()
        with borrowed(2) as count:
            assert count == 1


def test_one_process_alone_borrows_none(tmp_path):
    with share(1), contextlib.closing(LocalEngine(RunConfig("inline"), tmp_path)) as engine:
        assert {pid for pid, *_ in run(engine, PidJob(step=1), items(3))} == {os.getpid()}


def test_other_items_and_what_is_loaded_need_other_processes(engine, tmp_path):
    text = tmp_path / "text"
    text.write_text("a model")
    side = {"text": SideFile(str(text))}

    def pids(job, work):
        return {pid for pid, *_ in run(engine, job, work, side)}

    first = pids(PidJob(), items())
    assert pids(PidJob(step=1), items()) == first, "equal items are the same ones"
    others = pids(PidJob(step=2), items(state=1))
    assert not first & others and len(multiprocessing.active_children()) == 2
    loading = run(engine, LoadingJob(), items(state=1), side)
    assert [before[-1] for _, _, before in loading] == [["loaded", "a model"]] * 2
    assert not others & {pid for pid, *_ in loading}
    assert seen == [["loaded", "a model"]]
    assert {pid for pid, *_ in run(engine, LoadingJob(step=1), items(state=1), side)} == {pid for pid, *_ in loading}
    assert seen == [["loaded", "a model"]], "the processes have it already"


def test_more_items_than_processes(engine):
    work = items(9)
    for step in range(3):
        made = run(engine, PidJob(3, step), work)
        assert [item for _, item, _ in made] == [*range(9), -1, -1, -1]
        assert len({pid for pid, *_ in made}) <= 2


def test_there_are_no_more_processes_than_the_machine_can_use(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "ALWAYS_ALLOWED", 3)
    monkeypatch.setattr(workers, "PER_CORE", 0)
    with contextlib.closing(LocalEngine(RunConfig("local", jobs=100), tmp_path)) as engine:
        made = run(engine, PidJob(20), items(20))
        assert len({pid for pid, *_ in made}) <= 3 == len(multiprocessing.active_children())


def test_results_that_a_crash_of_the_machine_cut_short_are_made_again(tmp_path, monkeypatch):
    """They are not synced: one may be empty, lack its end, or have other bytes in it."""
    work, job = items(5), PidJob(3)
    folder = tmp_path / JOBS / fingerprint(job, work, {})
    mapped = [mapped_path(folder, item.number) for item in work]
    for item, path in zip(work, mapped, strict=True):
        map_to_file(job, item, Side({}), path)
    for key in range(3):
        reduce_to_file(job, key, mapped, Side({}), reduced_path(folder, key))
    whole = mapped[0].read_bytes()
    mapped[1].write_bytes(b"")
    mapped[2].write_bytes(whole[:-1])
    mapped[3].write_bytes(whole[:-1] + b"\0")
    reduced_path(folder, 1).write_bytes(bytes(100))
    again = []
    for name in ("map_to_file", "reduce_to_file"):
        original = getattr(crew, name)
        monkeypatch.setattr(
            crew, name, lambda job, part, *rest, of=original, **keys: (again.append(part), of(job, part, *rest, **keys))
        )
    with contextlib.closing(LocalEngine(RunConfig("inline"), tmp_path)) as engine:
        made = run(engine, job, work)
    assert again == [work[1], work[2], work[3], 1]
    assert [item for _, item, _ in made] == [0, 1, 2, 3, 4, -1, -1, -1]


def test_one_item_needs_no_process(engine):
    assert [pid for pid, *_ in run(engine, PidJob(1), items(1))] == [os.getpid()] * 2
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"fail": 1}, InputError, "item 1: this one fails"),
        ({"die": 1}, ResourceError, "a worker process was killed by SIGKILL at item 1"),
    ],
)
def test_an_error_ends_the_processes_and_not_the_engine(engine, values, error, message):
    work = items(2, **values)
    before = {pid for pid, *_ in run(engine, PidJob(), work)}
    with pytest.raises(error, match=message):
        run(engine, PidJob(step=1), work)
    assert not multiprocessing.active_children()
    after = run(engine, PidJob(step=2), work)
    assert not before & {pid for pid, *_ in after}


def test_a_job_that_a_process_cannot_find_is_named(engine):
    @dataclass(frozen=True)
    class Hidden(PidJob):
        """Of a function, so that no other process can import it."""

    with pytest.raises(ConfigError, match=r"Hidden"):
        run(engine, Hidden(), items())
    assert not multiprocessing.active_children()


def test_a_process_that_was_killed_between_jobs_is_named(engine):
    work = items()
    victim = run(engine, PidJob(), work)[0][0]
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(ResourceError, match="a worker process was killed by SIGKILL"):
        run(engine, PidJob(step=1), work)
    assert [item for _, item, _ in run(engine, PidJob(step=1), work)] == [0, 1]


def test_time_of_processes_counts_once_they_rest(engine):
    before = cpu_seconds()
    list(engine.run(BusyJob(), items(), {}, lambda *_: None))
    engine.rest()
    assert not multiprocessing.active_children()
    assert cpu_seconds() - before >= 0.2

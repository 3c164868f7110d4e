"""The local engine's processes: how long they stay, what goes to which, and what becomes of them after an error."""

import contextlib
import json
import multiprocessing
import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from itersel.base import workers
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.spare_processes import borrowed, give, share
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
class OtherLoadingJob(PidJob):
    """Loads the same in another way."""

    def warm(self, side):
        seen.append(["loaded again", Path(side.path("text")).read_text()])


@dataclass(frozen=True)
class CountingJob(PidJob):
    """Counts."""

    counts: ClassVar[dict[str, str]] = {"sum": "sum", "largest": "max"}

    def map(self, item, side, tell):
        tell(1, {"sum": item.number, "largest": item.number})
        yield from super().map(item, side, tell)


@dataclass(frozen=True)
class StateJob(Job):
    """Hands over what items carry, after the process."""

    def map(self, item, side, tell):
        yield DRIVER, b"%d %s" % (os.getpid(), item.read_state())


travelled = []
"""The numbers of items that were sent."""


@dataclass(frozen=True)
class TracedItem(WorkItem):
    """Notes that it is sent."""

    def __getstate__(self):
        travelled.append(self.number)
        return vars(self)


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


def stateful(states):
    return [TracedItem(number, f"item {number}", state_content=state) for number, state in enumerate(states)]


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


def pids_of(made):
    return {pid for pid, *_ in made}


def test_processes_stay_for_other_items(engine):
    first = run(engine, PidJob(2), items())
    more = run(engine, PidJob(2, 1), items(5))
    fewer = run(engine, PidJob(2, 2), items(3, fail=7))
    assert pids_of(first) == pids_of(more) == pids_of(fewer) and len(pids_of(first)) == 2
    assert [item for _, item, _ in more] == [0, 1, 2, 3, 4, -1, -1]
    assert [item for _, item, _ in fewer] == [0, 1, 2, -1, -1]
    with pytest.raises(InputError, match="item 1: this one fails"):
        run(engine, PidJob(2, 7), items(3, fail=7))


def test_one_item_goes_to_processes_that_are_there(engine):
    pids = pids_of(run(engine, PidJob(), items()))
    assert pids_of(run(engine, PidJob(), items(1))) < pids
    assert pids_of(run(engine, PidJob(), items())) == pids


def test_states_are_those_of_the_job(engine):
    homes = set()
    for text in (b"old", b"new", b"new", b"", b"old"):
        states = [text + b"%d" % number for number in range(2)]
        found = list(engine.run(StateJob(), stateful(states), {}, lambda *_: None))
        assert [record.value.split(b" ", 1)[1] for record in found] == states
        homes.add(tuple(record.value.split(b" ", 1)[0] for record in found))
    assert len(homes) == 1 and len(set(*homes)) == 2, "a shard stays with its process, whatever it carries"


def test_an_item_travels_to_a_process_once_and_only_if_it_is_needed_there(engine):
    del travelled[:]
    for step in range(3):
        run(engine, PidJob(2, step), stateful([b"a", b"b"]))
    assert sorted(travelled) == [0, 1], "each to one of two processes"
    run(engine, PidJob(2, 3), stateful([b"a", b"c"]))
    assert sorted(travelled) == [0, 0, 1, 1], "other items are sent anew"


def test_items_of_former_jobs_are_forgotten(tmp_path):
    def task(item):
        return crew.Task(PidJob(1), Side({}), tmp_path, item.number, item)

    hand = crew.Hand(crew.ProgressBoard(2))
    old, new = items(), items(state="new")
    for one in old:
        hand(crew.Order(task(one), edition=1))
    hand(crew.Order(replace(task(old[0]), item=None), edition=1))
    assert hand.items == {0: old[0], 1: old[1]}
    hand(crew.Order(task(new[1]), edition=2))
    assert hand.items == {1: new[1]}
    hand(crew.Order(crew.Task(PidJob(1), Side({}), tmp_path, 0, mapped=(0, 1)), edition=3))
    assert hand.items == {}


def test_what_is_loaded_needs_other_processes_once(engine, tmp_path):
    text, other = tmp_path / "text", tmp_path / "other"
    text.write_text("a model")
    other.write_text("another")
    side = {"text": SideFile(str(text), lasting=True)}
    without = run(engine, PidJob(), items())
    loading = run(engine, LoadingJob(), items(), side)
    assert [before[-1] for _, _, before in loading] == [["loaded", "a model"]] * 2
    assert not pids_of(without) & pids_of(loading) and len(multiprocessing.active_children()) == 2
    for step in range(1, 3):
        assert pids_of(run(engine, LoadingJob(step=step), items(3), side)) == pids_of(loading)
        assert pids_of(run(engine, PidJob(step=step), items())) == pids_of(loading), "it needs nothing"
    assert seen == [["loaded", "a model"]], "the processes have it already"
    again = run(engine, OtherLoadingJob(), items(), side)
    assert not pids_of(again) & pids_of(loading)
    assert pids_of(run(engine, LoadingJob(step=3), items(), side)) == pids_of(again), "they have both"
    assert len(seen) == 2
    changed = run(engine, LoadingJob(), items(), {"text": SideFile(str(other), lasting=True)})
    assert not pids_of(again) & pids_of(changed)
    assert [before[-1] for _, _, before in changed] == [["loaded", "another"]] * 2


def test_progress_fits_the_job(engine, monkeypatch):
    monkeypatch.setattr(crew, "ROOM", 6)
    pids = set()
    for count, job in [
        (2, CountingJob()),
        (6, PidJob()),
        (2, CountingJob(step=1)),
        (9, CountingJob()),
        (9, PidJob(step=1)),
    ]:
        told = []
        work = [replace(item, size=10 + item.number) for item in items(count)]
        made = list(engine.run(job, work, {}, lambda *one, told=told: told.append(one)))
        numbers = range(count)
        counts = {"sum": float(sum(numbers)), "largest": float(count - 1)} if job.counts else {}
        assert told[0] == (0.0, dict.fromkeys(job.counts, 0.0))
        assert told[-1] == (10.0 * count + sum(numbers), counts)
        pids.add(frozenset(json.loads(record.value)[0] for record in made))
    assert len(pids) == 2, "only a job that does not fit on the board needs other processes"


def test_processes_that_become_idle_are_borrowed_between_jobs(tmp_path):
    with share(), contextlib.closing(LocalEngine(RunConfig("local", jobs=2), tmp_path)) as engine:
        first = pids_of(run(engine, PidJob(), items(4)))
        engine.pause()
        assert len(multiprocessing.active_children()) == 2, "nobody can use its own two"
        give(3)
        more = run(engine, PidJob(step=1), items(4))
        assert first <= {child.pid for child in multiprocessing.active_children()}
        assert [item for _, item, _ in more] == [0, 1, 2, 3] and len(multiprocessing.active_children()) == 4
        with borrowed(3) as count:
            assert count == 1
        engine.pause()
        assert not multiprocessing.active_children()
        with borrowed(5) as count:
            assert count == 3


def test_nothing_is_left_of_finished_jobs(engine, tmp_path):
    for step in range(3):
        run(engine, PidJob(2, step), items())
        assert len(list((tmp_path / JOBS).iterdir())) == 1, "the last one's files, until processes work again"
    first = run(engine, PidJob(2, 2), items())
    assert [before[-1] for _, _, before in first[:2]] == [[2, 0], [2, 1]], "it is done again, not found"
    engine.pause()
    assert not (tmp_path / JOBS).exists()
    run(engine, PidJob(2), items())
    engine.rest()
    assert not list((tmp_path / JOBS).iterdir())


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


def test_a_process_that_dies_at_other_items_is_named(engine):
    run(engine, PidJob(), items())
    with pytest.raises(ResourceError, match="killed by SIGKILL at item 1"):
        run(engine, PidJob(step=1), items(4, die=1))
    assert not multiprocessing.active_children()
    assert [item for _, item, _ in run(engine, PidJob(step=2), items(4, die=1))] == [0, 1, 2, 3]


def test_time_of_processes_counts_while_they_stay_and_once(engine):
    before = cpu_seconds()
    list(engine.run(BusyJob(), items(), {}, lambda *_: None))
    assert len(multiprocessing.active_children()) == 2
    used = cpu_seconds() - before
    assert used >= 0.2
    engine.rest()
    assert not multiprocessing.active_children()
    assert used <= cpu_seconds() - before < used + 0.15

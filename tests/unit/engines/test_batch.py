"""Waiting for a batch queue: retries, dependent stages, lost outputs and silence, on a queue that does what it is told.

What real queues do is tested on real ones, in tests/jobs; here are cases that they cannot be made to produce quickly.
"""

import json
import re
import socket
from pathlib import Path

import pytest

from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.base.version import describe_build
from itersel.engines import batch, batch_worker
from itersel.engines.batch import ArrayStage, ArrayTask, Batch
from itersel.engines.batch_queue import BatchQueue, TaskState

RUNNING, COMPLETED = TaskState("RUNNING"), TaskState("COMPLETED", complete=True)
FAILED, CANCELLED = TaskState("FAILED", failed=True), TaskState("CANCELLED", failed=True, cancelled=True)
SUCCEED = object()
"""In a script: the task writes its output and completes."""


class ScriptedQueue(BatchQueue):
    """Tasks behave as `script` says: output name → what happens in each attempt (by default it succeeds)."""

    submit_command = "true"
    forbidden, private, kept = "?", ("NOTHING_",), ()
    array_size = 1000

    def __init__(self, script=None):
        super().__init__("name", Path("to be chosen"))
        self.script = {name: list(steps) for name, steps in (script or {}).items()}
        self.jobs, self.cancelled, self.silent = [], [], 0

    def submit(self, job):
        tasks = json.loads((self.folder / f"{job.log}.json").read_text())["tasks"]
        self.jobs.append((job, tasks))
        return len(self.jobs)

    def states(self, jobs):
        if self.silent:
            self.silent -= 1
            return None
        return {place: state for number in list(jobs) for place, state in self.progress(number) if state is not None}

    def progress(self, number):
        """One look at a job moves it on: those it waits for decide whether it may start, then its tasks end."""
        job, tasks = self.jobs[number - 1]
        before = [self.ends.get((one, k)) for one in job.after for k in range(self.jobs[one - 1][0].tasks)]
        for index, task in enumerate(tasks):
            place = (number, index)
            if place in self.ends:
                yield place, self.ends[place]
            elif number in self.cancelled or any(end is not None and end.failed for end in before):
                self.ends[place] = CANCELLED
                yield place, CANCELLED
            elif None in before:
                yield place, TaskState("PENDING")
            else:
                steps = self.script.get(task["output"].rsplit("/")[-1], [])
                step = steps.pop(0) if steps else SUCCEED
                if step is SUCCEED:
                    open(task["output"], "w").close()
                    step = COMPLETED
                if isinstance(step, UserError):
                    batch_worker.write_error(batch_worker.error_file(self.folder / f"{job.log}.json", index), step)
                    step = FAILED
                self.ends[place] = step
                yield place, step

    def explain(self, place):
        return f"task {place[0]}.{place[1]}"

    def cancel(self, jobs):
        self.cancelled += jobs

    def named(self):
        return []


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Time passes by itself: a pause of any length takes none."""
    clock = [0.0]
    monkeypatch.setattr(batch.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(batch.time, "sleep", lambda seconds: clock.__setitem__(0, clock[0] + seconds))
    return clock


@pytest.fixture
def run(tmp_path):
    """Runs a stage of three map tasks and one of two reduce tasks; gives what was said and done."""

    def run(queue, present=()):
        queue.ends, queue.folder = {}, tmp_path
        (tmp_path / "out").mkdir()
        for name in present:
            (tmp_path / "out" / name).touch()
        stages = [stage(tmp_path / "out", "map", 3), stage(tmp_path / "out", "reduce", 2)]
        scripts, said, done = dict.fromkeys(("map", "reduce"), tmp_path / "script"), [], []
        whole = Batch(queue, scripts, python="python", limit=None, warn=said.append)
        whole.run(stages, lambda task: done.append(task.name))
        assert sorted(done) == sorted(task.name for one in stages for task in one.tasks), "each task once"
        return said

    return run


def stage(folder, kind, count):
    outputs = [folder / f"{kind}{number}" for number in range(count)]
    return ArrayStage(kind, [ArrayTask({"output": str(path)}, path, f"shard {path.name}") for path in outputs], {})


def submitted(queue):
    return [([task["output"].rsplit("/")[-1] for task in tasks], list(job.after)) for job, tasks in queue.jobs]


MAPS, REDUCES = ["map0", "map1", "map2"], ["reduce0", "reduce1"]


def test_two_jobs_if_all_is_well(run):
    queue = ScriptedQueue()
    assert run(queue) == []
    assert submitted(queue) == [(MAPS, []), (REDUCES, [1])]


def test_only_what_is_missing_is_submitted(run):
    queue = ScriptedQueue()
    run(queue, present=["map0", "map2"])
    assert submitted(queue) == [(["map1"], []), (REDUCES, [1])]


def test_nothing_to_map(run):
    queue = ScriptedQueue()
    run(queue, present=MAPS)
    assert submitted(queue) == [(REDUCES, [])]


def test_array_jobs_are_no_larger_than_the_site_allows(run):
    queue = ScriptedQueue()
    queue.array_size = 2
    run(queue)
    assert submitted(queue) == [(["map0", "map1"], []), (["map2"], []), (REDUCES, [1, 2])]


def test_failed_tasks_are_tried_again_and_then_reduced(run):
    queue = ScriptedQueue({"map1": [FAILED, FAILED], "reduce0": [FAILED]})
    said = run(queue)
    assert submitted(queue) == [
        (MAPS, []), (REDUCES, [1]), (["map1"], []), (["map1"], []), (REDUCES, []), (["reduce0"], [])
    ]  # fmt: skip
    assert queue.cancelled == [2]
    assert said == [
        "shard map1: the map task failed. It said nothing.\n  task 1.1; attempt 2 of 3",
        "shard map1: the map task failed. It said nothing.\n  task 3.0; attempt 3 of 3",
        "shard reduce0: the reduce task failed. It said nothing.\n  task 5.0; attempt 2 of 3",
    ]


def test_attempts_are_bounded_and_the_task_has_the_word(run, tmp_path):
    queue = ScriptedQueue({"map1": [FAILED] * 9})
    (tmp_path / "map-4-0.log").write_text("Traceback:\nMemoryError\n")
    with pytest.raises(ResourceError) as caught:
        run(queue)
    assert str(caught.value) == (
        "shard map1: the map task failed. It said:\n    Traceback:\n    MemoryError\n  task 4.0. It was tried 3 times."
    )


def test_bad_input_is_not_tried_again(run):
    bad = InputError("the checksum is wrong", where="shards/7.itsh", hint="Compile it again.")
    queue = ScriptedQueue({"map2": [bad]})
    words = rf"shards/7\.itsh: the checksum is wrong \(on {re.escape(socket.gethostname())}\)\n  Compile it again\."
    with pytest.raises(InputError, match=words):
        run(queue)
    assert len(queue.jobs) == 2


def test_an_error_of_the_machine_is_tried_again_and_then_has_the_word(run):
    queue = ScriptedQueue({"map2": [ResourceError("the disk is full", where="/scratch")] * 3})
    with pytest.raises(ResourceError, match=r"^/scratch: the disk is full"):
        run(queue)
    assert submitted(queue)[2:] == [(["map2"], []), (["map2"], [])]


def test_what_somebody_cancelled_stays_cancelled(run):
    queue = ScriptedQueue({"map2": [CANCELLED]})
    with pytest.raises(ResourceError, match=r"shard map2: the map task failed. It said nothing\."):
        run(queue)
    assert len(queue.jobs) == 2


def test_output_before_a_failed_end_counts(run, tmp_path):
    queue = ScriptedQueue({"map1": [FAILED]})
    progress = queue.progress

    def with_output(number):
        (tmp_path / "out" / "map1").touch()
        return progress(number)

    queue.progress = with_output
    assert run(queue) == []
    assert submitted(queue) == [(MAPS, []), (REDUCES, [1]), (REDUCES, [])]


def test_lost_output_is_waited_for_and_then_made_again(run, quick):
    queue = ScriptedQueue({"map1": [COMPLETED], "reduce0": [FAILED]})
    assert run(queue) == ["shard map1: the map task failed. It said nothing.\n  task 1.1; attempt 2 of 3"]
    assert quick[0] >= batch.GRACE_SECONDS
    assert submitted(queue)[2:] == [(["map1"], []), (["reduce0"], [])]


def test_a_queue_may_be_silent_for_a_while_but_not_for_ever(run, quick):
    queue = ScriptedQueue()
    queue.silent = 20
    assert run(queue) == []


def test_a_queue_that_is_silent_for_ever(run, quick):
    queue = ScriptedQueue()
    queue.silent = 10**9
    with pytest.raises(ResourceError, match="the queue has not answered for 9"):
        run(queue)


def test_unusual_reasons_to_wait_are_told_once(run):
    waiting = TaskState("PENDING", concern="ReqNodeNotAvail")
    queue, looks = ScriptedQueue(), []
    states = queue.states

    def slow(jobs):
        looks.append(0)
        return {(1, k): waiting for k in range(3)} if len(looks) < 4 else states(jobs)

    queue.states = slow
    assert run(queue) == ["tasks wait in the queue: ReqNodeNotAvail"]


def test_worker_of_another_version(tmp_path, capsys):
    path = tmp_path / "map-1.json"
    batch_worker.write_tasks(path, "map", {}, [{}])
    path.write_text(path.read_text().replace('"itersel": "', '"itersel": "9.9.'))
    assert batch_worker.main([str(path), "0"]) == 2
    assert "the driver runs itersel 9.9." in capsys.readouterr().err
    error = batch_worker.read_error(batch_worker.error_file(path, 0))
    assert isinstance(error, ConfigError)
    assert "but the worker" in str(error)
    assert "Install the driver's itersel on all nodes" in str(error)


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": "map"}', '{"kind": "other", "settings": {}, "tasks": [{}]}'])
def test_damaged_file_of_tasks(tmp_path, text):
    path = tmp_path / "map-1.json"
    path.write_text(text if "kind" not in text else text.replace("{", f'{{"itersel": "{describe_build()}", ', 1))
    with pytest.raises(InputError, match=r"map-1\.json"):
        batch_worker.run_task(path, 0)


def test_usage(capsys):
    assert batch_worker.main(["file"]) == 2
    assert "usage" in capsys.readouterr().err

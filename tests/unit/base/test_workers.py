"""Ordered work in processes: order, errors in their turn, deaths, early ends."""

import contextlib
import itertools
import multiprocessing
import os
import signal
import time

import pytest

from itersel.base import workers
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.workers import Workers, ordered_map, process_count


def slow_first(number):
    time.sleep(0.2 if number == 0 else 0)
    return number * number


def fails_at_seven(number):
    if number == 7:
        raise InputError("seven", where="list:7", hint="Take eight.")
    return number


def dies_at_three(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def collect(results):
    """What came out before the error, and the error."""
    found = []
    try:
        for result in results:
            found.append(result)
    except Exception as error:
        return found, error
    return found, None


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs):
    assert list(ordered_map(slow_first, range(300), jobs)) == [number * number for number in range(300)]
    assert list(ordered_map(slow_first, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_errors_come_in_their_turn(jobs):
    found, error = collect(ordered_map(fails_at_seven, range(100), jobs))
    assert found == list(range(7))
    assert isinstance(error, InputError)
    assert str(error) == "list:7: seven\n  Take eight."


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_of_the_items_comes_after_the_results_before_it(jobs):
    def items():
        yield from range(5)
        raise InputError("no more", where="list:6")

    found, error = collect(ordered_map(slow_first, items(), jobs))
    assert found == [0, 1, 4, 9, 16]
    assert str(error) == "list:6: no more"


def test_a_killed_process_is_reported():
    with pytest.raises(ResourceError, match="killed by SIGKILL at number 3") as caught:
        list(ordered_map(dies_at_three, range(100), 2, describe=lambda number: f"number {number}"))
    assert "fewer jobs" in caught.value.hint
    assert caught.value.exit_code == 1
    assert not multiprocessing.active_children()


def test_a_process_that_exits_is_reported():
    with pytest.raises(ResourceError, match=r"ended with exit code 5 at [0-2]"):
        list(ordered_map(lambda _: os._exit(5), range(3), 2))


def test_a_defect_keeps_its_traceback():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        list(ordered_map(lambda number: 1 // number, range(3), 2))


def test_only_a_window_of_items_is_read():
    taken = []

    def items():
        for number in itertools.count():
            taken.append(number)
            yield number

    results = ordered_map(slow_first, items(), 2)
    assert [next(results) for _ in range(3)] == [0, 1, 4]
    time.sleep(0.1)
    assert len(taken) < 50
    results.close()
    assert not multiprocessing.active_children()


def test_a_result_does_not_wait_for_the_next_item():
    def items():
        yield 1
        time.sleep(60)

    results = ordered_map(slow_first, items(), 2)
    started = time.monotonic()
    assert next(results) == 1
    results.close()
    assert time.monotonic() - started < 30


def test_processes_can_join_between_maps():
    with contextlib.closing(Workers(lambda item: (os.getpid(), item), 1)) as some:
        alone = {pid for pid, _ in some.map(range(20))}
        some.grow(2)
        assert alone < {process.pid for process in some.processes.values()}
        assert [item for _, item in some.map(range(20))] == list(range(20))
        assert len(some.processes) == 3


def test_items_go_home_packed_for_their_process():
    with contextlib.closing(Workers(lambda item: (os.getpid(), item), 2)) as some:
        names = {connection: process.pid for connection, process in some.processes.items()}

        def pack(item, connection):
            return item, names[connection]

        homes = set()
        for _ in range(3):
            made = list(some.map_at_home(range(4), lambda item: item % 2, pack))
            assert [item for _, (item, _) in made] == list(range(4))
            assert all(pid == packed for pid, (_, packed) in made)
            homes.add((made[0][0], made[1][0]))
        assert len(homes) == 1
        assert list(some.map_at_home([], hash, pack)) == []


def test_what_fails_while_items_are_handed_out_ends_the_processes():
    def pack(item, _):
        if item == 5:
            raise InputError("too large")
        return item

    some = Workers(lambda item: item, 2)
    with pytest.raises(InputError, match="too large"):
        list(some.map_at_home(range(9), hash, pack))
    assert not multiprocessing.active_children()


def test_jobs_are_checked():
    with pytest.raises(ConfigError, match="jobs is 0"):
        ordered_map(slow_first, [1], 0)


def test_there_are_no_more_processes_than_items():
    assert process_count(1_000_000, 2) == 2
    assert process_count(5, 0) == 1
    pids = set(ordered_map(lambda _: os.getpid(), [1], 1000))
    assert pids == {os.getpid()}


def test_there_are_no_more_processes_than_the_machine_can_use(monkeypatch, capsys):
    workers._say_limit.cache_clear()
    monkeypatch.setattr(workers, "ALWAYS_ALLOWED", 3)
    monkeypatch.setattr(workers, "PER_CORE", 0)
    pids = set(ordered_map(lambda _: os.getpid(), iter(range(100)), 5000))
    assert 1 <= len(pids) <= 3
    assert "5,000 processes are more than this machine can use: 3 work" in capsys.readouterr().err


def is_alive(pid):
    """Whether the process runs; one that waits to be collected does not."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_busy_processes_end_with_the_one_that_started_them(end):
    reading, writing = os.pipe()

    def never_ends(_):
        os.write(writing, b"%d\n" % os.getpid())
        while True:
            time.sleep(60)

    driver = multiprocessing.get_context("fork").Process(target=lambda: list(ordered_map(never_ends, range(4), 2)))
    driver.start()
    pids = b""
    while pids.count(b"\n") < 2:
        pids += os.read(reading, 100)
    os.kill(driver.pid, end)
    driver.join()
    for pid in map(int, pids.split()):
        for _ in range(6000):
            if not is_alive(pid):
                break
            time.sleep(0.01)
        else:
            pytest.fail(f"process {pid} is still there")

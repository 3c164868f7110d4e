"""Ordered work in processes: order, errors in their turn, deaths, early ends."""

import itertools
import multiprocessing
import os
import signal
import time

import pytest

from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.workers import ordered_map


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


def test_jobs_are_checked():
    with pytest.raises(ConfigError, match="jobs is 0"):
        ordered_map(slow_first, [1], 0)

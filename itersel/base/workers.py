"""Work in forked processes: items in, results out in the same order, for any number of processes.

What the function holds (a language model, a grammar) is loaded once, before the processes are forked, and shared by
them; items and results are pickled. Only a limited number of items is in progress, and a result is yielded as soon as
it is next in order, even while the next input item is not yet there. The processes end with the one that started them,
however that ends.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Generator, Hashable, Iterable, Sized
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, Generic, TypeVar

from itersel.base import events, usage
from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.feeder import AtHome, Feeder, Stream
from itersel.base.processes import end_with

Item = TypeVar("Item")
Result = TypeVar("Result")

TICK = 0.2  # seconds between calls of `tick`, at most
HELD_BACK = {signal.SIGINT, signal.SIGTERM}
PER_CORE, ALWAYS_ALLOWED = 4, 64
"""At most this many processes per core, or those allowed on any machine, whichever is more."""


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int = 1,
    *,
    describe: Callable[[Item], str] = repr,
    tick: Callable[[], None] | None = None,
    nested: bool = False,
) -> Generator[Result, None, None]:
    """Yield `function(item)` for each item, in order, computed by `jobs` processes; with one job, in this process.

    The first error in the order of the items is raised when its turn comes, so that the results before it are the same
    for any number of jobs. A process that dies is a ResourceError with its signal and `describe(item)`. Closing the
    generator, or an error, ends the processes at once. While several jobs work, `tick` is called a few times a second,
    for the first time when they begin.
    There are never more processes than items, if their number is known, nor than the machine can use. With `nested`,
    the function may itself start processes.
    """
    jobs = process_count(jobs, len(items) if isinstance(items, Sized) else None)
    if jobs == 1:
        return (function(item) for item in items)
    return _parallel(function, items, jobs, describe, tick, nested)


def process_count(jobs: int, items: int | None = None) -> int:
    """How many processes work if `jobs` are asked for, on this many items."""
    if jobs < 1:
        raise ConfigError(f"jobs is {jobs}", hint="Give the number of processes, at least 1.")
    if items is not None:
        jobs = min(jobs, max(items, 1))
    limit = max(ALWAYS_ALLOWED, PER_CORE * len(os.sched_getaffinity(0)))
    if jobs > limit:
        _say_limit(jobs, limit)
    return min(jobs, limit)


@functools.lru_cache(maxsize=1)
def _say_limit(jobs: int, limit: int) -> None:
    """Once, not at each epoch."""
    events.note(f"{jobs:,} processes are more than this machine can use: {limit} work")


def _parallel(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    jobs: int,
    describe: Callable[[Item], str],
    tick: Callable[[], None] | None,
    nested: bool,
) -> Generator[Result, None, None]:
    with contextlib.closing(Workers(function, jobs, nested=nested)) as workers:
        yield from workers.map(items, describe=describe, tick=tick)


class Workers(Generic[Item, Result]):
    """Processes that serve any number of maps and keep what they have loaded."""

    def __init__(self, function: Callable[[Item], Result], jobs: int, *, nested: bool = False):
        self.function, self.nested = function, nested
        self.processes: dict[Connection, ForkProcess] = {}
        self.homes: dict[Hashable, Connection] = {}
        self.grow(jobs)

    def grow(self, count: int) -> None:
        """Start further processes, between two maps. They have what is loaded by now."""
        try:
            _fork(self.function, count, self.processes, self.nested)
        except BaseException:
            self.close()
            raise

    def map(
        self,
        items: Iterable[Item],
        *,
        describe: Callable[[Item], str] = repr,
        tick: Callable[[], None] | None = None,
    ) -> Generator[Result, None, None]:
        """As `ordered_map`. After an error, or if the generator is closed early, no further map is possible."""
        return self._map(Stream(items, self.processes), describe, tick)

    def map_at_home(
        self,
        items: Iterable[Item],
        home: Callable[[Item], Hashable],
        pack: Callable[[Item, Connection], Any],
        *,
        describe: Callable[[Item], str] = repr,
        tick: Callable[[], None] | None = None,
    ) -> Generator[Result, None, None]:
        """The same for items that are all there.

        Items of the same `home` go to the process that had the first of them, in whatever map, unless another one would
        be idle. `pack` makes what the function gets there of an item and the connection to the process.
        """
        return self._map(AtHome(items, self.processes, home, self.homes, pack), describe, tick)

    def _map(
        self, feeder: Feeder[Item], describe: Callable[[Item], str], tick: Callable[[], None] | None
    ) -> Generator[Result, None, None]:
        turn, of_feeder = 0, feeder.sources
        sources = [*of_feeder, *self.processes]
        done: dict[int, tuple[Result | None, Exception | None]] = {}
        try:
            feeder.start()
            if tick is not None:  # there is time for whatever it does: processes are busy
                tick()
            while feeder.count is None or turn < feeder.count:
                ready = wait(sources, None if tick is None else TICK)
                if tick is not None:
                    tick()
                for source in ready:
                    assert isinstance(source, Connection)
                    if source in of_feeder:
                        sources.remove(source)
                        continue
                    try:
                        number, result, error, used = source.recv()
                    except (EOFError, OSError):
                        busy = feeder.busy.get(source)
                        raise _death(self.processes[source], None if busy is None else describe(busy)) from None
                    usage.of_running[self.processes[source].pid or 0] = used
                    done[number] = (result, error)
                    feeder.free(source)
                while turn in done:
                    result, error = done.pop(turn)
                    if error is not None:
                        raise error
                    turn += 1
                    feeder.yielded()
                    yield result  # type: ignore[misc]
            if feeder.failure is not None:
                raise feeder.failure
        except BaseException:
            feeder.stop()
            self._kill()
            feeder.join(timeout=0.2)  # it may wait for input forever; as a daemon, it ends with the interpreter
            self.close()
            raise
        feeder.join()

    def close(self) -> None:
        """End the processes at once."""
        self._kill()
        for connection in self.processes:
            connection.close()
        self.processes = {}

    def _kill(self) -> None:
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.join()
            usage.of_running.pop(process.pid or 0, None)  # now it counts among those that have ended


def _fork(
    function: Callable[[Item], Result], jobs: int, processes: dict[Connection, ForkProcess], nested: bool
) -> None:
    """Start the processes, each at the far end of a connection."""
    context, parent = multiprocessing.get_context("fork"), os.getpid()
    for _ in range(jobs):
        # An interrupt waits until the new process has chosen how to take it, but not until all are there.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
        try:
            near, far = context.Pipe()
            arguments = (function, far, [near, *processes], parent)
            process = context.Process(target=_serve, args=arguments, daemon=not nested)  # daemons cannot fork
            process.start()
            processes[near] = process
            far.close()
        except OSError as error:
            raise ResourceError(f"cannot start {jobs} processes: {error.strerror}", hint="Use fewer jobs.") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(
    function: Callable[[Item], Result], connection: Connection, inherited: list[Connection], parent: int
) -> None:
    """What a process does: one item at a time, until the parent closes the connection or ends."""
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, too, and ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
    usage.of_running.clear()  # they are the parent's
    gc.freeze()  # to look for garbage among inherited objects would copy their memory
    for other in inherited:  # otherwise the end of the parent goes unnoticed
        other.close()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, item = connection.recv()
            connection.send((number, *_attempt(function, item), usage.Used.by_now()))


def _attempt(function: Callable[[Item], Result], item: Item) -> tuple[Result | None, Exception | None]:
    try:
        return function(item), None
    except UserError as error:
        return None, error
    except Exception as error:  # a defect: send its traceback to the parent
        return None, RuntimeError("in a worker process:\n" + "".join(traceback.format_exception(error)))


def _death(process: ForkProcess, task: str | None) -> ResourceError:
    process.join()
    code = process.exitcode or 0
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    hint = "Memory may have run out: use fewer jobs, or smaller limits." if code == -signal.SIGKILL else None
    return ResourceError(f"a worker process {how}" + ("" if task is None else f" at {task}"), hint=hint)

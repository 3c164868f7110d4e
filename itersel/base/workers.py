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
import queue
import signal
import threading
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sized
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Generic, TypeVar

from itersel.base import events
from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.processes import end_with

Item = TypeVar("Item")
Result = TypeVar("Result")

WINDOW = 16  # items per process in progress or waiting for their turn
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
    generator, or an error, ends the processes at once. While several jobs work, `tick` is called a few times a second.
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
        self.processes: dict[Connection, ForkProcess] = {}
        self.homes: dict[Hashable, Connection] = {}
        try:
            _fork(function, jobs, self.processes, nested)
        except BaseException:
            self.close()
            raise

    def map(
        self,
        items: Iterable[Item],
        *,
        describe: Callable[[Item], str] = repr,
        tick: Callable[[], None] | None = None,
        home: Callable[[Item], Hashable] | None = None,
    ) -> Generator[Result, None, None]:
        """As `ordered_map`. After an error, or if the generator is closed early, no further map is possible.

        Items of the same `home` go to the process that had the first of them, unless another one would be idle.
        """
        supply = None if home is None else _Homes(items, home, self.homes)
        feeder, turn = _Feeder(() if supply is not None else items, self.processes, supply), 0
        feeder.start()
        sources = [feeder.ended, *self.processes]
        done: dict[int, tuple[Result | None, Exception | None]] = {}
        try:
            while feeder.count is None or turn < feeder.count:
                ready = wait(sources, None if tick is None else TICK)
                if tick is not None:
                    tick()
                for source in ready:
                    if source is feeder.ended:
                        sources.remove(feeder.ended)
                        continue
                    assert isinstance(source, Connection)
                    try:
                        number, result, error = source.recv()
                    except (EOFError, OSError):
                        busy = feeder.busy.get(source)
                        raise _death(self.processes[source], None if busy is None else describe(busy)) from None
                    done[number] = (result, error)
                    feeder.free(source)
                while turn in done:
                    result, error = done.pop(turn)
                    if error is not None:
                        raise error
                    turn += 1
                    feeder.window.release()
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
    gc.freeze()  # to look for garbage among inherited objects would copy their memory
    for other in inherited:  # otherwise the end of the parent goes unnoticed
        other.close()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, item = connection.recv()
            connection.send((number, *_attempt(function, item)))


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


class _Feeder(threading.Thread, Generic[Item]):
    """Hands items to idle processes, so that waiting for input does not hold up finished results."""

    def __init__(self, items: Iterable[Item], connections: Iterable[Connection], at_home: _Homes[Item] | None):
        super().__init__(daemon=True)
        self.items, self.at_home = iter(items), at_home
        self.idle: queue.SimpleQueue[Connection | None] = queue.SimpleQueue()
        self.busy: dict[Connection, Item] = {}
        for connection in connections:
            self.idle.put(connection)
        self.window = threading.Semaphore(WINDOW * self.idle.qsize())
        self.count: int | None = None  # of all items, once known
        self.failure: Exception | None = None  # raised by the iterator after `count` items
        self.ended, self._end = multiprocessing.Pipe(duplex=False)
        self._stopped = False

    def free(self, connection: Connection) -> None:
        self.busy.pop(connection, None)
        self.idle.put(connection)

    def stop(self) -> None:
        self._stopped = True
        self.window.release()
        self.idle.put(None)

    def run(self) -> None:
        count = 0
        try:
            for number, item, connection in self._assigned():
                if self._stopped or connection is None:
                    return
                self.busy[connection] = item
                with contextlib.suppress(OSError):  # the process is dead: the receiving side sees that, too
                    connection.send((number, item))
                count += 1
        except Exception as error:
            self.failure = error
        self.count = count
        self._end.send_bytes(b"end")

    def _assigned(self) -> Iterator[tuple[int, Item, Connection | None]]:
        """Each item with its number and an idle process."""
        while self.at_home is not None and self.at_home.left():  # no window: all items are there already
            connection = self.idle.get()
            if connection is None:
                return
            yield *self.at_home.next_for(connection), connection
        for number, item in enumerate(self.items):
            self.window.acquire()
            yield number, item, self.idle.get()


class _Homes(Generic[Item]):
    """Items that are all there, by the process that had the first of the same home."""

    def __init__(self, items: Iterable[Item], home: Callable[[Item], Hashable], known: dict[Hashable, Connection]):
        self.home, self.known = home, known
        self.waiting: dict[Connection | None, deque[tuple[int, Item]]] = defaultdict(deque)
        for number, item in enumerate(items):
            self.waiting[known.get(home(item))].append((number, item))

    def left(self) -> bool:
        return any(self.waiting.values())

    def next_for(self, connection: Connection) -> tuple[int, Item]:
        """One of its own; otherwise one without a home, or of the process that has most."""
        queue = self.waiting[connection] or self.waiting[None] or max(self.waiting.values(), key=len)
        number, item = queue.popleft()
        self.known.setdefault(self.home(item), connection)
        return number, item

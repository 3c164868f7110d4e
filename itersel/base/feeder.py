"""Which process gets which item next (itersel.base.workers)."""

from __future__ import annotations

import contextlib
import multiprocessing
import queue
import threading
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")

WINDOW = 16  # items per process in progress or waiting for their turn


class Feeder(ABC, Generic[Item]):
    """Hands items to idle processes."""

    def __init__(self) -> None:
        self.busy: dict[Connection, Item] = {}
        self.count: int | None = None
        """Of all items, once known."""
        self.failure: Exception | None = None
        """Raised by the items' iterator after `count` of them."""

    @property
    def sources(self) -> list[Connection]:
        """What is ready when `count` becomes known."""
        return []

    @abstractmethod
    def start(self) -> None:
        """All processes are idle."""

    def free(self, connection: Connection) -> None:
        """A process is idle."""
        self.busy.pop(connection, None)

    def yielded(self) -> None:
        """The result of an item was used."""
        return

    def stop(self) -> None:
        """Hand out nothing more."""
        return

    def join(self, timeout: float | None = None) -> None:
        """Wait until nothing is handed out."""
        del timeout


class Stream(Feeder[Item]):
    """Items that may still have to be made: a thread waits for them, so that finished results are not held up."""

    def __init__(self, items: Iterable[Item], connections: Iterable[Connection]):
        super().__init__()
        self.items = iter(items)
        self.idle: queue.SimpleQueue[Connection | None] = queue.SimpleQueue()
        for connection in connections:
            self.idle.put(connection)
        self.window = threading.Semaphore(WINDOW * self.idle.qsize())
        self._ended, self._end = multiprocessing.Pipe(duplex=False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._stopped = False

    @property
    def sources(self) -> list[Connection]:
        return [self._ended]

    def start(self) -> None:
        self._thread.start()

    def free(self, connection: Connection) -> None:
        super().free(connection)
        self.idle.put(connection)

    def yielded(self) -> None:
        self.window.release()

    def stop(self) -> None:
        self._stopped = True
        self.window.release()
        self.idle.put(None)

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def _run(self) -> None:
        count = 0
        try:
            for number, item in enumerate(self.items):
                self.window.acquire()
                connection = self.idle.get()
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


class AtHome(Feeder[Item]):
    """Items that are all there, by the process that had the first of the same home."""

    def __init__(
        self,
        items: Iterable[Item],
        connections: Iterable[Connection],
        home: Callable[[Item], Hashable],
        known: dict[Hashable, Connection],
        pack: Callable[[Item, Connection], Any],
    ):
        super().__init__()
        self.connections, self.home, self.known, self.pack = list(connections), home, known, pack
        self.waiting: dict[Connection | None, deque[tuple[int, Item]]] = defaultdict(deque)
        self.count = 0
        for item in items:
            self.waiting[known.get(home(item))].append((self.count, item))
            self.count += 1

    def start(self) -> None:
        for connection in self.connections:
            self._hand_out(connection)

    def free(self, connection: Connection) -> None:
        super().free(connection)
        self._hand_out(connection)

    def _hand_out(self, connection: Connection) -> None:
        """One of its own; otherwise one without a home, or of the process that has most."""
        if not any(self.waiting.values()):
            return
        queue = self.waiting[connection] or self.waiting[None] or max(self.waiting.values(), key=len)
        number, item = queue.popleft()
        self.known.setdefault(self.home(item), connection)
        self.busy[connection] = item
        with contextlib.suppress(OSError):  # as above
            connection.send((number, self.pack(item, connection)))

"""Errors over the wire: what a worker's error says reaches the driver's user, whatever carries it.

A `UserError` becomes one line of text with a mark, which batch workers leave in a file, Spark carries in an
exception's text, and Hadoop in a task's log.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import select
import socket
import stat
import termios
import time
from dataclasses import asdict, dataclass

from itersel.base.errors import ConfigError, InputError, ResourceError, UserError

MARK = "itersel task failed: "
FINISHED = "finished"
"""The last line in the log of a map task that did all its work."""
TO_WRITE_DOWN = 0.5
"""Seconds that the reader of a task's words has to write them into the log after it has read them."""
KINDS: dict[str, type[UserError]] = {kind.__name__: kind for kind in (InputError, ConfigError, ResourceError)}


@dataclass(frozen=True)
class Failure:
    """A UserError as data, with the host it happened on."""

    kind: str
    message: str
    where: str | None
    hint: str | None
    host: str

    @classmethod
    def of(cls, error: UserError) -> Failure:
        kind = next((name for name, one in KINDS.items() if isinstance(error, one)), ResourceError.__name__)
        return cls(kind, error.message, error.where, error.hint, socket.gethostname())

    def line(self) -> str:
        """The mark and the error, as one line."""
        return MARK + json.dumps(asdict(self))

    @classmethod
    def find(cls, text: str) -> Failure | None:
        """The first one in a text that has the line somewhere."""
        _, mark, rest = text.partition(MARK)
        if not mark:
            return None
        try:
            return cls(**json.JSONDecoder().raw_decode(rest)[0])
        except (ValueError, TypeError):  # cut off by whoever carried it
            return None

    def error(self, *, with_host: bool = False) -> UserError:
        """The error itself, which may say where it happened."""
        kind = KINDS.get(self.kind, ResourceError)
        message = f"{self.message} (on {self.host})" if with_host else self.message
        return kind(message, where=self.where, hint=self.hint)


def wait_until_read(descriptor: int, seconds: float = 30.0) -> None:
    """Return when whoever reads the pipe has taken all that was written to it, or after that many seconds.

    Hadoop Streaming does not read on once its process has ended with an error: the last words would be lost now and
    then. A descriptor that is no pipe needs no waiting.
    """
    until, unread, gone = time.monotonic() + seconds, array.array("i", [0]), select.poll()
    try:
        gone.register(descriptor, 0)
        while stat.S_ISFIFO(os.fstat(descriptor).st_mode) and time.monotonic() < until:
            fcntl.ioctl(descriptor, termios.FIONREAD, unread)
            if gone.poll(0):  # there is nobody to read
                return
            if unread[0] == 0:
                time.sleep(TO_WRITE_DOWN)
                return
            time.sleep(0.01)
    except OSError:
        return


class WorkerError(Exception):
    """A UserError on its way through an engine that hands over nothing but an exception's text."""

    def __init__(self, error: UserError):
        super().__init__(Failure.of(error).line())

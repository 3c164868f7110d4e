"""Progress of long work: a line that redraws itself on a terminal; a few log lines, or events, elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

from itersel.base import events

Item = TypeVar("Item")
TERMINAL_INTERVAL = 0.2
LOG_INTERVAL = 30.0
EVENT_INTERVAL = 1.0


class Progress:
    """Counts finished items of a stage on standard error. Use as a context manager and call `advance`.

    With a total, it also estimates the time left, from the items finished since the stage began.
    """

    def __init__(
        self,
        stage: str,
        total: int | None = None,
        *,
        unit: str = "sentences",
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.stage, self.total, self.unit = stage, total, unit
        self.stream = stream or sys.stderr
        self.as_events = stream is None and events.as_json()
        self.terminal = self.stream.isatty() and not self.as_events
        self.done = self.skipped = 0
        self.clock = clock
        self.started = self.shown = clock()
        self.note = ""

    def __enter__(self) -> Progress:
        return self

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count finished items; `note` (a metric, a file name) is shown beside the count."""
        self.update(self.done + count, note)

    def skip(self, count: int, note: str = "") -> None:
        """Count items that were finished before the stage began: they do not count for its speed."""
        self.skipped += count
        self.advance(count, note)

    def update(self, done: int, note: str = "") -> None:
        """Set the number of finished items."""
        self.done = done
        self.note = note or self.note
        now = self.clock()
        if now - self.shown >= self._interval():
            self.shown = now
            self._show()

    def _interval(self) -> float:
        if self.as_events:
            return EVENT_INTERVAL
        return TERMINAL_INTERVAL if self.terminal else LOG_INTERVAL

    def seconds_left(self) -> float | None:
        """An estimate; None without a total, or before the first item is finished."""
        finished = self.done - self.skipped
        if not self.total or finished <= 0:
            return None
        return max(self.total - self.done, 0) * (self.clock() - self.started) / finished

    def _show(self, end: bool = False) -> None:
        seconds, left = max(self.clock() - self.started, 1e-9), None if end else self.seconds_left()
        if self.as_events:
            facts = {"done": self.done, "total": self.total, "unit": self.unit, "seconds": round(seconds, 3)}
            facts["seconds_left"] = None if left is None else round(left, 3)
            events.emit("progress", stage=self.stage, **facts, note=self.note or None, finished=end)
            return
        text = f"{self.stage}: {self.done:,}" + (f" of {self.total:,}" if self.total else "") + f" {self.unit}"
        text += f", {(self.done - self.skipped) / seconds:,.1f}/s"
        if left is not None:
            text += f", {duration(left, digits=0)} left"
        if self.note:
            text += f", {self.note}"
        if self.terminal:
            self.stream.write(f"\r\x1b[K{text}" + ("\n" if end else ""))
        else:
            self.stream.write(text + "\n")
        self.stream.flush()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None or self.terminal:
            self._show(end=True)


def track(items: Iterable[Item], stage: str, total: int | None = None, *, unit: str = "sentences") -> Iterator[Item]:
    """Yield the items, showing progress."""
    with Progress(stage, total, unit=unit) as progress:
        for item in items:
            yield item
            progress.advance()


def duration(seconds: float, digits: int = 1) -> str:
    """A time for people, in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.{digits}f} s"
    return f"{seconds / 60:.{digits}f} min" if seconds < 3 * 3600 else f"{seconds / 3600:.{digits}f} h"

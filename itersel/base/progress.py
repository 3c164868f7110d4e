"""Progress of long work: a line that redraws itself on a terminal; a few log lines, or events, elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TextIO, TypeVar

from itersel.base import events

Item = TypeVar("Item")
TERMINAL_INTERVAL = 0.2
LOG_INTERVAL = 30.0
EVENT_INTERVAL = 1.0


class Progress:
    """Counts finished items of a stage on standard error. Use as a context manager and call `advance`."""

    def __init__(self, stage: str, total: int | None = None, *, unit: str = "sentences", stream: TextIO | None = None):
        self.stage, self.total, self.unit = stage, total, unit
        self.stream = stream or sys.stderr
        self.as_events = stream is None and events.as_json()
        self.terminal = self.stream.isatty() and not self.as_events
        self.done = 0
        self.started = self.shown = time.monotonic()
        self.note = ""

    def __enter__(self) -> Progress:
        return self

    def advance(self, count: int = 1, note: str = "") -> None:
        """Count finished items; `note` (a metric, a file name) is shown beside the count."""
        self.update(self.done + count, note)

    def update(self, done: int, note: str = "") -> None:
        """Set the number of finished items."""
        self.done = done
        self.note = note or self.note
        now = time.monotonic()
        if now - self.shown >= self._interval():
            self.shown = now
            self._show()

    def _interval(self) -> float:
        if self.as_events:
            return EVENT_INTERVAL
        return TERMINAL_INTERVAL if self.terminal else LOG_INTERVAL

    def _show(self, end: bool = False) -> None:
        seconds = max(time.monotonic() - self.started, 1e-9)
        if self.as_events:
            facts = {"done": self.done, "total": self.total, "unit": self.unit, "seconds": round(seconds, 3)}
            events.emit("progress", stage=self.stage, **facts, note=self.note or None, finished=end)
            return
        text = f"{self.stage}: {self.done:,}" + (f" of {self.total:,}" if self.total else "") + f" {self.unit}"
        text += f", {self.done / seconds:,.1f}/s"
        if self.total and self.done and not end:
            text += f", {(self.total - self.done) * seconds / self.done:,.0f} s left"
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

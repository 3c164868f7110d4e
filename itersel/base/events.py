"""What a command writes to standard error: plain lines for people, or JSON lines for programs (`--log-json`).

Every JSON line is an object with `time` (UTC), `event` and `verb`; docs/command-line.md lists the events. All warnings,
notes and progress go through this module, so a program that reads the lines misses nothing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from itersel.base.errors import UserError

EVENTS = ("start", "progress", "note", "warning", "error", "end")


@dataclass(frozen=True)
class Mode:
    """Who reads, and which verb runs; no verb: the library is used without the command line."""

    json: bool = False
    verb: str | None = None

    @property
    def prefix(self) -> str:
        return "" if self.verb is None else f"itersel {self.verb}: "


_mode = Mode()


def configure(*, json: bool = False, verb: str | None = None) -> None:
    """Choose the mode of this process and of those it forks."""
    global _mode
    _mode = Mode(json, verb)


def as_json() -> bool:
    """Whether programs read: nothing but events may then go to standard error."""
    return _mode.json


def emit(event: str, **facts: Any) -> None:
    """Write an event as a JSON line, whatever the mode."""
    assert event in EVENTS, event
    time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {"time": time, "event": event, "verb": _mode.verb} | facts
    sys.stderr.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stderr.flush()


def note(message: str) -> None:
    """Something a person may want to know."""
    if _mode.json:
        emit("note", message=message)
    else:
        print(message, file=sys.stderr, flush=True)


def warn(message: str) -> None:
    """Something that may be wrong; the work continues."""
    if _mode.json:
        emit("warning", message=message)
    else:
        print(f"{_mode.prefix}warning: {message}", file=sys.stderr, flush=True)


def fail(error: UserError) -> None:
    """Why the command ends."""
    if _mode.json:
        emit("error", message=error.message, where=error.where, hint=error.hint)
    else:
        print(f"{_mode.prefix}error: {error}", file=sys.stderr, flush=True)

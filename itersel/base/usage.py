"""What a piece of work took: wall and processor time, memory, processes, and the commit of the code that did it.

Each finished epoch of a training stores its own (statistics.jsonl, `made`), so the total is known even if training took
several runs.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from itersel.base.version import commit

Value = TypeVar("Value")

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Usage:
    """For one piece of work, or for several, combined by `total`. None: not recorded."""

    wall_seconds: float | None
    peak_megabytes: int | None
    """Of the largest process on this machine so far, see `peak_megabytes`."""
    jobs: int | None
    """Processes that it could use on this machine."""
    commit: str
    """See itersel.base.version.commit; several, in order and separated by commas, if other code resumed the work."""
    cpu_seconds: float | None = None
    """Processor time on this machine, see `cpu_seconds`; None if not recorded, or if others did the work."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Usage:
        """From a record, which may be older than some of the keys."""
        return cls(
            values.get("wall_seconds"),
            values.get("peak_megabytes"),
            values.get("jobs"),
            values.get("commit") or UNKNOWN,
            values.get("cpu_seconds"),
        )


class Stopwatch:
    """Laps of wall and processor time. A lap has all time since the lap before."""

    def __init__(self) -> None:
        self._commit = commit() or UNKNOWN  # of the code that is loaded now; the tree may change later
        self._begun, self._spent = time.monotonic(), cpu_seconds()

    def lap(self, jobs: int) -> Usage:
        """Seconds since the last lap, or since the watch was made."""
        begun, self._begun = self._begun, time.monotonic()
        spent, self._spent = self._spent, cpu_seconds()
        wall, cpu = round(self._begun - begun, 3), round(self._spent - spent, 3)
        return Usage(wall, peak_megabytes(), jobs, self._commit, cpu)


class Used(NamedTuple):
    """Of a process, and of all that worked for it."""

    cpu_seconds: float
    peak_megabytes: int

    @classmethod
    def by_now(cls) -> Used:
        """What this process has used."""
        return cls(cpu_seconds(), peak_megabytes())


of_running: dict[int, Used] = {}
"""By process number: what processes that work for this one had used when they last told (itersel.base.workers)."""


def cpu_seconds() -> float:
    """Processor time of this process so far, of those that it started and that have ended, and of its workers.

    What other machines do, or services that go on running, such as Spark's, is not in it.
    """
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in ended) + sum(one.cpu_seconds for one in of_running.values())


def peak_megabytes() -> int:
    """The largest resident size that this process, or one that it started and that has ended, or a worker, ever had.

    Mapped shards and models count as far as they are in memory. What was done earlier in the same process counts, too.
    """
    # On Linux, ru_maxrss is in kilobytes.
    ended = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return max(*ended, *(one.peak_megabytes for one in of_running.values()))


def total(parts: Sequence[Usage]) -> Usage:
    """Sums of the times, the largest peak and number of processes, all commits; None if a part's is not known."""
    seconds = _all_known(one.wall_seconds for one in parts)
    spent = _all_known(one.cpu_seconds for one in parts)
    peaks = _all_known(one.peak_megabytes for one in parts)
    jobs = _all_known(one.jobs for one in parts)
    return Usage(
        None if seconds is None else round(sum(seconds), 3),
        None if peaks is None else max(peaks),
        None if jobs is None else max(jobs),
        ", ".join(dict.fromkeys(one.commit for one in parts)),
        None if spent is None else round(sum(spent), 3),
    )


def _all_known(values: Iterable[Value | None]) -> list[Value] | None:
    given = list(values)
    known = [value for value in given if value is not None]
    return known if len(known) == len(given) else None

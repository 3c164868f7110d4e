"""An algorithm whose mappers wait at a gate, so that tests can do something to a run while it is under way.

It is iter_sel_sgd, with the same bytes. The gate is the folder `gate` beside the shards; without it nobody waits. A
mapper that has learned leaves `at-ROUND-ITEM` there, and goes on when `ROUND-ITEM` or `open` is there (Gate). As the
module is none of the package's, its source travels with the job.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from itersel.algorithms.epoch_job import EpochJob
from itersel.algorithms.sgd import IterSelSgd
from itersel.base.errors import ResourceError
from itersel.mapreduce.job import Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem

ALGORITHM = "gated:GatedSelSgd"
FORGOTTEN = 3600.0
"""Seconds until a mapper gives up: the test that should let it pass is dead."""


@dataclass(frozen=True)
class GatedEpochJob(EpochJob):
    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        records = list(super().map(item, side, tell))
        Gate(Path(item.files[0].path).parent).wait(self.number, item.number)
        return records


class GatedSelSgd(IterSelSgd):
    name = "gated"
    job_class = GatedEpochJob


class Gate:
    """The gate of the shards in a folder. Rounds and items count from 0."""

    def __init__(self, data: Path):
        self.folder = data / "gate"

    def close(self) -> None:
        self.folder.mkdir(exist_ok=True)

    def open(self, *passes: tuple[int, int]) -> None:
        """Let these mappers pass (round, item); none given: all, from now on."""
        for name in [f"{number}-{item}" for number, item in passes] or ["open"]:
            (self.folder / name).touch()

    def forget(self, number: int) -> None:
        """Forget who came to the gate in a round, whose mappers are gone."""
        for path in self.folder.glob(f"at-{number}-*"):
            path.unlink()

    def waiting(self, number: int) -> list[int]:
        """The items of the round whose mappers have come to the gate."""
        return sorted(int(path.name.split("-")[2]) for path in self.folder.glob(f"at-{number}-*"))

    def wait(self, number: int, item: int) -> None:
        if not self.folder.exists():
            return
        (self.folder / f"at-{number}-{item}").touch()
        end = time.monotonic() + FORGOTTEN
        while not ((self.folder / f"{number}-{item}").exists() or (self.folder / "open").exists()):
            if time.monotonic() > end:
                raise ResourceError("nobody has opened the gate", where=self.folder)
            time.sleep(0.02)

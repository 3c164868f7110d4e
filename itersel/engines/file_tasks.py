"""Map and reduce tasks whose inputs and outputs are files that driver and workers both see.

A map task's result is four files, the vector last: where that exists, the task need not be done again.

    00000.names  the row's feature names    00000.state  sgd and mix_sgd: what the shard goes on from
    00000.json   statistics                 00000.vec    the row
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.files import atomic_write, read_bytes, read_utf8
from itersel.learn.epoch import EpochConfig, Progress
from itersel.learn.mixing import Columns, Selection, reduce_range
from itersel.lm.model import LanguageModels
from itersel.mapreduce.work_item import MapTask, State, run_map_task
from itersel.model.vectors import Vector
from itersel.run.directory import read_json


@dataclass(frozen=True)
class FileMapTask:
    """A map task with the files it starts from and the one it ends in."""

    task: MapTask
    epoch: int
    start: str | None
    """Vector file; none: all weights 0."""
    state: str | None
    own_weights: bool
    output: str
    """The vector file; the others go beside it."""

    def run(self, models: LanguageModels, config: EpochConfig, progress: Progress | None = None) -> None:
        start = None if self.start is None else Vector.read(self.start, mapped=True)
        state = None if self.state is None else State.from_bytes(read_bytes(self.state), self.state)
        result = run_map_task(
            self.task, start, state, models, config, epoch=self.epoch, own_weights=self.own_weights, progress=progress
        )
        output = Path(self.output)
        with atomic_write(output.with_suffix(".names")) as stream:
            stream.write("".join(f"{name}\n" for name in result.names).encode())
        with atomic_write(output.with_suffix(".json")) as stream:
            stream.write(json.dumps(result.statistics).encode())
        if result.state is not None:
            with atomic_write(output.with_suffix(".state")) as stream:
                stream.write(result.state.to_bytes())
        result.row.write(output)


@dataclass(frozen=True)
class FileReduceTask:
    """A reduce task: the columns of one range of feature ids of the rows in these files, given in shard order."""

    rows: Sequence[str]
    low: int
    high: int

    def run(self, selection: Selection) -> Columns:
        rows = [Vector.read(path, mapped=True).range(self.low, self.high) for path in self.rows]
        return reduce_range(rows, selection, low=self.low, high=self.high)


def read_names(row: str | os.PathLike[str]) -> list[str]:
    """The names that a map task wrote beside its row."""
    return read_utf8(Path(row).with_suffix(".names")).decode().split("\n")[:-1]


def read_statistics(row: str | os.PathLike[str]) -> dict[str, Any]:
    """The statistics that a map task wrote beside its row."""
    return read_json(Path(row).with_suffix(".json"))

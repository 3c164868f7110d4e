"""The driver: runs a plan's epochs over the shards, and can be killed and started again at any moment.

    shards' epochs (map)  →  mixing (reduce)  →  model of the epoch  →  devtest  →  manifest

A shard's result is a file, so a resumed run does only what is missing. The result is a function of the data and the
configuration alone: the same bytes in one process or many, with any number of reducers, after any interruption.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from itersel.devtest import score, translate_shards
from itersel.epoch import EpochConfig, run_epoch
from itersel.errors import ConfigError, InputError
from itersel.features import Weights
from itersel.files import atomic_write, read_utf8
from itersel.language_model import LanguageModel
from itersel.mix import Columns, Selection, merge
from itersel.names import NameTable
from itersel.plan import plan_of_name, reduce_rows
from itersel.progress import Progress
from itersel.run_directory import RunDirectory, read_json
from itersel.shard import Shard
from itersel.train_config import TrainConfig, expand, identity
from itersel.vectors import Vector, even_bounds
from itersel.version import __version__
from itersel.workers import ordered_map


@dataclass(frozen=True)
class ShardTask:
    """A map task: train on one shard once."""

    shard: str
    start: str | None
    """Vector file; none: all weights 0."""
    output: str
    """Vector file to write; `.names` and `.json` go beside it."""
    epoch: int


@dataclass(frozen=True)
class MixTask:
    """A reduce task: the columns of one range of feature ids."""

    rows: list[list[str]]
    """In shard order, the vector files that a row is the mean of."""
    low: int
    high: int


def train_shard(
    task: ShardTask,
    model: LanguageModel | None,
    config: EpochConfig,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Do a map task. The vector is written last: where it exists, all of the result does."""
    start = None if task.start is None else Vector.read(task.start, mapped=True)
    result = run_epoch(Shard(task.shard), start, model, config, number=task.epoch, progress=progress)
    output = Path(task.output)
    with atomic_write(output.with_suffix(".names")) as stream:
        stream.write("".join(f"{name}\n" for name in result.names).encode())
    with atomic_write(output.with_suffix(".json")) as stream:
        stream.write(json.dumps(result.statistics | {"seconds": result.seconds}).encode())
    result.weights.write(output)


def mix_range(task: MixTask, selection: Selection) -> bytes:
    """Do a reduce task: the range's best columns, in mix.Columns' wire format."""
    rows = [[Vector.read(path, mapped=True) for path in paths] for paths in task.rows]
    return reduce_rows(rows, selection, task.low, task.high).to_bytes()


def train(config: TrainConfig, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None) -> Path:
    """Run or resume the training in the directory; returns the chosen epoch's weights as a text file."""
    if not config.shards:
        raise ConfigError("there are no shards to train on", hint="Give shards: [FILE, …] or --shards.")
    run = RunDirectory(directory)
    with run.locked():
        return Driver(config, run, warn or (lambda text: print(f"warning: {text}", file=sys.stderr))).run()


class Driver:
    """One run in its directory."""

    def __init__(self, config: TrainConfig, directory: RunDirectory, warn: Callable[[str], None]):
        self.config, self.directory, self.warn = config, directory, warn
        self.plan = plan_of_name(config.algorithm)
        self.selection = self.plan.selection(config.selection)
        self.shards = [_open(path) for path in expand(config.shards, "shards")]
        self.devtest = [_open(path) for path in expand(config.devtest, "devtest")]
        self.plan.check(len(self.shards))
        description = {
            "configuration": asdict(config),
            "versions": {"itersel": __version__, "numpy": np.__version__, "python": platform.python_version()},
        }
        directory.claim(identity(config, self.shards, self.devtest), description)
        if directory.finished > config.epochs:
            raise ConfigError(
                f"the run has {directory.finished} epochs already, more than the {config.epochs} asked for",
                where=directory.path,
                hint="Name another directory.",
            )
        self.model = None if config.language_model is None else LanguageModel(config.language_model)
        self.start = {} if config.start is None else dict(Weights.read(config.start))

    def run(self) -> Path:
        for epoch in range(self.config.epochs):
            if epoch >= self.directory.finished:
                self.run_epoch(epoch)
            if not self.plan.own_weights:
                self.directory.forget_shards(epoch)
        return self.choose()

    def run_epoch(self, epoch: int) -> None:
        folder = self.directory.epoch(epoch)
        self.train_shards(epoch)
        lines, total = self.statistics(epoch)
        names = self.names(epoch)
        vector = self.mix(epoch, names, total)
        weights = Weights(dict(zip(names(vector.ids), vector.values.tolist(), strict=True)))
        vector.write(folder / "weights.vec")
        weights.write(folder / "weights.txt.gz")
        files = [folder / "weights.vec", folder / "weights.txt.gz"]
        facts: dict[str, Any] = {"weights": len(vector), "updates": total["updates"]}
        warnings = self.concerns(total)
        if self.devtest:
            options = self.config.epoch.decoder
            lines_out = translate_shards(self.devtest, weights, self.model, options, self.config.run.processes)
            with atomic_write(folder / "devtest.txt.gz") as stream:
                stream.write("".join(f"{line}\n" for line in lines_out).encode())
            files.append(folder / "devtest.txt.gz")
            result = score(self.devtest, lines_out)
            facts |= {"devtest_bleu": result.bleu, "devtest_length_ratio": result.length_ratio}
            warnings += result.warnings
        for warning in warnings:
            self.warn(f"epoch {epoch + 1}: {warning}")
        whole = {"epoch": epoch + 1, "shard": None} | facts | total | {"warnings": warnings}
        self.directory.write_statistics([*lines, whole])
        self.directory.finish_epoch(files, facts | {"warnings": warnings})

    def start_of(self, epoch: int, shard: int) -> Path | None:
        """The vector that a shard starts an epoch from."""
        if epoch > 0 and self.plan.own_weights:
            return self.directory.shard(epoch - 1, shard)
        if epoch > 0:
            return self.directory.epoch(epoch - 1) / "weights.vec"
        if not self.start:
            return None
        place = self.directory.path / "start.vec"
        if not place.exists():
            Vector.of_names(self.start).write(place)
        return place

    def train_shards(self, epoch: int) -> None:
        """The map step: all shards of which there is no vector yet, largest first, so that none is left for the end."""
        tasks = []
        sizes = [len(shard) for shard in self.shards]
        for number in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
            output = self.directory.shard(epoch, number)
            if not output.exists():
                start = self.start_of(epoch, number)
                path = None if start is None else os.fspath(start)
                tasks.append((number, ShardTask(self.shards[number].path, path, os.fspath(output), epoch)))
        jobs = min(self.config.run.processes, max(len(tasks), 1))
        with Progress(f"epoch {epoch + 1} of {self.config.epochs}", sum(sizes)) as progress:
            progress.advance(sum(sizes) - sum(sizes[number] for number, _ in tasks))

            def work(item: tuple[int, ShardTask]) -> int:
                before = 0

                def tell(done: int) -> None:
                    nonlocal before
                    progress.advance(done - before)
                    before = done

                # Only one process can show sentences as they are done; several show whole shards.
                train_shard(item[1], self.model, self.config.epoch, tell if jobs == 1 else None)
                return sizes[item[0]] - before

            results = ordered_map(work, tasks, jobs, describe=lambda item: item[1].shard)
            with contextlib.closing(results):
                for count in results:
                    progress.advance(count)

    def statistics(self, epoch: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Lines of the shards, and their sums."""
        lines, total = [], dict[str, Any]()
        for number, shard in enumerate(self.shards):
            values = read_json(self.directory.shard(epoch, number).with_suffix(".json"))
            lines.append({"epoch": epoch + 1, "shard": number, "path": shard.path} | values)
            seconds = values.pop("seconds")
            values.pop("nonzero")
            for key, value in values.items():
                total[key] = total.get(key, 0) + value
            sums = total.setdefault("seconds", dict.fromkeys(seconds, 0.0))
            for key, value in seconds.items():
                sums[key] += value
        return lines, total

    def names(self, epoch: int) -> NameTable:
        """Names of all features that a vector of this epoch may have."""
        names = set(self.start)
        for before in self.plan.rows(epoch):
            for number in range(len(self.shards)):
                place = self.directory.shard(before, number).with_suffix(".names")
                names.update(read_utf8(place).decode().split("\n")[:-1])
        if epoch > 0:
            names.update(Weights.read(self.directory.epoch(epoch - 1) / "weights.txt.gz"))
        return NameTable(names)

    def mix(self, epoch: int, names: NameTable, total: dict[str, Any]) -> Vector:
        """The reduce step."""
        epochs, shards = self.plan.rows(epoch), range(len(self.shards))
        rows = [[os.fspath(self.directory.shard(t, number)) for t in epochs] for number in shards]
        bounds = even_bounds(self.config.run.reducers)
        tasks = [MixTask(rows, low, high) for low, high in pairwise(bounds)]
        selection = self.selection
        parts = ordered_map(lambda task: mix_range(task, selection), tasks, min(self.config.run.processes, len(tasks)))
        with contextlib.closing(parts):
            columns = merge([Columns.from_bytes(part) for part in parts], selection, names=names)
        total["columns"] = len(columns)
        return columns.vector()

    def concerns(self, total: dict[str, Any]) -> list[str]:
        """What looks wrong with an epoch; without any pair there is nothing to learn from, which is an error."""
        if total["pairs"] == 0:
            raise InputError(
                "not one pair of hypotheses with different metric values in the whole epoch: nothing can be learned",
                where=self.directory.path,
                hint="Are references and translations in the same tokenisation, and is k large enough?",
            )
        found = []
        if total["updates"] == 0:
            found.append("no update in the whole epoch: all pairs are ranked as they should be")
        if total["best_metric"] == 0:
            found.append("the best translation of every sentence has a metric of 0")
        if self.selection.top is not None and total["columns"] < self.selection.top:
            found.append(f"selection.top is {self.selection.top}, but only {total['columns']} features have weights")
        return found

    def choose(self) -> Path:
        """The epoch of the best devtest BLEU (the earlier of equals), or the last: its files become the run's."""
        entries = self.directory.manifest["epochs"]
        chosen = max(entries, key=lambda entry: entry["devtest_bleu"]) if self.devtest else entries[-1]
        folder = self.directory.epoch(chosen["epoch"] - 1)
        for name in ("weights.vec", "weights.txt.gz"):
            with atomic_write(self.directory.path / name, compress=False) as stream:
                stream.write((folder / name).read_bytes())
        self.directory.manifest["chosen"] = chosen["epoch"]
        self.directory.write_manifest()
        return self.directory.path / "weights.txt.gz"


def _open(path: str) -> Shard:
    shard = Shard(path)
    if len(shard) == 0:
        raise InputError("the shard has no sentences", where=path, hint="Leave it out, or compile it again.")
    return shard

"""Rerankers: the algorithms of ACL 2012 §4 on fixed n-best lists of any system, without a decoder.

    lists + references → table (once) → epochs over shards of lists (map) → mixing (reduce) → model → devtest → manifest

A shard is a choice of lists, dealt out by a layout; what is learned from a list is what `itersel train` learns from the
same k-best list. The run's directory is that of `itersel train` (run_directory.py), with the compiled lists in it, and
the run can be killed and started again. The result is the same for any number of processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from itersel import _kernel
from itersel.errors import ConfigError, InputError
from itersel.features import Weights
from itersel.files import atomic_write
from itersel.layout import random_bits, shuffled
from itersel.learn import LearnConfig
from itersel.list_compile import Objective, compile_lists
from itersel.list_table import ListTable
from itersel.mix import merge
from itersel.names import NameTable
from itersel.plan import plan_of_name, reduce_rows
from itersel.progress import Progress
from itersel.rerank_config import RerankConfig, identity
from itersel.run_directory import RunDirectory, read_json
from itersel.vectors import ID_SPACE, Vector
from itersel.workers import ordered_map

BLOCK = 256
"""Lists the kernel learns from at a call; between calls, progress is shown and interrupts are heard."""


def learn_epoch(
    table: ListTable,
    lists: Sequence[int],
    start: Vector,
    config: LearnConfig,
    *,
    number: int = 0,
    progress: Callable[[int], None] | None = None,
) -> tuple[Vector, dict[str, float]]:
    """Learn from the lists once, in the given order, from the start weights; `number` is the epoch's, from 0.

    Returns the weights and statistics like an epoch's over a shard; best_metric and best_score are of what the weights
    ranked first just before they learned from the list.
    """
    learner = _kernel.Learner(table.spread(start), config.options(), number * len(lists))
    order = np.array(lists, dtype=np.uint32)
    metric = score = 0.0
    for begin in range(0, len(order), BLOCK):
        block = order[begin : begin + BLOCK]
        try:
            found = learner.learn_lists(table.native, block, number)
        except InputError as error:
            raise InputError(error.message, where=table.path, hint=error.hint) from None
        metric, score = metric + found[0], score + found[1]
        if progress is not None:
            progress(len(block))
    weights = table.collect(learner.weights, start)
    return weights, learner.statistics | {"best_metric": metric, "best_score": score, "nonzero": len(weights)}


def train(config: RerankConfig, directory: str | os.PathLike[str], *, warn: Callable[[str], None]) -> Path:
    """Run or resume the training in the directory; returns the chosen epoch's weights as a text file."""
    config.check()
    run = RunDirectory(directory)
    with run.locked():
        return RerankRun(config, run, warn).run()


class RerankRun:
    """One run in its directory."""

    def __init__(self, config: RerankConfig, directory: RunDirectory, warn: Callable[[str], None]):
        self.config, self.directory, self.warn = config, directory, warn
        self.plan = plan_of_name(config.algorithm)
        self.selection = self.plan.selection(config.selection)
        directory.claim(identity(config), {"configuration": asdict(config)})
        if directory.finished > config.epochs:
            raise ConfigError(
                f"the run has {directory.finished} epochs already, more than the {config.epochs} asked for",
                where=directory.path,
                hint="Name another directory.",
            )
        self.table = self._compiled("lists", config.lists, config.references)
        self.devtest = self._compiled("devtest", config.devtest, config.devtest_references) if config.devtest else None
        self.shards = [one.sentences for one in config.plan_layout().assign(len(self.table))]
        self.plan.check(len(self.shards))
        start = {} if config.start is None else dict(Weights.read(config.start))
        self.start = Vector.of_names(start)
        self.names = NameTable([*self.table.names, *start])

    def _compiled(self, name: str, lists: Sequence[str], references: Sequence[str]) -> ListTable:
        place, config = self.directory.path / f"{name}.table", self.config
        if not place.exists():
            external = config.fields.objective is not None
            objective = Objective(config.metric, config.order, external, config.lower_is_better, config.unique)
            compile_lists(
                lists,
                references,
                place,
                fields=config.fields,
                objective=objective,
                references_by=config.references_by,
                jobs=config.jobs,
            )
        return ListTable(place)

    def run(self) -> Path:
        for epoch in range(self.config.epochs):
            if epoch >= self.directory.finished:
                self.run_epoch(epoch)
            if not self.plan.own_weights:
                self.directory.forget_shards(epoch)
        return self.choose()

    def run_epoch(self, epoch: int) -> None:
        folder = self.directory.epoch(epoch)
        self.learn_shards(epoch)
        lines, total = self.statistics(epoch)
        rows = [
            [Vector.read(self.directory.shard(t, shard), mapped=True) for t in self.plan.rows(epoch)]
            for shard in range(len(self.shards))
        ]
        columns = merge([reduce_rows(rows, self.selection, 0, ID_SPACE)], self.selection, names=self.names)
        vector = columns.vector()
        vector.write(folder / "weights.vec")
        named = dict(zip(self.names(vector.ids), vector.values.tolist(), strict=True))
        Weights(named).write(folder / "weights.txt.gz")
        facts: dict[str, Any] = {"weights": len(vector), "updates": total["updates"]}
        if self.devtest is not None:
            facts["devtest_metric"] = float(self.devtest.best(vector)[1].mean())
        warnings = self.concerns(total)
        for warning in warnings:
            self.warn(f"epoch {epoch + 1}: {warning}")
        whole = {"epoch": epoch + 1, "shard": None} | facts | total | {"warnings": warnings}
        self.directory.write_statistics([*lines, whole])
        files = [folder / "weights.vec", folder / "weights.txt.gz"]
        self.directory.finish_epoch(files, facts | {"warnings": warnings})

    def start_of(self, epoch: int, shard: int) -> Vector:
        """The weights that a shard starts an epoch from."""
        if epoch == 0:
            return self.start
        before = self.directory.epoch(epoch - 1) / "weights.vec"
        return Vector.read(self.directory.shard(epoch - 1, shard) if self.plan.own_weights else before, mapped=True)

    def learn_shards(self, epoch: int) -> None:
        """The map step: all shards of which there is no vector yet."""
        missing = [n for n in range(len(self.shards)) if not self.directory.shard(epoch, n).exists()]
        jobs = min(self.config.jobs, max(len(missing), 1))
        with Progress(f"epoch {epoch + 1} of {self.config.epochs}", len(self.table), unit="lists") as progress:
            progress.advance(len(self.table) - sum(len(self.shards[n]) for n in missing))

            def work(shard: int) -> int:
                lists: Sequence[int] = self.shards[shard]
                if self.config.shuffle:
                    order = shuffled(len(lists), random_bits(random_bits(self.config.layout.seed, epoch), shard))
                    lists = [lists[k] for k in order]
                began = time.process_time()
                tell = progress.advance if jobs == 1 else None
                start = self.start_of(epoch, shard)
                weights, statistics = learn_epoch(
                    self.table, lists, start, self.config.learn, number=epoch, progress=tell
                )
                output = self.directory.shard(epoch, shard)
                seconds = {"update": time.process_time() - began}
                with atomic_write(output.with_suffix(".json")) as stream:
                    stream.write(json.dumps(statistics | {"seconds": seconds}).encode())
                weights.write(output)  # last: where it exists, all of the result does
                return 0 if jobs == 1 else len(lists)

            done = ordered_map(work, missing, jobs, describe=lambda shard: f"shard {shard}")
            with contextlib.closing(done):
                for count in done:
                    progress.advance(count)

    def statistics(self, epoch: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Lines of the shards, and their sums."""
        lines, total = [], dict[str, Any]()
        for shard in range(len(self.shards)):
            values = read_json(self.directory.shard(epoch, shard).with_suffix(".json"))
            lines.append({"epoch": epoch + 1, "shard": shard} | values)
            for key, value in values.items():
                if key == "seconds":
                    total["seconds"] = {"update": total.get("seconds", {}).get("update", 0.0) + value["update"]}
                elif key != "nonzero":
                    total[key] = total.get(key, 0) + value
        return lines, total

    def concerns(self, total: dict[str, Any]) -> list[str]:
        """What looks wrong with an epoch; without any pair there is nothing to learn from, which is an error."""
        if total["pairs"] == 0:
            raise InputError(
                "not one pair of hypotheses of different quality in all lists: nothing can be learned",
                where=self.config.lists[0],
                hint="Are references and hypotheses in the same tokenisation, and do lists have several texts?",
            )
        return [] if total["updates"] else ["no update in the whole epoch: all pairs are ranked as they should be"]

    def choose(self) -> Path:
        """The epoch of the best devtest metric (the earlier of equals), or the last: its files become the run's."""
        entries = self.directory.manifest["epochs"]
        chosen = entries[-1] if self.devtest is None else max(entries, key=lambda entry: entry["devtest_metric"])
        for name in ("weights.vec", "weights.txt.gz"):
            with atomic_write(self.directory.path / name, compress=False) as stream:
                stream.write((self.directory.epoch(chosen["epoch"] - 1) / name).read_bytes())
        self.directory.manifest["chosen"] = chosen["epoch"]
        self.directory.write_manifest()
        return self.directory.path / "weights.txt.gz"

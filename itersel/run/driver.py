"""The driver: runs a plan's epochs on an engine, and can be killed and started again at any moment.

    map tasks (train_layout)  →  engine: map, reduce  →  model of the epoch  →  engine: devtest  →  manifest

The result is a function of the data and the configuration alone: the same bytes on every engine, in one process or
many, with any number of reducers, after any interruption.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from itersel.algorithms.plan import plan_of_name
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Declaration
from itersel.base.files import atomic_write
from itersel.base.progress import Progress
from itersel.base.usage import Stopwatch
from itersel.base.version import __version__, build_id
from itersel.engines import Engine, EpochOutcome, EpochWork, TranslateWork, open_engine
from itersel.learn.figures import FIGURES, STATISTICS
from itersel.lists.source import Source, open_source
from itersel.lists.table import ListTable
from itersel.mapreduce.work_item import MapTask
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run.config import TrainConfig, expand, fold_model_paths, identity
from itersel.run.devtest import FIGURES as DEVTEST_FIGURES
from itersel.run.devtest import score
from itersel.run.directory import RunDirectory
from itersel.shards.shard import Shard

LABELS = {"sgd": "SGD", "mix_sgd": "MixSGD", "iter_mix_sgd": "IterMixSGD", "iter_sel_sgd": "IterSelSGD"}
"""What people call the algorithms, in the order of the papers' numbers."""
START = -1
"""The number of the epoch before the first: its devtest score is that of the start weights."""


def train(config: TrainConfig, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None) -> Path:
    """Run or resume the training in the directory; returns the chosen epoch's weights as a text file."""
    if not config.shards:
        raise ConfigError("there are no shards to train on", hint="Give shards: [FILE, …] or --shards.")
    run = RunDirectory(directory)
    with run.locked():
        driver = Driver(config, run, warn or events.warn)
        with contextlib.closing(open_engine(config, run)) as engine:
            return driver.run(engine)


class Driver:
    """One run in its directory."""

    def __init__(self, config: TrainConfig, directory: RunDirectory, warn: Callable[[str], None]):
        self.config, self.directory, self.warn = config, directory, warn
        self.watch = Stopwatch()
        self.plan = plan_of_name(config.algorithm)
        self.selection = self.plan.selection(config.selection)
        self.files = [_open(path) for path in expand(config.shards, "shards")]
        devtest = [_open(path) for path in expand(config.devtest, "devtest")]
        self.devtest = sorted(devtest, key=lambda one: isinstance(one, ListTable))  # shards first, otherwise as given
        self.default_shards = 1 if self.plan.one_shard else None
        self.folds = len(fold_model_paths(config))
        tasks = self.tasks(0)
        self.plan.check(len(tasks))
        if config.epoch.learn.schedule == "adagrad" and any(
            len({part.path for part in one.parts}) > 1 for one in tasks
        ):
            raise ConfigError(
                "the schedule adagrad needs shards that are whole files: what it knows of a feature ends with the file",
                hint="Use layout.kind: files, or another schedule.",
            )
        number = list(LABELS).index(config.algorithm) + 1
        figures = FIGURES + DEVTEST_FIGURES
        declaration = Declaration(config.algorithm, LABELS[config.algorithm], number, STATISTICS, figures)
        description = {
            "configuration": asdict(config),
            "declaration": declaration.to_json(),
            "versions": {
                "itersel": __version__,
                "build": build_id(),
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        }
        directory.claim(identity(config, self.files, self.devtest), description)
        if directory.finished > config.epochs:
            raise ConfigError(
                f"the run has {directory.finished} epochs already, more than the {config.epochs} asked for",
                where=directory.path,
                hint="Name another directory.",
            )
        self.start = {} if config.start is None else dict(Weights.read(config.start))

    def run(self, engine: Engine) -> Path:
        if self.devtest and "start" not in self.directory.manifest:
            self.score_start(engine)
        for epoch in range(self.config.epochs):
            if epoch >= self.directory.finished and not self.stopped(epoch):
                self.run_epoch(engine, epoch)
            self.directory.forget_shards(epoch, states=not self.plan.own_weights)
            if epoch < self.directory.finished:
                self.directory.forget_shards(epoch - 1)
        return self.choose()

    def score_start(self, engine: Engine) -> None:
        """How good the weights are before anything is learned: what training has to beat."""
        place = self.start_vector() or self.directory.path / "start.vec"
        if not self.start:
            Vector.of([], []).write(place)
        facts, files, warnings = self.score_devtest(engine, START, Vector.read(place), place)
        for warning in warnings if self.start else []:  # weights of 0 choose nothing, so nobody expects much of them
            self.warn(f"start weights: {warning}")
        self.directory.finish_start(files, facts)

    def run_epoch(self, engine: Engine, epoch: int) -> None:
        folder = self.directory.epoch(epoch)
        outcome = self.train_epoch(engine, epoch)
        lines, total = self.statistics(epoch, outcome)
        vector = outcome.columns.vector()
        weights = Weights(dict(zip(outcome.names(vector.ids), vector.values.tolist(), strict=True)))
        vector.write(folder / "weights.vec")
        weights.write(folder / "weights.txt.gz")
        with atomic_write(folder / "norms.vec", compress=False) as stream:
            stream.write(outcome.columns.to_bytes())
        files = [folder / "weights.vec", folder / "weights.txt.gz", folder / "norms.vec"]
        facts: dict[str, Any] = {"weights": len(vector), "norm": self.selection.norm, "updates": total["updates"]}
        warnings = self.concerns(total)
        if self.devtest:
            scores, more, found = self.score_devtest(engine, epoch, vector, folder / "weights.vec")
            facts, files, warnings = facts | scores, files + more, warnings + found
        for warning in warnings:
            self.warn(f"epoch {epoch + 1}: {warning}")
        made = asdict(self.watch.lap(self.config.run.processes))
        whole = {"epoch": epoch + 1, "shard": None} | facts | total | {"warnings": warnings, "made": made}
        self.directory.write_statistics([*lines, whole])
        self.directory.finish_epoch(files, facts | {"warnings": warnings})

    def tasks(self, epoch: int) -> list[MapTask]:
        return self.config.layout.tasks(self.files, epoch, self.default_shards, self.folds)

    def train_epoch(self, engine: Engine, epoch: int) -> EpochOutcome:
        """Map and reduce."""
        tasks = self.tasks(epoch)
        own, names = self.plan.own_weights, set(self.start)
        states = None
        if epoch == 0:
            start = self.start_vector()
        elif own:
            start, states = None, [self.directory.state(epoch - 1, task.number) for task in tasks]
        else:
            start = self.directory.epoch(epoch - 1) / "weights.vec"
            names.update(Weights.read(self.directory.epoch(epoch - 1) / "weights.txt.gz"))
        work = EpochWork(epoch, tasks, start, states, own, self.selection, frozenset(names))
        with Progress(f"epoch {epoch + 1} of {self.config.epochs}", sum(task.size for task in tasks)) as progress:
            return engine.train_epoch(work, lambda sums: progress.update(int(sums["lists"]), _note(sums)))

    def start_vector(self) -> Path | None:
        """The start weights as a vector file; none if there are none."""
        if not self.start:
            return None
        place = self.directory.path / "start.vec"
        if not place.exists():
            Vector.of_names(self.start).write(place)
        return place

    def score_devtest(
        self, engine: Engine, epoch: int, weights: Vector, file: Path
    ) -> tuple[dict[str, Any], list[Path], list[str]]:
        """Scores, files and warnings of the devtest shards' translation with these weights."""
        shards = [one for one in self.devtest if isinstance(one, Shard)]
        lines = engine.translate(TranslateWork(shards, weights, file)) if shards else []
        for one in self.devtest:
            if isinstance(one, ListTable):
                lines += one.translate(weights)  # nothing to decode: quicker done than sent to an engine
        place = self.directory.epoch(epoch) / "devtest.txt.gz"
        with atomic_write(place) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())
        result = score(self.devtest, lines)
        facts = {"devtest_bleu": result.bleu, "devtest_length_ratio": result.length_ratio}
        return facts, [place], list(result.warnings)

    def statistics(self, epoch: int, outcome: EpochOutcome) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Lines of the shards, and their sums."""
        lines, total = [], dict[str, Any]()
        for number, values in enumerate(outcome.statistics):
            lines.append({"epoch": epoch + 1, "shard": number} | values)
            for key, value in values.items():
                if key == "seconds":
                    sums = total.setdefault("seconds", dict.fromkeys(value, 0.0))
                    for stage, spent in value.items():
                        sums[stage] += spent
                elif key != "nonzero":
                    total[key] = total.get(key, 0) + value
        total["columns"] = len(outcome.columns)
        return lines, total

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

    def stopped(self, epoch: int) -> bool:
        """Whether patience has run out before this epoch."""
        if self.config.patience is None or epoch == 0:
            return False
        entries = self.directory.manifest["epochs"][:epoch]
        scores = [entry["devtest_bleu"] for entry in entries]
        return epoch - 1 - scores.index(max(scores)) >= self.config.patience

    def choose(self) -> Path:
        """The epoch of the best devtest BLEU (the earlier of equals), or the last: its files become the run's."""
        entries = self.directory.manifest["epochs"]
        chosen = max(entries, key=lambda entry: entry["devtest_bleu"]) if self.devtest else entries[-1]
        folder = self.directory.epoch(chosen["epoch"] - 1)
        for name in ("weights.vec", "weights.txt.gz"):
            with atomic_write(self.directory.path / name, compress=False) as stream:
                stream.write((folder / name).read_bytes())
        before = self.directory.manifest["start"]["devtest_bleu"] if self.devtest else None
        if before is not None and chosen["devtest_bleu"] < before:
            self.warn(
                f"no epoch is as good on devtest as the start weights (BLEU {before:.2f}): the best has"
                f" {chosen['devtest_bleu']:.2f}; a smaller learning rate or another metric may help"
            )
        self.directory.manifest["chosen"] = chosen["epoch"]
        self.directory.write_manifest()
        return self.directory.path / "weights.txt.gz"


def _open(path: str) -> Source:
    shard = open_source(path)
    if len(shard) == 0:
        raise InputError("the shard has no sentences", where=path, hint="Leave it out, or compile it again.")
    return shard


def _note(sums: dict[str, float]) -> str:
    """The sums so far, for a person who watches."""
    if not sums["pairs"]:  # nothing yet, or an engine that knows only how far it is
        return ""
    errors = sums["rank_errors"] / sums["pairs"]
    metric = sums["best_metric"] / sums["lists"]
    learned = f"{sums['updates']:,.0f} updates, {sums['nonzero']:,.0f} features"
    return f"{learned}, metric {metric:.4f}, pair errors {errors:.1%}"

"""The driver: runs an algorithm's rounds on an engine, and can be killed and started again at any moment.

    work items (run.layout)  →  the algorithm's jobs  →  the round's model  →  devtest  →  manifest

The driver owns rounds, checkpoints, devtest and the choice of the round, and knows no algorithm by name. The result is
a function of the data and the configuration alone: the same bytes on every engine, in one process or many, with any
number of reducers, after any interruption.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from itersel.algorithms.base import Model, Round
from itersel.algorithms.epoch_job import FOLD, MODEL
from itersel.algorithms.registry import algorithm_class
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Choice
from itersel.base.files import atomic_write
from itersel.base.folders import RUN, check_folder_kind
from itersel.base.locks import alone
from itersel.base.usage import Stopwatch, cpu_seconds
from itersel.base.version import __version__, build_id
from itersel.engines import Engine, open_engine
from itersel.lists.source import AnySource, open_source
from itersel.mapreduce.job import Job, Record
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem
from itersel.model.domain_weights import FILE as DOMAIN_FILE
from itersel.model.domain_weights import FOLDER as DOMAINS
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.response.cache import FILE as ANSWERS
from itersel.run.build_folder import with_build
from itersel.run.config import TrainConfig, check_files, expand, fold_model_paths, identity
from itersel.run.defaults import with_defaults
from itersel.run.devtest import FIGURES, WEIGHTS, domain_in, score, translate_sources
from itersel.run.directory import RunDirectory
from itersel.run.job_runner import JobRunner
from itersel.run.seen import OTHER_SENTENCES, check_unseen

START = -1
"""The number of the round before the first: its devtest score is that of the start weights."""


def train(config: TrainConfig, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None) -> Path:
    """Run or resume the training in the directory; returns the chosen round's weights as a text file."""
    config = with_build(config)
    if not config.shards:
        raise ConfigError(
            "there are no shards to train on", hint="Give the work folder of a build (--build), or shards (--shards)."
        )
    run = RunDirectory(directory)
    check_folder_kind(run.path, RUN)
    with alone(run.path):
        try:
            driver = Driver(config, run, warn or events.warn)
            with contextlib.closing(open_engine(config.run, run.engine)) as engine:
                return driver.run(engine)
        except (ConfigError, InputError):
            run.give_up()
            raise


class Driver:
    """One run in its directory."""

    def __init__(self, config: TrainConfig, directory: RunDirectory, warn: Callable[[str], None]):
        self.directory, self.warn = directory, warn
        self.watch = Stopwatch()
        kind = algorithm_class(config.algorithm)
        check_files(config)
        self.files = [_open(path) for path in expand(config.shards, "shards")]
        self.config = config = with_defaults(config, self.files)
        self.algorithm = kind(config)
        devtest = [_open(path) for path in expand(config.devtest, "devtest")]
        self.devtest = sorted(devtest, key=lambda one: not one.decodes)  # shards first, otherwise as given
        self.declaration = kind.declaration(FIGURES if self.devtest else ())
        self.default_shards = 1 if kind.one_shard else None
        self.folds = fold_model_paths(config)
        self.algorithm.check(self.items(0))
        if not config.allow_seen_references:
            check_unseen(self.files, config.language_model, self.folds)
            others = [_open(path) for path in self.algorithm.other_files()]
            check_unseen(others, config.language_model, (), OTHER_SENTENCES)
        description = {
            "configuration": asdict(config),
            "declaration": self.declaration.to_json(),
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
        for number in range(self.config.epochs):
            if number >= self.directory.finished and not self.stopped(number):
                self.run_round(engine, number)
            self.directory.forget_jobs(number)
            if number < self.directory.finished:
                self.directory.forget_states(number - 1)
        return self.choose()

    def score_start(self, engine: Engine) -> None:
        """How good the weights are before anything is learned: what training has to beat."""
        place = self.start_vector() or self.directory.path / "start.vec"
        if not self.start:
            Vector.of([], []).write(place)
        facts, files, warnings = self.score_devtest(self.runner(engine, START), START, Vector.read(place), place)
        engine.pause()
        for warning in warnings if self.start else []:  # weights of 0 choose nothing, so their score says nothing
            self.warn(f"start weights: {warning}")
        self.directory.finish_start(files, facts)
        self.directory.forget_jobs(START)

    def run_round(self, engine: Engine, number: int) -> None:
        folder = self.directory.epoch(number)
        jobs = self.runner(engine, number)
        before = cpu_seconds()
        outcome = self.train_round(jobs, number)
        spent = round(cpu_seconds() - before, 3) if self.config.run.is_here else None
        vector = outcome.weights
        weights = Weights(dict(zip(outcome.names(vector.ids), vector.values.tolist(), strict=True)))
        vector.write(folder / "weights.vec")
        weights.write(folder / "weights.txt.gz")
        files = [folder / "weights.vec", folder / "weights.txt.gz"]
        for name, content in outcome.files.items():
            with atomic_write(folder / name, compress=False) as stream:
                stream.write(content)
            files.append(folder / name)
        for shard, state in enumerate(outcome.states):
            with atomic_write(self.directory.state(number, shard), compress=False) as stream:
                stream.write(state)
        facts, warnings = dict(outcome.facts), list(outcome.warnings)
        if self.devtest:
            scores, more, found = self.score_devtest(jobs, number, vector, folder / "weights.vec")
            facts, files, warnings = facts | scores, files + more, warnings + found
        engine.pause()
        for warning in warnings:
            self.warn(f"epoch {number + 1}: {warning}")
        lines, total = self.statistics(number, outcome)
        made = asdict(replace(self.watch.lap(self.config.run.processes), cpu_seconds=spent))
        whole = {"epoch": number + 1, "shard": None} | total | facts | {"warnings": warnings, "made": made}
        self.directory.write_statistics([*lines, whole])
        self.directory.finish_epoch(files, facts | {"warnings": warnings})

    def items(self, number: int) -> list[WorkItem]:
        folds, domain = len(self.folds), self.config.domain
        return self.config.layout.items(self.files, number, self.default_shards, folds, domain)

    def runner(self, engine: Engine, number: int) -> JobRunner:
        return JobRunner(engine, self.directory.jobs(number), self.declaration)

    def train_round(self, jobs: JobRunner, number: int) -> Round:
        title = f"epoch {number + 1} of {self.config.epochs}"
        context = Context(self, jobs, title)
        try:
            return self.algorithm.round(number, self.model(number), context)
        except InputError as error:
            raise InputError(error.message, where=error.where or self.directory.path, hint=error.hint) from None

    def model(self, number: int) -> Model:
        """What a round starts from."""
        if number == 0:
            return Model(Vector.of_names(self.start), frozenset(self.start), self.start_vector())
        folder = self.directory.epoch(number - 1)
        names = frozenset(self.start) | frozenset(Weights.read(folder / "weights.txt.gz"))
        file = folder / "weights.vec"
        return Model(Vector.read(file, mapped=True), names, file, self.directory.states(number - 1))

    def language_models(self, *, folds: bool) -> dict[str, SideFile]:
        side = {}
        if self.config.language_model is not None:
            side[MODEL] = SideFile(self.config.language_model, lasting=True)
        if folds:
            side |= {f"{FOLD}.{number}": SideFile(path, lasting=True) for number, path in enumerate(self.folds)}
        return side

    def start_vector(self) -> Path | None:
        """The start weights as a vector file; none if there are none."""
        if not self.start:
            return None
        place = self.directory.path / "start.vec"
        if not place.exists():
            Vector.of_names(self.start).write(place)
        return place

    def score_devtest(
        self, jobs: JobRunner, number: int, weights: Vector, file: Path
    ) -> tuple[dict[str, Any], list[Path], list[str]]:
        """Scores, files and warnings of the devtest sources' translation with these weights."""
        side = {WEIGHTS: SideFile(os.fspath(file))} | self.language_models(folds=False)
        domain = domain_in(self.devtest, self.config.domain)
        lines = translate_sources(self.devtest, weights, side, self.config.epoch.decoder, jobs.run, domain)
        place = self.directory.epoch(number) / "devtest.txt.gz"
        with atomic_write(place) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())
        result = score(self.devtest, lines, domain)
        return result.facts, [place], list(result.warnings)

    def statistics(self, number: int, outcome: Round) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Lines of the shards, and their sums."""
        lines, seconds = [], dict[str, float]()
        for shard, values in enumerate(outcome.statistics):
            lines.append({"epoch": number + 1, "shard": shard} | dict(values))
            for stage, spent in values.get("seconds", {}).items():
                seconds[stage] = seconds.get(stage, 0.0) + spent
        return lines, self.declaration.combine(outcome.statistics) | {"seconds": seconds}

    @property
    def choice(self) -> Choice | None:
        """What decides between rounds; None if nothing was measured that could, so that the last one is taken."""
        entries = self.directory.manifest["epochs"]
        key = self.declaration.choice.key
        return self.declaration.choice if entries and all(key in entry for entry in entries) else None

    def stopped(self, number: int) -> bool:
        """Whether the algorithm is done, or patience has run out, before this round."""
        entries = self.directory.manifest["epochs"][:number]
        if not entries:
            return False
        if self.algorithm.finished(entries):
            self.directory.manifest["stopped"] = True
            return True
        if self.config.patience is None or self.choice is None:
            return False
        values = [entry[self.choice.key] for entry in entries]
        return self.choice.rounds_without_gain(values) >= self.config.patience

    def choose(self) -> Path:
        """The best round (the earlier of equals), or the last: its files become the run's."""
        entries, choice = self.directory.manifest["epochs"], self.choice
        chosen = entries[-1] if choice is None else entries[choice.best([entry[choice.key] for entry in entries])]
        try:
            self.algorithm.conclude(entries, chosen)
        except InputError as error:
            raise InputError(error.message, where=error.where or self.directory.path, hint=error.hint) from None
        for remark in self.algorithm.remarks(entries, chosen):
            self.warn(remark)
        before = self.directory.manifest.get("start", {}).get(choice.key) if choice is not None else None
        start_is_better = choice is not None and before is not None and choice.better(before, chosen[choice.key])
        folder = self.directory.epoch(chosen["epoch"] - 1)
        of_domains = sorted(path.name for path in folder.iterdir() if DOMAIN_FILE.fullmatch(path.name))
        copies = {name: name for name in ("weights.vec", "weights.txt.gz")}
        copies |= {name: os.path.join(DOMAINS, name) for name in of_domains}
        for name, copy in copies.items():
            with atomic_write(self.directory.path / copy, compress=False) as stream:
                stream.write((folder / name).read_bytes())
        if choice is not None and before is not None and self.config.keep_start:
            self.say_before_and_after(choice, before, chosen[choice.key], kept=start_is_better)
        elif choice is not None and before is not None and start_is_better:
            self.warn(
                f"no epoch is as good on devtest as the start weights ({choice.label} {before:.2f}): the best has"
                f" {chosen[choice.key]:.2f}; a smaller learning rate or another metric may help"
            )
        self.directory.manifest["chosen"] = chosen["epoch"]
        self.directory.write_manifest()
        return self.directory.path / "weights.txt.gz"

    def say_before_and_after(self, choice: Choice, before: float, after: float, *, kept: bool) -> None:
        """Whether the start weights, which keep the order of lists, were better; if so, they become the run's."""
        self.directory.manifest["kept_start"] = kept
        events.note(f"held-out {choice.label}: {before:.2f} in the given order, {after:.2f} after the best epoch")
        if not kept:
            return
        Vector.of_names(self.start).write(self.directory.path / "weights.vec")
        Weights(self.start).write(self.directory.path / "weights.txt.gz")
        self.warn("no epoch is better than the order in which the lists were given: the weights of this run keep it")


class Context:
    """What the algorithm sees of the run in a round (itersel.algorithms.base.RunContext)."""

    def __init__(self, driver: Driver, jobs: JobRunner, title: str):
        self.driver, self.jobs, self.title = driver, jobs, title

    @property
    def reducers(self) -> int:
        return self.driver.config.run.reducers

    @property
    def models(self) -> Mapping[str, SideFile]:
        return self.driver.language_models(folds=True)

    @property
    def answers(self) -> str:
        return os.fspath((self.driver.directory.path / ANSWERS).absolute())

    def items(self, number: int) -> Sequence[WorkItem]:
        return self.driver.items(number)

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> list[Record]:
        return self.jobs.run(job, items, side, self.title)


def _open(path: str) -> AnySource:
    source = open_source(path)
    if len(source) == 0:
        raise InputError("the shard has no sentences", where=path, hint="Leave it out, or compile it again.")
    return source

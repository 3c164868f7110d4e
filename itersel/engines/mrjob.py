"""Engines behind mrjob: an epoch is the job `jobs/train_epoch.py`, devtest the job `jobs/translate.py`.

Mappers and reducers have no side effects, so an engine's own retries and speculative attempts are harmless. What they
need travels as files: one input file a shard with its task line, and beside them the configuration, the weights (16
bytes a feature) and the language models. An interrupted epoch is done again as a whole.

This class is complete for mrjob's own runners (mrjob-inline, mrjob-local); clusters override its hooks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from itersel.base.files import atomic_write, read_bytes
from itersel.engines.base import Engine, EpochOutcome, EpochWork, Tell, TranslateWork, summary
from itersel.engines.mrjob_launch import run_job
from itersel.mapreduce.records import Block, Record, collect, collect_translations, task_line
from itersel.mapreduce.work_item import MapTask, Part, State
from itersel.run.config import TrainConfig, fold_model_paths
from itersel.run.directory import RunDirectory

BLOCK = 100
"""Sentences of a block for translation."""


class MapReduceEngine(Engine):
    """The engines mrjob-inline and mrjob-local."""

    def __init__(self, config: TrainConfig, directory: RunDirectory):
        super().__init__(config, directory)
        self.staged: dict[str, str] = {}

    @property
    def runner(self) -> str:
        """mrjob's name of the runner."""
        return self.config.run.runner.removeprefix("mrjob-")

    def stage(self, path: str) -> str:
        """Put a file where all workers can read it, and return its address there; asked once a run for each file."""
        return os.path.abspath(path)

    def job_options(self) -> list[str]:
        """Options of mrjob's runner."""
        return ["--no-conf", *self.config.run.options]

    def run_job(self, name: str, arguments: Sequence[str], inputs: Sequence[str]) -> Iterator[Record]:
        """Run a job and give its records; a failure is a UserError that begins with the failing task's own words."""
        yield from run_job(name, [*self.job_options(), *arguments, *inputs], self.runner)

    def epoch_records(self, work: EpochWork, lines: Iterable[str], tell: Tell) -> Iterable[Record]:
        """What the reducers make of an epoch's task lines. Engines that know of finished shards tell of them."""
        arguments = [*self._side_files(), "--epoch", str(work.epoch + 1), "--shards", str(len(work.tasks))]
        arguments += ["--reducers", str(self.config.run.reducers)]
        for path in self._fold_models():
            arguments += ["--fold-lm", path]
        if work.start is not None:
            arguments += ["--weights", os.path.abspath(work.start)]
        tell(summary([]))
        with InputFiles(lines) as inputs:
            yield from self.run_job("train_epoch", arguments, inputs)

    def translation_records(self, work: TranslateWork, lines: Iterable[str]) -> Iterable[Record]:
        """The translations of blocks, which are given as lines."""
        arguments = [*self._side_files(), "--weights", os.path.abspath(work.file)]
        with InputFiles(lines) as inputs:
            yield from self.run_job("translate", arguments, inputs)

    def train_epoch(self, work: EpochWork, tell: Tell) -> EpochOutcome:
        lines = (task_line(self._address_task(task), self._state(work, task.number)) for task in work.tasks)
        records = self.epoch_records(work, lines, tell)
        made = collect(records, len(work.tasks), self.config.run.reducers, work.selection, work.names)
        for number, state in enumerate(made.states):
            if state is not None:
                with atomic_write(self.directory.state(work.epoch, number)) as stream:
                    stream.write(state)
        tell(summary(made.statistics))
        return EpochOutcome(made.columns, made.names, made.statistics)

    def translate(self, work: TranslateWork) -> list[str]:
        blocks: list[Block] = []
        for shard in work.shards:
            address = self._address(Part(shard.path, shard.checksum))
            for first in range(0, len(shard), BLOCK):
                sentences = tuple(range(first, min(first + BLOCK, len(shard))))
                blocks.append(Block(len(blocks), replace(address, sentences=sentences)))
        records = self.translation_records(work, (block.to_line() for block in blocks))
        return collect_translations(records, len(blocks))

    def _side_files(self) -> list[str]:
        arguments = ["--configuration", os.path.abspath(self.directory.path / "run.json")]
        if self.config.language_model is not None:
            arguments += ["--lm", self._stage(self.config.language_model)]
        return arguments

    def _fold_models(self) -> list[str]:
        """Where all workers can read the models by fold, in the order of the folds."""
        return [self._stage(path) for path in fold_model_paths(self.config)]

    def _stage(self, path: str) -> str:
        if path not in self.staged:
            self.staged[path] = self.stage(path)
        return self.staged[path]

    def _address(self, part: Part) -> Part:
        return replace(part, path=self._stage(part.path))

    def _address_task(self, task: MapTask) -> MapTask:
        return replace(task, parts=tuple(map(self._address, task.parts)))

    def _state(self, work: EpochWork, number: int) -> State | None:
        if work.states is None:
            return None
        return State.from_bytes(read_bytes(work.states[number]), work.states[number])


class InputFiles:
    """One file a line in a temporary folder, so that each is a map task of its own."""

    def __init__(self, lines: Iterable[str]):
        self.lines = lines

    def __enter__(self) -> list[str]:
        self.folder = tempfile.TemporaryDirectory(prefix="itersel-tasks-")
        paths = []
        for number, line in enumerate(self.lines):
            path = Path(self.folder.name) / f"{number:05d}.task"
            path.write_text(line + "\n", encoding="utf-8")
            paths.append(os.fspath(path))
        return paths

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()

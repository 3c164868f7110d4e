"""What MERT, PRO and MIRA share: lists that grow over the rounds, guard rails, and when to stop.

A round chooses weights by the lists collected so far, then decodes with them, so its scores are those of its own
weights. Only the first round decodes twice: it begins with the start weights.

    lists (k-best job)  →  weights (the tuner's own jobs)  →  decode, collect (k-best job)
"""

from __future__ import annotations

import contextlib
import json
import math
import uuid
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from itersel.algorithms.base import Algorithm, Model, Round, RunContext
from itersel.algorithms.epoch_job import START
from itersel.algorithms.kbest_job import Decoded, KBestJob, collect, is_left_out
from itersel.algorithms.line_search_job import LINES, with_lists
from itersel.algorithms.section_job import SectionJob, section_lines, sections_of, without_section
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import InputError
from itersel.base.figures import Choice, CrossSections, Figure, Statistic
from itersel.base.temporary import temporary_folder
from itersel.mapreduce.job import Job, Record
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem
from itersel.model.domain_weights import normalised
from itersel.model.feature_names import NameTable
from itersel.model.vectors import Vector, feature_ids
from itersel.tune.objective import LENGTHS, Objective
from itersel.tune.space import Lines

MEMORY = "tuning.json"
"""The file in a round's folder from which the next round continues."""
SHORT, LONG = 0.5, 2.0
"""Output that is shorter or longer than this, relative to the references, is not a translation."""
FELL = 0.1
"""Points by which the decoder's score may fall from one round to the next without a word."""
LARGEST = 1e6
MOST_RANGES = 8


@dataclass(frozen=True)
class TunerConfig:
    """What every tuner needs to know."""

    k: Annotated[int, Range(1, 1_000_000)] = 100
    """Hypotheses per sentence and round."""
    unique: bool = True
    """Only the best derivation of each target string."""
    metric: str = "bleu"
    """What is maximised on the tuning set: bleu, chrf, ter, or a weighted sum such as `bleu=1 ter=0.5`."""
    reference_length: Annotated[str, OneOf(*LENGTHS)] = "closest"
    """BLEU's, of several references: closest, shortest or average."""
    seed: Annotated[int, Range(0, 2**63 - 1)] = 1
    least_change: Annotated[float, Range(0)] = 1e-4
    """Stop when no weight changes by more in a round; the dense ones are brought to an absolute sum of 1 first."""
    sections: tuple[str, ...] = ()
    """Features with cross-sections besides the dense ones; weights do not depend on it."""

    def __post_init__(self) -> None:
        validate(self)
        self.objective()

    def objective(self) -> Objective:
        return Objective(self.metric, self.reference_length)


@dataclass(frozen=True)
class Memory:
    """What a tuner knows of the rounds before, besides the lists."""

    start: float
    """The decoder's score (0 to 100) with the start weights."""
    spread: Mapping[str, float]
    """For each feature of the lists, its standard deviation within them."""
    scores: tuple[float, ...] = ()
    """The decoder's score after each round."""
    bests: tuple[Mapping[str, float], ...] = ()
    """Each round's weights, as the tuner wants to remember them."""

    def to_bytes(self) -> bytes:
        return (json.dumps(self.__dict__, indent=1, sort_keys=True) + "\n").encode()

    @classmethod
    def read(cls, path: Path) -> Memory:
        try:
            values = json.loads(path.read_text())
            return cls(values["start"], values["spread"], tuple(values["scores"]), tuple(values["bests"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"cannot continue from the last round: {error}", where=path, hint="Start again.") from None


@dataclass(frozen=True, eq=False)
class Tuning:
    """What a tuner works with in a round."""

    number: int
    weights: Mapping[str, float]
    """Where the round starts from."""
    items: Sequence[WorkItem]
    """The shards with their lists."""
    memory: Memory
    run: RunContext
    folder: Path
    """For side files, until the end of the round."""
    warnings: list[str] = field(default_factory=list)

    @property
    def ranges(self) -> int:
        """Into how many ranges lines are divided: as many as shards, up to a limit, unless more are asked for.

        The result does not depend on it; several processes can then choose the best steps.
        """
        return max(self.run.reducers, min(len(self.items), MOST_RANGES))

    def start(self, job: Job, side: Mapping[str, bytes], *, models: bool = False) -> list[Record]:
        """Run a job over the shards; side files are given by content."""
        files = dict(self.run.models) if models else {}
        with contextlib.ExitStack() as stack:
            for name, content in side.items():
                # A new name for each: processes that stay know a file by path, size and time of change, and steps that
                # follow each other at once may write files of the same size at the same time.
                path = self.folder / f"{name}-{uuid.uuid4()}"
                path.write_bytes(content)
                stack.callback(path.unlink)
                files[name] = SideFile(str(path))
            return self.run.run(job, self.items, files)


@dataclass(frozen=True)
class Tuned:
    """What a tuner chose."""

    weights: Mapping[str, float]
    score: float
    """Of the weights on the lists, as the tuner sees it (0 to 1)."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    remembered: Mapping[str, float] = field(default_factory=dict)


class Tuner(Algorithm):
    """An algorithm whose rounds choose weights by all that was decoded so far."""

    config_class: ClassVar[type] = TunerConfig
    options: ClassVar[Mapping[str, str | None]] = {"k": "k", "metric": "metric", "eta": None, "top": None}
    small_set = True
    statistics = (Statistic("lists"), Statistic("hypotheses"), Statistic("new_hypotheses"))
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("tune_score", "tuning score", "tune_score", form="score", about="What the decoder reaches."),
        Figure(
            "list_score",
            "score on lists",
            "list_score",
            form="score",
            about="What the tuner promised on lists.",
            beside="tune_score",
        ),
        Figure("hypotheses", "hypotheses per list", "hypotheses", "lists", shown=("table", "curve", "progress")),
        Figure("new_hypotheses", "new hypotheses", "new_hypotheses", form="count"),
        Figure("weight_change", "weight change", "weight_change", form="number"),
        Figure("length_ratio", "tuning length ratio", "length_ratio", form="ratio", shown=("curve",)),
    )
    choice_without_devtest = Choice("tune_score", "tuning score")
    sections: ClassVar[CrossSections | None] = CrossSections(
        "sections.json",
        "score on the tuning set",
        about="What lists or forests give as a function of one weight, all others as the chosen round left them.",
    )
    memory_file: str = MEMORY
    keeps_lists = True
    """Whether hypotheses are collected."""
    kbest_job: ClassVar[type[KBestJob]] = KBestJob
    """What decodes."""

    @property
    def config(self) -> Any:
        return self.config_class() if self.settings.own is None else self.settings.own

    @abstractmethod
    def tune(self, tuning: Tuning) -> Tuned:
        """Choose weights by the lists."""

    def round(self, number: int, model: Model, run: RunContext) -> Round:
        with temporary_folder("tune") as temporary:
            return self.tuned_round(number, model, run, temporary)

    def tuned_round(self, number: int, model: Model, run: RunContext, folder: Path) -> Round:
        items, weights = list(run.items(number)), named(model.weights, model.names)
        for name in weights:
            if is_left_out(name, self.settings.epoch.leave_out):
                raise InputError(f"the feature {name!r} is to be left out, but there is a start weight for it")
        if number == 0:
            first = self.decode(0, items, weights, run, folder)
            states: Sequence[bytes] = first.states
            memory = Memory(self.points(first), first.spread)
        else:
            states = [path.read_bytes() for path in model.states]
            memory = Memory.read(_folder_of(model) / self.memory_file)
        listed = list(with_lists(items, states)) if self.keeps_lists else items
        tuning = Tuning(number, weights, listed, memory, run, folder)
        tuned = self.tune(tuning)
        check_weights(tuned.weights)
        decoded = self.decode(number + 1, listed, tuned.weights, run, folder)
        score, change = self.points(decoded), largest_change(weights, tuned.weights)
        warnings = [*tuning.warnings, *self.concerns(decoded, score, (memory.start, *memory.scores))]
        if number == 0:
            warnings += without_section(self.config.sections, self.drawn_besides(decoded.spread))
        after = Memory(memory.start, decoded.spread, (*memory.scores, score), (*memory.bests, tuned.remembered))
        vector = Vector.of_names(tuned.weights)
        return Round(
            vector,
            NameTable({*tuned.weights, *model.names}),
            decoded.statistics,
            facts={
                "weights": len(vector),
                "tune_score": score,
                "start_score": memory.start,
                "list_score": 100 * tuned.score,
                "new_hypotheses": decoded.new,
                "weight_change": change,
                "length_ratio": decoded.length_ratio,
                **tuned.facts,
            },
            states=decoded.states,
            files={
                self.memory_file: after.to_bytes(),
                **self.section_files(number, items, tuned, decoded, run, folder),
            },
            warnings=tuple(warnings),
        )

    def section_files(
        self,
        number: int,
        items: Sequence[WorkItem],
        tuned: Tuned,
        decoded: Decoded,
        run: RunContext,
        folder: Path,
    ) -> dict[str, bytes]:
        """The declared cross-sections at the round's weights, along dense and named features that differ in a list."""
        if self.sections is None:
            return {}
        lines, names = section_lines(tuned.weights, decoded.spread, self.drawn_besides(decoded.spread))
        if not names:
            return {}
        listed = list(with_lists(items, decoded.states)) if self.keeps_lists else items
        tuning = Tuning(number, tuned.weights, listed, Memory(0.0, decoded.spread), run, folder)
        made = sections_of(self.section_job(tuning, lines), lines, names)
        return {self.sections.file: (json.dumps(made, sort_keys=True) + "\n").encode()}

    def drawn_besides(self, spread: Mapping[str, float]) -> Sequence[str]:
        """Features that have cross-sections, too, whether they are dense or not."""
        return [name for name in self.config.sections if spread.get(name, 0.0) > 0]

    def section_job(self, tuning: Tuning, lines: Lines) -> list[Record]:
        """Run the job that follows the lines over the lists."""
        objective, one_shard = self.config.objective(), len(tuning.items) == 1
        job = SectionJob(tuning.ranges, tuning.number, objective=objective, one_shard=one_shard)
        return tuning.start(job, {LINES: lines.to_bytes()})

    def decode(
        self, number: int, items: Sequence[WorkItem], weights: Mapping[str, float], run: RunContext, folder: Path
    ) -> Decoded:
        """Decode with the weights, and collect what is new."""
        config = self.config
        job = self.kbest_job(
            number=number,
            k=config.k,
            unique=config.unique,
            decoder=self.settings.epoch.decoder,
            objective=config.objective(),
            keep=self.keeps_lists,
            leave_out=self.left_out(weights),
            only_drawn=self.only_drawn(weights),
        )
        return collect(run.run(job, items, {**self.decoding_files(number, weights, folder), **run.models}))

    def left_out(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Features that the lists need not have."""
        del weights
        return self.settings.epoch.leave_out

    def only_drawn(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Features that the lists need only for their cross-sections."""
        del weights
        return ()

    def decoding_files(self, number: int, weights: Mapping[str, float], folder: Path) -> dict[str, SideFile]:
        """The side files of a decoding besides language models: the weights."""
        file = folder / f"weights-{number}.vec"
        file.write_bytes(Vector.of_names(weights).to_bytes())
        return {START: SideFile(str(file))}

    def points(self, decoded: Decoded) -> float:
        """The score of what the decoder ranked first, from 0 to 100."""
        return 100 * self.config.objective().score(decoded.sums)

    def concerns(self, decoded: Decoded, score: float, before: Sequence[float]) -> list[str]:
        """What looks wrong with a round."""
        found = []
        if score < before[-1] - FELL:
            found.append(f"the tuning score fell from {before[-1]:.2f} to {score:.2f}")
        if not SHORT <= decoded.length_ratio <= LONG:
            found.append(f"the output has {decoded.length_ratio:.2f} times the length of the references")
        return found

    def finished(self, history: Sequence[Mapping[str, Any]]) -> bool:
        last = history[-1]
        nothing_new = self.keeps_lists and last["new_hypotheses"] == 0
        return nothing_new or last["weight_change"] < self.config.least_change

    def remarks(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> Sequence[str]:
        del history
        return remarks_on(chosen)

    def conclude(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> None:
        check_outcome(history, chosen)


def remarks_on(chosen: Mapping[str, Any]) -> list[str]:
    """What looks wrong with the round that devtest chose."""
    score, start = chosen["tune_score"], chosen["start_score"]
    if score >= start:
        return []
    return [
        f"devtest chose epoch {chosen['epoch']}, whose tuning score, {score:.2f}, is below the start's, {start:.2f}"
    ]


def check_outcome(history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> None:
    """A run that made things worse, or whose output is no translation, is not a success."""
    best = max(entry["tune_score"] for entry in history)
    if best < chosen["start_score"]:
        raise InputError(
            f"no round reached the tuning score of the start weights ({chosen['start_score']:.2f}): the best has"
            f" {best:.2f}",
            hint="Keep the start weights, or allow more rounds (epochs) and a larger k.",
        )
    check_length(chosen["length_ratio"])


def check_length(ratio: float, output: str = "output") -> None:
    """InputError for output that is far too short or too long."""
    if not SHORT <= ratio <= LONG:
        raise InputError(
            f"with the chosen weights, {output} has {ratio:.2f} times the references' length",
            hint="Allow more rounds (epochs) and a larger k, or start from other weights.",
        )


def named(weights: Vector, names: Sequence[str] | frozenset[str]) -> dict[str, float]:
    """The non-zero weights by name, in code point order."""
    ordered = sorted(names)
    values = weights.values_of(feature_ids(ordered)).tolist()
    return {name: value for name, value in zip(ordered, values, strict=True) if value}


def check_weights(weights: Mapping[str, float]) -> None:
    """InputError for weights that no tuner should end with."""
    if not any(weights.values()):
        raise InputError("all weights became 0", hint="Does any feature differ between the hypotheses of a list?")
    for name, value in weights.items():
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise InputError(f"the weight of {name} exploded: {value:g}", hint="Start from other weights.")


def largest_change(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    """The largest difference of a weight, both normalised."""
    one, other = normalised(before), normalised(after)
    return max((abs(one.get(name, 0.0) - other.get(name, 0.0)) for name in {*one, *other}), default=0.0)


def generator(*numbers: int) -> np.random.Generator:
    """Random numbers that are a function of these."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(list(numbers))))


def _folder_of(model: Model) -> Path:
    assert model.file is not None, "a round after the first starts from a file"
    return model.file.parent

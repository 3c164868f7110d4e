"""Response-based learning (ACL 2014): RAMPION, EXEC and REBOL as rounds of one epoch each.

A round's epoch starts from the last model, and its model is the mean over the shards, with one shard the paper's
sequential learning. `select` keeps only the best columns, as iter_sel_sgd does. The references that REBOL wins are a
shard's state. The `response` group of a run's configuration says who is asked (itersel.response.config).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgpack

from itersel.algorithms.base import Model, Round, RunContext
from itersel.algorithms.epoch_job import EpochJob, FileParts, language_models, learn_item
from itersel.algorithms.sgd import EpochAlgorithm
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Figure, Statistic
from itersel.learn.epoch import EpochConfig, EpochResult
from itersel.learn.figures import FIGURES, STATISTICS
from itersel.learn.hope_fear import REFERENCES, HopeFear
from itersel.learn.mixing import Columns, SelectionConfig
from itersel.learn.response_epoch import COUNTS, STEP, Feedback, run_response_epoch, run_response_list_epoch
from itersel.lists.source import ShardSource
from itersel.mapreduce.fetch import open_item_source
from itersel.mapreduce.job import Tell
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import WorkItem
from itersel.response.cache import CachedResponse
from itersel.response.config import ResponseConfig
from itersel.response.opening import object_name, open_response

SIDE_PREFIX = "response."
"""Before the names of the response's files among the side files."""


@dataclass(frozen=True)
class ResponseJob(EpochJob):
    """One epoch over all shards, with feedback."""

    rule: HopeFear = field(default_factory=HopeFear)
    response: ResponseConfig | None = None
    cache: str | None = None
    """The file of answers, for workers that see it."""

    counts: ClassVar[Mapping[str, str]] = {**EpochJob.counts, **dict.fromkeys(COUNTS, "sum")}

    def modules(self) -> Sequence[str]:
        name = None if self.response is None else object_name(self.response)
        return [*super().modules(), *([] if name is None else [name.partition(":")[0]])]

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        feedback = self.feedback(side, item)

        def learn_from(file: FileParts) -> EpochResult:
            feedback.forget_counts()  # they are of one file; `learn_item` adds them up
            if isinstance(file.source, ShardSource):
                chosen = file.chosen()
                return run_response_epoch(file.source.data, file.weights, chosen, self.epoch, feedback, **file.options)
            return run_response_list_epoch(
                file.source.data, file.weights, self.epoch, feedback, lists=file.lists(), **file.options
            )

        models, progress = language_models(side), self.progress(tell)
        result = learn_item(item, self.start(side), models, self.number, progress, learn_from, tuple(self.counts))
        tell(item.size, result.statistics)
        state: bytes = msgpack.packb(sorted(feedback.references.items()))
        yield from self.pieces(replace(self.plain_row(result), state=state))

    def feedback(self, side: Side, item: WorkItem) -> Feedback:
        """Whom to ask, and the references that the shard's sentences have won so far."""
        content = item.read_state()
        references = {} if content is None else _references(content, item)
        if self.response is None or not self.rule.feedback:
            return Feedback(self.rule, references=references)
        config = self.response
        names = tuple(config.files)

        def make(*paths: str) -> CachedResponse:
            files = dict(zip(names, paths, strict=True))
            return CachedResponse(open_response(config, files), config.cache or self.cache)

        purpose = f"response {config} {self.cache}"
        judge = side.cached(purpose, tuple(SIDE_PREFIX + name for name in names), make)
        return Feedback(self.rule, judge, config.limit, config.processes, references)


def _references(content: bytes, item: WorkItem) -> dict[str, list[str]]:
    try:
        return {str(id): [str(text) for text in texts] for id, texts in msgpack.unpackb(content)}
    except (ValueError, TypeError) as error:
        raise InputError(f"damaged state of a shard: {error}", where=item.state, hint="Start again.") from None


@dataclass(frozen=True)
class SelectConfig:
    """Settings that all three share."""

    select: bool = False
    """Keep only the columns that `selection` says, as iter_sel_sgd does."""

    def __post_init__(self) -> None:
        validate(self)

    def rule(self) -> HopeFear:
        raise NotImplementedError


@dataclass(frozen=True)
class ExecConfig(SelectConfig):
    """How EXEC learns."""

    corrections_only: bool = False
    """Learn only where the best translation fails."""

    def rule(self) -> HopeFear:
        return HopeFear(cost=False, references="fixed", corrections_only=self.corrections_only)


@dataclass(frozen=True)
class RampionConfig(SelectConfig):
    """How RAMPION learns."""

    scale: Annotated[float, Range(0)] = 0.0
    """Map a list's scores to [0, scale] before the cost counts; the authors' program has 1. 0: as they are."""
    around_prediction: bool = False
    """The prediction is one of the pair, as in the authors' program: y⁺ if it equals the reference, otherwise y⁻."""

    def rule(self) -> HopeFear:
        return HopeFear(feedback=False, scale=self.scale, references="fixed", around_prediction=self.around_prediction)


@dataclass(frozen=True)
class RebolConfig(SelectConfig):
    """How REBOL learns."""

    scale: Annotated[float, Range(0)] = 0.0
    """As for rampion."""
    references: Annotated[str, OneOf(*REFERENCES)] = "grow"
    """Successful predictions become references: all (grow), only the last one, each for its own update alone and
    instead of the others as in the authors' program (prediction), or none (fixed)."""
    ask_prediction_only: bool = False
    """The authors' rebol_light: only the prediction is tried out."""
    corrections_only: bool = False
    """As for exec."""

    def rule(self) -> HopeFear:
        return HopeFear(
            scale=self.scale,
            references=self.references,
            ask_prediction_only=self.ask_prediction_only,
            corrections_only=self.corrections_only,
        )


class ResponseAlgorithm(EpochAlgorithm):
    """What RAMPION, EXEC and REBOL have in common."""

    job_class = ResponseJob
    one_shard = True
    keeps_account = False
    statistics = (*STATISTICS, *(Statistic(key) for key in COUNTS))
    figures = (
        *(figure for figure in FIGURES if figure.key != "pair_error"),
        Figure(
            "skipped",
            "skipped",
            "skipped",
            "lists",
            form="percent",
            about="Share of the sentences from which nothing could be learned: one of the two translations is missing.",
            shown=("table", "curve", "spread"),
        ),
    )

    @property
    def rule(self) -> HopeFear:
        own = self.settings.own
        made: HopeFear = (self.config_class() if own is None and self.config_class else own).rule()
        return made

    def selection(self) -> SelectionConfig:
        own = self.settings.own
        return self.settings.selection if own is not None and own.select else super().selection()

    def kept(self) -> int | None:
        return self.selection().top

    def check(self, items: Sequence[WorkItem]) -> None:
        super().check(items)
        if self.settings.epoch.background is not None:
            raise ConfigError("background is not for response-based learning", hint="Leave it out.")
        response = self.settings.response
        if self.rule.feedback and response is None:
            raise ConfigError(
                f"{self.name} needs feedback, but there is no response",
                hint="Give response.program or response.object: docs/response.md.",
            )
        if self.rule.feedback and response is not None:
            open_response(response)  # whether it can be
            if response.cache is not None and not Path(response.cache).absolute().parent.is_dir():
                raise InputError("response.cache: its folder does not exist", where=response.cache, hint="Make it.")
            _check_ids(items)

    def epoch_config(self) -> EpochConfig:
        epoch = self.settings.epoch
        return replace(epoch, learn=replace(epoch.learn, rule=STEP))

    def round(self, number: int, model: Model, run: RunContext) -> Round:
        self.answers = run.answers
        return super().round(number, model, run)

    def job_fields(self) -> Mapping[str, Any]:
        response = self.settings.response if self.rule.feedback else None
        fields: dict[str, Any] = {"rule": self.rule}
        if response is not None:
            fields |= {"response": response, "cache": response.cache or self.answers}
        return fields

    def side_files(self) -> Mapping[str, SideFile]:
        response = self.settings.response if self.rule.feedback else None
        files = {} if response is None else response.files
        return {SIDE_PREFIX + name: SideFile(path, lasting=True) for name, path in files.items()}

    def concerns(self, total: Mapping[str, Any], columns: Columns) -> list[str]:
        if total["pairs"] == 0 and self.rule.corrections_only and total["successes"] == total["lists"]:
            return ["the best translation of every sentence passes: there was nothing to correct"]
        if total["pairs"] == 0:
            raise InputError(
                "no sentence of the epoch has both a translation to learn from and one to learn against",
                hint="Does the response say yes, and does it say no? A larger k may help, or response.limit."
                if self.rule.feedback
                else "Are references and translations in the same tokenisation, and is k large enough?",
            )
        return super().concerns(total, columns)


def _check_ids(items: Sequence[WorkItem]) -> None:
    """A task, its cached answers and won references know a sentence by its id."""
    files = {file.path: file for item in items for file in item.files}
    places: dict[str, str] = {}
    for path, file in files.items():
        source = open_item_source(file)
        for number in range(len(source)):
            id = source.id(number)
            if id in places:
                raise InputError(
                    f"two sentences have the id {id!r}, by which the response knows them",
                    where=path if places[id] == path else f"{places[id]} and {path}",
                    hint="Compile all sentences as one corpus, as itersel build does: it numbers them.",
                )
            places[id] = path


def _success() -> Figure:
    return Figure(
        "success",
        "success",
        "successes",
        "lists",
        form="percent",
        about="Share of the sentences whose best translation the task succeeded with.",
        shown=("progress", "table", "curve", "spread"),
    )


class Rampion(ResponseAlgorithm):
    """Without feedback."""

    name, label = "rampion", "RAMPION"
    config_class = RampionConfig


class Exec(ResponseAlgorithm):
    """Without cost."""

    name, label = "exec", "EXEC"
    config_class = ExecConfig
    figures = (_success(), *ResponseAlgorithm.figures)


class Rebol(ResponseAlgorithm):
    """With both."""

    name, label = "rebol", "REBOL"
    config_class = RebolConfig
    figures = (_success(), *ResponseAlgorithm.figures)

"""The configuration of a reranker (conf/rerank.yaml): lists, what is good about them, and how to learn from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from itersel.algorithms.registry import DEFAULT, algorithm_class
from itersel.base.config import Internal, OneOf, PathStr, Range, validate
from itersel.base.errors import ConfigError
from itersel.engines.config import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import SelectionConfig
from itersel.lists.compiler import ORDERS, ObjectiveConfig
from itersel.lists.reader import FieldsConfig
from itersel.response.config import ResponseConfig
from itersel.run.config import TrainConfig
from itersel.run.layout import LayoutConfig

KINDS = ("random", "reshard", "sequential")
"""How lists can be dealt out."""
SIZE = 1000
"""Lists per shard by default."""


@dataclass(frozen=True)
class RerankConfig:
    """Everything that training on n-best lists needs to know."""

    lists: tuple[PathStr, ...] = ()
    """N-best files, in order."""
    merge: bool = False
    """The files have lists of the same sentences, as an outside decoder wrote them in successive iterations: join a
    sentence's lists."""
    references: tuple[PathStr, ...] = ()
    """One or several files of references; none if `fields.objective` says how good a hypothesis is."""
    references_by: Annotated[str, OneOf(*ORDERS)] = "id"
    """id: list 0 belongs to the first line; list: the first list does, whatever its id."""
    devtest: tuple[PathStr, ...] = ()
    """Lists that are reranked after every epoch; the epoch of the best corpus BLEU is chosen."""
    devtest_references: tuple[PathStr, ...] = ()
    fields: FieldsConfig = field(default_factory=FieldsConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    held_out: Annotated[int, Range(0)] = 5
    """Where there are references and no devtest, every n-th list is not learned from: these lists choose the
    epoch. 0: none."""
    own_score: bool = True
    """The system's own score is a feature, `SystemScore`, and training starts from its weight 1: from the lists' own
    order. If no epoch is better than that, the order is kept."""
    start: PathStr | None = None
    """Weight file to start from; none: all weights 0, except for that of `SystemScore`."""
    layout: LayoutConfig = field(default_factory=lambda: LayoutConfig("random"))
    """How lists are dealt out to shards. Default: shards of 1,000 lists; one shard for sgd."""
    algorithm: str = DEFAULT
    epochs: Annotated[int, Range(1, 999)] = 10
    patience: Annotated[int, Range(1)] | None = None
    learn: LearnConfig = field(default_factory=LearnConfig)
    shuffle: bool = False
    """Take a shard's lists in another order in each epoch, by `layout.seed`."""
    selection: SelectionConfig = field(default_factory=lambda: SelectionConfig(top=100_000))
    """Which features iter_sel_sgd keeps."""
    response: ResponseConfig | None = None
    """Who says whether a hypothesis did its job, for exec and rebol."""
    run: RunConfig = field(default_factory=RunConfig)
    """Where the work is done. Has no influence on the result."""
    own: Internal = None
    """The algorithm's own configuration, as in TrainConfig."""

    def __post_init__(self) -> None:
        validate(self)
        if self.layout.kind not in KINDS:
            raise ConfigError(f"layout.kind is {self.layout.kind!r}; for lists, choose one of {', '.join(KINDS)}")
        if self.patience is not None and not self.devtest:
            raise ConfigError(
                f"patience is {self.patience}, but there is no devtest", hint="Give devtest lists, to score epochs on."
            )
        self.train_config("lists", "devtest")  # checks the rest

    def check(self) -> None:
        """Raise ConfigError where the data is not clear."""
        if not self.lists:
            raise ConfigError("no lists to train on", hint="Give lists: [FILE, …] or --lists.")
        if "-" in (*self.lists, *self.references, *self.devtest, *self.devtest_references):
            raise ConfigError("standard input cannot be read twice", hint="Write it to a file first.")
        if bool(self.references) == (self.fields.objective is not None):
            both = "both references and an objective" if self.references else "no references and no objective"
            raise ConfigError(
                f"{both}: one of them must say which hypotheses are good", hint="Give --references or --objective."
            )
        if bool(self.devtest) != bool(self.devtest_references):
            raise ConfigError(
                "devtest and devtest_references must be given together",
                hint="BLEU on devtest decides which epoch is best.",
            )
        if self.objective.lower_is_better and self.fields.objective is None:
            raise ConfigError(
                "objective.lower_is_better has no effect without an objective", hint="Give fields.objective."
            )

    def train_config(self, lists: str, devtest: str | None) -> TrainConfig:
        """The run over compiled tables."""
        layout = self.layout
        if layout.size is None and layout.shards is None and not algorithm_class(self.algorithm).one_shard:
            layout = LayoutConfig(layout.kind, size=SIZE, seed=layout.seed)
        epoch = EpochConfig(
            metric=self.objective.metric,
            order=self.objective.order,
            learn=self.learn,
            shuffle=self.shuffle,
            seed=self.layout.seed,
        )
        return TrainConfig(
            shards=(lists,),
            devtest=() if devtest is None else (devtest,),
            start=self.start,
            layout=layout,
            algorithm=self.algorithm,
            epochs=self.epochs,
            patience=self.patience,
            epoch=epoch,
            selection=self.selection,
            response=self.response,
            run=self.run,
            keep_start=True,
            own=self.own,
        )

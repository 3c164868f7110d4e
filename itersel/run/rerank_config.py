"""The configuration of a reranker (conf/rerank.yaml): lists, what is good about them, and how to learn from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from itersel.algorithms.registry import algorithm_class
from itersel.base.errors import ConfigError
from itersel.engines.config import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import Selection
from itersel.lists.compiler import ORDERS, Objective
from itersel.lists.reader import Fields
from itersel.run.config import TrainConfig, load_with_own
from itersel.run.layout import TrainLayout

SIZE = 1000
"""Lists of a shard where nothing else is said."""


@dataclass(frozen=True)
class RerankConfig:
    """Everything that training on n-best lists needs to know."""

    lists: tuple[str, ...] = ()
    """N-best files, in order."""
    references: tuple[str, ...] = ()
    """One or several files of references; none if `fields.objective` says how good a hypothesis is."""
    references_by: str = "id"
    """id: list 0 belongs to the first line; list: the first list does, whatever its id."""
    devtest: tuple[str, ...] = ()
    """Lists that are reranked after every epoch; the epoch of the best corpus BLEU is chosen."""
    devtest_references: tuple[str, ...] = ()
    fields: Fields = field(default_factory=Fields)
    objective: Objective = field(default_factory=Objective)
    start: str | None = None
    """Weight file to start from; none: all weights 0."""
    layout: TrainLayout = field(default_factory=lambda: TrainLayout("random"))
    """How lists are dealt out to shards. Default: shards of 1,000 lists; one shard for sgd."""
    algorithm: str = "iter_sel_sgd"
    epochs: int = 10
    patience: int | None = None
    learn: LearnConfig = field(default_factory=LearnConfig)
    shuffle: bool = False
    """Take a shard's lists in another order in each epoch, by `layout.seed`."""
    selection: Selection = field(default_factory=lambda: Selection(top=100_000))
    """Of iter_sel_sgd."""
    run: RunConfig = field(default_factory=RunConfig)
    """Where the work is done. Has no influence on the result."""
    own: Any = None
    """The algorithm's own configuration: what stands under the key that is called like the algorithm."""

    def __post_init__(self) -> None:
        if self.references_by not in ORDERS:
            raise ConfigError(f"references_by is {self.references_by!r}", hint=f"Choose one of {', '.join(ORDERS)}.")
        if self.layout.kind in ("files", "tasks"):
            raise ConfigError(
                f"layout.kind is {self.layout.kind!r}", hint="Lists are dealt out random, reshard or sequential."
            )
        self.train_config("", "")  # checks the rest

    def check(self) -> None:
        """Raise ConfigError where the data is not clear."""
        if not self.lists:
            raise ConfigError("there are no lists to train on", hint="Give lists: [FILE, …] or --lists.")
        if "-" in (*self.lists, *self.references, *self.devtest, *self.devtest_references):
            raise ConfigError("standard input cannot be read twice", hint="Write it to a file first.")
        if bool(self.references) == (self.fields.objective is not None):
            raise ConfigError(
                "it is not clear what good hypotheses are",
                hint="Give references, or the field of an objective that each hypothesis carries.",
            )
        if bool(self.devtest) != bool(self.devtest_references):
            raise ConfigError("devtest lists and devtest references belong together", hint="BLEU decides on devtest.")
        if self.objective.lower_is_better and self.fields.objective is None:
            raise ConfigError("lower_is_better is about an objective", hint="Give fields.objective.")

    def train_config(self, lists: str, devtest: str | None) -> TrainConfig:
        """The run over compiled tables."""
        layout = self.layout
        if layout.size is None and layout.shards is None and not algorithm_class(self.algorithm).one_shard:
            layout = TrainLayout(layout.kind, size=SIZE, seed=layout.seed)
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
            run=self.run,
            own=self.own,
        )


def load_rerank_config(values: Mapping[str, Any], where: str | os.PathLike[str] | None = None) -> RerankConfig:
    """The configuration of these values. The key called like the algorithm holds the algorithm's own configuration."""
    return load_with_own(RerankConfig, values, where)

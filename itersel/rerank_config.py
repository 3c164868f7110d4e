"""The configuration of a reranker's training (conf/rerank.yaml), and its identity: what the result depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from itersel.errors import ConfigError
from itersel.layout import Layout
from itersel.learn import LearnConfig
from itersel.metrics import METRICS, ORDER
from itersel.mix import Selection
from itersel.nbest import Fields
from itersel.plan import plan_of_name
from itersel.train_config import file_checksum

ORDERS = ("id", "list")
RESULT_FREE = ("epochs", "jobs")
"""Keys that a run may be resumed with another value of."""
PATHS = ("lists", "references", "devtest", "devtest_references")
"""Keys that enter the identity by content, not by name."""


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
    """Lists that are reranked after every epoch; the epoch of the best mean metric is chosen."""
    devtest_references: tuple[str, ...] = ()
    fields: Fields = field(default_factory=Fields)
    metric: str = "fixed_stupid_bleu"
    order: int = ORDER
    """Longest n-gram of the metric."""
    lower_is_better: bool = False
    """Of the objective."""
    unique: bool = True
    """Learn only from the first of equal texts in a list."""
    start: str | None = None
    """Weight file to start from; none: all weights 0."""
    algorithm: str = "iter_sel_sgd"
    epochs: int = 10
    learn: LearnConfig = field(default_factory=LearnConfig)
    layout: Layout = field(default_factory=Layout)
    """How lists are dealt out to shards."""
    shuffle: bool = False
    """Take a shard's lists in another order in each epoch, by `layout.seed`."""
    selection: Selection = field(default_factory=lambda: Selection(top=100_000))
    """Of iter_sel_sgd."""
    jobs: int = 1
    """Processes. Has no influence on the result."""

    def __post_init__(self) -> None:
        plan_of_name(self.algorithm)
        self.learn.options()  # the kernel checks the values
        if not 1 <= self.epochs <= 999:
            raise ConfigError(f"epochs is {self.epochs}", hint="Give a number from 1 to 999.")
        if self.metric not in METRICS:
            raise ConfigError(f"metric is {self.metric!r}", hint=f"Choose one of {', '.join(METRICS)}.")
        if self.references_by not in ORDERS:
            raise ConfigError(f"references_by is {self.references_by!r}", hint=f"Choose one of {', '.join(ORDERS)}.")
        if self.layout.kind == "tasks":
            raise ConfigError("lists have no task labels", hint="Choose the layout random or sequential.")

    def check(self) -> None:
        """Raise ConfigError where the data is not clear."""
        if not self.lists:
            raise ConfigError("there are no lists to train on", hint="Give lists: [FILE, …] or --lists.")
        for lists, references in ((self.lists, self.references), (self.devtest, self.devtest_references)):
            if "-" in (*lists, *references):
                raise ConfigError("standard input cannot be read twice", hint="Write it to a file first.")
            if lists and bool(references) == (self.fields.objective is not None):
                raise ConfigError(
                    "it is not clear what good hypotheses are",
                    hint="Give either references or the field of an objective, also for devtest lists.",
                )
        if self.lower_is_better and self.fields.objective is None:
            raise ConfigError("lower_is_better is about an objective", hint="Give fields.objective.")

    def plan_layout(self) -> Layout:
        """The layout; where nothing else is said, algorithms of one shard get one."""
        given = self.layout
        if plan_of_name(self.algorithm).one_shard and given.size is None and given.shards is None:
            return Layout(given.kind, shards=1, seed=given.seed)
        return given


def identity(config: RerankConfig) -> dict[str, Any]:
    """What the result is a function of, as flat keys; data by checksum, so that files may move."""
    values = asdict(config)
    for key in (*RESULT_FREE, *PATHS, "start"):
        del values[key]
    made = dict(_flat(values))
    for key in PATHS:
        made[key] = [file_checksum(path) for path in getattr(config, key)]
    made["start"] = None if config.start is None else file_checksum(config.start)
    return made


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in values.items():
        if isinstance(value, dict):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((f"{prefix}{key}", list(value) if isinstance(value, tuple) else value))
    return pairs

"""One epoch over one shard, what a map task runs: decode each sentence, compare its k-best list with the references,
update the weights (ACL 2012 §4, the inner loop of algorithms 1 to 4).

All of it happens in the kernel, without Python's lock. Weights come in and go out as vectors of 64-bit feature ids;
features of the start weights that the shard does not know are carried through unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from itersel import _kernel
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import DecoderConfig
from itersel.learn.learner import LearnConfig
from itersel.lm.model import LanguageModel
from itersel.metrics.sentence import MAX_ORDER, METRICS, ORDER
from itersel.model.features import PREFIXES
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard

DENSE = "dense"
"""In `rates`, all features that are in no sparse group."""
STAGES = ("decode", "kbest", "metric", "pairs", "update")


@dataclass(frozen=True)
class EpochConfig:
    """How a shard's sentences are decoded, scored and learned from."""

    decoder: DecoderConfig = field(default_factory=DecoderConfig)
    """Limits of the search. Which words may be copied is fixed when the shard is made."""
    k: Annotated[int, Range(2, 1_000_000)] = 100
    """Length of the k-best lists."""
    unique: bool = True
    """Only the best derivation of each target string."""
    metric: Annotated[str, OneOf(*METRICS)] = "stupid_bleu"
    """What hypotheses are compared by. `stupid_bleu` makes output too short; with `fixed_stupid_bleu`, the reference
    counts as one word longer (docs/results-settings.md)."""
    order: Annotated[int, Range(1, MAX_ORDER)] = ORDER
    """Longest n-gram of the metric."""
    learn: LearnConfig = field(default_factory=LearnConfig)
    leave_out: tuple[str, ...] = ()
    """Features the model does not have, although the decoder counts them: they are never learned, their weight is 0.
    `("WordPenalty",)` gives the model that cdec has without its WordPenalty feature function; a name that ends with *
    stands for all that begin so: `("R:*",)` leaves out the rule identities of shards compiled with them."""
    rates: dict[str, Annotated[float, Range(0)]] = field(default_factory=dict)
    """By feature, what its updates are multiplied by; 0: its weight stays as it is at the start. A name that ends with
    * stands for all that begin so, and `dense` for all that are in no sparse group and fit no other name. The first
    that fits counts. Needs learn.batch."""
    background: Annotated[float, Range(above=0, below=1)] | None = None
    """Score the hypotheses of a list by what they add to the corpus metric of the best translations before it, which
    count less by this factor with each sentence (Chiang et al. 2008): 0.99, for instance. So the length of the whole
    output is kept right, not that of each sentence. None: score each list on its own, by `metric`."""
    shuffle: bool = False
    """Take the sentences in a random order, a different one in each epoch, instead of the shard's."""
    seed: Annotated[int, Range(0, 2**64 - 1)] = 0
    """Seed of the order."""

    def __post_init__(self) -> None:
        validate(self)
        if not all(self.leave_out):
            raise ConfigError("leave_out has an empty name", hint="Give features, or beginnings such as R:*.")
        if not all(self.rates):
            raise ConfigError("rates has an empty name", hint="Give features, beginnings such as R:*, or dense.")
        self.options(0)  # the kernel checks the rest

    def options(self, number: int, lists_before: int = 0) -> _kernel.EpochOptions:
        """The same for the kernel; `number` is the epoch's, from 0, and `lists_before` continues the schedule."""
        return _kernel.EpochOptions(
            span_limit=self.decoder.span_limit,
            pop_limit=self.decoder.pop_limit,
            k=self.k,
            unique=self.unique,
            metric=_kernel.Metric(self.metric, self.order),
            learn=self.learn.options(),
            leave_out=list(self.leave_out),
            rates=self._factors(),
            background=self.background or 0.0,
            shuffle=self.shuffle,
            seed=self.seed,
            number=number,
            lists_before=lists_before,
        )

    def _factors(self) -> list[tuple[str, float]]:
        """`rates` with names that the kernel knows: what is left after all sparse groups is dense."""
        made = [(name, factor) for name, factor in self.rates.items() if name != DENSE]
        if DENSE not in self.rates:
            return made
        sparse = [(f"{prefix}*", 1.0) for prefixes in PREFIXES.values() for prefix in prefixes]
        return [*made, *sparse, ("*", self.rates[DENSE])]


@dataclass(frozen=True, eq=False)
class EpochResult:
    """What a shard hands over."""

    weights: Vector
    names: list[str]
    """Names of the shard's features among the weights and their average, in the order of their ids."""
    statistics: dict[str, float]
    """Sums over the sentences: lists, hypotheses, features, pairs, rank_errors, margin_violations, updates,
    best_metric, best_score; and nonzero, the number of weights."""
    seconds: dict[str, float]
    """Processor time by stage (STAGES)."""
    average: Vector | None = None
    """The mean of the weights over the sentences, with learn.average."""
    account: Vector | None = None
    """The squares that AdaGrad has added up, with those from before; None where nobody keeps them."""

    @property
    def row(self) -> Vector:
        """What goes to the reducer: the average, where one is kept."""
        return self.weights if self.average is None else self.average


Progress = Callable[[dict[str, float]], None]
"""Called with the statistics so far, at most ten times a second. An exception from it ends the epoch."""


def run_epoch(
    shard: Shard,
    start: Vector | None = None,
    language_model: LanguageModel | None = None,
    config: EpochConfig | None = None,
    *,
    number: int = 0,
    sentences: Sequence[int] | None = None,
    lists_before: int | None = None,
    account: Vector | None = None,
    progress: Progress | None = None,
) -> EpochResult:
    """Train on the shard once, from the start weights (none: all 0).

    `number` is the epoch's, from 0: it chooses the order of the sentences and the sampled pairs. `sentences` are those
    to learn from, in their order (none: all). `lists_before`, the number of lists learned from before, continues the
    schedule of the learning rate (none: as many as all epochs before had). `account` is what AdaGrad added up before.
    An InputError names the shard.
    """
    parts = [(language_model, sentences)]
    return run_epoch_in_parts(
        shard, start, parts, config, number=number, lists_before=lists_before, account=account, progress=progress
    )


def run_epoch_in_parts(
    shard: Shard,
    start: Vector | None,
    parts: Sequence[tuple[LanguageModel | None, Sequence[int] | None]],
    config: EpochConfig | None = None,
    *,
    number: int = 0,
    lists_before: int | None = None,
    account: Vector | None = None,
    progress: Progress | None = None,
) -> EpochResult:
    """The same over several lists of sentences, one after the other, each decoded with its own language model."""
    config, start, account = config or EpochConfig(), start or Vector.of([], []), account or Vector.of([], [])
    if lists_before is None:
        lists_before = number * sum(len(shard) if sentences is None else len(sentences) for _, sentences in parts)
    native = [(None if model is None else model.native, sentences) for model, sentences in parts]
    try:
        ids, values, mean, names, statistics, seconds, squares = _kernel.run_epoch(
            shard.native,
            native,
            config.options(number, lists_before),
            start.ids,
            start.values,
            account.ids,
            account.values,
            progress,
        )
    except InputError as error:
        raise InputError(error.message, where=error.where or shard.path, hint=error.hint) from None
    average = None if mean is None else Vector(*mean)
    known = names.decode().split("\n")[:-1]
    return EpochResult(Vector(ids, values), known, statistics, seconds, average, Vector(*squares))

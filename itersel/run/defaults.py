"""Settings of learning that were left open, chosen by the data: number of shards, and whether features are sparse.

The choice is a function of the shards and the configuration alone, made before anything else, and recorded like
settings that were given. docs/results-settings.md has the comparison that these values come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from itersel.algorithms.registry import algorithm_class
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.lists.source import AnySource, ShardSource
from itersel.model.features import PREFIXES
from itersel.run.config import METRIC, PAIRS, RATE, SHUFFLE, TrainConfig

DENSE_RATE, ONE_SHARD_RATE, RATE_OF_SHARDS = 0.03, 0.01, 0.05
"""AdaGrad's rates: dense features; sparse ones on one shard; sparse ones on several, whose weights are averaged."""
CONSTANT_DENSE_RATE, CONSTANT_RATE = 0.0001, 0.00001
"""For layouts that AdaGrad was not tried with."""
LONGER_REFERENCE = "fixed_stupid_bleu"
ALL_PAIRS = "all"
"""For AdaGrad only: its steps do not grow with the number of pairs, those of a constant rate do."""


def with_defaults(config: TrainConfig, sources: Sequence[AnySource]) -> TrainConfig:
    """The configuration with what was left open, for these sources; nothing is open afterwards.

    Algorithms without `settings_by_data`, and lists, have the defaults of the configuration's classes.
    """
    choices = tuple(config.open_choices or ())
    kind = algorithm_class(config.algorithm)
    closed = replace(config, open_choices=())
    if not choices or not kind.settings_by_data or not all(isinstance(one, ShardSource) for one in sources):
        return closed
    epoch = config.epoch
    if METRIC in choices:
        epoch = replace(epoch, metric=LONGER_REFERENCE)
    if SHUFFLE in choices:
        epoch = replace(epoch, shuffle=True)
    if RATE in choices:
        items = config.layout.items(sources, 0, 1 if kind.one_shard else None, domain=config.domain)
        whole_files = all(len(item.files) == 1 for item in items)
        learn = _rate(epoch.learn, _sparse(epoch, sources), len(items), whole_files)
        if PAIRS in choices and learn.schedule == "adagrad":
            learn = replace(learn, pairs=replace(learn.pairs, kind=ALL_PAIRS))
        epoch = replace(epoch, learn=learn)
    return replace(closed, epoch=epoch)


def _rate(learn: LearnConfig, sparse: bool, shards: int, whole_files: bool) -> LearnConfig:
    if not whole_files:  # AdaGrad was not tried with these layouts
        return replace(learn, eta=CONSTANT_RATE if sparse else CONSTANT_DENSE_RATE)
    eta = DENSE_RATE if not sparse else ONE_SHARD_RATE if shards == 1 else RATE_OF_SHARDS
    return replace(learn, eta=eta, schedule="adagrad", batch=True)


def _sparse(epoch: EpochConfig, sources: Sequence[AnySource]) -> bool:
    """Whether the model has sparse features: the shards do, and not all of them are left out."""
    groups = {group for one in sources if isinstance(one, ShardSource) for group in one.data.groups}
    return any(f"{prefix}*" not in epoch.leave_out for group in groups for prefix in PREFIXES[group])

"""One epoch over compiled n-best lists: what `run_epoch` is to a shard, without decoding.

From each list the same is learned as from a k-best list of the decoder: pairs by metric, then updates. A list keeps the
order it was written in, and its metric values.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from itersel import _kernel
from itersel.base.errors import ConfigError, InputError
from itersel.learn.epoch import STAGES, EpochConfig, EpochResult, Progress
from itersel.lists.table import ListTable
from itersel.model.vectors import Vector

BLOCK = 256
"""Lists that the kernel learns from in one call. Between calls, progress is reported and interrupts are handled."""


def run_list_epoch(
    table: ListTable,
    start: Vector | None,
    config: EpochConfig,
    *,
    number: int = 0,
    lists: Sequence[int] | None = None,
    lists_before: int | None = None,
    progress: Progress | None = None,
) -> EpochResult:
    """Learn from the lists once, with the arguments of `run_epoch`; of the configuration, `learn` and the order count.

    best_metric and best_score are of what the weights ranked first just before they learned from the list.
    """
    check_list_config(config)
    start = start or Vector.of([], [])
    numbers = np.arange(len(table), dtype=np.uint32) if lists is None else np.array(lists, dtype=np.uint32)
    if lists_before is None:
        lists_before = number * len(numbers)
    numbers = numbers[_kernel.epoch_order(len(numbers), config.options(number))]
    learner = _kernel.Learner(start.values_of(table.hashes), config.learn.options(), lists_before)
    metric = score = 0.0
    began = time.thread_time()
    for begin in range(0, len(numbers), BLOCK):
        try:
            found = learner.learn_lists(table.native, numbers[begin : begin + BLOCK], number)
        except InputError as error:
            raise InputError(error.message, where=table.path, hint=error.hint) from None
        metric, score = metric + found[0], score + found[1]
        if progress is not None:
            progress(learner.statistics | {"best_metric": metric, "best_score": score})
    seconds = dict.fromkeys(STAGES, 0.0) | {"update": time.thread_time() - began}
    return list_epoch_result(table, start, config, learner, {"best_metric": metric, "best_score": score}, seconds)


def check_list_config(config: EpochConfig) -> None:
    """ConfigError for settings that only shards know."""
    if config.leave_out:
        raise ConfigError("leave_out is for shards", hint="Name the fields of features when the lists are compiled.")
    if config.rates:
        raise ConfigError("rates is for shards", hint="Leave it out.")
    if config.background is not None:
        raise ConfigError("background is for shards", hint="Leave it out: lists keep the metric they were given.")


def list_epoch_result(
    table: ListTable,
    start: Vector,
    config: EpochConfig,
    learner: _kernel.Learner,
    sums: Mapping[str, float],
    seconds: dict[str, float],
) -> EpochResult:
    """The learner's result. `sums` are statistics that the learner does not count, or counts differently."""
    dense = learner.weights
    weights = table.collect(dense, start)
    means = learner.average if config.learn.average else None
    average = None if means is None else table.collect(means, start)
    used = np.flatnonzero(dense if means is None else (dense != 0) | (means != 0))
    names = [table.names[k] for k in used[np.argsort(table.hashes[used])].tolist()]
    statistics = learner.statistics | dict(sums) | {"nonzero": len(weights)}
    return EpochResult(weights, names, statistics, seconds, average)

"""What a run will ask of an engine, estimated before anything is rented: sizes, files, and the cost of a sentence."""

from __future__ import annotations

import os
import time
from pathlib import Path

from itersel.algorithms.registry import algorithm_class
from itersel.engines import engine_class
from itersel.engines.sizing import Measured, Workload
from itersel.learn.epoch import EpochConfig, run_epoch
from itersel.lists.source import ShardSource, open_source
from itersel.lm.model import LanguageModel
from itersel.run.build_folder import with_build
from itersel.run.config import TrainConfig, expand, fold_model_paths
from itersel.run.defaults import with_defaults
from itersel.shards.shard import Shard

SAMPLE = 20
"""Sentences that `measure` trains on."""


def dry_run(config: TrainConfig, directory: str | os.PathLike[str]) -> str:
    """What the engine would make and cost, for people; nothing is made."""
    config = with_build(config)
    return engine_class(config.run.runner).dry_run(config.run, Path(directory), lambda: workload(config))


def workload(config: TrainConfig) -> Workload:
    """What a training asks of an engine; it trains on some sentences to see what they cost."""
    shards = [open_source(path) for path in expand(config.shards, "shards")]
    config = with_defaults(config, shards)
    algorithm = algorithm_class(config.algorithm)(config)
    devtest = expand(config.devtest, "devtest")
    folds = fold_model_paths(config)
    items = config.layout.items(shards, 0, 1 if algorithm.one_shard else None, domain=config.domain)
    largest = max((one for one in shards if isinstance(one, ShardSource)), key=len)
    return Workload(
        files=(*(one.path for one in shards), *devtest, *filter(None, [config.language_model]), *folds),
        sizes=tuple(item.size for item in items),
        rounds=config.epochs,
        jobs=config.epochs + (config.epochs + 1 if devtest else 0),
        reducers=config.run.reducers,
        measured=measure(largest.data, config.language_model, config.epoch, models=len(folds) or 1),
        kept=algorithm.kept(),
    )


def measure(
    shard: Shard, model_path: str | None, config: EpochConfig, sentences: int = SAMPLE, *, models: int = 1
) -> Measured:
    """Train on some sentences of the shard, spread over it, in this process, and see what they cost.

    `models` is the number of language models like this one that a task loads: as many as there are folds.
    """
    started = time.process_time()
    model = None if model_path is None else LanguageModel(model_path)
    loaded = time.process_time()
    chosen = sorted({k * len(shard) // sentences for k in range(sentences)})
    result = run_epoch(shard, None, model, config, sentences=chosen)
    spent = time.process_time() - loaded
    return Measured(spent / len(chosen), len(result.weights) / len(chosen), models * (loaded - started))

"""An algorithm that is no part of the package (toy_median.py), on any engine."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine_cases import assert_same_run
from itersel.algorithms.epoch_job import EpochJob
from itersel.engines import RunConfig
from itersel.learn.mixing import stack
from itersel.lm.model import LanguageModels
from itersel.model.vectors import Vector
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from toy_median import MedianConfig

NAME = "toy_median:Median"


def toy_config(data: TrainConfig, run: RunConfig) -> TrainConfig:
    """Two epochs of the toy algorithm over the small data, with language models and no devtest."""
    layout = LayoutConfig("random", shards=3)
    return replace(
        data, algorithm=NAME, own=MedianConfig(1e-5), layout=layout, devtest=(), fold_models=(), epochs=2, run=run
    )


def reference(data: TrainConfig, folder: Path) -> Path:
    """The run of the inline engine."""
    train(toy_config(data, RunConfig("inline", reducers=2)), folder, warn=lambda text: None)
    return folder


def check_toy_algorithm(data: TrainConfig, run: RunConfig, folder: Path) -> None:
    """The engine's run has the bytes of the inline engine's."""
    expected = reference(data, folder / "inline")
    train(toy_config(data, run), folder / "engine", warn=lambda text: None)
    assert_same_run(expected, folder / "engine")


def medians(config: TrainConfig, start: Vector) -> dict[int, float]:
    """The first epoch by hand: each shard's weights, and their median over the shards."""
    from itersel.lists.source import open_source

    items = config.layout.items([open_source(path) for path in config.shards], 0)
    job, models = EpochJob(epoch=config.epoch), LanguageModels(config.language_model)
    ids, matrix = stack([job.learn(item, start, None, models).row for item in items])
    values = np.median(matrix.toarray(), axis=0)
    return {int(one): float(value) for one, value in zip(ids, values, strict=True) if abs(value) >= config.own.least}


def declared(folder: Path) -> dict:
    return json.loads((folder / "run.json").read_text())["declaration"]


def copy_module(folder: Path) -> None:
    """The module as a user would have it: in the current folder, not installed."""
    shutil.copy(Path(__file__).with_name("toy_median.py"), folder)

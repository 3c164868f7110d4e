"""The tuners on any engine: small runs, whose bytes are compared with the inline engine's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from engine_cases import assert_same_run
from itersel.algorithms.hols import HolsConfig
from itersel.algorithms.mert import MertConfig
from itersel.algorithms.mira import MiraConfig
from itersel.algorithms.pro import ProConfig
from itersel.engines import RunConfig
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig

TUNERS: dict[str, Any] = {
    "mert": MertConfig(k=10, starts=2, steps=2),
    "pro": ProConfig(k=5, interpolation=0.5),
    "mira": MiraConfig(k=5, passes=2),
    "hols": HolsConfig(passes=1, updates=2, k=10, iterations=1, line_search=MertConfig(k=5, starts=1, steps=1)),
}


def tuner_config(data: TrainConfig, name: str, run: RunConfig, own: Any = None) -> TrainConfig:
    """One round over two shards, with language models and without devtest; of HOLS, one search on held-out sentences
    and one on a development set, and language models by fold. `own` is the tuner's configuration if it is not that of
    TUNERS."""
    layout, own, rounds, folds = LayoutConfig("random", shards=2), own or TUNERS[name], 1, ()
    if isinstance(own, HolsConfig):
        own, rounds, folds = replace(own, dev=data.devtest), own.updates, data.fold_models
    return replace(data, algorithm=name, own=own, layout=layout, devtest=(), fold_models=folds, epochs=rounds, run=run)


def check_tuner(data: TrainConfig, name: str, run: RunConfig, folder: Path, own: Any = None) -> None:
    """The engine's run has the bytes of the inline engine's: weights, memory, cross-sections, manifest."""
    for place, engine in (("inline", RunConfig("inline")), ("engine", run)):
        train(tuner_config(data, name, engine, own), folder / place, warn=lambda text: None)
    assert (folder / "engine" / "epoch-001" / "sections.json").exists()
    assert_same_run(folder / "inline", folder / "engine")

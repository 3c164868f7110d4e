"""Engines: where an epoch's map and reduce tasks run. All give the same bytes; the driver cannot tell them apart.

One module an engine, imported only when it is used, since most need software of their own.
"""

from __future__ import annotations

import importlib

from itersel.engines.base import Engine, EpochOutcome, EpochWork, TranslateWork
from itersel.run.config import RUNNERS, TrainConfig
from itersel.run.directory import RunDirectory

__all__ = ["Engine", "EpochOutcome", "EpochWork", "TranslateWork", "engine_class", "open_engine"]


def engine_class(config: TrainConfig) -> type[Engine]:
    """The class of the engine that `run.runner` names."""
    module, name = RUNNERS[config.run.runner].split(":")
    found = getattr(importlib.import_module(f"itersel.engines.{module}"), name)
    assert issubclass(found, Engine)
    return found


def open_engine(config: TrainConfig, directory: RunDirectory) -> Engine:
    """The engine that `run.runner` names. Close it in the end, whatever happens."""
    return engine_class(config)(config, directory)

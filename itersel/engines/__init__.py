"""Engines: where a job's mappers and reducers run. All give the same bytes; the driver cannot tell them apart.

One module per engine, imported only when it is used, since most need software of their own.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from itersel.engines.base import Engine
from itersel.engines.config import RUNNERS, RunConfig

__all__ = ["RUNNERS", "Engine", "RunConfig", "engine_class", "open_engine"]


def engine_class(runner: str) -> type[Engine]:
    """The class of the engine of that name."""
    module, name = RUNNERS[runner].split(":")
    found = getattr(importlib.import_module(f"itersel.engines.{module}"), name)
    assert issubclass(found, Engine)
    return found


def open_engine(config: RunConfig, folder: Path) -> Engine:
    """The engine that `config.runner` names, working in the folder. The caller must close it, also after an error."""
    return engine_class(config.runner)(config, folder)

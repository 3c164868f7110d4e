"""Learning from the feedback of an external program (toy_response.py), on any engine."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from engine_cases import assert_same_run
from itersel.algorithms.response import RebolConfig
from itersel.engines import RunConfig
from itersel.response.config import ResponseConfig
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig

SCRIPT = Path(__file__).with_name("toy_response.py")


def toy_response(*arguments: object, **options: object) -> ResponseConfig:
    """The program, which logs its questions to the first argument, and misbehaves as the second one says."""
    command = (sys.executable, "{script}", *map(str, arguments))
    return ResponseConfig(command, files={"script": str(SCRIPT)}, **options)


def check_response(data: TrainConfig, run: RunConfig, folder: Path) -> None:
    """REBOL with a program: the engine's run has the bytes of the inline engine's."""
    config = replace(
        data,
        algorithm="rebol",
        own=RebolConfig(scale=1),
        layout=LayoutConfig("random", shards=2),
        response=toy_response(),
        devtest=(),
        fold_models=(),
        epochs=2,
    )
    for name, engine in (("inline", RunConfig("inline")), ("engine", run)):
        train(replace(config, run=engine), folder / name, warn=lambda text: None)
    assert_same_run(folder / "inline", folder / "engine")

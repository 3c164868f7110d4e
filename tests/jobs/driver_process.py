"""`itersel train` as a process of its own, which a test can interrupt and kill."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from engine_cases import write_config
from itersel.run.config import TrainConfig

HERE = Path(__file__).resolve().parent
PATIENCE = 1800.0
"""Seconds until something that must happen has failed to; no test is about how long it takes."""


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)


class DriverProcess:
    """Runs in the tests' folder, so that it finds the algorithm of gated.py. Leaving the block ends it."""

    def __init__(self, config: TrainConfig, output: Path):
        path = output.parent / f"{output.name}.json"  # JSON is YAML
        write_config(config, path)
        command = [sys.executable, "-m", "itersel", "train", str(path), "--output", str(output)]
        self.output = output
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=HERE, env=_environment())

    def __enter__(self) -> DriverProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.communicate()

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait for something that this run does; if it ends first, it has failed."""

        def happened() -> bool:
            if condition():
                return True
            assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()
            return False

        until(happened, what)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self) -> tuple[int, str]:
        """Exit code and what it said."""
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


def finished(output: Path) -> int:
    """Rounds of a run that are in its manifest."""
    with contextlib.suppress(OSError, ValueError):
        return len(json.loads((output / "manifest.json").read_text())["epochs"])
    return 0


def _environment() -> dict[str, str]:
    """The same package as the tests', wherever they were started from."""
    places = [os.fspath(HERE.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(places)}

"""What the tests of the batch engines share: a real queue, and how to watch a run's tasks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine_cases import unavailable
from itersel.base.errors import ResourceError
from itersel.run.config import TrainConfig
from itersel.run.driver import train

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0


def single_node(kind: str, folder: Path, variables: dict[str, str]) -> Iterator[None]:
    """A queue of this machine's own (tools/KIND/single-node.sh), with the environment variables that lead to it."""
    script = str(ROOT / "tools" / kind / "single-node.sh")
    for action in (["install"], ["start", str(folder)]):
        done = subprocess.run(["bash", script, *action], capture_output=True, text=True, env=os.environ | variables)
        if done.returncode:
            unavailable(f"{kind} cannot be set up here: {done.stderr.strip()}")
    with pytest.MonkeyPatch.context() as patch:
        for word in done.stdout.split():
            if "=" in word:
                patch.setenv(*word.split("=", 1))
        try:
            yield
        finally:
            subprocess.run(["bash", script, "stop", str(folder)], check=True)


def longer(config: TrainConfig) -> TrainConfig:
    """One epoch that takes some seconds, so that there is time to do something to it."""
    epoch = replace(config.epoch, k=1_500, unique=False)
    return replace(config, epochs=1, devtest=(), epoch=epoch)


def command(config: TrainConfig, output: Path, runner: str) -> list[str]:
    """The same run by the command line."""
    words = [sys.executable, "-m", "itersel", "train", "--output", str(output), "--shards", *config.shards]
    words += ["--start", str(config.start), "--epochs", str(config.epochs), "--runner", runner]
    words += ["--reducers", str(config.run.reducers), "--top", str(config.selection.top), "-k", str(config.epoch.k)]
    words += ["--eta", str(config.epoch.learn.eta), "--set", f"epoch.unique={str(config.epoch.unique).lower()}"]
    words += ["--lm", config.language_model] if config.language_model else []
    words += ["--fold-lm", *config.fold_models] if config.fold_models else []
    return words


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def workers(run: Path, kind: str) -> list[int]:
    """Process ids of a run's tasks of that kind."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if b"itersel.engines.batch_worker" in words and f"{run.resolve()}/batch/{kind}-" in os.fsdecode(
            b" ".join(words)
        ):
            found.append(int(place.name))
    return found


def rows(run: Path) -> dict[str, int]:
    """The first epoch's finished shards, with what tells a file from another of the same name."""
    return {path.name: path.stat().st_ino for path in (run / "epoch-001" / "shards").glob("*.vec")}


def fail_everywhere(config: TrainConfig, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Train on one shard with workers that cannot work; checks the run's error, and gives its last line."""
    python = folder / "python"
    python.write_text("#!/bin/sh\necho 'this node has no such library' >&2\nexit 7\n")
    python.chmod(0o755)
    monkeypatch.setenv("ITERSEL_PYTHON", str(python))
    config = replace(config, shards=config.shards[:1], epochs=1, devtest=())
    with pytest.raises(ResourceError) as caught:
        train(config, folder / "run", warn=lambda text: None)
    first, words, last = str(caught.value).split("\n")
    assert first == f"shard 0 ({config.shards[0]}): the map task failed. It said:"
    assert words == "    this node has no such library"
    return last


def kill_one(run: Path) -> None:
    """Kill a map task's process, as the kernel does when memory runs out."""
    wait_for(lambda: workers(run, "map"))
    os.kill(workers(run, "map")[0], signal.SIGKILL)

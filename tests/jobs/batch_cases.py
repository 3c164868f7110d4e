"""What the tests of the batch engines share: a real queue, and how to watch a run's tasks."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from driver_process import until
from engine_cases import small_data, unavailable
from gated import ALGORITHM, Gate
from itersel.base.errors import ResourceError
from itersel.engines.config import RunConfig
from itersel.run.config import TrainConfig
from itersel.run.driver import train

ROOT = Path(__file__).resolve().parents[2]


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


def one_round(data: TrainConfig) -> TrainConfig:
    """One round, without devtest."""
    return replace(data, epochs=1, devtest=())


def gated_round(folder: Path, run: RunConfig) -> tuple[TrainConfig, Gate]:
    """The same round over the same data in the folder, where mappers wait at a closed gate."""
    folder.mkdir()
    gate = Gate(folder)
    gate.close()
    return replace(one_round(small_data(folder)), algorithm=ALGORITHM, run=run), gate


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


def mapped(run: Path) -> list[str]:
    """What is there of mapped items."""
    return sorted(path.name for path in run.glob("jobs/*/*.mapped"))


def gone(run: Path) -> None:
    """Wait until no task of the run is left."""
    until(lambda: not workers(run, "map"), "the end of all map tasks")


def fail_everywhere(config: TrainConfig, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Train on one shard with workers that cannot work; checks the run's error, and gives its last line."""
    python = folder / "python"
    python.write_text("#!/bin/sh\necho 'this node has no such library' >&2\nexit 7\n")
    python.chmod(0o755)
    monkeypatch.setenv("ITERSEL_PYTHON", str(python))
    config = replace(one_round(config), shards=config.shards[:1])
    with pytest.raises(ResourceError) as caught:
        train(config, folder / "run", warn=lambda text: None)
    first, words, last = str(caught.value).split("\n")
    assert first == f"shard 0 ({config.shards[0]}): the map task failed. It said:"
    assert words == "    this node has no such library"
    return last

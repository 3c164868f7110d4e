"""A worker of a batch queue, `python -m itersel.engines.batch_worker FILE INDEX`: does one task of a file of tasks.

The file is JSON that the driver wrote: its build of itersel, the tasks' kind and what they share, and the tasks.
A task's output is a file that appears when it is complete. An error that a user can act on is written beside the file
of tasks, for the driver to raise; like any other it also goes to standard error, which the queue keeps.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from itersel.base.config import build
from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.base.files import atomic_write
from itersel.base.version import describe_build
from itersel.decode.shard_decoder import ShardDecoder
from itersel.engines.file_tasks import FileMapTask, FileReduceTask
from itersel.learn.epoch import EpochConfig
from itersel.learn.mixing import Selection
from itersel.lm.model import LanguageModels
from itersel.mapreduce.work_item import MapTask
from itersel.model.vectors import Vector
from itersel.run.directory import read_json, write_json
from itersel.shards.shard import Shard

ERRORS: dict[str, type[UserError]] = {kind.__name__: kind for kind in (InputError, ConfigError, ResourceError)}


def write_tasks(path: Path, kind: str, settings: dict[str, Any], tasks: Sequence[dict[str, Any]]) -> None:
    """Write a file of tasks."""
    write_json(path, {"itersel": describe_build(), "kind": kind, "settings": settings, "tasks": list(tasks)})


def run_task(path: Path, index: int) -> None:
    """Do one of the file's tasks."""
    values = read_json(path)
    if values.get("itersel") != describe_build():
        raise ConfigError(
            f"the driver has itersel {values.get('itersel')}, this worker has {describe_build()}",
            where=f"{platform.node()}: {sys.executable}",
            hint="Install the driver's itersel on all nodes; ITERSEL_PYTHON may name a Python that has it everywhere.",
        )
    try:
        function, settings, task = KINDS[values["kind"]], values["settings"], values["tasks"][index]
    except (KeyError, IndexError, TypeError):
        raise InputError(f"not a file of tasks, or one without a task {index}", where=path) from None
    function(settings, task)


def train(settings: dict[str, Any], task: dict[str, Any]) -> None:
    """Map: one shard's epoch."""
    made = FileMapTask(
        MapTask.from_json(task["task"]),
        task["epoch"],
        task["start"],
        task["state"],
        task["own_weights"],
        task["output"],
    )
    # Something to tell gives Python the chance to notice that the queue wants the task to end.
    made.run(_models(settings), build(EpochConfig, settings["epoch"]), lambda _: None)


def reduce(settings: dict[str, Any], task: dict[str, Any]) -> None:
    """Reduce: the columns of one range of features, in mix.Columns' wire format."""
    columns = FileReduceTask(settings["rows"], task["low"], task["high"]).run(build(Selection, settings["selection"]))
    with atomic_write(task["output"], compress=False) as stream:
        stream.write(columns.to_bytes())


def translate(settings: dict[str, Any], task: dict[str, Any]) -> None:
    """Translations of some of a shard's sentences, one a line."""
    options = build(EpochConfig, settings["epoch"]).decoder
    weights = Vector.read(settings["weights"], mapped=True)
    decoder = ShardDecoder(Shard(task["shard"]), weights, _models(settings).open(), options)
    with atomic_write(task["output"], compress=False) as stream:
        for sentence in range(task["first"], task["last"]):
            stream.write(f"{decoder.translate(sentence)}\n".encode())


KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "map": train,
    "reduce": reduce,
    "translate": translate,
}


def _models(settings: dict[str, Any]) -> LanguageModels:
    return LanguageModels(settings["language_model"], settings["fold_models"])


def error_file(path: Path, index: int) -> Path:
    """Where a task leaves an error that a user can act on."""
    return path.with_name(f"{path.stem}-{index}.error")


def write_error(path: Path, error: UserError) -> None:
    kind = next(name for name, one in ERRORS.items() if isinstance(error, one))
    write_json(path, {"error": kind, "message": error.message, "where": error.where, "hint": error.hint})


def read_error(path: Path) -> UserError:
    values = read_json(path)
    kind = ERRORS.get(str(values.get("error")), ResourceError)
    return kind(str(values.get("message")), where=values.get("where"), hint=values.get("hint"))


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2 or not arguments[1].isdecimal():
        print("usage: python -m itersel.engines.batch_worker FILE INDEX", file=sys.stderr)
        return 2
    path, index = Path(arguments[0]), int(arguments[1])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, so that temporary files go
    try:
        run_task(path, index)
    except UserError as error:
        write_error(error_file(path, index), error)
        print(f"{os.path.basename(__file__)}: error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

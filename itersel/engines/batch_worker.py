"""A worker of a batch queue, `python -m itersel.engines.batch_worker FILE INDEX`: does one task of an array job.

The file is JSON that the driver wrote: its build of itersel, the tasks' kind, what they share (the job, its side files
by name), and the tasks. A map task maps one work item, a reduce task reduces one range. A task's output is a file of
records that appears when it is complete. An error that a user can act on is written beside the file of tasks, for the
driver to raise; like any other it also goes to standard error, which the queue keeps.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError, UserError
from itersel.base.files import atomic_write
from itersel.base.json_files import read_json, write_json
from itersel.base.version import describe_build
from itersel.engines.file_work import map_to_file, reduce_to_file
from itersel.mapreduce import source_code
from itersel.mapreduce.failure import Failure
from itersel.mapreduce.job import Job, load_job
from itersel.mapreduce.same_build import check_build
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem

HINT = "Install the driver's itersel on all nodes; ITERSEL_PYTHON may name a Python that has it everywhere."
Values = Mapping[str, Any]


def write_tasks(path: Path, kind: str, settings: Values, tasks: Sequence[Values]) -> None:
    """Write a file of tasks."""
    write_json(path, {"itersel": describe_build(), "kind": kind, "settings": dict(settings), "tasks": list(tasks)})


def run_task(path: Path, index: int) -> None:
    """Do one of the file's tasks."""
    values = read_json(path)
    check_build(str(values.get("itersel")), HINT)
    try:
        function, settings, task = KINDS[values["kind"]], values["settings"], values["tasks"][index]
        description, side = settings["job"], Side(settings["side"])
    except (KeyError, IndexError, TypeError, ValueError):
        raise InputError(f"not a file of tasks, or one without a task {index}", where=path) from None
    source_code.unpack(side)
    function(load_job(description), side, settings, task)


def map_task(job: Job, side: Side, settings: Values, task: Values) -> None:
    """Map one work item."""
    del settings
    map_to_file(job, WorkItem.from_json(task["item"]), side, task["output"])


def reduce_task(job: Job, side: Side, settings: Values, task: Values) -> None:
    """Reduce one range."""
    reduce_to_file(job, task["key"], settings["mapped"], side, task["output"])


KINDS: dict[str, Callable[[Job, Side, Values, Values], None]] = {"map": map_task, "reduce": reduce_task}


def error_file(path: Path, index: int) -> Path:
    """Where a task leaves an error that a user can act on."""
    return path.with_name(f"{path.stem}-{index}.error")


def write_error(path: Path, error: UserError) -> None:
    with atomic_write(path) as stream:
        stream.write(f"{Failure.of(error).line()}\n".encode())


def read_error(path: Path) -> UserError | None:
    """What a task left there; None if it left nothing."""
    try:
        failure = Failure.find(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return None if failure is None else failure.error(with_host=True)


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

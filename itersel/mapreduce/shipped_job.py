"""A job as workers on other machines get it: a JSON file with its description, the names of its side files, and the
build of the driver's code. A worker that runs other code refuses the job: its results might be other ones.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write
from itersel.base.version import describe_build
from itersel.mapreduce import source_code
from itersel.mapreduce.job import Job, describe_job, load_job
from itersel.mapreduce.side import Side


@dataclass(frozen=True)
class ShippedJob:
    """A job where it is done."""

    job: Job
    items: int
    """How many work items there are."""
    side: Side


def write_job(path: str | os.PathLike[str], job: Job, items: int, side: Iterable[str]) -> None:
    """Describe the job for workers. `side` are the names of its side files, in the order of the paths of `read_job`."""
    values = {"build": describe_build(), "job": describe_job(job), "items": items, "side": list(side)}
    with atomic_write(path, compress=False) as stream:
        stream.write((json.dumps(values, indent=1) + "\n").encode())


def read_job(path: str | os.PathLike[str], side: Sequence[str]) -> ShippedJob:
    """The job of a description, with the side files at these paths; ConfigError for a driver of another build."""
    try:
        with open(path, "rb") as stream:
            values = json.load(stream)
        theirs, names, items, description = values["build"], values["side"], int(values["items"]), values["job"]
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", where=path) from None
    except (ValueError, KeyError, TypeError):
        raise InputError("not the description of a job", where=path) from None
    if theirs != describe_build():
        raise ConfigError(
            f"the driver runs itersel {theirs},"
            f" but the worker {socket.gethostname()} has {describe_build()} in {sys.prefix}",
            hint="Build a wheelhouse with the driver's itersel and install or ship it (docs/engines.md).",
        )
    if len(side) != len(names):
        raise ConfigError(
            f"{len(side)} side files, but the job has {len(names)}", hint=f"Give, in this order: {', '.join(names)}."
        )
    # Where files are links, as on Hadoop, all work items of a node then share what is cached by path.
    files = Side({name: os.path.realpath(one) for name, one in zip(names, side, strict=True)})
    source_code.unpack(files)
    return ShippedJob(load_job(description), items, files)

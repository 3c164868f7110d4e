"""What the result of a job is a function of, as a hash: a finished job is recognised by it and not run again."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Mapping, Sequence

from itersel.base.files import file_checksum
from itersel.mapreduce.job import Job, describe_job
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem


def fingerprint(job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> str:
    """The hash of the job, its items and its side files; files count by content, so they may move."""
    digest = hashlib.sha256(json.dumps(describe_job(job), sort_keys=True, default=str).encode())
    for name in sorted(side):
        digest.update(f"\n{name} {content_checksum(side[name].path)}".encode())
    for item in items:
        state = None if item.state is None else content_checksum(item.state)
        values = [item.number, item.size, [one.checksum for one in item.files], dict(item.values), state]
        digest.update(f"\n{json.dumps(values, sort_keys=True)}".encode())
    return digest.hexdigest()[:24]


def content_checksum(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, which is read again only when it has changed."""
    facts = os.stat(path)
    return _checksum(os.fspath(path), facts.st_size, facts.st_mtime_ns)


@functools.lru_cache(maxsize=4096)
def _checksum(path: str, size: int, changed: int) -> str:  # noqa: ARG001
    return file_checksum(path)

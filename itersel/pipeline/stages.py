"""Stages of a build: a piece of work with inputs, options and outputs, skipped while its record holds.

A record, `stages/NAME.json`, keeps the key (SHA-256 of the inputs' content, the options and the stage's version) and
the outputs' sizes and hashes. Time stamps play no part. A record is removed before its stage runs and written when the
stage is complete, so a killed run resumes with the stage that it was in.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base import events
from itersel.base.errors import InputError
from itersel.base.files import file_checksum, remove_torn
from itersel.base.json_files import find_json, write_json
from itersel.base.usage import cpu_seconds, peak_megabytes

FORMAT = 1
FOLDER = "stages"


@dataclass(frozen=True)
class Stage:
    """One stage. `make` writes the outputs, each atomically, and says in a few words what it made.

    `bytes_of` are further files that count into the size shown; `check` raises InputError if they are damaged.
    """

    name: str
    inputs: Mapping[str, Path]
    options: Mapping[str, object]
    outputs: Sequence[Path]
    make: Callable[[], str]
    check: Callable[[], object] | None = None
    bytes_of: Callable[[], int] | None = None


@dataclass(frozen=True)
class StageResult:
    """What became of a stage."""

    name: str
    what: str
    bytes: int
    seconds: float
    """Time that this run took to make the stage, or to check that it is up to date."""
    skipped: bool
    made_seconds: float
    """Time that making it took; after an interruption, only the rest."""
    peak_megabytes: int | None
    """Peak of the largest process when it was made (itersel.base.usage); None if not recorded."""
    cpu_seconds: float | None = None
    """Processor time that making it took; None if not recorded."""


def run_stage(stage: Stage, work: Path) -> StageResult:
    """Run the stage unless its record, inputs, options and outputs agree."""
    begun, spent = time.monotonic(), cpu_seconds()
    path = work / FOLDER / f"{stage.name}.json"
    inputs = {role: file_checksum(file) for role, file in stage.inputs.items()}
    key = _key(stage, inputs)
    record = _read(path)
    if record is not None and record.get("key") == key and _holds(stage, record, work):
        return _skipped(record, time.monotonic() - begun)
    path.unlink(missing_ok=True)
    for output in [path, *stage.outputs]:
        remove_torn(output)
    what = stage.make()
    size = sum(output.stat().st_size for output in stage.outputs) + (stage.bytes_of() if stage.bytes_of else 0)
    seconds, peak = round(time.monotonic() - begun, 3), peak_megabytes()
    spent = round(cpu_seconds() - spent, 3)
    document = {
        "format": FORMAT,
        "stage": stage.name,
        "key": key,
        "inputs": inputs,
        "options": stage.options,
        "outputs": {os.path.relpath(output, work): file_checksum(output) for output in stage.outputs},
        "what": what,
        "bytes": size,
        "seconds": seconds,
        "peak_megabytes": peak,
        "cpu_seconds": spent,
    }
    write_json(path, document)
    return StageResult(stage.name, what, size, seconds, False, seconds, peak, spent)


def recorded(stage: Stage, work: Path) -> StageResult | None:
    """What the record says about the stage, without checking inputs or outputs; None if it is not complete with these
    options: another configuration may have the same work folder."""
    record = _read(work / FOLDER / f"{stage.name}.json")
    if record is None or record.get("options") != json.loads(json.dumps(stage.options)):
        return None
    return _skipped(record, 0.0)


def _skipped(record: Mapping[str, Any], seconds: float) -> StageResult:
    name, what, size, made = (record[key] for key in ("stage", "what", "bytes", "seconds"))
    return StageResult(name, what, size, seconds, True, made, record.get("peak_megabytes"), record.get("cpu_seconds"))


def table(results: Iterable[StageResult]) -> str:
    """The results for people."""
    rows = [("stage", "what", "bytes", "seconds", "")]
    rows += [
        (one.name, one.what, f"{one.bytes:,}", f"{one.seconds:.1f}", "skipped" if one.skipped else "done")
        for one in results
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}  {row[4]}".rstrip()
        for row in rows
    )


def _key(stage: Stage, inputs: Mapping[str, str]) -> str:
    content = {"format": FORMAT, "stage": stage.name, "inputs": inputs, "options": stage.options}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, Any] | None:
    record = find_json(path)
    return record if record is not None and record.get("format") == FORMAT else None


def _holds(stage: Stage, record: Mapping[str, Any], work: Path) -> bool:
    """Whether the outputs are the recorded ones; problems go to standard error."""
    try:
        for output in stage.outputs:
            if file_checksum(output) != record["outputs"].get(os.path.relpath(output, work)):
                raise InputError("the content has changed since it was written", where=output)
        if stage.check is not None:
            stage.check()
    except InputError as error:
        events.warn(f"{stage.name}: {error.where}: {error.message}; the stage runs again")
        return False
    return True

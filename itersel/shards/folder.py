"""A folder of shards, `shard.0000.itsh` …, with `manifest.json`, made shard by shard and resumable.

The process that finishes a shard (this one, a forked one, or a mapper elsewhere) writes the shard and then its record,
`shard.0000.itsh.json`. When all shards are there, the records move into the manifest. A shard is kept if its record has
the content key that it would get now and the file is intact; all others are made again. The manifest exists only while
it is true.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError, ResourceError
from itersel.base.files import atomic_write, read_bytes
from itersel.base.folders import SHARDS, check_folder_kind, claim_folder
from itersel.base.json_files import find_json
from itersel.base.locks import exclusive
from itersel.base.shared_table import shared_table
from itersel.base.workers import ordered_map, process_count
from itersel.shards.assignment import Assignment, Layout
from itersel.shards.compiler import ShardCompiler
from itersel.shards.shard import Shard

MANIFEST = "manifest.json"
FORMAT = 1
SHARD_FILE = re.compile(r"shard\.\d{4,}\.itsh")
OUR_FILE = re.compile(r"shard\.\d{4,}\.itsh(\.json)?|\.(shard\.\d{4,}\.itsh(\.json)?|manifest\.json)\..*\.tmp")


@dataclass(frozen=True)
class PlannedShard:
    """A shard to be made, with the content key it must get."""

    assignment: Assignment
    key: str

    def to_line(self) -> str:
        """One line of JSON: the values of a work item."""
        return json.dumps({**asdict(self.assignment), "key": self.key}, sort_keys=True)

    @classmethod
    def from_line(cls, line: str) -> PlannedShard:
        try:
            record = json.loads(line)
            numbers = record["sentences"]
            if not SHARD_FILE.fullmatch(record["name"]) or not all(type(number) is int for number in numbers):
                raise ValueError
            return cls(Assignment(record["name"], tuple(numbers), str(record["domain"])), str(record["key"]))
        except (ValueError, KeyError, TypeError):
            raise InputError(f"not the plan of a shard: {line[:80]!r}") from None


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest says about a shard. Sentences are numbers of input lines, from 0, in the shard's order."""

    name: str
    task: str
    sentences: list[int]
    key: str
    checksum: str
    bytes: int
    rules: int

    def check(self, folder: Path) -> str | None:
        """What is wrong with the shard's file, or None."""
        try:
            found = Shard(folder / self.name)
        except InputError as error:
            return error.message
        if f"{found.checksum:016x}" != self.checksum or (folder / self.name).stat().st_size != self.bytes:
            return "the content has changed since it was written"
        return None


@dataclass(frozen=True)
class FinishedShard:
    """A shard that is now in the folder: `made` in this run or kept; `trouble` is why an earlier file was not kept."""

    record: ShardRecord
    made: bool
    trouble: str | None = None


Count = Callable[[int], None]
Runner = Callable[[Sequence[PlannedShard], Count], Iterable[ShardRecord]]
"""Makes the shards; the second argument is to be called with the number of sentences compiled since the last call."""


def plan_shards(compiler: ShardCompiler, layout: Layout) -> list[PlannedShard]:
    """All shards of the corpus."""
    assignments = layout.assign(len(compiler.corpus), compiler.corpus.domains)
    return [PlannedShard(one, compiler.key(one.sentences)) for one in assignments]


def write_shard(
    compiler: ShardCompiler, folder: str | os.PathLike[str], planned: PlannedShard, tell: Count | None = None
) -> ShardRecord:
    """Compile one shard into the folder, atomically, then its record. Safe to repeat: equal bytes replace each other.

    Sentences or options that differ from the plan are an error. `tell` hears how many sentences are compiled so far.
    """
    folder, assignment = Path(folder), planned.assignment
    if compiler.key(assignment.sentences) != planned.key:
        raise InputError(
            "the sentences, references, index or options have changed since the shards were planned",
            where=assignment.name,
            hint="Plan the shards again with the current files.",
        )
    try:
        content = compiler.compile(assignment.sentences, tell)
    except InputError as error:
        if error.where:
            raise
        raise InputError(error.message, where=assignment.name, hint=error.hint) from None
    with atomic_write(folder / assignment.name, compress=False) as stream:
        stream.write(content)
    shard = Shard(folder / assignment.name)
    record = ShardRecord(
        name=assignment.name,
        task=assignment.domain,
        sentences=list(assignment.sentences),
        key=planned.key,
        checksum=f"{shard.checksum:016x}",
        bytes=len(content),
        rules=shard.rule_count,
    )
    _write_json(folder / f"{assignment.name}.json", asdict(record))
    return record


def write_shards(
    compiler: ShardCompiler,
    layout: Layout,
    folder: str | os.PathLike[str],
    *,
    jobs: int = 1,
    inputs: dict[str, object] | None = None,
    runner: Runner | None = None,
    advance: Count = lambda _: None,
) -> Iterator[FinishedShard]:
    """Make the folder complete, shard by shard, in order; the same bytes for any number of jobs and any runner.

    `inputs` (see `describe_inputs`) goes into the manifest. `runner` makes the missing shards instead of `jobs`
    processes: it must call `write_shard` for each and return the records. `advance` is called while shards are made,
    with the number of sentences compiled since the last call; those of shards that are kept are not counted.
    """
    check_folder_kind(folder, SHARDS)
    with exclusive(folder):
        claim_folder(folder, SHARDS)
        yield from _complete(compiler, layout, Path(folder), jobs, inputs or {}, runner, advance)


def _complete(
    compiler: ShardCompiler,
    layout: Layout,
    folder: Path,
    jobs: int,
    inputs: dict[str, object],
    runner: Runner | None,
    advance: Count,
) -> Iterator[FinishedShard]:
    plan = plan_shards(compiler, layout)
    known = _known_records(folder)
    kept: dict[str, ShardRecord] = {}
    trouble: dict[str, str] = {}
    for planned in plan:
        name = planned.assignment.name
        record = known.get(name)
        if record is None or record.key != planned.key:
            continue
        wrong = record.check(folder)
        if wrong is None:
            kept[name] = record
        else:
            trouble[name] = wrong
    missing = [planned for planned in plan if planned.assignment.name not in kept]
    manifest = _manifest(compiler, layout, inputs, [kept[p.assignment.name] for p in plan] if not missing else [])
    if missing or find_json(folder / MANIFEST) != manifest:
        _clear(folder, kept)
    for record in kept.values():
        yield FinishedShard(record, made=False)
    if runner is None:
        made = _make(compiler, folder, missing, jobs, advance)
    else:
        made = iter(_checked(runner(missing, advance), missing) if missing else [])
    for record in made:
        kept[record.name] = record
        yield FinishedShard(record, made=True, trouble=trouble.get(record.name))
    records = [kept[planned.assignment.name] for planned in plan]
    _write_json(folder / MANIFEST, _manifest(compiler, layout, inputs, records))
    for record in records:
        (folder / f"{record.name}.json").unlink(missing_ok=True)


def _make(
    compiler: ShardCompiler, folder: Path, missing: Sequence[PlannedShard], jobs: int, advance: Count
) -> Iterator[ShardRecord]:
    """The shards, made in this process or in forked ones, which count what they have compiled in a shared table."""
    jobs = process_count(jobs, len(missing))
    compiled, told = shared_table(len(missing)), 0

    def tick() -> None:
        nonlocal told
        before, told = told, int(compiled.sum())
        advance(told - before)

    def write(number: int) -> ShardRecord:
        def tell(done: int) -> None:
            compiled[number] = done
            if jobs == 1:
                tick()

        return write_shard(compiler, folder, missing[number], tell)

    numbers = range(len(missing))
    made = ordered_map(write, numbers, jobs, describe=lambda one: missing[one].assignment.name, tick=tick)
    with contextlib.closing(made):
        for record in made:
            tick()
            yield record


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest of a complete folder."""
    path = Path(folder) / MANIFEST
    try:
        manifest = json.loads(read_bytes(path))
    except ValueError:
        raise InputError("not a manifest of shards", where=path, hint="Make the shards again.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"not a manifest of format {FORMAT}", where=path, hint="Make the shards again.")
    return manifest


def check_folder(folder: str | os.PathLike[str]) -> list[ShardRecord]:
    """The records of a complete folder; a missing, truncated or altered shard is an InputError with its name."""
    folder = Path(folder)
    try:
        records = [ShardRecord(**entry) for entry in read_manifest(folder)["shards"]]
    except (KeyError, TypeError):
        raise InputError("not a manifest of shards", where=folder / MANIFEST, hint="Make the shards again.") from None
    for record in records:
        wrong = record.check(folder)
        if wrong is not None:
            raise InputError(wrong, where=folder / record.name, hint="Run the command that made it again.")
    return records


def describe_inputs(paths: dict[str, Sequence[str | os.PathLike[str]]]) -> dict[str, object]:
    """Names (without folders, so that a moved corpus gives the same manifest) and SHA-256 of input files."""
    return {
        role: [{"name": Path(path).name, "sha256": hashlib.sha256(read_bytes(path)).hexdigest()} for path in files]
        for role, files in paths.items()
    }


def _checked(records: Iterable[ShardRecord], missing: Sequence[PlannedShard]) -> list[ShardRecord]:
    """The records in the plan's order, after a check for repeated, missing and unknown ones."""
    keys = {planned.assignment.name: planned.key for planned in missing}
    found: dict[str, ShardRecord] = {}
    for record in records:
        if record.name in found:
            raise ResourceError(
                f"the job made {record.name} twice", hint="Check whether its input was split or repeated."
            )
        if keys.get(record.name) != record.key:
            raise ResourceError(f"the job made {record.name}, which is not in the plan in this form")
        found[record.name] = record
    lost = [name for name in keys if name not in found]
    if lost:
        raise ResourceError(f"the job did not make {', '.join(lost[:5])}" + (" …" if len(lost) > 5 else ""))
    return [found[name] for name in keys]


def _manifest(
    compiler: ShardCompiler, layout: Layout, inputs: dict[str, object], records: Sequence[ShardRecord]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "layout": asdict(layout),
        "content": compiler.identity(),
        "inputs": inputs,
        "sentences": len(compiler.corpus),
        "shards": [asdict(record) for record in records],
    }


def _known_records(folder: Path) -> dict[str, ShardRecord]:
    """Records of the manifest and of shards finished since, by name. Unreadable ones are ignored."""
    found: dict[str, ShardRecord] = {}
    manifest = find_json(folder / MANIFEST)
    entries = manifest.get("shards", []) if isinstance(manifest, dict) else []
    if isinstance(entries, list):
        entries = [*entries, *(find_json(path) for path in sorted(folder.glob("shard.*.itsh.json")))]
    for entry in entries:
        with contextlib.suppress(TypeError):
            record = ShardRecord(**entry)
            found[record.name] = record
    return found


def _clear(folder: Path, kept: dict[str, ShardRecord]) -> None:
    """Remove the manifest and what an earlier run left, except for shards that are kept and their records."""
    if not folder.is_dir():
        return
    for name, record in kept.items():  # these may be only in the manifest
        _write_json(folder / f"{name}.json", asdict(record))
    (folder / MANIFEST).unlink(missing_ok=True)
    for path in folder.iterdir():
        if OUR_FILE.fullmatch(path.name) and path.name.removesuffix(".json") not in kept:
            path.unlink(missing_ok=True)


def _write_json(path: Path, document: dict[str, Any]) -> None:
    """One line for each entry of the document, and for each shard."""
    lines = []
    for name, value in document.items():
        shown = json.dumps(value, ensure_ascii=False)
        if name == "shards" and value:
            shown = "[\n  " + ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n ]"
        lines.append(f" {json.dumps(name)}: {shown}")
    with atomic_write(path) as stream:
        stream.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())

"""A folder of per-sentence grammars: `grammar.N.gz`, the `input.sgm` that cdec reads, and a manifest.

The manifest's first line names the index and the options. Then it has one line per finished file, with the hashes of
its sentence and of its content. It grows file by file, so an interrupted run can be resumed: files that are listed,
unaltered and made with the same index and options are kept; all others are made again. The hashes also tell which files
a crash of the machine cut short, so files are not synced one by one, but all together before the folder is complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from itersel.base.files import atomic_write, remove_torn, sync_folder, write_unsynced
from itersel.base.folders import GRAMMARS, claim_folder
from itersel.grammar.extraction import ExtractConfig, extract_grammars, open_index

MANIFEST = "manifest.jsonl"
INPUT = "input.sgm"
FORMAT = 1


def grammar_name(number: int) -> str:
    return f"grammar.{number}.gz"


def write_grammars(
    index: str | os.PathLike[str],
    sentences: list[str],
    folder: str | os.PathLike[str],
    options: ExtractConfig | None = None,
    *,
    jobs: int = 1,
    name: str | os.PathLike[str] = "sentence",
) -> Iterator[bool]:
    """Make the folder complete; yields, per sentence, False if its grammar was kept, True if it was made."""
    folder, options = Path(folder), options or ExtractConfig()
    origin = {"format": FORMAT, "index": f"{open_index(index).fingerprint:016x}", "options": asdict(options)}
    claim_folder(folder, GRAMMARS)
    for torn in folder.glob(".grammar.*.gz.*.tmp"):  # left by a run that was killed
        torn.unlink(missing_ok=True)
    remove_torn(folder / INPUT)
    remove_torn(folder / MANIFEST)
    entries = _finished(folder, origin, sentences)
    for path in folder.glob("grammar.*.gz"):
        if path.name not in entries:
            path.unlink()
    _write_manifest(folder, origin, entries)
    for _ in entries:
        yield False
    missing = [(i, sentence) for i, sentence in enumerate(sentences) if grammar_name(i) not in entries]
    with open(folder / MANIFEST, "ab") as manifest:
        for number, packed in extract_grammars(index, missing, options, jobs=jobs, name=name, compress=True):
            file = grammar_name(number)
            write_unsynced(folder / file, packed)
            entries[file] = {
                "file": file,
                "sentence": _hash(sentences[number].encode()),
                "content": _hash(packed),
            }
            manifest.write(_line(entries[file]))
            manifest.flush()
            yield True
    sync_folder(folder)
    with atomic_write(folder / INPUT) as stream:
        for number, sentence in enumerate(sentences):
            stream.write(f'<seg grammar="{grammar_name(number)}" id="{number}"> {sentence.strip()} </seg>\n'.encode())
    _write_manifest(folder, origin, entries)


def _finished(folder: Path, origin: dict[str, Any], sentences: list[str]) -> dict[str, dict[str, str]]:
    """The manifest's entries that still hold, by file name; none if index or options have changed."""
    try:
        lines = (folder / MANIFEST).read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    records = []
    for line in lines:
        with contextlib.suppress(ValueError):  # the last line may be incomplete
            records.append(json.loads(line))
    if not records or records[0] != origin:
        return {}
    wanted = {grammar_name(i): _hash(sentence.encode()) for i, sentence in enumerate(sentences)}
    return {
        record["file"]: record
        for record in records[1:]
        if wanted.get(record["file"]) == record["sentence"]
        and (folder / record["file"]).is_file()
        and _hash((folder / record["file"]).read_bytes()) == record["content"]
    }


def _write_manifest(folder: Path, origin: dict[str, Any], entries: dict[str, dict[str, str]]) -> None:
    with atomic_write(folder / MANIFEST) as stream:
        stream.write(_line(origin))
        for file in sorted(entries, key=lambda file: int(file.split(".")[1])):
            stream.write(_line(entries[file]))


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, sort_keys=True).encode() + b"\n"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

"""A run's directory: every file in it appears complete or not at all, and a manifest says which epochs are finished.

run.json                     configuration, identity and versions
manifest.json                finished epochs with checksums, scores and the chosen one
statistics.jsonl             one line per shard and epoch, and one per epoch, which also has its cost (`made`)
weights.vec, weights.txt.gz  the chosen epoch's
domains/domain.NAME.txt      the same for each domain, for algorithms that have such weights
epoch-001/weights.vec        the model after the epoch; weights.txt.gz: the same as `name value` lines
epoch-001/norms.vec          its columns' ranking keys and means (itersel.learn.mixing.Columns)
epoch-001/devtest.txt.gz     translations of the devtest shards; in epoch-000 those of the start weights
epoch-001/shards/00000.state what a shard carries to the next epoch, for algorithms that let it, as long as it is needed
epoch-001/jobs/              records of the epoch's finished jobs, until the epoch is finished (itersel.run.job_runner)
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, file_checksum
from itersel.base.folders import LOCK_FILE, MARK, RUN, claim_folder
from itersel.base.json_files import parse_json, read_json, write_json

FORMAT = 1


class RunDirectory:
    """Paths, manifest and statistics."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.manifest: dict[str, Any] = {"format": FORMAT, "epochs": [], "chosen": None}
        self._created = not self.path.exists()
        self._begun = False  # the run began with this object

    def epoch(self, number: int) -> Path:
        """The folder of an epoch, which is counted from 0 here and from 1 for people."""
        return self.path / f"epoch-{number + 1:03d}"

    def state(self, epoch: int, shard: int) -> Path:
        """What a shard carries to the next epoch."""
        return self.epoch(epoch) / "shards" / f"{shard:05d}.state"

    def states(self, epoch: int) -> tuple[Path, ...]:
        """What all shards carry to the next epoch, in their order."""
        return tuple(sorted((self.epoch(epoch) / "shards").glob("*.state")))

    def jobs(self, epoch: int) -> Path:
        """The folder of an epoch's finished jobs."""
        return self.epoch(epoch) / "jobs"

    @property
    def engine(self) -> Path:
        """The folder of the engine, for logs and unfinished jobs."""
        return self.path

    @property
    def finished(self) -> int:
        """Number of epochs that need not be done again."""
        return len(self.manifest["epochs"])

    def claim(self, identity: dict[str, Any], description: dict[str, Any]) -> None:
        """Begin a run here, or resume the one with the same identity; refuse any other and show the differences."""
        place = self.path / "run.json"
        claim_folder(self.path, RUN)
        if place.exists():
            known = read_json(place).get("identity", {})
            if known != identity:
                raise ConfigError(
                    "this directory belongs to a run with another configuration or other data:\n"
                    + "\n".join(_differences(known, identity)),
                    where=self.path,
                    hint="Name another directory, or remove this one.",
                )
        self._begun = not place.exists()
        write_json(place, {"format": FORMAT, "identity": identity} | description)
        if (self.path / "manifest.json").exists():
            self.manifest = read_json(self.path / "manifest.json")
            if self.manifest.get("format") != FORMAT:
                raise InputError("written by another version of itersel", where=self.path / "manifest.json")
        self._check()
        self._tidy()

    def _check(self) -> None:
        for entry in [*self.manifest["epochs"], self.manifest.get("start", {"files": {}})]:
            for name, checksum in entry["files"].items():
                if file_checksum(self.path / name) != checksum:
                    raise InputError(
                        "the file has changed since this run wrote it: the checksum is wrong",
                        where=self.path / name,
                        hint="Start again in another directory.",
                    )

    def _tidy(self) -> None:
        """Remove what a killed run left: temporary files, and statistics of epochs that are done again."""
        for left in self.path.rglob(".*.tmp"):
            left.unlink(missing_ok=True)
        self.write_statistics([])

    def give_up(self) -> None:
        """If no epoch is finished, restore the directory to its state before the run began: the mistake was the
        user's, and the next run may have other settings. A run that began earlier stays."""
        if self._begun and not self.manifest["epochs"]:
            for entry in self.path.iterdir():
                if not entry.name.startswith(".") or entry.name == MARK:
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        if self._created and [entry.name for entry in self.path.iterdir()] in ([], [LOCK_FILE]):
            (self.path / LOCK_FILE).unlink(missing_ok=True)
            self.path.rmdir()

    def finish_start(self, files: list[Path], facts: dict[str, Any]) -> None:
        """Enter the start weights' devtest scores into the manifest."""
        self.manifest["start"] = facts | {"files": self._checksums(files)}
        self.write_manifest()

    def finish_epoch(self, files: list[Path], facts: dict[str, Any]) -> None:
        """Enter an epoch into the manifest, with the checksums of its files."""
        self.manifest["epochs"].append({"epoch": self.finished + 1} | facts | {"files": self._checksums(files)})
        self.write_manifest()

    def _checksums(self, files: list[Path]) -> dict[str, str]:
        return {str(path.relative_to(self.path)): file_checksum(path) for path in files}

    def write_manifest(self) -> None:
        write_json(self.path / "manifest.json", self.manifest)

    def write_statistics(self, lines: list[dict[str, Any]]) -> None:
        """Add lines to those of the finished epochs."""
        place, kept = self.path / "statistics.jsonl", []
        if place.exists():
            try:
                known = [parse_json(line) for line in place.read_bytes().splitlines()]
                kept = [line for line in known if line["epoch"] <= self.finished]
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    "damaged: not lines of JSON with an epoch", where=place, hint="Start again in another directory."
                ) from None
        with atomic_write(place) as stream:
            for line in kept + lines:
                stream.write((json.dumps(line) + "\n").encode())

    def forget_jobs(self, epoch: int) -> None:
        """Remove the records of an epoch's jobs, which nothing needs once the epoch is finished."""
        shutil.rmtree(self.jobs(epoch), ignore_errors=True)

    def forget_states(self, epoch: int) -> None:
        """Remove what an epoch's shards carried on, which nothing needs once the next epoch is finished."""
        shutil.rmtree(self.epoch(epoch) / "shards", ignore_errors=True)


def _differences(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    keys = [key for key in here | there if there.get(key) != here.get(key)]
    lines = [f"  {key}: {there.get(key)!r} there, {here.get(key)!r} now" for key in keys]
    return lines[:20] + ([f"  … and {len(lines) - 20} more"] if len(lines) > 20 else [])

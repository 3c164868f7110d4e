"""Engines behind mrjob: every job is the script `jobs/map_reduce.py`, which does what the job's description says.

Mappers and reducers have no side effects, so an engine's own retries and speculative attempts are harmless. What they
need travels as files: the work items as lines with their state, the job's description, and its side files. An
interrupted job is done again as a whole.

This class is complete for mrjob's own runners (mrjob-inline, mrjob-local); clusters override its hooks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from itersel.base.temporary import temporary_folder
from itersel.engines.base import Engine
from itersel.engines.config import RunConfig
from itersel.engines.mrjob_launch import StepFailedError, run_script
from itersel.engines.mrjob_log import MrjobLog
from itersel.engines.task_errors import describe
from itersel.mapreduce.execution import assemble, reduce_range
from itersel.mapreduce.job import Job, Record, Tell
from itersel.mapreduce.shipped_job import write_job
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import ItemFile, WorkItem, largest_first

LOG = ".mrjob.log"


@dataclass(frozen=True)
class Shipment:
    """A job that is ready to be launched: what its workers get, as files of this machine or as addresses."""

    name: str
    """The name in messages."""
    partitions: int
    folder: Path
    """A local folder of this job; it is removed when the job is over."""
    inputs: tuple[str, ...]
    """Files of work items, one on each line."""
    job: str
    """The file that describes the job."""
    lasting: Mapping[str, str]
    """Side files of the whole run, by name: where workers find them."""
    passing: Mapping[str, str]
    """Side files that only this job has, by name: paths on this machine."""
    items_per_task: int = 1
    """Work items that a map task takes."""

    def arguments(self, job: str, passing: Mapping[str, str]) -> list[str]:
        """The script's arguments, with the addresses of the job's description and of its side files."""
        words = ["--label", self.name, "--job", job]
        for path in (*self.lasting.values(), *passing.values()):
            words += ["--side", path]
        return words if self.partitions else [*words, "--map-only"]


class MrjobEngine(Engine):
    """The engines mrjob-inline and mrjob-local."""

    one_input: ClassVar[bool] = False
    """All work items are lines of one file; otherwise those of a map task have their own file."""

    def __init__(self, config: RunConfig, folder: Path):
        super().__init__(config, folder)
        self.staged: dict[ItemFile, str] = {}
        """Addresses of files that workers can read."""

    @property
    def runner(self) -> str:
        """mrjob's name of the runner."""
        return self.config.runner.removeprefix("mrjob-")

    def stage(self, paths: Sequence[str]) -> dict[str, str]:
        """Put files where all workers can read them; their addresses there. Asked once per run for each content."""
        return {path: os.path.abspath(path) for path in paths}

    def launch(self, shipment: Shipment, share: Callable[[float], None]) -> Iterator[Record]:
        """Run the job and give its records; a failure is a UserError that begins with the failing task's own words.

        Engines that know how much of the map work is done call `share`.
        """
        del share
        options = ["--no-conf", "--local-tmp-dir", os.fspath(shipment.folder), *self.config.options]
        arguments = shipment.arguments(shipment.job, shipment.passing)
        with MrjobLog(self.folder / LOG):
            try:
                yield from run_script([*options, *arguments, *shipment.inputs], self.runner)
            except StepFailedError:
                logs = [path.read_text(errors="replace") for path in sorted(shipment.folder.rglob("stderr"))]
                hint = f"mrjob's messages are in {self.folder / LOG}"
                raise describe(logs, hint, shipment.name) from None

    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        total = sum(item.size for item in items)
        tell(0.0, {})
        if items:
            with temporary_folder("job") as temporary:
                shipment = self._pack(job, items, side, temporary)
                records = self.launch(shipment, lambda share: tell(share * total, {}))
                made = assemble(job, records, len(items))
        else:  # nothing that is worth a job
            files = Side({name: one.path for name, one in side.items()})
            ranges = (reduce_range(job, key, (), 0, files) for key in range(job.partitions))
            made = assemble(job, (record for one in ranges for record in one), 0)
        tell(total, {})
        yield from made

    def _pack(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], folder: Path) -> Shipment:
        lasting = {name: ItemFile(one.path, "") for name, one in side.items() if one.lasting}
        passing = {name: os.path.abspath(one.path) for name, one in side.items() if not one.lasting}
        needed = [*lasting.values(), *(file for item in items for file in item.files)]
        new = [file for file in dict.fromkeys(needed) if file not in self.staged]
        addresses = self.stage([file.path for file in new])
        self.staged |= {file: addresses[file.path] for file in new}
        description = folder / "job.json"
        write_job(description, job, len(items), [*lasting, *passing])
        return Shipment(
            name=type(job).__name__,
            partitions=job.partitions,
            folder=folder,
            inputs=tuple(self._write_items(items, folder)),
            job=os.fspath(description),
            lasting={name: self.staged[file] for name, file in lasting.items()},
            passing=passing,
            items_per_task=self.config.items_per_task(len(items)),
        )

    def _write_items(self, items: Sequence[WorkItem], folder: Path) -> Iterator[str]:
        """Files of lines, with the addresses of the items' files and with their states."""
        ordered = largest_first(items)
        size = max(len(ordered), 1) if self.one_input else self.config.items_per_task(len(ordered))
        groups = [ordered[first : first + size] for first in range(0, len(ordered), size)]
        for number, group in enumerate(groups):
            path = folder / (f"{number:05d}.item" if len(groups) > 1 else "items.jsonl")
            with open(path, "w", encoding="utf-8") as stream:
                for item in group:
                    addressed = item.addressed(self.staged.__getitem__)
                    stream.write(json.dumps(addressed.to_json(with_state=True)) + "\n")
            yield os.fspath(path)

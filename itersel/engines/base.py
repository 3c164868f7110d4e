"""What an engine is: it runs any job over any work items, somewhere, and hands over the records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from itersel.base.errors import ConfigError
from itersel.engines.config import RunConfig
from itersel.engines.sizing import Workload
from itersel.mapreduce.job import Job, Record, Tell
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import WorkItem


class Engine(ABC):
    """Runs jobs. `close` is called in the end, also after errors and interrupts."""

    def __init__(self, config: RunConfig, folder: Path):
        """`folder` is for logs and for what an interrupted job has finished; only this engine works in it."""
        self.config, self.folder = config, folder

    @abstractmethod
    def run(self, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile], tell: Tell) -> Iterator[Record]:
        """Map all items, reduce all ranges; the records for the driver, as `itersel.mapreduce.execution.assemble`
        orders them. `tell` is called with the units of work done so far and the job's counts, as often as the engine
        knows them. A failure is a UserError that begins with the failing item's own words."""

    @classmethod
    def dry_run(cls, config: RunConfig, folder: Path, workload: Callable[[], Workload]) -> str:
        """What a run would make and cost, for people, without making or asking anything. `workload` measures it."""
        del folder, workload
        raise ConfigError(
            f"the engine {config.runner} has no dry run", hint="Leave out the dry run: this engine costs nothing."
        )

    def rest(self) -> None:
        """End what was kept for further jobs, such as processes."""
        return

    def pause(self) -> None:
        """All jobs so far are done, for good: give back what others may be waiting for, and remove what jobs left."""
        return

    def close(self) -> None:
        """Stop what is still under way, on whatever machine, and remove temporary data."""
        return

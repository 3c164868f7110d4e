"""Engines by name, and the part of a configuration that says where work is done. It has no influence on results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from itersel.base.config import OneOf, PathStr, Range, validate

INLINE, LOCAL = "inline", "local"
RUNNERS = {
    INLINE: "local:LocalEngine",
    LOCAL: "local:LocalEngine",
    "mrjob-inline": "mrjob:MrjobEngine",
    "mrjob-local": "mrjob:MrjobEngine",
    "hadoop": "hadoop:HadoopEngine",
    "spark": "spark:SparkEngine",
    "emr": "emr:EmrEngine",
    "slurm": "slurm:SlurmEngine",
    "sge": "sge:SgeEngine",
}
"""Module and class in itersel.engines."""


@dataclass(frozen=True)
class RunConfig:
    """Where the work is done. Has no influence on the result."""

    runner: Annotated[str, OneOf(*RUNNERS)] = LOCAL
    """inline: in this process; local: in processes of this machine; others: docs/engines.md."""
    jobs: Annotated[int, Range(1, 100_000)] = 1
    """local: number of processes."""
    reducers: Annotated[int, Range(1, 100_000)] = 1
    """Ranges of feature ids that are mixed one by one."""
    store: PathStr | None = None
    """A folder or address that all workers reach, for what they need of the driver's files."""
    options: tuple[str, ...] = ()
    """Further options for the engine: of sbatch, or of mrjob's runner."""
    tasks: Annotated[int, Range(1, 100_000)] | None = None
    """Engines that start a task for each work item: most map tasks of a job, which then take several items each; none:
    one task for each."""

    def __post_init__(self) -> None:
        validate(self)

    @property
    def processes(self) -> int:
        """Processes that the driver may use on its own machine."""
        return 1 if self.runner == INLINE else self.jobs

    def items_per_task(self, items: int) -> int:
        """How many of a job's work items a map task takes, one after the other."""
        return 1 if self.tasks is None else max(1, -(-items // self.tasks))

    @property
    def is_here(self) -> bool:
        """Whether all work is done by this process and those that it forks."""
        return self.runner in (INLINE, LOCAL)

"""Engines by name, and the part of a configuration that says where work is done. It has no influence on results."""

from __future__ import annotations

from dataclasses import dataclass

from itersel.base.errors import ConfigError

RUNNERS = {
    "inline": "local:LocalEngine",
    "local": "local:LocalEngine",
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

    runner: str = "local"
    """inline: in this process; local: in processes of this machine; others: docs/engines.md."""
    jobs: int = 1
    """local: number of processes."""
    reducers: int = 1
    """Ranges of feature ids that are mixed one by one."""
    store: str | None = None
    """A folder or address that all workers reach, for what they need of the driver's files."""
    options: tuple[str, ...] = ()
    """Further options for the engine: of sbatch, or of mrjob's runner."""

    def __post_init__(self) -> None:
        if self.runner not in RUNNERS:
            raise ConfigError(f"run.runner is {self.runner!r}", hint=f"Choose one of {', '.join(RUNNERS)}.")
        for key in ("jobs", "reducers"):
            if not 1 <= getattr(self, key) <= 100_000:
                raise ConfigError(f"run.{key} is {getattr(self, key)}", hint="Give a number of at least 1.")

    @property
    def processes(self) -> int:
        """Processes that the driver may use on its own machine."""
        return 1 if self.runner == "inline" else self.jobs

"""A job: one map-reduce, described as data. A worker finds its class by name and makes the same job of the description.

    map     a work item          → records, each for a range of keys (0 … partitions − 1) or for the driver
    reduce  a range's records    → records for the driver

Both are pure functions of what they are given: an engine may run them anywhere, twice, and in any order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple

from itersel.base.config import build
from itersel.base.errors import ConfigError
from itersel.base.objects import find
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem

DRIVER = -1
"""The key of what no reducer sees."""

Tell = Callable[[float, Mapping[str, float]], None]
"""Told how many units of work are done, and the job's counts so far."""


class Record(NamedTuple):
    """What mappers send to reducers, and both to the driver."""

    key: int
    """The range, or DRIVER."""
    item: int
    """The number of the work item that it comes from; REDUCED if a reducer made it."""
    sequence: int
    """Its place among the item's records, from 0; END marks the last."""
    value: bytes


REDUCED = -1
END = -1


@dataclass(frozen=True)
class Job(ABC):
    """The base of all jobs: frozen dataclasses whose fields are plain values or configurations."""

    partitions: int = 0
    """Ranges of keys, each for one reducer; 0: there is nothing to reduce."""

    unit: ClassVar[str] = "sentences"
    """What the size of a work item counts."""
    counts: ClassVar[Mapping[str, str]] = {}
    """What mappers tell while they work, and how it is combined over items: sum or max."""

    def modules(self) -> Sequence[str]:
        """Modules that a worker must be able to import for the job (itersel.mapreduce.source_code)."""
        return [type(self).__module__]

    @abstractmethod
    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        """(key, value) for each record. `tell` may be called at any time; what it raises ends the work."""

    def reduce(self, key: int, values: Sequence[bytes], side: Side) -> Iterable[bytes]:
        """What becomes of a range's values, which come in the order of the items. The default lets them pass."""
        del key, side
        return values

    def warm(self, side: Side) -> None:
        """Load what mappers share, before processes are forked that inherit it."""
        del side

    def combine(self, counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
        """The counts of several items as one."""
        made = dict.fromkeys(self.counts, 0.0)
        for one in counts:
            for key, how in self.counts.items():
                value = one.get(key, 0.0)
                made[key] = max(made[key], value) if how == "max" else made[key] + value
        return made


def describe_job(job: Job) -> dict[str, Any]:
    """The job as JSON: where its class is, and its fields."""
    kind = type(job)
    return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": asdict(job)}


def load_job(description: Mapping[str, Any]) -> Job:
    """The job of a description. Its module must be importable here (see itersel.mapreduce.source_code)."""
    kind = find(str(description["class"]))
    if not (isinstance(kind, type) and issubclass(kind, Job)):
        raise ConfigError(f"{description['class']} is not a job")
    values = dict(description["fields"])
    given = {}
    for field in fields(kind):
        if field.name in values:
            value = values[field.name]
            default = _default_class(kind, field.name)
            given[field.name] = build(default, value) if default is not None and isinstance(value, Mapping) else value
    return kind(**given)


def _default_class(kind: type, name: str) -> type | None:
    """The dataclass that a field holds, by its type annotation; None for plain values."""
    import typing

    hint = typing.get_type_hints(kind)[name]
    for one in (hint, *typing.get_args(hint)):
        if isinstance(one, type) and is_dataclass(one):
            return one
    return None

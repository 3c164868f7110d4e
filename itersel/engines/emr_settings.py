"""Settings of mrjob's EMR runner: the configuration file, and `run.options` over it; and what that would cost.

Only what costs money or goes into the run's directory is looked at here; everything else passes through to mrjob.
Nothing in this module talks to AWS.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itersel.base.config import read_yaml
from itersel.base.errors import ConfigError
from itersel.base.resources import resource_root
from itersel.engines.config import RunConfig
from itersel.engines.sizing import Slots
from itersel.engines.wheelhouse import MANIFEST

CONF = resource_root() / "conf" / "mrjob.emr.conf"
WHEELHOUSE_VARIABLE = "ITERSEL_WHEELHOUSE"
"""Names the packed wheelhouse, for the bootstrap in CONF."""
SECRETS = re.compile(r"secret|password|session.?token|access.?key", re.IGNORECASE)
MEMORY_GB = {"c": 2, "m": 4, "r": 8}
"""Memory per virtual processor, by the family of the instance type."""
YARN_SHARE = 0.75
"""The share of a node's memory that EMR gives to YARN's containers."""
DEFAULT_TASK_MB = 3584
START_SECONDS = 600.0
"""Time from the request for a cluster to its first task: instances, Hadoop, bootstrap."""
SLOTS = {"task_seconds": 3.0, "job_seconds": 45.0}
"""What Hadoop on EMR adds: start of a container and of Python; start, poll and end of a step."""


@dataclass(frozen=True)
class EmrSettings:
    """The runner's options as they will be."""

    store: str
    """s3://bucket/prefix"""
    conf: Path
    passed: tuple[str, ...]
    """The part of run.options that goes to mrjob."""
    wheelhouse: Path
    values: dict[str, Any]
    """Settings by mrjob's names; options override the file."""

    @classmethod
    def read(cls, run: RunConfig) -> EmrSettings:
        if run.store is None or not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s#]*)?", run.store):
            raise ConfigError(
                f"run.store is {run.store!r}, and EMR needs a place in S3",
                hint="Give an address, such as --store s3://my-bucket/itersel.",
            )
        given, passed = _options(run.options)
        conf = Path(given.pop("conf_path", CONF))
        wheelhouse = Path(given.pop("wheelhouse", "work/wheelhouse"))
        runners = read_yaml(conf).get("runners")
        known = runners.get("emr") if isinstance(runners, dict) else None
        if not isinstance(known, dict):
            raise ConfigError("there is no group runners: emr:", where=conf, hint=f"Start from {CONF}.")
        for key in known:
            if SECRETS.search(key):
                raise ConfigError(f"{key} must not be in a file", where=conf, hint=CREDENTIALS_HINT)
        return cls(run.store.rstrip("/"), conf, passed, wheelhouse, known | given)

    def text(self, key: str, default: str) -> str:
        return str(self.values.get(key) or default)

    @property
    def region(self) -> str:
        return self.text("region", "us-west-2")

    @property
    def cluster_id(self) -> str | None:
        """An existing cluster, which is not ended."""
        found = self.values.get("cluster_id")
        return None if found is None else str(found)

    @property
    def temporary(self) -> str:
        return self.text("cloud_tmp_dir", f"{self.store}/temporary/").rstrip("/") + "/"

    @property
    def logs(self) -> str:
        return self.text("cloud_log_dir", f"{self.store}/logs/").rstrip("/") + "/"

    @property
    def core_type(self) -> str:
        return self.text("core_instance_type", self.text("instance_type", "m6i.2xlarge"))

    @property
    def core_count(self) -> int:
        return int(self.values.get("num_core_instances") or 1)

    @property
    def instances(self) -> list[tuple[str, int, str, str | None]]:
        """Role, number, type and the bid of spot instances, of all that would be rented."""
        found = []
        for role, count, kind in (
            ("master", 1, self.text("master_instance_type", self.core_type)),
            ("core", self.core_count, self.core_type),
            ("task", int(self.values.get("num_task_instances") or 0), self.text("task_instance_type", self.core_type)),
        ):
            bid = self.values.get(f"{role}_instance_bid_price")
            if count:
                found.append((role, count, kind, None if bid is None else str(bid)))
        return found

    @property
    def slots(self) -> Slots:
        """Map tasks at once: as many as processors and YARN's memory allow, less one for the job's own master."""
        megabytes = int((self.values.get("jobconf") or {}).get("mapreduce.map.memory.mb", DEFAULT_TASK_MB))
        count = 0
        for role, number, kind, _ in self.instances:
            if role != "master":
                processors, memory = instance_size(kind)
                count += number * min(processors, int(memory * 1024 * YARN_SHARE // megabytes))
        return Slots(max(count - 1, 1), **SLOTS)

    def check_wheelhouse_there(self) -> None:
        if not (self.wheelhouse / MANIFEST).is_file():
            raise ConfigError(
                "there is no wheelhouse for the cluster's nodes",
                where=self.wheelhouse,
                hint=f"Build it: itersel wheelhouse {self.wheelhouse}; --wheelhouse in run.options names another.",
            )


CREDENTIALS_HINT = "Credentials come from where boto3 finds them: the environment, ~/.aws or the instance's role."


def instance_size(kind: str) -> tuple[int, int]:
    """Virtual processors and nominal gigabytes of an instance type, by its name."""
    found = re.fullmatch(r"(?!c5n)([cmr])[5-9][a-z]*\.(\d*)(x?)large", kind)
    if not found or (found[2] and not found[3]):
        raise ConfigError(
            f"the size of {kind} instances is not known",
            hint="Choose a type such as m6i.2xlarge, c7i.4xlarge or r6i.xlarge.",
        )
    processors = 4 * int(found[2] or 1) if found[3] else 2
    return processors, processors * MEMORY_GB[found[1]]


def _options(options: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Options by name, and those that go to mrjob."""
    found, passed = dict[str, str](), list[str]()
    words = list(options)
    while words:
        word = words.pop(0)
        if SECRETS.search(word):
            raise ConfigError("run.options names a credential, and options are written down", hint=CREDENTIALS_HINT)
        name, equals, value = word.partition("=")
        if not name.startswith("-"):
            raise ConfigError(
                f"run.options has {word!r} where an option of mrjob should be", hint="Give an option such as --region."
            )
        if not equals and words and not words[0].startswith("-"):
            value = words.pop(0)
        name = {"-c": "conf_path"}.get(name, name.lstrip("-").replace("-", "_"))
        found[name] = value
        if name not in ("conf_path", "wheelhouse"):
            passed += [word] if equals or not value else [word, value]
    return found, tuple(passed)

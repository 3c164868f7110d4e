"""What mrjob and Hadoop's client say while a job runs: kept in a file, and read for what the engine wants to know."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path


class MrjobLog(logging.FileHandler):
    """A context in which mrjob's messages go to the file only. `tell` is called with the share of map work done."""

    def __init__(self, path: Path, tell: Callable[[float], None] | None = None):
        super().__init__(path, encoding="utf-8")
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.logger, self.tell = logging.getLogger("mrjob"), tell
        self.application: str | None = None
        """YARN's id of the job."""
        self.failures: list[str] = []
        """Why attempts of tasks failed, as Hadoop sees it."""

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        text = record.getMessage()
        if found := re.search(r"Submitted application (application_\d+_\d+)", text):
            self.application = found[1]
        if found := re.search(r"Task Id : (\S+), Status : FAILED(.*)", text, re.DOTALL):
            reason = next((line for line in found[2].splitlines() if line.strip()), "no reason given")
            self.failures.append(f"{found[1]}: {reason.strip()}")
        if self.tell is not None and (found := re.search(r"^\s*map (\d+)% reduce \d+%", text)):
            self.tell(int(found[1]) / 100)

    def __enter__(self) -> MrjobLog:
        self.before = self.logger.level, self.logger.propagate
        self.logger.addHandler(self)
        self.logger.setLevel(logging.INFO)
        self.logger.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        level, self.logger.propagate = self.before
        self.logger.setLevel(level)
        self.logger.removeHandler(self)
        self.close()

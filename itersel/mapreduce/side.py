"""Side files: what all mappers of a job read, such as weights and language models. They travel once per node."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from itersel.base.errors import ConfigError

Made = TypeVar("Made")


@dataclass(frozen=True)
class SideFile:
    """A file on the driver's machine."""

    path: str
    lasting: bool = False
    """All jobs of a run read the same file: an engine may put it on the nodes once per run."""


class Side:
    """A job's side files as a worker sees them: local paths by name."""

    def __init__(self, paths: Mapping[str, str]):
        self.paths = dict(paths)

    def __contains__(self, name: str) -> bool:
        return name in self.paths

    def path(self, name: str) -> str:
        """The local path of a side file."""
        if name not in self.paths:
            raise ConfigError(
                f"the job has no side file {name!r}", hint=f"There are: {', '.join(self.paths) or 'none'}."
            )
        return self.paths[name]

    def cached(self, purpose: str, names: tuple[str, ...], make: Callable[..., Made]) -> Made:
        """`make(*paths)` of the named files, made once per process and kept until other files serve this purpose."""
        paths = tuple(self.path(name) for name in names)
        key = tuple((path, *_version(path)) for path in paths)
        if purpose not in _CACHE or _CACHE[purpose][0] != key:
            _CACHE.pop(purpose, None)  # frees the memory of the last one first
            _CACHE[purpose] = (key, make(*paths))
        made: Made = _CACHE[purpose][1]
        return made


_CACHE: dict[str, tuple[Any, Any]] = {}
"""By purpose, with the files' paths and versions. Processes that are forked later share what is in it."""


def _version(path: str) -> tuple[int, int]:
    try:
        facts = os.stat(path)
    except OSError:
        return 0, 0  # whoever reads it says what is wrong
    return facts.st_size, facts.st_mtime_ns

"""The `response` group of a configuration: who says whether a translation did its job, and how it is asked.

response:
  program: [python3, "{script}"]       # or  object: my_task:Dates
  files: {script: check.py}            # travel to the workers
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from itersel.base.config import Matches, PathStr, Range, validate
from itersel.base.errors import ConfigError

FileName = Annotated[str, Matches("[A-Za-z_][A-Za-z0-9_]*", "a name of letters, digits and `_`")]


@dataclass(frozen=True)
class ResponseConfig:
    """A program or a Python object, and what it needs."""

    program: tuple[str, ...] = ()
    """Command and arguments. `{name}` stands for the worker's copy of a file in `files`."""
    object: str | None = None
    """A Python callable that makes a Response: an entry point of the group itersel.responses, or module:name."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """Keyword arguments of the object."""
    files: dict[FileName, PathStr] = field(default_factory=dict)
    """Files that every worker gets. The object is given their paths as keyword arguments, too."""
    version: str = ""
    """Change it when answers change for a reason that no file shows: cached answers are then forgotten."""
    limit: Annotated[int, Range(1)] | None = None
    """The most hypotheses of a sentence that are asked about in an epoch; none: up to the first hit."""
    processes: Annotated[int, Range(1, 1000)] = 1
    """Copies of the program per worker. As many hypotheses are asked about at once."""
    timeout: Annotated[float, Range(above=0)] = 60.0
    """Seconds that the program may take for an answer."""
    restarts: Annotated[int, Range(0, 1000)] = 1
    """How often a program that crashed or hung is started again for the same question before the run ends."""
    cache: PathStr | None = None
    """The file of all answers so far, which several runs may share; none: a file in the run's directory."""

    def __post_init__(self) -> None:
        validate(self)
        if bool(self.program) == (self.object is not None):
            both = "program and object are both given" if self.program else "neither program nor object is given"
            raise ConfigError(f"{both}: one of them must give the feedback", hint="Give response.program, a command.")
        if self.program and self.arguments:
            raise ConfigError("arguments are for a Python object", hint="Write them into program.")
        both_names = sorted(set(self.arguments) & set(self.files))
        if both_names:
            raise ConfigError(f"files.{both_names[0]}: there is an argument of the same name")
        self.command(dict.fromkeys(self.files, ""))  # checks the placeholders

    def command(self, paths: Mapping[str, str]) -> list[str]:
        """The program with the files' local paths."""
        try:
            return [part.format(**paths) for part in self.program]
        except (KeyError, IndexError, ValueError) as error:
            raise ConfigError(
                f"program has a placeholder that no file fits: {error}",
                hint="Name the file in response.files; write {{ and }} for braces.",
            ) from None


def checksum_of(values: Mapping[str, Any]) -> str:
    """A short hash of plain values."""
    content = json.dumps(values, sort_keys=True, default=str).encode()
    return hashlib.blake2b(content, digest_size=16).hexdigest()

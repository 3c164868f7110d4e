"""Errors a user can act on: what is wrong, where, and what to do. The command line prints them without a traceback."""

from __future__ import annotations

import os


class UserError(Exception):
    """Something the user can fix. `where` is a path or `path:line`; `hint` says what to do."""

    exit_code = 2

    def __init__(self, message: str, *, where: str | os.PathLike[str] | None = None, hint: str | None = None):
        self.message, self.where, self.hint = message, None if where is None else os.fspath(where), hint
        super().__init__(message)

    def __str__(self) -> str:
        text = self.message if self.where is None else f"{self.where}: {self.message}"
        return text if self.hint is None else f"{text}\n  {self.hint}"


class InputError(UserError):
    """A file or argument has the wrong content: `where` says which, with its line."""


class ConfigError(UserError):
    """A configuration key or option is unknown or has an impossible value."""


class ResourceError(UserError):
    """The input is good, but the machine failed: memory ran out, or a process was killed."""

    exit_code = 1

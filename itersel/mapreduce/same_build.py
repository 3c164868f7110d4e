"""Workers must run the driver's code: other code may give other bytes."""

from __future__ import annotations

import socket
import sys

from itersel.base.errors import ConfigError
from itersel.base.version import describe_build

HINT = "Build a wheelhouse with the driver's itersel and install or ship it (docs/engines-wheelhouse.md)."


def check_build(driver: str, hint: str = HINT) -> None:
    """ConfigError on a worker whose code is not the driver's, which calls itself `driver` (describe_build)."""
    here = describe_build()
    if driver != here:
        raise ConfigError(
            f"the driver runs itersel {driver}, but the worker {socket.gethostname()} has {here} in {sys.prefix}",
            hint=hint,
        )

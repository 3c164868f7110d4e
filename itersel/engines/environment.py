"""Variables for software that takes its settings from the environment, only as long as it needs them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def environment(name: str, value: str) -> Iterator[None]:
    """The variable has the value here, and afterwards what it had before."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before

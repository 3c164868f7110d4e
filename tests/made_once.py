"""Folders that several tests use and that take long to make: made once, for all processes of a session."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from itersel.base.locks import exclusive


def made_once(name: str, factory: pytest.TempPathFactory, make: Callable[[Path], None]) -> Path:
    """The session's folder of that name. The first process that wants it makes it; others wait. Do not change it."""
    mine = factory.getbasetemp()
    session = mine.parent if mine.name.startswith("popen-") else mine  # of pytest-xdist's processes
    folder = session / f"shared-{name}"
    with exclusive(session / f"shared-{name}.lock"):
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "made").touch()
    return folder

"""Fixtures for all tests."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast examples are made and run says more of the machine than of the code.
settings.register_profile("itersel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("itersel")

# A shell starts background jobs with interrupts ignored, and children inherit that; the tests of Ctrl-C need them.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real corpora and reference figures beside the repository; skips where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real data is not here: ../shared/data is absent")
    return folder

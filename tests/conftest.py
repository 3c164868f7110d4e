"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast examples are made and run says more of the machine than of the code.
settings.register_profile("itersel", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Sanitizers look for code paths, which few examples reach; Python itself is many times slower with them.
settings.register_profile("sanitized", settings.get_profile("itersel"), max_examples=20)
settings.load_profile(os.environ.get("ITERSEL_HYPOTHESIS", "itersel"))

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


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `itersel wheelhouse` makes, for all tests that use one as it is."""
    from itersel.cli import main
    from made_once import made_once

    def make(folder: Path) -> None:
        assert main(["wheelhouse", str(folder / "wheelhouse")]) == 0

    return made_once("wheelhouse", tmp_path_factory, make) / "wheelhouse"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where a run of many files spent its time: the tests of each engine, and those of each folder."""
    seconds: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                folder, _, file = report.nodeid.partition("::")[0].rpartition("/")
                engine = file.removesuffix(".py").removeprefix("test_engine_")
                seconds[f"engine {engine}" if file.startswith("test_engine_") else folder] += report.duration
    total = sum(seconds.values())
    if len(seconds) < 2 or total < 60:
        return
    terminalreporter.section("share of the time")
    for name, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        terminalreporter.write_line(f"{spent / total:6.1%}  {spent:7.1f} s  {name}")

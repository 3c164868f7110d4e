"""The contract of engines on those that need no cluster; the clusters' own tests call it, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_contract import CHECKS
from itersel.engines import RunConfig, open_engine

CONFIGS = {
    "inline": RunConfig("inline"),
    "local": RunConfig("local", jobs=2),
    "mrjob-inline": RunConfig("mrjob-inline"),
    "mrjob-local": RunConfig("mrjob-local"),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", CONFIGS)
def test_contract(name: str, check, tmp_path: Path) -> None:
    check(lambda folder: open_engine(CONFIGS[name], folder), tmp_path)

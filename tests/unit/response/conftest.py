"""A database small enough to answer by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from itersel.response.geoquery.database import Database, from_facts

FACTS = [
    ["state", "alpha", "aa", "ayton", 1000, 10, 1, "ayton", "twin", "x", "y"],
    ["state", "beta", "bb", "beeville", 3000, 10, 2, "twin", "x", "y", "z"],
    ["state", "new gamma", "cc", "cee", 500, 50, 3, "cee", "x", "y", "z"],
    ["city", "alpha", "aa", "ayton", 200000],
    ["city", "alpha", "aa", "twin", 150000],
    ["city", "beta", "bb", "twin", 150001],
    ["city", "new gamma", "cc", "cee", 100],
    ["river", "grand", 1000, ["alpha", "beta", "beta", "new gamma"]],
    ["river", "swift", 750, ["beta"]],
    ["river", "brook", 750, ["new gamma"]],
    ["border", "alpha", "aa", ["beta"]],
    ["border", "beta", "bb", ["alpha", "new gamma"]],
    ["border", "new gamma", "cc", ["beta"]],
    ["highlow", "alpha", "aa", "mount a", 300, "south sea", 0],
    ["highlow", "beta", "bb", "mount b", 200, "grand river", 10],
    ["highlow", "new gamma", "cc", "mount c", 300, "grand river", -5],
    ["mountain", "alpha", "aa", "lone peak", 900],
    ["road", "66", ["alpha", "beta"]],
    ["lake", "puddle", 7, ["alpha"]],
    ["country", "usa", 4500, 70],
]


@pytest.fixture(scope="session")
def small_database() -> Database:
    return from_facts(FACTS)


@pytest.fixture(scope="session")
def geoquery(shared_data: Path) -> Path:
    """The folder of the real data set; skips where it is absent."""
    folder = shared_data / "geoquery"
    if not folder.is_dir():
        pytest.skip("real data is not here: ../shared/data/geoquery is absent")
    return folder

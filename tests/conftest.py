from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The optional folder of real data beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the optional data folder ../shared/data is absent")
    return folder

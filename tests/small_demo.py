"""A small part of the demo corpus, for tests that run the whole demo several times."""

from pathlib import Path

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"
SIZES = {"train": 400, "dev": 60, "devtest": 60, "test": 60, "more": 400}
TINY = {"train": 160, "dev": 30, "devtest": 30, "test": 30, "more": 160}
"""For tests that run it several times."""


def write_small_demo(folder: Path, **sizes: int) -> Path:
    """Write the first lines of all files to the folder: as many as SIZES says, or as given."""
    folder.mkdir(parents=True)
    for path in DEMO.iterdir():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / path.name).write_text("".join(lines[: (SIZES | sizes)[path.stem]]), encoding="utf-8")
    return folder

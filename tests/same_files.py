"""Compare the files of two folders by name and content, and name those that differ instead of printing them."""

from pathlib import Path


def files_of_build(work: Path) -> dict[str, bytes]:
    """All files but the stages' records, which have times in them."""
    paths = [path for path in sorted(work.rglob("*")) if path.is_file() and path.parent.name != "stages"]
    return {str(path.relative_to(work)): path.read_bytes() for path in paths}


def assert_same_files(one: dict[str, bytes], other: dict[str, bytes]) -> None:
    """Fail with the names of the files that only one side has, and of those whose content differs."""
    alone = sorted(one.keys() ^ other.keys())
    assert not alone, f"only on one side: {alone}"
    different = [name for name in one if one[name] != other[name]]
    assert not different, f"different content: {different}"

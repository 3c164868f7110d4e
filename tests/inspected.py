"""What `itersel inspect` says about every file below a folder, for tests of all that a verb writes."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

from itersel.cli import main


def check_every_file(folder: Path, expected: Mapping[str, str], capsys) -> None:
    """Each file and folder is named as expected for the first pattern that fits; each pattern fits something."""
    met = set()
    for path in [folder, *sorted(folder.rglob("*"))]:
        name = path.relative_to(folder).as_posix()
        pattern = next((pattern for pattern in expected if fnmatch(name, pattern)), None)
        assert pattern is not None, f"{name} is not in the table of this test"
        capsys.readouterr()
        assert main(["inspect", str(path)]) == 0, (name, capsys.readouterr().err)
        shown = capsys.readouterr().out
        assert shown.startswith(f"{expected[pattern]} {path}"), (name, shown[:200])
        met.add(pattern)
    assert met == expected.keys()

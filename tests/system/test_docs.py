"""The documents are readable and true: short lines, links and paths that exist, modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120
"""Characters of a line."""
SUFFIXES = "bash|cc|conf|hh|js|md|png|pyi?|sbatch|sh|txt|weights|xml|yaml"
"""Endings of files of the repository that documents name."""
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "data/README.md", "tools/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
CONFIGURATIONS = [*sorted((ROOT / "conf").rglob("*.yaml")), *sorted((ROOT / "benchmarks").glob("*.yaml"))]
"""Their comments are documentation, too."""
TOP = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"work"}
"""Folders whose files a document may name; work/ is for what commands make."""

each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())


@pytest.mark.parametrize("document", DOCUMENTS + CONFIGURATIONS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_lines_are_short(document: Path) -> None:
    lines = document.read_text(encoding="utf-8").splitlines()
    assert [f"{number}: {len(line)}" for number, line in enumerate(lines, 1) if len(line) > LIMIT] == []


@each_document
def test_links_lead_to_files_and_headings(document: Path) -> None:
    wrong = []
    for target, heading in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", document.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path = document.parent / target if target else document
        if not path.exists() or (heading and heading not in anchors(path)):
            wrong.append(f"{target}#{heading}")
    assert wrong == []


@each_document
def test_files_that_are_named_exist(document: Path) -> None:
    """A name in backticks counts if it has a known ending and begins with a folder of the repository or a room."""
    if document.name == "CHANGELOG.md":
        return  # also names files that are gone
    text = without_blocks(document.read_text(encoding="utf-8"))
    named = re.findall(rf"`([\w./-]+/[\w.-]+\.(?:{SUFFIXES}))`", text)
    assert [name for name in named if not exists(name)] == []


@each_document
def test_modules_that_are_named_exist(document: Path) -> None:
    names = set(re.findall(r"\bitersel(?:\.[a-z_]\w*){2,}", document.read_text(encoding="utf-8")))
    assert sorted(name for name in names if not is_module_or_member(name)) == []


def without_blocks(text: str) -> str:
    """The text without fenced code, which may show files of the reader's own."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def exists(name: str) -> bool:
    first = name.split("/")[0]
    if first in TOP:
        return (ROOT / name).exists()
    if name.endswith(".py") and (ROOT / "itersel" / first).is_dir():
        return (ROOT / "itersel" / name).exists()
    return True  # a file of the reader's own, such as run/weights.txt


def is_module_or_member(name: str) -> bool:
    """Whether `itersel.room.module`, or something in the module or room by that name, is there; nothing is imported."""
    path = ROOT
    parts = name.split(".")
    for at, part in enumerate(parts):
        if (path / part).is_dir():
            path /= part
            continue
        module = path / f"{part}.py"
        if module.exists():
            return all(mentions(module, member) for member in parts[at + 1 : at + 2])
        return (path / "__init__.py").exists() and mentions(path / "__init__.py", part)
    return True


def mentions(module: Path, member: str) -> bool:
    return re.search(rf"\b{member}\b", module.read_text(encoding="utf-8")) is not None

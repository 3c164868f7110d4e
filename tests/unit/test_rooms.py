"""The rooms of the house: a folder imports only from folders above it, in Python and in the kernel."""

import ast
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    *("base", "text", "align", "lm", "model", "grammar", "metrics", "shards", "decode", "lists", "evaluation"),
    *("learn", "tune", "response", "mapreduce", "algorithms", "engines", "run", "inspect", "report", "pipeline"),
    *("api", "cli"),
)
"""From the foundation upwards. docs/architecture.md describes each."""
APART = {("engines", "algorithms")}
"""Neither of these knows the other, although one stands above the other."""
FLAT = {"__init__", "__main__", "_kernel", "api"}
"""Modules outside any room; `_kernel` is the extension that all may use."""


def wrong_imports(package: Path) -> list[str]:
    """Imports against the order of the rooms, wherever in a file they stand."""
    found = []
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        room = place.parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):  # the front door: it shows what is inside
            continue
        for line, module in imported(ast.parse(path.read_text(encoding="utf-8"))):
            other = module.split(".")[1] if module.count(".") else ""
            if other in ("", "_kernel", room):
                continue
            if other not in ROOMS or ROOMS.index(other) > ROOMS.index(room) or (room, other) in APART:
                found.append(f"{place}:{line} imports {module}")
    return found


def imported(tree: ast.AST):
    """(line, dotted name) of every import of the package's own modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names if name.name.split(".")[0] == "itersel")
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "itersel":
            for name in node.names:
                yield node.lineno, f"{node.module}.{name.name}" if node.module == "itersel" else node.module
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "itersel.relative_import"


def test_rooms_import_only_what_stands_before_them():
    assert wrong_imports(ROOT / "itersel") == []


def test_every_folder_is_a_room_and_few_modules_are_left_flat():
    folders = {path.name for path in (ROOT / "itersel").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders - {"kernel"} <= set(ROOMS)
    assert {path.stem for path in (ROOT / "itersel").glob("*.py")} <= FLAT


def test_every_room_is_in_the_map():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.name for path in (ROOT / "itersel").iterdir() if (path / "__init__.py").exists()}
    missing = [room for room in folders if not re.search(rf"`{room}/`", text)]
    assert missing == []


def test_a_wrong_import_is_noticed_wherever_it_stands(tmp_path):
    copy = tmp_path / "itersel"
    shutil.copytree(ROOT / "itersel", copy, ignore=shutil.ignore_patterns("*.so", "__pycache__", "kernel"))
    before = wrong_imports(copy)
    for place, code in {
        "base/errors.py": "\nfrom itersel.cli import main\n",
        "lm/model.py": "\ndef later():\n    from itersel.run.driver import train\n    return train\n",
        "text/bitext.py": "\nif TYPE_CHECKING:\n    import itersel.report.page\n",
        "engines/local.py": "\nfrom itersel.algorithms.sgd import Sgd\n",
        "learn/mixing.py": "\nfrom itersel import engines\n",
    }.items():
        with open(copy / place, "a") as stream:
            stream.write(code)
    noticed = [line for line in wrong_imports(copy) if line not in before]
    assert [line.split(":")[0] for line in noticed] == [
        "base/errors.py",
        "engines/local.py",
        "learn/mixing.py",
        "lm/model.py",
        "text/bitext.py",
    ]

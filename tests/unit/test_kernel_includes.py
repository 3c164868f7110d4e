"""The rooms of the kernel are ordered: a file includes only from its own room and from rooms before it."""

import re
import shutil
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "itersel" / "kernel"
ROOMS = ("base", "lm", "model", "grammar", "metrics", "shards", "decode", "lists", "learn", "tune", "bindings")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def wrong_includes(kernel):
    """`room/file includes room/file`, for every include of a later room, of no room, or of a file that is not there."""
    found = []
    for path in sorted(kernel.rglob("*.*")):
        name = path.relative_to(kernel).as_posix()
        room = name.split("/")[0]
        for included in INCLUDE.findall(path.read_text()):
            other = included.split("/")[0]
            known = room in ROOMS and other in ROOMS and (kernel / included).is_file()
            if not known or ROOMS.index(other) > ROOMS.index(room):
                found.append(f"{name} includes {included}")
    return found


def test_includes_point_to_earlier_rooms():
    assert len(list(KERNEL.rglob("*.cc"))) > 30
    assert wrong_includes(KERNEL) == []


def test_every_file_is_in_a_room():
    files = [path.relative_to(KERNEL) for path in KERNEL.rglob("*") if path.is_file()]
    assert [str(path) for path in files if len(path.parts) != 2 or path.parts[0] not in ROOMS] == []


@pytest.mark.parametrize(
    ("file", "included"),
    [
        ("lists/list_table.hh", "learn/learner.hh"),
        ("base/text.hh", "bindings/module.hh"),
        ("learn/epoch.cc", "learn/nowhere.hh"),
        ("lm/language_model.cc", "error.hh"),
    ],
)
def test_a_wrong_include_is_noticed(tmp_path, file, included):
    shutil.copytree(KERNEL, tmp_path / "kernel")
    with open(tmp_path / "kernel" / file, "a") as stream:
        stream.write(f'#include "{included}"\n')
    assert wrong_includes(tmp_path / "kernel") == [f"{file} includes {included}"]

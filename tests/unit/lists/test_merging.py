"""Lists of several files, joined by sentence."""

import pytest

from itersel.base.errors import InputError
from itersel.lists.compiler import ObjectiveConfig, compile_lists
from itersel.lists.merging import read_merged_lists
from itersel.lists.reader import FieldsConfig
from itersel.lists.table import ListTable


@pytest.fixture
def files(tmp_path):
    first, second, third = tmp_path / "lists.1", tmp_path / "lists.2", tmp_path / "lists.3"
    first.write_text("0 ||| a b ||| f=1 g=2 ||| 3\n0 ||| a c ||| f=1 ||| 2\n2 ||| x ||| f=1 ||| 1\n")
    # A hypothesis known by text and features, one with other features, a new one; a sentence that was missing.
    second.write_text(
        "0 ||| a b ||| g=2 f=1 ||| 9\n0 ||| a b ||| f=2 ||| 5\n1 ||| n ||| f=0 ||| 1\n2 ||| y ||| f=1 ||| 4\n"
    )
    third.write_text("2 ||| x ||| f=1 ||| 1\n7 ||| z ||| f=3 ||| 0\n")
    return [str(path) for path in (first, second, third)]


def test_a_sentences_lists_are_joined(files):
    merged = {one.id: [(entry.text, entry.features) for entry in one.parse()] for one in read_merged_lists(files)}
    assert merged == {
        "0": [("a b", {"f": 1, "g": 2}), ("a c", {"f": 1}), ("a b", {"f": 2})],
        "1": [("n", {"f": 0})],
        "2": [("x", {"f": 1}), ("y", {"f": 1})],
        "7": [("z", {"f": 3})],
    }
    assert list(merged) == ["0", "1", "2", "7"]


def test_a_table_of_joined_lists(files, tmp_path):
    (tmp_path / "references").write_text("a b\nn\ny\n\n\n\n\nz\n")
    options = {"fields": FieldsConfig(), "objective": ObjectiveConfig()}
    compile_lists(files, [str(tmp_path / "references")], tmp_path / "table", merge=True, **options)
    table = ListTable(tmp_path / "table")
    assert [len(table.texts(number)) for number in range(len(table))] == [3, 1, 2, 1]
    with pytest.raises(InputError, match=r"lists.2:1: list 0 comes after list 2"):
        compile_lists(files, [str(tmp_path / "references")], tmp_path / "other", **options)


def test_ids_must_be_numbers(tmp_path):
    (tmp_path / "lists").write_text("x1 ||| a ||| f=1 ||| 0\n")
    with pytest.raises(InputError, match=r"lists:1: the id 'x1' is not a whole number"):
        list(read_merged_lists([tmp_path / "lists"]))

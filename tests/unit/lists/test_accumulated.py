"""Accumulated lists: every hypothesis once, in the order it was met, the same after a trip through bytes."""

from dataclasses import replace

import numpy as np
import pytest

from itersel.base.errors import InputError
from itersel.lists.accumulated import ARRAYS, AccumulatedLists, NewList


def new(*rows):
    """Rows of (text, features)."""
    statistics = np.array([[len(text.split()), len(features)] for text, features in rows], dtype=np.float32)
    return NewList.of([text for text, _ in rows], [features for _, features in rows], statistics.reshape(-1, 2))


def rows_of(lists, number):
    return [
        {
            lists.names[feature]: value
            for feature, value in zip(
                lists.features[lists.starts[row] : lists.starts[row + 1]].tolist(),
                lists.values[lists.starts[row] : lists.starts[row + 1]].tolist(),
                strict=True,
            )
        }
        for row in range(lists.offsets[number], lists.offsets[number + 1])
    ]


def test_known_hypotheses_are_dropped():
    lists = AccumulatedLists.empty(["x", "y"], 2)
    lists = lists.extended([new(("a b", {"f": 1.0, "g": 2.0}), ("a", {"g": 1.0})), new(("c", {"h": 1.0}))])
    lists = AccumulatedLists.from_bytes(lists.to_bytes())
    again = lists.extended(
        [
            new(("a b", {"g": 2.0, "f": 1.0}), ("a b", {"f": 1.0, "g": 2.5}), ("a", {"g": 1.0 + 1e-12})),
            new(("d", {"h": 1.0}), ("d", {"h": 1.0}), ("c", {"h": 1.0, "f": -1.0})),
        ]
    )
    assert rows_of(again, 0) == [{"f": 1.0, "g": 2.0}, {"g": 1.0}, {"f": 1.0, "g": 2.5}]
    assert rows_of(again, 1) == [{"h": 1.0}, {"h": 1.0}, {"h": 1.0, "f": -1.0}]
    assert again.offsets.tolist() == [0, 3, 6] and again.names == ["f", "g", "h"]
    assert again.statistics.tolist() == [[2, 2], [1, 1], [2, 2], [1, 1], [1, 1], [1, 2]]
    assert AccumulatedLists.from_bytes(again.to_bytes()).to_bytes() == again.to_bytes()


def test_features_that_are_only_drawn_tell_no_hypotheses_apart():
    """They stay in the rows, as they were when a hypothesis was met first."""
    without, lists = (AccumulatedLists.empty(["x"], 2) for _ in range(2))
    for rows in (
        [("a", {"R:b": 1.0, "f": 1.0}), ("a", {"f": 1.0, "R:c": 2.0}), ("a", {"f": 2.0})],
        [("a", {"R:c": 1.0, "f": 2.0}), ("b", {"R:c": 3.0})],
    ):
        without = without.extended([new(*((text, {"f": row["f"]} if "f" in row else {}) for text, row in rows))])
        lists = lists.extended([replace(new(*rows), only_drawn=frozenset({"R:b", "R:c", "R:d"}))])
    assert rows_of(lists, 0) == [{"R:b": 1.0, "f": 1.0}, {"f": 2.0}, {"R:c": 3.0}]
    assert rows_of(without, 0) == [{"f": 1.0}, {"f": 2.0}, {}] and lists.rows == without.rows == 3


def test_lists_are_kept_compressed():
    """Lists as decoders make them, with a few features that repeat, need a small part of what their arrays do."""
    chance, made = np.random.default_rng(1), []
    for _ in range(50):
        values = chance.integers(0, 5, (20, 12)).tolist()
        made.append(new(*(("a b", {f"feature {k}": value / 8 for k, value in enumerate(row)}) for row in values)))
    lists = AccumulatedLists.empty([f"{k}" for k in range(50)], 2).extended(made)
    size = sum(getattr(lists, name).nbytes for name in ARRAYS)
    content = lists.to_bytes()
    assert lists.rows > 900 and len(content) < size / 5
    assert content.startswith(b"\x28\xb5\x2f\xfd"), "zstd, with which a state is read again"
    again = AccumulatedLists.from_bytes(content)
    assert all((getattr(again, name) == getattr(lists, name)).all() for name in ARRAYS)


def test_features_of_a_row_ascend():
    lists = AccumulatedLists.empty(["x"], 2).extended([new(("a", {"f": 1.0}))])
    lists = lists.extended([new(("b", {"g": 1.0, "f": 2.0}))])
    for low, high in zip(lists.starts, lists.starts[1:], strict=False):
        assert (np.diff(lists.features[low:high].astype(int)) > 0).all()


def test_spread():
    """The squared deviations from a list's mean, added up; exactly 0 for a feature that never differs in a list."""
    chance = np.random.default_rng(3)
    names = ["a", "b", "c", "constant"]
    dense, made = [], []
    for size in (1, 4, 7):
        table = np.round(chance.normal(size=(size, 4)), 3) * chance.integers(0, 2, (size, 4))
        table[:, 3] = 0.1 * size  # its mean has a rounding error
        dense.append(table)
        rows = [{name: value for name, value in zip(names, row, strict=True) if value} for row in table.tolist()]
        made.append(new(*((f"text {number}", row) for number, row in enumerate(rows))))
    lists = AccumulatedLists.empty(["x", "y", "z"], 2).extended(made)
    expected = sum(((table - table.mean(axis=0)) ** 2).sum(axis=0) for table in dense)
    found = dict(zip(lists.names, lists.spread().tolist(), strict=True))
    assert found["constant"] == 0.0
    for name, value in zip(names[:3], expected[:3], strict=True):
        assert found[name] == pytest.approx(value, rel=1e-12)


def test_what_is_wrong_is_said():
    lists = AccumulatedLists.empty(["x", "y"], 2)
    with pytest.raises(InputError, match="1 lists for 2 sentences"):
        lists.extended([new(("a", {"f": 1.0}))])
    with pytest.raises(InputError, match="sentence y has no hypothesis"):
        lists.extended([new(("a", {"f": 1.0})), new()])
    with pytest.raises(InputError, match="not a finite number"):
        lists.extended([new(("a", {"f": float("nan")})), new(("a", {}))])
    with pytest.raises(InputError, match="damaged lists"):
        AccumulatedLists.from_bytes(b"nonsense")

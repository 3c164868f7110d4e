"""Compiled lists: what was put in comes out, the best is found, and damage is noticed."""

import random

import numpy as np
import pytest

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.learn.learner import LearnConfig
from itersel.lists.table import VERSION, CompiledList, ListTable, write_table
from itersel.model.vectors import Vector


def random_lists(seed, count=7):
    draw = random.Random(seed)
    lists = []
    for _ in range(count):
        vectors = [
            {f"f{k}": round(draw.uniform(-2, 2), 3) for k in draw.sample(range(30), draw.randint(0, 8))}
            for _ in range(draw.randint(1, 6))
        ]
        texts = [draw.choice(["", "a", "ein Häuschen"]) for _ in range(len(vectors) + draw.randint(0, 2))]
        metric, scores = [draw.randint(0, 4) / 4 for _ in vectors], [draw.uniform(-9, 0) for _ in vectors]
        statistics = [[draw.randint(0, 40), draw.choice([7, 7.5])] for _ in vectors]
        lists.append((vectors, metric, scores, texts, statistics))
    return lists


def write(path, lists):
    write_table((CompiledList.of(f"list {k}", *one) for k, one in enumerate(lists)), path, "ter")
    return ListTable(path)


@pytest.mark.parametrize("seed", range(5))
def test_finds_what_the_weights_rank_first(tmp_path, seed):
    lists = random_lists(seed)
    table = write(tmp_path / "table", lists)
    assert table.ids == [f"list {k}" for k in range(7)]
    draw = random.Random(seed + 100)
    weights = {f"f{k}": draw.choice([-1.0, -0.5, 0.5, 1.0]) for k in range(0, 30, 2)}
    places, metric = table.best(Vector.of_names(weights | {"elsewhere": 5.0}))
    for (vectors, values, *_), place, value in zip(lists, places, metric, strict=True):
        scores = [sum(x * weights.get(f, 0.0) for f, x in vector.items()) for vector in vectors]
        assert scores[place] == pytest.approx(max(scores), abs=1e-12)
        assert value == values[place]
    assert table.best(Vector.of([], []))[0].tolist() == [0] * 7  # equals: the first
    assert table.corpus_metric == "ter"
    for number, (vectors, values, _, texts, statistics) in enumerate(lists):
        assert table.metric(number).tolist() == values
        assert table.statistics(number).tolist() == statistics
        assert table.texts(number) == texts[: len(vectors)]
        assert table.references(number) == texts[len(vectors) :]
    assert table.translate(Vector.of_names(weights)) == [one[3][k] for one, k in zip(lists, places, strict=True)]


def test_weights_come_back(tmp_path):
    table = write(tmp_path / "table", [([{"a": 1.0, "b": 2.0}, {"c": 1.0}], [0, 1], [0, 0])])
    start = Vector.of_names({"b": 0.5, "elsewhere": -2.0})
    back = table.collect(np.array([0.0, 1.5, 3.0]), start)
    expected = Vector.of_names({"b": 1.5, "c": 3.0, "elsewhere": -2.0})
    assert back.ids.tolist() == expected.ids.tolist()
    assert back.values.tolist() == expected.values.tolist()


def test_same_lists_same_bytes(tmp_path):
    write(tmp_path / "a", random_lists(1))
    write(tmp_path / "b", random_lists(1))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_every_flipped_byte_is_noticed(tmp_path):
    write(tmp_path / "table", random_lists(2, 2))
    content = (tmp_path / "table").read_bytes()
    for at in range(len(content)):
        (tmp_path / "bad").write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        with pytest.raises(InputError, match="bad"):
            ListTable(tmp_path / "bad")
    for size in (0, 10, 100, len(content) - 1):
        (tmp_path / "bad").write_bytes(content[:size])
        with pytest.raises(InputError, match="bad"):
            ListTable(tmp_path / "bad")


def test_statistics_may_be_absent(tmp_path):
    write_table([CompiledList.of("one", [{}, {"a": 1.0}], [0, 1], [0, 0])], tmp_path / "table")
    table = ListTable(tmp_path / "table")
    assert table.corpus_metric == ""
    assert table.statistics(0).shape == (2, 0)
    with pytest.raises(InputError, match="no list 2"):
        table.statistics(1)


def test_tables_of_another_version_are_refused(tmp_path):
    write(tmp_path / "table", random_lists(1))
    content = (tmp_path / "table").read_bytes()
    (tmp_path / "old").write_bytes(content[:8] + (VERSION - 1).to_bytes(8, "little") + content[16:])
    with pytest.raises(InputError, match="old: not compiled lists of this version"):
        ListTable(tmp_path / "old")


def record(counts, doubles, integers, statistics=()):
    parts = (np.array(counts, "<u4"), np.array(doubles, "<f8"), np.array(integers, "<u4"), np.array(statistics, "<f4"))
    content = b"".join(part.tobytes() for part in parts)
    return content + bytes(-len(content) % 8)


@pytest.mark.parametrize(
    ("counts", "doubles", "integers", "statistics"),
    [
        ((1, 0, 0, 0), (np.nan, 0), (0,), ()),
        ((1, 0, 0, 0), (0, np.inf), (0,), ()),
        ((1, 1, 0, 0), (0, 0, np.nan), (1, 0), ()),
        ((1, 1, 0, 0), (0, 0, 1), (1, 2), ()),  # there are two features
        ((1, 2, 0, 0), (0, 0, 1, 1), (2, 1, 1), ()),
        ((2, 1, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0), ()),
        ((1, 1, 0, 0), (0, 0, 1), (2, 0), ()),
        ((3, 1, 0, 0), (0, 0, 1), (1, 0), ()),
        ((1, 0, 2, 0), (0, 0), (0,), (1, np.inf)),
        ((1, 0, 3, 0), (0, 0), (0,), ()),
        ((1, 0, 2, 1), (0, 0), (0,), (1, 2)),
        ((0, 0, 1000, 0), (), (), ()),
        ((1, 0), (), (), ()),
        ((2**32 - 1, 2**32 - 1, 256, 0), (), (), ()),
    ],
)
def test_the_kernel_refuses_what_does_not_fit(counts, doubles, integers, statistics):
    data = np.frombuffer(record(counts, doubles, integers, statistics), np.uint8)
    offsets = np.array([0, len(data)], np.uint64)
    with pytest.raises(InputError, match=r"damaged lists: .* in list 1"):
        _kernel.ListTable(data, offsets, np.array([1], np.uint64), 2)


def test_the_kernel_refuses_a_wrong_index():
    good = np.frombuffer(record((1, 1, 2, 0), (0, 0, 1), (1, 0), (3, 4)), np.uint8)
    _kernel.ListTable(good, np.array([0, len(good)], np.uint64), np.array([1], np.uint64), 2)
    for offsets in ([0, len(good) + 8], [8, 0], [0], [1, len(good)]):
        with pytest.raises(InputError, match="damaged lists"):
            _kernel.ListTable(good, np.array(offsets, np.uint64), np.array([1], np.uint64), 2)
    table = _kernel.ListTable(good, np.array([0, len(good)], np.uint64), np.array([1], np.uint64), 2)
    learner = _kernel.Learner([], LearnConfig().options(), 0)
    with pytest.raises(InputError, match="no list 2"):
        learner.learn_lists(table, np.array([1], np.uint32), 0)
    with pytest.raises(InputError, match="fewer weights"):
        table.best(np.zeros(1))

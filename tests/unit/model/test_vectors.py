import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.model.feature_names import NameTable
from itersel.model.vectors import ID_SPACE, Vector, even_bounds, feature_id, feature_ids, join, pack, unpack
from oracles import mix as oracle

entries = st.dictionaries(st.integers(0, ID_SPACE - 1), st.floats(-9, 9).filter(bool), max_size=30)


def vector(weights):
    return Vector.of(np.array(list(weights), dtype=np.uint64), list(weights.values()))


def same(a, b):
    return a.ids.tolist() == b.ids.tolist() and a.values.tolist() == b.values.tolist()


def test_fnv_of_the_twin_has_the_published_values():
    assert oracle.fnv1a(b"") == 0xCBF29CE484222325
    assert oracle.fnv1a(b"a") == 0xAF63DC4C8601EC8C
    assert oracle.fnv1a(b"foobar") == 0x85944171F73967E8


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_feature_ids_equal_the_twin(names):
    expected = [oracle.mix_bits(oracle.fnv1a(name.encode())) for name in names]
    assert feature_ids(names).tolist() == expected == [feature_id(name) for name in names]


def test_feature_ids_stay_what_they_are():
    # From the pure-Python twin; files on disk depend on them.
    assert feature_id("LanguageModel") == 0xBEE50B037044DDC7
    assert feature_id("R:X:NX_haus:N1_house") == 0x88818F783BA26CCE


def test_ids_spread_over_ranges():
    ids = feature_ids([f"RBS:{k}_{k + 1}" for k in range(20_000)])
    sizes = np.histogram(ids.astype(np.float64), bins=16, range=(0, 2.0**64))[0]
    assert sizes.min() > 1100 and sizes.max() < 1400


@given(entries, st.integers(1, 9))
def test_wire_format_and_ranges_round_trip(weights, count):
    whole = vector(weights)
    assert same(Vector.from_bytes(whole.to_bytes()), whole)
    assert len(whole.to_bytes()) == 32 + 16 * len(whole)
    pieces = whole.cut(even_bounds(count))
    assert len(pieces) == count and same(join(pieces), whole)


def test_files(tmp_path):
    whole = Vector.of_names({"a": 1.5, "b": 0.0, "c": -2.0})
    whole.write(tmp_path / "w.bin")
    again = Vector.read(tmp_path / "w.bin")
    assert same(again, whole) and len(again) == 2
    assert same(Vector.read(tmp_path / "w.bin", mapped=True), whole)
    with pytest.raises(InputError, match="cannot read"):
        Vector.read(tmp_path / "none")
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="empty: not a vector"):
        Vector.read(tmp_path / "empty", mapped=True)


@given(entries.filter(bool), st.data())
def test_every_truncation_and_every_flipped_bit_is_noticed(weights, data):
    good = vector(weights).to_bytes()
    with pytest.raises(InputError, match="shard-7"):
        Vector.from_bytes(good[: data.draw(st.integers(0, len(good) - 1))], "shard-7")
    bad = bytearray(good)
    bad[data.draw(st.integers(0, len(good) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(InputError, match="shard-7"):
        Vector.from_bytes(bytes(bad), "shard-7")
    with pytest.raises(InputError):
        Vector.from_bytes(good + b"\0")


def test_wrong_content_with_a_right_checksum():
    ones = np.ones(2)
    with pytest.raises(InputError, match="ascend"):
        Vector.from_bytes(pack(np.array([5, 5], np.uint64), ones))
    with pytest.raises(InputError, match="not a finite number"):
        Vector.from_bytes(pack(np.array([5, 6], np.uint64), ones * np.inf))
    with pytest.raises(InputError, match="stored value is 0"):
        Vector.from_bytes(pack(np.array([5, 6], np.uint64), ones * 0))
    with pytest.raises(InputError, match="2 columns where 1"):
        Vector.from_bytes(pack(np.array([5, 6], np.uint64), ones, ones))
    with pytest.raises(InputError, match="ascend"):
        Vector.of([3, 3], [1.0, 2.0])
    assert unpack(pack(np.zeros(0, np.uint64)), 0)[0].tolist() == []


def test_names():
    table = NameTable(["a", "b", "ü", "a"])
    assert len(table) == 3
    assert table(feature_ids(["ü", "a", "ü"])) == ["ü", "a", "ü"]
    with pytest.raises(InputError, match="no name is known"):
        table(feature_ids(["c"]))
    assert NameTable([])(np.zeros(0, np.uint64)) == []

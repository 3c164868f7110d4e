import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.learn import mixing
from itersel.learn.mixing import Columns, SelectionConfig, in_shard_order, merge, mix, norms, reduce_range, stack
from itersel.model.feature_names import NameTable
from itersel.model.vectors import Vector, even_bounds
from oracles import mix as oracle

NAMES = [f"f{k}" for k in range(25)]
TABLE = NameTable(NAMES)
values = st.sampled_from([1.0, -1.0, 0.5, 2.0, 0.1, 0.3]) | st.floats(-1, 1)
shard_lists = st.lists(st.dictionaries(st.sampled_from(NAMES), values, max_size=15), min_size=1, max_size=12)
selections = st.builds(
    SelectionConfig,
    norm=st.sampled_from(["l2", "l1", "linf", "l0"]),
    top=st.none() | st.integers(1, 20),
    threshold=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    shards=st.none() | st.integers(1, 4),
)

FIGURE_2A = [[6, 4, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 2, 3]]
FIGURE_2B = [[6, 4, 0, 0, 0], [3, 0, 0, 0, 0], [2, 3, 0, 0, 0]]


def rows(matrix):
    return [Vector.of(np.arange(len(row)), row) for row in matrix]


def named(vector):
    return dict(zip(TABLE(vector.ids), vector.values.tolist(), strict=True))


@pytest.mark.parametrize(("matrix", "expected"), [(FIGURE_2A, [6, 4, 3, 2, 3]), (FIGURE_2B, [7, 5])])
def test_figure_2_of_acl_2012(matrix, expected):
    columns = mix(rows(matrix))
    assert columns.ids.tolist() == list(range(len(expected)))
    assert norms(columns).tolist() == expected
    assert norms(columns).sum() == sum(expected)
    assert (columns.means * 3).tolist() == pytest.approx(np.sum(matrix, axis=0)[: len(expected)])
    ids, stacked = stack(rows(matrix))
    assert stacked.toarray().tolist() == np.array(matrix)[:, ids.astype(int)].tolist()


def test_figure_2_selected():
    kept = mix(rows(FIGURE_2A), SelectionConfig(top=2))
    assert kept.ids.tolist() == [0, 1] and kept.means.tolist() == [2, 4 / 3]
    # Columns 2 and 4 tie at norm 3: the name decides.
    third = mix(rows(FIGURE_2A), SelectionConfig(top=3), names=lambda ids: [f"name{9 - k}" for k in ids.tolist()])
    assert third.ids.tolist() == [0, 1, 4]
    with pytest.raises(InputError, match="3 best features cut through 2 of equal norm"):
        mix(rows(FIGURE_2A), SelectionConfig(top=3))
    assert mix(rows(FIGURE_2B), SelectionConfig(shards=2)).ids.tolist() == [0, 1]
    assert mix(rows(FIGURE_2A), SelectionConfig(threshold=3.0)).ids.tolist() == [0, 1, 2, 4]


@given(shard_lists, selections)
def test_mix_equals_the_oracle_to_the_last_bit(shards, selection):
    columns = mix([Vector.of_names(shard) for shard in shards], selection, names=TABLE)
    expected = oracle.mix(shards, selection.norm, selection.top, selection.threshold, selection.shards)
    assert dict(zip(TABLE(columns.ids), columns.means.tolist(), strict=True)) == expected
    assert named(columns.vector()) == {f: x for f, x in expected.items() if x != 0}


@given(shard_lists, selections, st.sampled_from([1, 3, 7]), st.booleans(), st.integers(1, 8), st.randoms())
def test_result_does_not_depend_on_reducers_chunks_or_arrival(shards, selection, reducers, resolve, chunk, order):
    vectors = [Vector.of_names(shard) for shard in shards]
    whole = mix(vectors, selection, names=TABLE)
    bounds = even_bounds(reducers)
    parts = []
    for low, high in pairwise(bounds):
        pieces = [(z, Vector.from_bytes(vector.range(low, high).to_bytes())) for z, vector in enumerate(vectors)]
        order.shuffle(pieces)
        columns = reduce_range(
            in_shard_order(pieces, len(shards)),
            selection,
            low=low,
            high=high,
            names=TABLE if resolve else None,
            chunk=chunk,
        )
        parts.append(Columns.from_bytes(columns.to_bytes()))
    order.shuffle(parts)
    assert merge(parts, selection, names=TABLE).to_bytes() == whole.to_bytes()


def test_many_shards_are_summed_in_order():
    generator = random.Random(1)
    shards = [{"f0": generator.uniform(-1, 1) * 10 ** generator.randint(-8, 8)} for _ in range(200)]
    assert named(mixing.average([Vector.of_names(shard) for shard in shards])) == oracle.mix(shards)


def test_ties_at_the_border_are_broken_by_name():
    shards = [Vector.of_names({name: 1.0}) for name in ["b", "d", "a", "c", "é"]]
    names = NameTable("abcdé")
    for top in range(1, 6):
        assert names(mix(shards, SelectionConfig(top=top), names=names).ids) != []
        assert set(names(mix(shards, SelectionConfig(top=top), names=names).ids)) == set("abcdé"[:top])
    assert len(reduce_range(shards, SelectionConfig(top=2))) == 5
    assert len(reduce_range(shards, SelectionConfig(top=2), names=names)) == 2


def test_columns_that_cancel_are_selected_but_weigh_nothing():
    columns = mix(rows([[5, 1], [-5, 1]]), SelectionConfig(top=1))
    assert columns.ids.tolist() == [0] and len(columns.vector()) == 0


def test_algorithms_on_two_shards_by_hand():
    # Two shards, two epochs, features 0 1 2.
    first, second = rows([[1, 0, 4], [3, 0, 0]]), rows([[0, 2, 0], [0, 6, 8]])
    assert mixing.sgd(first).values.tolist() == [2, 2]
    mixed = mixing.mix_sgd([first, second])
    assert mixed.ids.tolist() == [0, 1, 2] and mixed.values.tolist() == [1, 2, 3]
    last = [first[1], second[1]]  # columns 3 0 | 0 6 | 0 8
    assert mixing.iter_mix_sgd(last).values.tolist() == [1.5, 3, 4]
    selected = mixing.iter_sel_sgd(last, SelectionConfig(top=1))
    assert selected.ids.tolist() == [2] and selected.values.tolist() == [4]


def test_missing_and_doubled_shards():
    one = Vector.of([1], [1.0])
    with pytest.raises(InputError, match="1 of 3 shards are missing: 1"):
        in_shard_order([(0, one), (2, one)], 3)
    with pytest.raises(InputError, match="shard 2 came twice"):
        in_shard_order([(0, one), (2, one), (2, one)], 3)
    with pytest.raises(InputError, match="shard 3, but"):
        in_shard_order([(3, one)], 3)
    with pytest.raises(InputError, match="no shards"):
        mix([])
    part = mix([one])
    with pytest.raises(InputError, match="two reducers sent"):
        merge([part, part], SelectionConfig())


def test_empty_shards_count_in_the_mean():
    empty = Vector.of([], [])
    assert mix([empty, Vector.of([1], [3.0]), empty]).means.tolist() == [1]
    assert len(mix([empty, empty], SelectionConfig(top=3))) == 0
    assert len(merge([], SelectionConfig(top=3))) == 0


def test_configuration_errors():
    with pytest.raises(ConfigError, match="norm is 'l3'; choose one of l2, l1, linf, l0"):
        SelectionConfig(norm="l3")
    with pytest.raises(ConfigError, match="top is 0"):
        SelectionConfig(top=0)
    with pytest.raises(ConfigError, match="threshold is -1"):
        SelectionConfig(threshold=-1)

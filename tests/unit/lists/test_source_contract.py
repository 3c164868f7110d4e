"""What every source of hypotheses promises: sentences, lists ranked by the weights, and their first as translation."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from engine_cases import small_data
from itersel.base.errors import InputError
from itersel.decode.decoder import Hypothesis
from itersel.lists.compiler import ObjectiveConfig, compile_lists
from itersel.lists.reader import FieldsConfig
from itersel.lists.source import ListOptions, OpenSources, check_source, open_source
from itersel.lists.writer import format_kbest
from itersel.model.vectors import Vector

WEIGHTS = {"p": -0.7, "q": 0.3, "WordPenalty": 0.1, "R:X:haus:home": 0.9}
OPTIONS = ListOptions(k=10)


@pytest.fixture(scope="module", params=["shard", "table"])
def source(request, tmp_path_factory):
    """Each kind of source over the same sentences."""
    folder = tmp_path_factory.mktemp("source")
    shard = open_source(small_data(folder).shards[0])
    if request.param == "shard":
        return shard
    weights = Vector.of_names({"p": -0.5})  # other weights than those that rank them later
    with open(folder / "lists", "w") as lists, open(folder / "references", "w") as references:
        for number, one in enumerate(shard.lists(weights, range(len(shard)), OPTIONS)):
            rows = zip(one.texts, one.scores.tolist(), one.features, strict=True)
            lists.write(format_kbest(str(number), [Hypothesis(text, score, values) for text, score, values in rows]))
            references.write(one.references[0] + "\n")
    compile_lists(
        [str(folder / "lists")],
        [str(folder / "references")],
        folder / "lists.table",
        fields=FieldsConfig(),
        objective=ObjectiveConfig(),
    )
    return open_source(folder / "lists.table")


def test_sentences_have_ids_references_and_domains(source):
    assert len(source) == 7
    assert len({source.id(number) for number in range(len(source))}) == 7
    assert all(source.references(number) for number in range(len(source)))
    assert all(isinstance(source.domain(number), str) for number in range(len(source)))


def test_lists_are_ranked_by_the_weights(source):
    weights = Vector.of_names(WEIGHTS)
    numbers = [4, 0, 6]
    lists = list(source.lists(weights, numbers, OPTIONS))
    assert [one.id for one in lists] == [source.id(number) for number in numbers]
    for number, one in zip(numbers, lists, strict=True):
        by_hand = [sum(WEIGHTS.get(name, 0.0) * value for name, value in row.items()) for row in one.features]
        assert one.scores == pytest.approx(by_hand, abs=1e-5)
        assert (np.diff(one.scores) <= 1e-9).all()
        assert len(one.texts) == len(set(one.texts)) == len(one.features) > 1
        assert one.references == source.references(number)
        for text, row in zip(one.texts, one.statistics.tolist(), strict=True):
            words, reference = text.split(), one.references[0].split()
            matches = sum((Counter(words) & Counter(reference)).values())
            assert (row[0], row[1], row[2], row[6]) == (len(words), len(reference), matches, len(words))


def test_the_first_of_a_list_is_the_translation(source):
    weights, every = Vector.of_names(WEIGHTS), range(len(source))
    lists = source.lists(weights, every, OPTIONS)
    assert source.translate(weights, every, OPTIONS) == [one.texts[0] for one in lists]
    assert source.translate(weights, [5, 1], OPTIONS) == [source.translate(weights, every, OPTIONS)[k] for k in (5, 1)]


def test_another_content_is_noticed(source):
    check_source(source, source.checksum, source.path)
    with pytest.raises(InputError, match="another shard than the driver's"):
        check_source(source, "0" * 16, source.path)
    assert open_source(source.path).checksum == source.checksum


def test_the_last_two_sources_stay_open(tmp_path):
    first, second, third = small_data(tmp_path).shards[:3]
    sources = OpenSources()
    opened = [sources.open(first), sources.open(second)]
    assert [sources.open(first), sources.open(second), sources.open(second), sources.open(first)] == [
        *opened, opened[1], opened[0]
    ]  # fmt: skip
    assert sources.open(third).path == str(third)
    assert sources.open(first) is opened[0]
    assert sources.open(second) is not opened[1]


def test_large_sources_stay_open_one_at_a_time(tmp_path):
    first, second = small_data(tmp_path).shards[:2]
    sources = OpenSources(limit=Path(first).stat().st_size + Path(second).stat().st_size - 1)
    opened = sources.open(first)
    assert sources.open(first) is opened
    sources.open(second)
    assert sources.open(first) is not opened


def test_a_file_that_was_replaced_is_opened_again(tmp_path):
    first, second = small_data(tmp_path).shards[:2]
    sources, moved = OpenSources(), tmp_path / "moved"
    moved.write_bytes(Path(first).read_bytes())
    old = sources.open(moved).checksum
    other = tmp_path / "other"
    other.write_bytes(Path(second).read_bytes())
    os.replace(other, moved)
    assert sources.open(moved).checksum == open_source(second).checksum != old
    moved.unlink()
    with pytest.raises(InputError, match="moved"):
        sources.open(moved)

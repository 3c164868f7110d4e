"""Reading the facts, and the indexes over them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from itersel.base.errors import InputError
from itersel.response.geoquery.database import Entity, from_facts, read_database

STATE = ["state", "alpha", "aa", "ayton", 1000, 10, 1, "a", "b", "c", "d"]


def test_the_real_database(geoquery: Path):
    database = read_database(geoquery)
    groups = (database.states, database.cities, database.rivers, database.lakes, database.capitals, database.countries)
    assert [len(group) for group in groups] == [51, 386, 46, 22, 51, 1]
    without_city_fact = [city for city in database.capitals if city not in database.cities]
    assert len(without_city_fact) == 16
    assert str(without_city_fact[0]) == "cityid(juneau,ak)"
    assert all(
        state in database.border.forward[other] for state, others in database.border.forward.items() for other in others
    )


def test_entities_as_the_gold_answers_write_them():
    assert str(Entity("stateid", ("texas",))) == "stateid(texas)"
    assert str(Entity("cityid", ("newport news", "va"))) == "cityid('newport news',va)"
    assert str(Entity("riverid", ("st. francis",))) == "riverid('st. francis')"


def test_names(small_database):
    twins = [Entity("cityid", ("twin", "aa")), Entity("cityid", ("twin", "bb"))]
    assert small_database.named("cityid", "twin") == twins
    assert small_database.named("cityid", "twin", "bb") == twins[1:]
    assert small_database.named("cityid", "twin", "cc") == []
    assert small_database.named("riverid", "twin") == []
    assert small_database.named("cityid", "beeville") == [Entity("cityid", ("beeville", "bb"))]


def test_attributes_and_relations(small_database):
    alpha, grand = Entity("stateid", ("alpha",)), Entity("riverid", ("grand",))
    assert small_database.density[alpha] == (100.0,)
    assert repr(small_database.population[alpha]) == "(1000.0,)"
    assert small_database.elevation[Entity("placeid", ("grand river",))] == (10, -5)
    assert [state.names[0] for state in small_database.course.forward[grand]] == ["alpha", "beta", "new gamma"]
    assert list(small_database.capital.backward[alpha]) == [Entity("cityid", ("ayton", "aa"))]
    assert small_database.in_order([grand, alpha, grand]) == [alpha, grand]


def test_a_state_that_only_relations_name():
    database = from_facts([["border", "alpha", "aa", ["beta"]], ["river", "grand", 7, ["delta"]]])
    assert [state.names[0] for state in database.states] == ["alpha", "beta", "delta"]


@pytest.mark.parametrize(
    "fact",
    [
        [],
        "state",
        {"state": 1},
        [["state"]],
        ["planet", "mars"],
        ["city", "texas", "tx", "austin"],
        ["city", "texas", "tx", "austin", "345496"],
        ["city", "texas", "tx", "austin", True],
        ["city", "texas", "tx", "austin", float("nan")],
        ["city", "texas", "tx", "austin", 10**400],
        ["city", "texas", "tx", "", 1],
        ["river", "red", 1638, "texas"],
        ["river", "red", 1638, ["texas", 7]],
        [*STATE[:5], 0, *STATE[6:]],
    ],
)
def test_bad_facts_are_named_with_their_line(fact):
    with pytest.raises(InputError, match=r"^facts:2: "):
        from_facts([STATE, fact])


def test_bad_files_are_named_with_their_line(tmp_path: Path):
    path = tmp_path / "facts.jsonl"
    for line in ("[", "[" * 100_000, '["state"]', ""):
        path.write_text(f"{json.dumps(STATE)}\n{line}\n")
        with pytest.raises(InputError, match=r"facts\.jsonl:2: "):
            read_database(path)
    with pytest.raises(InputError, match="cannot read"):
        read_database(tmp_path)

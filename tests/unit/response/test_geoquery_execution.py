"""Executing FunQL: the 880 gold answers, answers by hand on a small database, laws of sets, and the limit on steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.response.geoquery.data import read_questions
from itersel.response.geoquery.database import Entity, read_database
from itersel.response.geoquery.execution import STEP_LIMIT, answer_or_empty, answer_text, execute
from itersel.response.geoquery.funql import DEPTH_LIMIT, Call, Name, parse


def answer(text, database):
    return answer_text(execute(parse(f"answer({text})"), database))


def test_all_gold_answers(geoquery: Path):
    database = read_database(geoquery)
    questions = read_questions(geoquery)
    wrong = [q.id for q in questions if answer_text(execute(q.form, database)) != q.gold]
    assert len(questions) == 880
    assert not wrong


def test_every_gold_query_needs_few_steps(geoquery: Path):
    database = read_database(geoquery)
    for question in read_questions(geoquery):
        execute(question.form, database, step_limit=STEP_LIMIT // 100)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # names
        ("stateid('alpha')", "[stateid(alpha)]"),
        ("stateid('omega')", "[]"),
        ("cityid('twin', 'bb')", "[cityid(twin,bb)]"),
        ("cityid('twin', _)", "[cityid(twin,aa),cityid(twin,bb)]"),
        ("city(cityid('twin', _))", "[cityid(twin,aa)]"),
        ("state(loc_1(cityid('twin', _)))", "[stateid(alpha),stateid(beta)]"),
        ("state(loc_1(city(cityid('twin', _))))", "[stateid(alpha)]"),
        ("city(cityid('beeville', _))", "[]"),
        ("capital(cityid('beeville', _))", "[cityid(beeville,bb)]"),
        # groups
        ("state(all)", "[stateid(alpha),stateid(beta),stateid('new gamma')]"),
        ("capital(all)", "[cityid(ayton,aa),cityid(beeville,bb),cityid(cee,cc)]"),
        ("capital(loc_2(countryid('usa')))", "[cityid(ayton,aa),cityid(cee,cc)]"),
        ("mountain(loc_2(stateid('alpha')))", "[placeid('mount a'),placeid('south sea')]"),
        ("lake(all)", "[lakeid(puddle)]"),
        ("lake(loc_2(stateid('alpha')))", "[]"),
        ("river(state(all))", "[]"),
        ("major(city(all))", "[cityid(ayton,aa),cityid(twin,bb)]"),
        ("major(river(all))", "[riverid(grand)]"),
        ("major(state(all))", "[]"),
        # relations
        ("next_to_1(stateid('beta'))", "[stateid(alpha),stateid('new gamma')]"),
        ("next_to_2(stateid('alpha'))", "[stateid(beta)]"),
        ("traverse_1(riverid('grand'))", "[stateid(alpha),stateid(beta),stateid('new gamma')]"),
        ("traverse_2(stateid('beta'))", "[riverid(grand),riverid(swift)]"),
        ("traverse_2(countryid('usa'))", "[]"),
        ("loc_1(stateid('beta'))", "[countryid(usa)]"),
        ("loc_1(riverid('swift'))", "[countryid(usa),stateid(beta)]"),
        ("capital_1(stateid('beta'))", "[cityid(beeville,bb)]"),
        ("capital_2(cityid('beeville', _))", "[stateid(beta)]"),
        ("high_point_1(stateid('alpha'))", "[placeid('mount a')]"),
        ("low_point_2(placeid('grand river'))", "[stateid(beta),stateid('new gamma')]"),
        # attributes
        ("population_1(state(all))", "[500.0,1000.0,3000.0]"),
        ("population_1(cityid('twin', _))", "[150000,150001]"),
        ("population_1(countryid('usa'))", "[]"),
        ("area_1(state(all))", "[10.0,50.0]"),
        ("density_1(stateid('alpha'))", "[100.0]"),
        ("elevation_1(placeid('grand river'))", "[-5,10]"),
        ("len(river(all))", "[750,1000]"),
        ("size(all)", "[7,10.0,50.0,100,750,1000,150000,150001,200000]"),
        # comparisons: grand river is at 10 in one state and at -5 in another
        ("higher_2(placeid('mount b'))", "[placeid('mount a'),placeid('mount c')]"),
        ("lower_2(placeid('south sea'))", "[placeid('grand river')]"),
        ("higher_2(placeid('grand river'))",
         "[placeid('grand river'),placeid('mount a'),placeid('mount b'),placeid('mount c'),placeid('south sea')]"),
        ("higher_2(riverid('grand'))", "[]"),
        ("longer(riverid('brook'))", "[riverid(grand)]"),
        ("elevation_2(0)", "[]"),
        ("elevation_2(elevation_1(placeid('south sea')))", "[placeid('south sea')]"),
        # extremes: a tie goes to the first, and what has no value does not count
        ("largest(state(all))", "[stateid('new gamma')]"),
        ("smallest(state(all))", "[stateid(alpha)]"),
        ("largest(city(all))", "[cityid(ayton,aa)]"),
        ("smallest(population_1(state(all)))", "[500.0]"),
        ("highest(place(all))", "[placeid('mount a')]"),
        ("lowest(place(all))", "[placeid('grand river')]"),
        ("shortest(river(all))", "[riverid(swift)]"),
        ("longest(river(loc_2(stateid('new gamma'))))", "[riverid(grand)]"),
        ("highest(state(all))", "[]"),
        ("longest(river(loc_2(stateid('omega'))))", "[]"),
        ("largest_one(population_1(state(all)))", "[stateid(beta)]"),
        ("smallest_one(population_1(capital(all)))", "[cityid(cee,cc)]"),
        ("smallest_one(area_1(state(all)))", "[stateid(alpha)]"),
        ("largest_one(density_1(city(all)))", "[]"),
        # most and fewest choose among the inner set
        ("most(state(traverse_1(river(all))))", "[riverid(grand)]"),
        ("most(river(traverse_2(state(all))))", "[stateid(beta)]"),
        ("most(state(loc_1(major(city(all)))))", "[cityid(ayton,aa)]"),
        ("most(state(next_to_2(state(all))))", "[stateid(beta)]"),
        ("fewest(state(next_to_2(state(all))))", "[stateid(alpha)]"),
        ("fewest(major(city(loc_2(state(all)))))", "[stateid('new gamma')]"),
        ("most(lake(loc_2(state(all))))", "[]"),
        ("fewest(lake(loc_2(state(all))))", "[stateid(alpha)]"),
        # numbers: a sum is over entities, not over different values
        ("count(city(all))", "[4]"),
        ("count(stateid('omega'))", "[0]"),
        ("sum(area_1(state(all)))", "[70.0]"),
        ("sum(len(river(all)))", "[2500]"),
        ("sum(intersection(area_1(state(all)), area_1(state(all))))", "[60.0]"),
        # sets
        ("intersection(next_to_2(stateid('alpha')), next_to_2(stateid('new gamma')))", "[stateid(beta)]"),
        ("exclude(state(all), next_to_2(stateid('alpha')))", "[stateid(alpha),stateid('new gamma')]"),
        ("loc_1(all)", "[countryid(usa),stateid(alpha),stateid(beta),stateid('new gamma')]"),
    ],
)  # fmt: skip
def test_answers_by_hand(query, expected, small_database):
    assert answer(query, small_database) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("planet(all)", "unknown function 'planet'"),
        ("planetid('mars')", "unknown function 'planetid'"),
        ("answer(state(all))", "unknown function 'answer'"),
        ("state", "'state' has no arguments"),
        ("_", "'_' has no arguments"),
        ("'texas'", "'texas' is a name outside"),
        ("state('texas')", "'texas' is a name outside"),
        ("state(all, all)", "state with 2 arguments"),
        ("exclude(all)", "exclude with 1 arguments"),
        ("cityid('twin')", "needs a name and a state"),
        ("cityid(_, 'aa')", "needs a name and a state"),
        ("stateid('a', 'b')", "needs one name"),
        ("stateid(_)", "needs one name"),
        ("stateid(all)", "takes no functions"),
        ("stateid(stateid('texas'))", "takes no functions"),
        ("largest_one(state(all))", "largest_one needs an attribute"),
        ("most(state(all))", "need a relation"),
        ("most(population_1(state(all)))", "need a relation"),
        ("fewest('texas')", "need a relation"),
    ],
)
def test_queries_without_a_meaning(query, message, small_database):
    with pytest.raises(InputError, match=message):
        answer(query, small_database)
    assert answer_or_empty(parse(f"answer({query})"), small_database) == "[]"


@pytest.mark.parametrize(
    "tree", [Name("texas"), Call("answer"), Call("state", (Call("all"),)), parse("answer(all, all)")]
)
def test_a_query_has_the_root_answer(tree, small_database):
    with pytest.raises(InputError, match="the root of a query is answer"):
        execute(tree, small_database)


def test_numbers_come_before_entities(small_database):
    items = execute(parse("answer(all)"), small_database)
    assert [item.names for item in items if len(item.names) == 2] == [item.names for item in items[-5:]]
    assert answer_text([2, 10.5, Entity("stateid", ("new york",))]) == "[2,10.5,stateid('new york')]"


def test_steps_are_limited(small_database):
    tree = parse("answer(most(state(next_to_2(state(all)))))")
    enough = next(limit for limit in range(1000) if answer_or_empty(tree, small_database, step_limit=limit) != "[]")
    # all: 1 + 18 items; state: 18 items in, 1 + 3 out; for each state next_to_2: 1 in, 4 out in total; state: 4 in;
    # the choice: 3 in, 1 + 1 out
    assert enough == 19 + 22 + 3 + 4 + 4 + 5
    assert execute(tree, small_database, step_limit=enough) == [Entity("stateid", ("beta",))]
    with pytest.raises(InputError, match=f"more than {enough - 1} steps"):
        execute(tree, small_database, step_limit=enough - 1)


def test_a_huge_query_ends(small_database):
    tree = Call("all")
    for _ in range(60):  # shared branches: 2^60 nodes when walked as a tree
        tree = Call("intersection", (tree, tree))
    with pytest.raises(InputError, match="1,000,000 steps"):
        execute(Call("answer", (tree,)), small_database)


def test_a_deep_query_ends(small_database):
    tree = Call("all")
    for _ in range(10_000):
        tree = Call("loc_1", (tree,))
    with pytest.raises(InputError, match=f"at most {DEPTH_LIMIT} levels"):
        execute(Call("answer", (tree,)), small_database)


UNARY = [
    "state", "city", "capital", "river", "place", "mountain", "lake", "major", "loc_1", "loc_2", "next_to_1",
    "next_to_2", "traverse_1", "traverse_2", "capital_1", "capital_2", "high_point_1", "high_point_2", "low_point_1",
    "low_point_2", "population_1", "area_1", "density_1", "elevation_1", "elevation_2", "len", "size", "higher_2",
    "lower_2", "longer", "largest", "smallest", "highest", "lowest", "longest", "shortest", "largest_one",
    "smallest_one", "most", "fewest", "count", "sum", "answer", "planet",
]  # fmt: skip
LEAVES = st.sampled_from(
    ["all", "all", "0", "stateid('beta')", "cityid('twin', _)", "riverid('grand')", "countryid('usa')"]
)
TREES = st.recursive(
    LEAVES.map(parse),
    lambda below: (
        st.builds(lambda symbol, tree: Call(symbol, (tree,)), st.sampled_from(UNARY), below)
        | st.builds(lambda *trees: Call("intersection", trees), below, below)
        | st.builds(lambda *trees: Call("exclude", trees), below, below)
    ),
    max_leaves=8,
)


def items_or_none(tree, database):
    try:
        return execute(Call("answer", (tree,)), database)
    except InputError:
        return None


@given(first=TREES, second=TREES)
def test_laws_of_sets(small_database, first, second):
    database = small_database
    one, other = items_or_none(first, database), items_or_none(second, database)
    both = items_or_none(Call("intersection", (first, second)), database)
    rest = items_or_none(Call("exclude", (first, second)), database)
    count = items_or_none(Call("count", (first,)), database)
    if one is None:
        assert both is rest is count is None
        return
    assert len(set(one)) == len(one)
    assert count == [len(one)]
    if other is None:
        assert both is rest is None
        return
    assert both == [item for item in one if item in other]
    assert rest == [item for item in one if item not in other]


@given(tree=TREES)
def test_an_extreme_is_one_of_its_set(small_database, tree):
    items = items_or_none(tree, small_database)
    for symbol in ("largest", "smallest", "highest", "lowest", "longest", "shortest"):
        extreme = items_or_none(Call(symbol, (tree,)), small_database)
        if items is None:
            assert extreme is None
        else:
            assert len(extreme) <= 1
            assert set(extreme) <= set(items)


@given(tree=TREES, limit=st.integers(1, 3000))
def test_a_limit_on_steps_changes_no_answer(small_database, tree, limit):
    query = Call("answer", (tree,))
    expected = items_or_none(tree, small_database)
    try:
        assert execute(query, small_database, step_limit=limit) == expected
    except InputError:
        for _ in range(2):
            with pytest.raises(InputError):
                execute(query, small_database, step_limit=limit)

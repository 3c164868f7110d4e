"""FunQL trees: text and tokens, there and back, and what is not well-formed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.response.geoquery import funql
from itersel.response.geoquery.data import read_questions
from itersel.response.geoquery.funql import Call, Name, first_well_formed, from_tokens, is_typed, parse, to_tokens

NAMES = st.lists(st.text("abcxyz.-19äß", min_size=1, max_size=4), min_size=1, max_size=3).map(" ".join).map(Name)
SYMBOLS = st.sampled_from(["answer", "state", "loc_2", "cityid", "intersection", "x9"])
LEAVES = NAMES | st.sampled_from(["all", "_", "0", "-85", "2.5"]).map(Call)
TREES = st.recursive(LEAVES, lambda below: st.builds(Call, SYMBOLS, st.lists(below, min_size=1, max_size=3).map(tuple)))
TOKENS = st.sampled_from(["answer@1", "state@1", "exclude@2", "all@0", "_@0", "new_york@s", "x@3", "0@0"])


def test_a_tree_by_hand():
    tree = parse("answer(population_1(cityid('new york', _)))")
    assert tree == Call("answer", (Call("population_1", (Call("cityid", (Name("new york"), Call("_"))),)),))
    assert str(tree) == "answer(population_1(cityid('new york', _)))"
    assert to_tokens(tree) == ["answer@1", "population_1@1", "cityid@2", "new_york@s", "_@0"]


def test_arguments_keep_their_order():
    text = "answer(exclude(exclude(state(all), stateid('alaska')), loc_1(river(all))))"
    tokens = "answer@1 exclude@2 exclude@2 state@1 all@0 stateid@1 alaska@s loc_1@1 river@1 all@0"
    assert " ".join(to_tokens(parse(text))) == tokens
    assert str(from_tokens(tokens.split())) == text


def test_blanks_do_not_count():
    assert parse(" stateid ( ' new mexico ' ) ") == parse("stateid('new mexico')")
    assert parse("cityid('a',_)") == parse("cityid('a', _)")


def test_all_forms_of_the_data_set_survive_linearisation(geoquery: Path):
    forms = list(read_lines(geoquery / "geoquery.all880.funql.gz"))
    assert len(forms) == 880
    for form in forms:
        tree = parse(form)
        assert str(tree) == form
        assert from_tokens(to_tokens(tree)) == tree


@given(TREES)
def test_text_and_tokens_there_and_back(tree):
    assert parse(str(tree)) == tree
    tokens = to_tokens(tree)
    assert from_tokens(tokens, root=None) == tree
    for length in range(len(tokens)):  # no well-formed sequence begins another one
        with pytest.raises(InputError):
            from_tokens(tokens[:length], root=None)


@given(st.lists(TOKENS, max_size=12))
def test_a_sequence_is_well_formed_or_an_error(tokens):
    open_places = 1  # another way to check: count the arguments that are still to come
    complete_before_the_end = False
    for token in tokens:
        complete_before_the_end |= open_places == 0
        arity = token.rpartition("@")[2]
        open_places += (0 if arity == "s" else int(arity)) - 1
    expected = open_places == 0 and not complete_before_the_end and tokens[0] == "answer@1"
    try:
        assert to_tokens(from_tokens(tokens)) == tokens
        assert expected
    except InputError:
        assert not expected


@given(st.text(max_size=30) | st.text("answer()',_ 0@", max_size=30))
def test_any_text_is_a_term_or_an_error(text):
    try:
        tree = parse(text)
    except InputError:
        return
    assert parse(str(tree)) == tree


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("", "no tokens"),
        ("answer@1", "'answer@1', has 0 arguments"),
        ("answer@1 state@1", "token 2, 'state@1', has 0 arguments"),
        ("answer@1 exclude@2 all@0", "token 2, 'exclude@2', has 1 arguments"),
        ("answer@1 all@0 all@0", "2 terms in a row"),
        ("all@0 answer@1 all@0", "2 terms in a row"),
        ("state@1 all@0", "the root is 'state@1'"),
        ("texas@s", "the root is 'texas@s'"),
        ("answer@0", "the root is 'answer@0'"),
        ("answer@2 all@0 all@0", "the root is 'answer@2'"),
        ("answer@1 texas", "token 2 is 'texas'"),
        ("answer@1 Texas@0", "token 2 is 'Texas@0'"),
        ("answer@1 state@-1", "token 2 is 'state@-1'"),
        ("answer@1 all@9999999999", "token 2 is 'all@9999999999'"),
        ("answer@1 a@b@s", "token 2 is 'a@b@s'"),
        ("answer@1 _@s", "is not a FunQL name"),
        ("answer@1 new__york@s", "is not a FunQL name"),
    ],
)
def test_malformed_tokens(tokens, message):
    with pytest.raises(InputError, match=message):
        from_tokens(tokens.split())


@pytest.mark.parametrize(
    "text",
    ["", "answer(", "answer()", "answer(all", "answer(all))", "answer(all) all", "answer(all,)", "answer(,all)", ")",
     "(all)", "Answer(all)", "answer('x)", "stateid('')", "stateid('a@b')", "stateid('a_b')", "all(", "'a'('b')", "a b",
     "a;b"],
)  # fmt: skip
def test_malformed_text(text):
    with pytest.raises(InputError):
        parse(text)


@pytest.mark.parametrize("levels", [funql.DEPTH_LIMIT + 1, 100_000])
def test_trees_that_are_too_deep(levels):
    with pytest.raises(InputError, match="100 levels"):
        parse("state(" * (levels - 1) + "all" + ")" * (levels - 1))
    with pytest.raises(InputError, match="100 levels"):
        from_tokens(["answer@1", *["state@1"] * (levels - 2), "all@0"])


def test_the_deepest_tree_that_is_allowed():
    levels = funql.DEPTH_LIMIT
    tree = parse("answer(" + "state(" * (levels - 2) + "all" + ")" * (levels - 1))
    assert len(to_tokens(tree)) == levels
    assert from_tokens(to_tokens(tree)) == tree


def test_names_and_functions_are_checked():
    for text in ("", "new  york", "a'b", " a", "a@b", "a_b", "a\nb"):
        with pytest.raises(InputError, match="is not a FunQL name"):
            Name(text)
    for symbol in ("", "State", "a b", "a@1"):
        with pytest.raises(InputError, match="is not a FunQL function"):
            Call(symbol)


def test_the_first_well_formed_hypothesis_wins():
    hypotheses = ["answer@1", "answer@1 state@1 all@0", "answer@1 river@1 all@0"]
    assert first_well_formed(text.split() for text in hypotheses) == (1, parse("answer(state(all))"))
    assert first_well_formed([]) is None
    assert first_well_formed([["answer@1"]]) is None


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("answer(city(loc_2(stateid('texas'))))", True),
        ("answer(population_1(cityid('austin', _)))", True),
        ("answer(population_1(cityid('austin', 'tx')))", True),
        ("answer(state(elevation_2(0)))", True),
        ("answer('texas')", False),
        ("answer(state('texas'))", False),
        ("answer(stateid(state(all)))", False),
        ("answer(cityid('austin', stateid('texas')))", False),
        ("answer(stateid(_))", False),
        ("answer(state(_))", False),
        ("answer(answer(state(all)))", False),
    ],
)
def test_types(text, typed):
    assert is_typed(parse(text)) is typed


def test_the_880_forms_are_typed(geoquery):
    assert all(is_typed(question.form) for question in read_questions(geoquery))


def test_the_first_typed_hypothesis_wins():
    hypotheses = ["answer@1 texas@s", "answer@1 state@1 all@0", "answer@1 river@1 all@0"]
    tokens = [text.split() for text in hypotheses]
    assert first_well_formed(tokens, typed=True) == (1, parse("answer(state(all))"))
    assert first_well_formed(tokens[:1], typed=True) is None
    assert first_well_formed(tokens) == (0, parse("answer('texas')"))

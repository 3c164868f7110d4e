"""Declarations: figures of sums, which round is best, and what comes back from JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.base.figures import Choice, Declaration, Figure, Statistic
from itersel.learn.figures import FIGURES, STATISTICS

DECLARATION = Declaration("toy", "Toy", 7, STATISTICS, FIGURES, Choice("gap", "gap", largest=False))


def test_declarations_come_back():
    for one in (DECLARATION, Declaration("a", "A")):
        assert Declaration.from_json(json.loads(json.dumps(one.to_json()))) == one


JUNK = st.sampled_from([None, -1, 1.5, float("inf"), "text", [], [1], {}, {"a": [None]}, True])


@given(st.integers(0, 10**6), JUNK)
def test_anything_else_is_damage(which, junk):
    """Any value replaced by any other: a declaration whose keys and labels are texts, or an error for users."""
    values = json.loads(json.dumps(DECLARATION.to_json()))
    places = list(inner_places(values))
    holder, key = places[which % len(places)]
    holder[key] = junk
    try:
        made = Declaration.from_json(values)
    except InputError:
        return
    for figure in made.figures:
        assert all(isinstance(text, str) for text in (figure.key, figure.label, figure.of, figure.about))
        assert figure.value({}) is None
    assert isinstance(made.choice.key, str) and isinstance(made.choice.largest, bool)


def inner_places(values):
    for key in values if isinstance(values, dict) else range(len(values)) if isinstance(values, list) else ():
        yield values, key
        yield from inner_places(values[key])


def test_figures_are_quotients():
    figure = Figure("error", "errors", "wrong", "all", form="percent")
    assert figure.text(figure.value({"wrong": 1, "all": 4})) == "25.0%"
    assert [figure.value(sums) for sums in ({"wrong": 1}, {"all": 4}, {"wrong": 1, "all": 0})] == [None] * 3
    assert figure.text(None) == "–"


def test_statistics_of_shards_become_one():
    declaration = Declaration("a", "A", statistics=(Statistic("n"), Statistic("most", "max")))
    assert declaration.combine([{"n": 1, "most": 5, "x": 1}, {"n": 2, "most": 3}]) == {"n": 3, "most": 5}


@pytest.mark.parametrize(("largest", "best", "since"), [(True, 1, 3), (False, 2, 2)])
def test_the_earlier_of_equals_is_chosen(largest, best, since):
    choice = Choice("x", "x", largest)
    values = [2.0, 3.0, 1.0, 3.0, 1.0]
    assert choice.best(values) == best and choice.rounds_without_gain(values) == since


def test_what_decides_is_shown_as_declared_or_as_a_number():
    figure = Figure("b", "BLEU", "devtest_bleu", form="score")
    assert Declaration("a", "A", figures=(figure,)).choice_figure is figure
    assert DECLARATION.choice_figure == Figure("gap", "gap", "gap", form="number")

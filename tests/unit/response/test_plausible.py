"""Forms that a question can mean: those of the data set, and well-formed ones that make no sense."""

import pytest

from itersel.response.geoquery.data import read_questions
from itersel.response.geoquery.database import FACTS_FILE, read_database
from itersel.response.geoquery.funql import parse
from itersel.response.geoquery.plausible import Plausibility


@pytest.fixture(scope="module")
def plausible(geoquery):
    return Plausibility(read_database(geoquery / FACTS_FILE))


def test_all_forms_of_the_data_set(plausible, geoquery):
    assert [str(one.form) for one in read_questions(geoquery) if not plausible(one.form)] == []


@pytest.mark.parametrize(
    "form",
    [
        "answer(population_1(cityid('boston', 'massachusetts')))",
        "answer(stateid('chicago'))",
        "answer(riverid('rochester'))",
        "answer(city(cityid(_, 'pa')))",
        "answer(largest_one(state(all)))",
        "answer(state('texas'))",
        "answer(unheard_of(all))",
    ],
)
def test_well_formed_nonsense(plausible, form):
    assert not plausible(parse(form))


def test_no_answer_can_be_right(plausible):
    assert plausible(parse("answer(state(next_to_2(stateid('hawaii'))))"))

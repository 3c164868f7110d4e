"""Typing errors corrected by the other questions."""

import pytest

from itersel.response.geoquery.typos import correct_typos

FREQUENT = ["wie viele grenzt durch"] * 3
COUNTS = {"wie": 9, "viele": 9, "grenzt": 4, "durch": 9, "grenzte": 1}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        pytest.param("veile", "viele", id="two neighbours changed places"),
        pytest.param("grezt", "grenzt", id="a letter is missing"),
        pytest.param("grenzzt", "grenzt", id="a letter too many"),
        pytest.param("durcn", "durch", id="another letter"),
        pytest.param("grenzte", "grenzte", id="a German word"),
        pytest.param("vieles", "vieles", id="perhaps a genitive"),
        pytest.param("we", "we", id="too short"),
        pytest.param("veiel", "veiel", id="two errors"),
        pytest.param("mississippi", "mississippi", id="nothing is near"),
    ],
)
def test_words(typed, meant):
    assert correct_typos([*FREQUENT, typed], [[]] * 4, COUNTS) == [*FREQUENT, meant]


def test_names_and_frequent_words_stay():
    assert correct_typos([*FREQUENT, "veile"], [[], [], [], ["veile"]], COUNTS)[-1] == "veile"
    assert correct_typos([*FREQUENT, *["veile"] * 3], [[]] * 6, COUNTS)[-1] == "veile"

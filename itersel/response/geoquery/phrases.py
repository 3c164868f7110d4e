"""Noun phrases and their FunQL: what a semantic parser must know of names it has not seen in a question.

The database, or the data set's own list, comes in; pairs of an English phrase and a FunQL term go out, such as `austin`
with `cityid@2 austin@s _@0` (Andreas et al. 2013). The term may also be only the name: `austin` with `austin@s`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.response.geoquery.data import normalized
from itersel.response.geoquery.database import COUNTRY, Database, Entity
from itersel.response.geoquery.funql import ANYTHING, Call, Name, Tree, parse, to_tokens

LIST_FILE = "nps-true.xml.gz"
COUNTRY_PHRASES = (COUNTRY, "us", "america", "united states", "country")
"""Words for the country, as the data set's list has them; the database has only the first."""

_ELEMENT = re.compile(r"\s*<(?P<tag>nl|mrl) lang='(?P<language>[^']*)'>(?P<text>[^<]*)</(?P=tag)>\s*")
_NUMERAL = re.compile(r"' *([0-9]+) *'")  # the list has it in quotes, the logical forms have not


class Phrase(NamedTuple):
    """A phrase in lower case, its words separated by blanks, and the term it means."""

    text: str
    term: Tree

    @property
    def tokens(self) -> list[str]:
        """The term's FunQL tokens."""
        return to_tokens(self.term)

    @property
    def is_short(self) -> bool:
        """Whether the term is only a name."""
        return len(self.tokens) == 1


def database_phrases(database: Database) -> list[Phrase]:
    """Phrases for all names of the database except lakes, each pair once, in the order of the facts.

    States: `texas`, `texas state`, `state of texas`; cities: `austin`, `city of austin`, `austin texas`; rivers: `red`,
    `red river`. A state's name also means its abbreviation (`tx@s`), which FunQL uses for cities. The abbreviation
    itself is no phrase: `in`, `or` and `me` mean something else in questions.
    """
    return list(dict.fromkeys(_phrases(database)))


def listed_phrases(folder: str | os.PathLike[str], language: str = "en") -> list[Phrase]:
    """The phrases of the data set's list in a language. Its names are those of all 880 questions, test included."""
    path = Path(folder) / LIST_FILE
    phrases: dict[Phrase, None] = {}
    texts: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        match = _ELEMENT.fullmatch(line)
        if "<example " in line:
            texts = []
        elif match and match["tag"] == "nl" and match["language"] == language:
            texts.append(normalized(match["text"]))
        elif match and match["tag"] == "mrl" and match["language"] == "geo-funql":
            try:
                term = parse(_NUMERAL.sub(r"\1", match["text"]))
            except InputError as error:
                raise InputError(error.message, where=f"{path}:{number}") from None
            phrases.update((Phrase(text, term), None) for text in texts if text)
    if not phrases:
        raise InputError(f"no phrases in the language {language!r}", where=path)
    return list(phrases)


def _phrases(database: Database) -> Iterator[Phrase]:
    abbreviations = {state: city.names[1] for city, states in database.capital.forward.items() for state in states}
    names_of_states = {abbreviation: state.names[0] for state, abbreviation in abbreviations.items()}
    for state in database.states:
        yield from _with_variants(state, "{}", "{} state", "state of {}")
        if state in abbreviations:
            yield Phrase(state.names[0], Name(abbreviations[state]))
    for city in (*database.cities, *database.capitals):
        name, abbreviation = city.names
        anywhere = Call(city.kind, (Name(name), Call(ANYTHING)))
        yield Phrase(name, Name(name))
        yield Phrase(name, anywhere)
        yield Phrase(f"city of {name}", anywhere)
        if abbreviation in names_of_states:
            term = Call(city.kind, (Name(name), Name(abbreviation)))
            yield Phrase(f"{name} {names_of_states[abbreviation]}", term)
    for river in database.rivers:
        yield from _with_variants(river, "{}", "{} river")
    for place in database.places:
        yield from _with_variants(place, "{}")
    for country in database.countries:
        for text in COUNTRY_PHRASES:
            yield from _with_variants(country, text)


def _with_variants(entity: Entity, *patterns: str) -> Iterator[Phrase]:
    """The name alone, and the term that names the entity with each pattern."""
    name = Name(entity.names[0])
    yield Phrase(patterns[0].format(name.text), name)
    for pattern in patterns:
        yield Phrase(pattern.format(name.text), Call(entity.kind, (name,)))

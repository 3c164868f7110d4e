"""The GeoQuery database: states, cities, rivers, places and lakes of the U.S., with their attributes and relations.

Facts come in, one JSON array per line, such as `["city", "texas", "tx", "austin", 345496]`. Entities go out, with
indexes from entities to values and to other entities. All are in the order of the facts, which decides ties.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from itersel.base.errors import InputError
from itersel.base.files import read_lines

FACTS_FILE = "geobase.facts.jsonl.gz"
COUNTRY = "usa"
NUMBER_LIMIT = 1e15
"""Numbers are nearer to zero than this, so that sums of them are exact."""

_SHAPES = {
    "state": "sssnnnssss",  # name, abbreviation, capital, population, area, order of joining, four cities
    "city": "sssn",  # state, abbreviation, name, population
    "river": "snl",  # name, length in km, states from source to mouth
    "border": "ssl",  # state, abbreviation, its neighbours
    "highlow": "sssnsn",  # state, abbreviation, highest point, elevation in m, lowest point, elevation
    "mountain": "sssn",
    "road": "sl",
    "lake": "snl",  # name, area in square km, states
    "country": "snn",
}
"""What follows a fact's kind: s a string, n a number, l a list of strings."""


class Entity(NamedTuple):
    """Something with a name. `kind` is the FunQL function that names it, such as `stateid` or `cityid`."""

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        """As the gold answers write it: `cityid('newport news',va)`."""
        return f"{self.kind}({','.join(map(_atom, self.names))})"


Number = int | float


@dataclass
class Relation:
    """Pairs of entities, found from either side. Repeated pairs count once."""

    forward: dict[Entity, dict[Entity, None]] = field(default_factory=dict)
    backward: dict[Entity, dict[Entity, None]] = field(default_factory=dict)

    def add(self, first: Entity, second: Entity) -> None:
        """Relate the first entity to the second."""
        self.forward.setdefault(first, {})[second] = None
        self.backward.setdefault(second, {})[first] = None


Attribute = dict[Entity, tuple[Number, ...]]
"""Values of entities. Most have one; a river that is the lowest point of several states has several elevations."""


class Database:
    """Facts with their indexes. Build it with `read_database`, or from facts as Python lists with `from_facts`.

    Capitals belong to no kind of their own: they are cities, some of which have no `city` fact and thus neither
    population nor location. Places are the highest and lowest points of the states. The `mountain` and `road` facts
    and those about the country itself are checked but not used: no gold answer knows them.
    """

    def __init__(self) -> None:
        self.order: dict[Entity, int] = {}
        self.states: dict[Entity, None] = {}
        self.cities: dict[Entity, None] = {}
        self.capitals: dict[Entity, None] = {}
        self.rivers: dict[Entity, None] = {}
        self.places: dict[Entity, None] = {}
        self.lakes: dict[Entity, None] = {}
        self.countries: dict[Entity, None] = {}
        self.by_first_name: dict[tuple[str, str], list[Entity]] = {}
        self.population: Attribute = {}
        self.area: Attribute = {}
        self.density: Attribute = {}
        self.elevation: Attribute = {}
        self.length: Attribute = {}
        self.size: Attribute = {}  # area of states and lakes, population of cities, length of rivers
        self.location = Relation()  # what lies in which state or country
        self.border = Relation()
        self.course = Relation()  # which river flows through which state
        self.capital = Relation()  # of which state a city is the capital
        self.high_point = Relation()  # which state has which highest point
        self.low_point = Relation()

    def named(self, kind: str, name: str, state: str | None = None) -> list[Entity]:
        """The entities with this name, for cities those in the state with this abbreviation if one is given."""
        entities = self.by_first_name.get((kind, name), [])
        return [entity for entity in entities if state is None or entity.names[1:] == (state,)]

    def in_order(self, entities: Iterable[Entity]) -> list[Entity]:
        """The entities in the order of the facts, each once."""
        return sorted(set(entities), key=self.order.__getitem__)

    def _entity(self, group: dict[Entity, None], kind: str, *names: str) -> Entity:
        entity = Entity(kind, names)
        if entity not in self.order:
            self.order[entity] = len(self.order)
            self.by_first_name.setdefault((kind, names[0]), []).append(entity)
        group[entity] = None
        return entity

    def _state(self, name: str) -> Entity:
        return self._entity(self.states, "stateid", name)

    def _locate(self, entity: Entity, states: Iterable[str]) -> None:
        for state in states:
            self.location.add(entity, self._state(state))
        self.location.add(entity, self._entity(self.countries, "countryid", COUNTRY))

    def _add_state(self, name: str, abbreviation: str, capital: str, population: Number, area: Number) -> None:
        state = self._state(name)
        self.population[state] = (float(population),)  # the gold answers print those of states as floats
        self.area[state] = self.size[state] = (float(area),)
        self.density[state] = (population / area,)
        self._locate(state, ())
        self.capital.add(Entity("cityid", (capital, abbreviation)), state)

    def _add_city(self, state: str, abbreviation: str, name: str, population: Number) -> None:
        city = self._entity(self.cities, "cityid", name, abbreviation)
        self.population[city] = self.size[city] = (population,)
        self._locate(city, [state])

    def _add_river(self, name: str, length: Number, states: list[str]) -> None:
        river = self._entity(self.rivers, "riverid", name)
        self.length[river] = self.size[river] = (length,)
        self._locate(river, states)
        for state in states:
            self.course.add(river, self._state(state))

    def _add_border(self, name: str, neighbours: list[str]) -> None:
        for neighbour in neighbours:
            self.border.add(self._state(name), self._state(neighbour))

    def _add_points(self, name: str, high: str, high_elevation: Number, low: str, low_elevation: Number) -> None:
        state = self._state(name)
        points = (self.high_point, high, high_elevation), (self.low_point, low, low_elevation)
        for relation, place, elevation in points:
            entity = self._entity(self.places, "placeid", place)
            known = self.elevation.get(entity, ())
            self.elevation[entity] = known if elevation in known else (*known, elevation)
            relation.add(state, entity)
            self._locate(entity, [name])

    def _add_lake(self, name: str, area: Number) -> None:
        # Lakes have no location: all gold answers about lakes somewhere are empty.
        lake = self._entity(self.lakes, "lakeid", name)
        self.area[lake] = self.size[lake] = (area,)

    def _add(self, kind: str, values: list[Any]) -> None:
        adders: dict[str, Callable[[], None]] = {
            "state": lambda: self._add_state(*values[:5]),
            "city": lambda: self._add_city(*values),
            "river": lambda: self._add_river(*values),
            "border": lambda: self._add_border(values[0], values[2]),
            "highlow": lambda: self._add_points(values[0], *values[2:]),
            "lake": lambda: self._add_lake(*values[:2]),
        }
        if kind in adders:
            adders[kind]()

    def _add_capitals(self) -> None:
        """Register the capitals, after the cities: one without a city fact comes last."""
        for city in self.capital.forward:
            self._entity(self.capitals, city.kind, *city.names)


def from_facts(facts: Iterable[list[Any]], path: str | os.PathLike[str] = "facts") -> Database:
    """The database of facts such as `["city", "texas", "tx", "austin", 345496]`; `path` is for error messages."""
    database = Database()
    for number, fact in enumerate(facts, 1):
        where = f"{os.fspath(path)}:{number}"
        _check(fact, where)
        if fact[0] == "state" and fact[5] <= 0:
            raise InputError(f"the area of {fact[1]} is {fact[5]}", where=where)
        database._add(fact[0], fact[1:])
    database._add_capitals()
    return database


def read_database(path: str | os.PathLike[str]) -> Database:
    """The database of a file with one fact per line, plain or gzip; a folder means its `geobase.facts.jsonl.gz`."""
    if os.path.isdir(path):
        path = os.path.join(path, FACTS_FILE)

    def facts() -> Iterable[list[Any]]:
        for number, line in enumerate(read_lines(path), 1):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(f"no JSON: {error}", where=f"{os.fspath(path)}:{number}") from None

    return from_facts(facts(), path)


def _check(fact: Any, where: str) -> None:
    if not isinstance(fact, list) or not fact or not isinstance(fact[0], str) or fact[0] not in _SHAPES:
        raise InputError("no fact", where=where, hint=f"A fact is an array that begins with {', '.join(_SHAPES)}.")
    shape = _SHAPES[fact[0]]
    if "".join(map(_type_letter, fact[1:])) != shape:
        raise InputError(f"a {fact[0]} fact has {len(shape)} values of the types {shape}", where=where)


def _type_letter(value: Any) -> str:
    if isinstance(value, str) and value:
        return "s"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < NUMBER_LIMIT:
        return "n"
    return "l" if isinstance(value, list) and all(isinstance(item, str) and item for item in value) else "?"


def _atom(name: str) -> str:
    """A name as Prolog prints it, in quotes unless it is a word that begins with a small letter."""
    return name if re.fullmatch("[a-z][A-Za-z0-9_]*", name) else f"'{name}'"

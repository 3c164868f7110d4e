"""Executing FunQL on the GeoQuery database: a tree comes in, the sorted items of its answer go out.

Every term denotes a set of entities and numbers. What the functions mean was inferred from the 880 gold answers, traps
included:

- `most` and `fewest` choose among the innermost set: `most(state(loc_1(city(all))))` is the city in the most states.
- Ties go to the item that comes first in the facts: `shortest(river(loc_2(stateid('texas'))))` is one river.
- `cityid('x', _)` is every city of that name, but `city` and `capital` around it choose the first that fits.
- Mountains are all highest and lowest points. Lakes are nowhere, and the country has no attributes.
- A numeral denotes nothing: `elevation_2(0)` is empty, although many places lie at sea level.

Execution counts steps (a function, or an item of its result) and ends with an error beyond a limit, so the same query
ends in the same way on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from itersel.base.errors import InputError
from itersel.response.geoquery.database import Attribute, Database, Entity, Number, Relation
from itersel.response.geoquery.funql import ANYTHING, DEPTH_LIMIT, NAMING, ROOT, Call, Name, Tree

Item = Entity | Number
Items = dict[Item, None]
"""A set in a fixed order: entities as in the facts, numbers as computed."""

STEP_LIMIT = 1_000_000
"""Steps of an execution at most; the most costly of the 880 forms takes about 4,000."""
MAJOR_POPULATION = 150_000
"""A city with more people is major."""
MAJOR_LENGTH = 750
"""A river of more kilometres is major."""
EXTREMES = {"largest": 1, "highest": 1, "longest": 1, "smallest": -1, "lowest": -1, "shortest": -1}
EXTREMES_OF_VALUES = {"largest_one": 1, "smallest_one": -1}
EXTREMES_OF_COUNTS = {"most": 1, "fewest": -1}


def execute(tree: Tree, database: Database, *, step_limit: int = STEP_LIMIT) -> list[Item]:
    """The items of the answer: numbers by value, then entities by number of names, kind and names.

    A root other than `answer`, an unknown function, a wrong number of arguments and too many steps are InputErrors;
    an unknown name denotes nothing.
    """
    if not isinstance(tree, Call) or tree.symbol != ROOT or len(tree.arguments) != 1:
        raise InputError(f"the root of a query is {ROOT} with one argument")
    items = _Execution(database, step_limit).items(tree.arguments[0])
    return sorted(items, key=_standard_order)


def answer_or_empty(tree: Tree, database: Database, *, step_limit: int = STEP_LIMIT) -> str:
    """The answer's text; that of a query that fails is `[]`, as in the gold answers."""
    try:
        return answer_text(execute(tree, database, step_limit=step_limit))
    except InputError:
        return answer_text([])


def answer_text(items: Iterable[Item]) -> str:
    """The answer as the gold answers write it: `[cityid(austin,tx),cityid('el paso',tx)]`, `[786700.0]` or `[]`."""
    return f"[{','.join(str(item) if isinstance(item, Entity) else repr(item) for item in items)}]"


class _Execution:
    """One query: the database's relations by FunQL name, and the steps that are left."""

    def __init__(self, database: Database, step_limit: int):
        self.database, self.limit, self.steps, self.depth = database, step_limit, 0, 0
        self.filters: dict[str, dict[Entity, None]] = {
            "state": database.states,
            "city": database.cities,
            "capital": database.capitals,
            "river": database.rivers,
            "place": database.places,
            "mountain": database.places,
            "lake": database.lakes,
        }
        self.attributes: dict[str, Attribute] = {
            "population_1": database.population,
            "area_1": database.area,
            "density_1": database.density,
            "elevation_1": database.elevation,
            "len": database.length,
            "size": database.size,
        }
        self.relations: dict[str, dict[Entity, dict[Entity, None]]] = {}
        for name, relation in {
            "loc": database.location,
            "next_to": database.border,
            "traverse": database.course,
            "high_point": database.high_point,
            "low_point": database.low_point,
            "capital": Relation(database.capital.backward, database.capital.forward),
        }.items():
            self.relations[f"{name}_1"], self.relations[f"{name}_2"] = relation.forward, relation.backward
        self.comparisons: dict[str, tuple[Attribute, int]] = {
            "higher_2": (database.elevation, 1),
            "lower_2": (database.elevation, -1),
            "longer": (database.length, 1),
        }
        self.special: dict[str, Callable[[Sequence[Tree]], Items]] = {
            "count": lambda arguments: {len(self.items(arguments[0])): None},
            "sum": lambda arguments: {self._sum(arguments[0]): None},
            "intersection": lambda arguments: self._combine(*arguments, keep=True),
            "exclude": lambda arguments: self._combine(*arguments, keep=False),
            "elevation_2": lambda arguments: self._with_elevation(self.items(arguments[0])),
        }

    def items(self, tree: Tree) -> Items:
        """What the term denotes."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise InputError(f"a query has at most {DEPTH_LIMIT} levels")
        result = self._items(tree)
        self._spend(1 + len(result))
        self.depth -= 1
        return result

    def _items(self, tree: Tree) -> Items:
        if isinstance(tree, Name):
            raise InputError(f"{tree} is a name outside {', '.join(NAMING[:-1])} or {NAMING[-1]}")
        symbol, arguments = tree.symbol, tree.arguments
        if not arguments:
            return self._bare(symbol)
        if symbol.endswith("id"):
            return dict.fromkeys(self._named(tree))
        if len(arguments) != (2 if symbol in ("intersection", "exclude") else 1):
            raise InputError(f"{symbol} with {len(arguments)} arguments")
        if symbol in self.special:
            return self.special[symbol](arguments)
        if symbol in EXTREMES_OF_VALUES:
            attribute, below = self._attribute_call(symbol, arguments[0])
            return self._extreme(self.items(below), EXTREMES_OF_VALUES[symbol], lambda item: _values(attribute, item))
        if symbol in EXTREMES_OF_COUNTS:
            return self._extreme_count(arguments[0], EXTREMES_OF_COUNTS[symbol])
        items = self.items(arguments[0])
        if symbol in EXTREMES:
            return self._extreme(items, EXTREMES[symbol], self._measure(symbol))
        if symbol in ("city", "capital") and _names_any_state(arguments[0]):
            return dict.fromkeys(list(self._apply(symbol, items))[:1])
        return self._apply(symbol, items)

    def _apply(self, symbol: str, items: Items) -> Items:
        """A function whose result depends on the items of its argument alone."""
        self._spend(len(items))
        if symbol in self.filters:
            group = self.filters[symbol]
            return {item: None for item in items if item in group}
        if symbol == "major":
            return {item: None for item in items if self._is_major(item)}
        if symbol in self.relations:
            index = self.relations[symbol]
            related = [other for item in items if isinstance(item, Entity) for other in index.get(item, ())]
            self._spend(len(related))
            return dict.fromkeys(self.database.in_order(related))
        if symbol in self.attributes:
            return {value: None for item in items for value in _values(self.attributes[symbol], item)}
        if symbol in self.comparisons:
            return self._beyond(items, *self.comparisons[symbol])
        raise InputError(f"unknown function {symbol!r}")

    def _bare(self, symbol: str) -> Items:
        if symbol == "all":
            return dict.fromkeys(self.database.order)
        if symbol[-1].isdigit():
            return {}
        raise InputError(f"{symbol!r} has no arguments")

    def _named(self, tree: Call) -> list[Entity]:
        names = [argument.text if isinstance(argument, Name) else None for argument in tree.arguments]
        if any(isinstance(argument, Call) and argument != Call(ANYTHING) for argument in tree.arguments):
            raise InputError(f"{tree.symbol} names something, and takes no functions")
        if tree.symbol not in NAMING:
            raise InputError(f"unknown function {tree.symbol!r}")
        if len(names) != (2 if tree.symbol == "cityid" else 1) or names[0] is None:
            raise InputError(f"{tree} needs {'a name and a state' if tree.symbol == 'cityid' else 'one name'}")
        return self.database.named(tree.symbol, names[0], names[-1] if len(names) > 1 else None)

    def _measure(self, symbol: str) -> Callable[[Item], Sequence[Number]]:
        """By which values an extreme is chosen; for the largest and smallest, a number is its own value."""
        if symbol in ("largest", "smallest"):
            return lambda item: _values(self.database.size, item) if isinstance(item, Entity) else (item,)
        attribute = self.database.elevation if symbol in ("highest", "lowest") else self.database.length
        return lambda item: _values(attribute, item)

    def _extreme(self, items: Items, sign: int, measure: Callable[[Item], Sequence[Number]]) -> Items:
        """The first item with the largest (sign 1) or smallest (-1) value; items without a value do not count."""
        self._spend(len(items))
        measured = [(max(sign * value for value in values), item) for item in items if (values := measure(item))]
        return {max(measured, key=lambda pair: pair[0])[1]: None} if measured else {}

    def _extreme_count(self, tree: Tree, sign: int) -> Items:
        """The first item of the innermost set that relates to the most or fewest; most means at least one."""
        functions = []
        while isinstance(tree, Call) and len(tree.arguments) == 1 and tree.symbol not in self.relations:
            if tree.symbol not in self.filters and tree.symbol != "major":
                break
            functions.append(tree.symbol)
            tree = tree.arguments[0]
        if not isinstance(tree, Call) or tree.symbol not in self.relations or len(tree.arguments) != 1:
            raise InputError("most and fewest need a relation, as in most(state(next_to_2(state(all))))")
        functions.append(tree.symbol)
        candidates, counts = self.items(tree.arguments[0]), {}
        for item in candidates:
            related: Items = {item: None}
            for symbol in reversed(functions):
                related = self._apply(symbol, related)
            counts[item] = len(related)
        return self._extreme(candidates, sign, lambda item: (counts[item],) if sign < 0 or counts[item] else ())

    def _sum(self, tree: Tree) -> Number:
        """The sum over entities, of which several may have the same value: `sum(area_1(state(all)))`."""
        try:
            attribute, below = self._attribute_call("sum", tree)
        except InputError:
            return sum(item for item in self.items(tree) if not isinstance(item, Entity))
        items = self.items(below)
        self._spend(len(items))
        return sum(value for item in items for value in _values(attribute, item))

    def _attribute_call(self, symbol: str, tree: Tree) -> tuple[Attribute, Tree]:
        """The attribute and argument of a term such as `population_1(city(all))`."""
        if isinstance(tree, Call) and tree.symbol in self.attributes and len(tree.arguments) == 1:
            return self.attributes[tree.symbol], tree.arguments[0]
        raise InputError(f"{symbol} needs an attribute, as in {symbol}(population_1(city(all)))")

    def _combine(self, first: Tree, second: Tree, *, keep: bool) -> Items:
        items, others = self.items(first), self.items(second)
        return {item: None for item in items if (item in others) == keep}

    def _beyond(self, items: Items, attribute: Attribute, sign: int) -> Items:
        """The entities with a value above (sign 1) or below (-1) a value of one of the items."""
        bounds = [sign * value for item in items for value in _values(attribute, item)]
        self._spend(len(attribute))
        return {
            entity: None
            for entity, values in attribute.items()
            if bounds and max(sign * value for value in values) > min(bounds)
        }

    def _with_elevation(self, numbers: Items) -> Items:
        elevation = self.database.elevation
        self._spend(len(elevation))
        return {entity: None for entity, values in elevation.items() if any(value in numbers for value in values)}

    def _is_major(self, item: Item) -> bool:
        if item in self.database.cities:
            return any(value > MAJOR_POPULATION for value in _values(self.database.population, item))
        return any(value > MAJOR_LENGTH for value in _values(self.database.length, item))

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.limit:
            raise InputError(f"the query takes more than {self.limit:,} steps")


def _values(attribute: Attribute, item: Item) -> Sequence[Number]:
    return attribute.get(item, ()) if isinstance(item, Entity) else ()


def _names_any_state(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.symbol == "cityid" and tree.arguments[-1] == Call(ANYTHING)


def _standard_order(item: Item) -> tuple[int, Number, str, tuple[str, ...]]:
    return (len(item.names), 0, item.kind, item.names) if isinstance(item, Entity) else (0, item, "", ())

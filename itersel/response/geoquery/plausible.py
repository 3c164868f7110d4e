"""Which forms a question can mean: a well-formed tree comes in, and whether it makes sense on the database goes out.

A decoder's list has forms such as `cityid('boston', 'massachusetts')` or `largest_one(state(all))`. They are
well-formed, but can have no answer, and the right form is often next on the list. All 880 forms are plausible.
"""

from __future__ import annotations

from itersel.base.errors import InputError
from itersel.response.geoquery.database import Database
from itersel.response.geoquery.execution import execute
from itersel.response.geoquery.funql import NAMING, Call, Name, Tree, is_typed


class Plausibility:
    """What is plausible on a database."""

    def __init__(self, database: Database):
        self.database = database
        self.abbreviations = {city.names[1] for city in (*database.cities, *database.capitals)}

    def __call__(self, tree: Tree) -> bool:
        """Whether FunQL's types allow the tree, the database knows its names, and it can be executed.

        The answer may be empty: that no state borders Hawaii is right.
        """
        return is_typed(tree) and self._names_are_known(tree) and self._can_be_executed(tree)

    def _names_are_known(self, tree: Tree) -> bool:
        """Names stand below the function of their kind; the second one of a city is a state's abbreviation or `_`."""
        pending = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, Name):
                continue
            if node.symbol in NAMING:
                first, *others = node.arguments
                if not isinstance(first, Name) or (node.symbol, first.text) not in self.database.by_first_name:
                    return False
                if any(isinstance(other, Name) and other.text not in self.abbreviations for other in others):
                    return False
            pending.extend(argument for argument in node.arguments if isinstance(argument, Call))
        return True

    def _can_be_executed(self, tree: Tree) -> bool:
        try:
            execute(tree, self.database)
        except InputError:
            return False
        return True

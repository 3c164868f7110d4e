"""FunQL, the functional query language of GeoQuery: trees, their text, and their linearisation.

Text such as `answer(city(loc_2(stateid('new york'))))` or a sequence of tokens comes in and an immutable tree goes out,
or the reverse. The tokens are the nodes from the root, each function with its arity (Andreas et al. 2013), so that a
machine translation system can produce them: `answer@1 city@1 loc_2@1 stateid@1 new_york@s`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from itersel.base.errors import InputError

ROOT = "answer"
ANYTHING = "_"
"""The argument that matches any value, as in `cityid('austin', _)`."""
NAMING = ("stateid", "cityid", "riverid", "placeid", "lakeid", "countryid")
"""The functions that name something."""
DEPTH_LIMIT = 100
"""Levels of a tree at most; the deepest of the 880 forms has 17."""
NAME_SUFFIX = "s"
"""What a quoted name has in place of an arity."""

_SYMBOL = r"[a-z][a-z0-9_]*|_|-?[0-9]+(?:\.[0-9]+)?"
_NAME = r"[^'@_\s]+(?: [^'@_\s]+)*"
_LEXEME = re.compile(rf"\s*(?:(?P<symbol>{_SYMBOL})|'\s*(?P<name>{_NAME})\s*'|(?P<mark>[(),]))")
_TOKEN = re.compile(rf"(?:(?P<symbol>{_SYMBOL})@(?P<arity>[0-9]{{1,3}})|(?P<name>[^'@\s]+)@{NAME_SUFFIX})")


@dataclass(frozen=True, slots=True)
class Name:
    """A quoted constant. Its words are separated by single blanks and contain no quote, `@` or underscore."""

    text: str

    def __post_init__(self) -> None:
        if not re.fullmatch(_NAME, self.text):
            raise InputError(f"{self.text!r} is not a FunQL name")

    def __str__(self) -> str:
        return f"'{self.text}'"


@dataclass(frozen=True, slots=True)
class Call:
    """A function with its arguments; without arguments a bare symbol: `all`, `_` or a number."""

    symbol: str
    arguments: tuple[Tree, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch(_SYMBOL, self.symbol):
            raise InputError(f"{self.symbol!r} is not a FunQL function")

    def __str__(self) -> str:
        return f"{self.symbol}({', '.join(map(str, self.arguments))})" if self.arguments else self.symbol


Tree = Call | Name


def parse(text: str) -> Tree:
    """The tree of a term in the data's own syntax; any term, not only one with the root `answer`."""
    open_calls: list[tuple[str, list[Tree]]] = []  # functions whose closing bracket is still to come
    lexemes = _lexemes(text)
    position = 0
    while True:
        kind, value = lexemes[position]
        following = lexemes[position + 1][1] if position + 1 < len(lexemes) else ""
        tree: Tree
        if kind == "symbol" and following == "(":
            open_calls.append((value, []))
            _check_depth(len(open_calls) + 1)
            position += 2
            continue
        if kind == "name":
            tree = Name(value)
        elif kind == "symbol":
            tree = Call(value)
        else:
            raise InputError(f"{text!r} has {value or 'its end'!r} where a term should start")
        position += 1
        while open_calls and lexemes[position][1] == ")":
            symbol, arguments = open_calls.pop()
            tree = Call(symbol, (*arguments, tree))
            position += 1
        kind, value = lexemes[position]
        if not open_calls:
            if kind != "end":
                raise InputError(f"{text!r} continues with {value!r} after its last bracket")
            return tree
        if value != ",":
            raise InputError(f"{text!r} has {value or 'its end'!r} where a comma or closing bracket should be")
        open_calls[-1][1].append(tree)
        position += 1


def to_tokens(tree: Tree) -> list[str]:
    """The tree from its root, arguments from left to right: `cityid@2 new_york@s _@0`."""
    tokens = []
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, Name):
            tokens.append(f"{node.text.replace(' ', '_')}@{NAME_SUFFIX}")
        else:
            tokens.append(f"{node.symbol}@{len(node.arguments)}")
            pending.extend(reversed(node.arguments))
    return tokens


def from_tokens(tokens: Sequence[str], *, root: str | None = ROOT) -> Tree:
    """The tree of a well-formed sequence: the arities use up all tokens, and the root is `answer`, or any for None."""
    trees: list[tuple[Tree, int]] = []  # read from the right: the arguments of the next function, last one first
    for position in range(len(tokens) - 1, -1, -1):
        token = tokens[position]
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise InputError(f"token {position + 1} is {token!r}, neither function@arity nor name@{NAME_SUFFIX}")
        if match["name"] is not None:
            trees.append((Name(match["name"].replace("_", " ")), 1))
            continue
        arity = int(match["arity"])
        if arity > len(trees):
            raise InputError(f"token {position + 1}, {token!r}, has {len(trees)} arguments")
        arguments = [trees.pop() for _ in range(arity)]
        depth = 1 + max((below for _, below in arguments), default=0)
        _check_depth(depth)
        trees.append((Call(match["symbol"], tuple(tree for tree, _ in arguments)), depth))
    if len(trees) != 1:
        raise InputError("no tokens" if not trees else f"{len(trees)} terms in a row where one should be")
    tree = trees[0][0]
    if root is not None and not (isinstance(tree, Call) and tree.symbol == root and len(tree.arguments) == 1):
        raise InputError(f"the root is {tokens[0]!r}, not {root}@1")
    return tree


def first_well_formed(hypotheses: Iterable[Sequence[str]], *, typed: bool = False) -> tuple[int, Tree] | None:
    """The first hypothesis with a tree, as its place from 0 and the tree; None if there is none.

    With `typed`, the tree must also be one that FunQL's types allow (`is_typed`).
    """
    for rank, tokens in enumerate(hypotheses):
        try:
            tree = from_tokens(tokens)
        except InputError:
            continue
        if not typed or is_typed(tree):
            return rank, tree
    return None


def is_typed(tree: Tree) -> bool:
    """Whether names stand in functions that name something and nowhere else, and `answer` at the root alone.

    `stateid('texas')` and `cityid('austin', _)` are typed, `stateid(state(all))`, `state('texas')` and
    `state(answer(all))` are not. All 880 forms are.
    """
    pending: list[tuple[Tree, str]] = [(tree, "")]
    while pending:
        node, above = pending.pop()
        if isinstance(node, Name):
            allowed = above in NAMING
        elif node.symbol == ANYTHING:
            allowed = above == "cityid"
        else:
            allowed = above not in NAMING and not (above and node.symbol == ROOT)
            pending.extend((argument, node.symbol) for argument in node.arguments)
        if not allowed:
            return False
    return True


def _lexemes(text: str) -> list[tuple[str, str]]:
    """Kinds and values of the text's parts, with an `end` after the last."""
    text = text.rstrip()
    lexemes, position = [], 0
    while position < len(text):
        match = _LEXEME.match(text, position)
        if match is None:
            raise InputError(f"{text!r} cannot be read from {text[position : position + 20]!r} on")
        kind = str(match.lastgroup)
        lexemes.append((kind, match[kind]))
        position = match.end()
    return [*lexemes, ("end", "")]


def _check_depth(depth: int) -> None:
    if depth > DEPTH_LIMIT:
        raise InputError(f"a FunQL term has at most {DEPTH_LIMIT} levels")

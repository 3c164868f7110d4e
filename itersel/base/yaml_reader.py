"""YAML to values that know their lines. Nothing but data is made of a file, whatever its tags say."""

from __future__ import annotations

import re
from typing import Any

import yaml

from itersel.base.errors import ConfigError
from itersel.base.given import Given, Origin

TAG = "tag:yaml.org,2002:"


class Reader(yaml.SafeLoader):
    """YAML with the scalars of its version 1.2: `1e-4` is a number, `no` and `12:30` are texts."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012


for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9][0-9_]*|0x[0-9a-fA-F]+|0o[0-7]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("merge", "<<", "<"),
):
    Reader.add_implicit_resolver(TAG + _kind, re.compile(f"(?:{_pattern})$"), [one.strip("\0") for one in _first])


def parse(text: str, where: str, folder: str, *, lines: bool = True) -> Given | None:
    """The value in the text, if there is one; without `lines`, origins have no line numbers."""
    reader = Reader(text)
    try:
        node = reader.get_single_node()
        return None if node is None else Converter(reader, where, folder, lines).convert(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        hint = "Is something indented wrongly, or a bracket or quote left open?"
        raise ConfigError(
            f"not YAML: {problem}", where=f"{where}:{mark.line + 1}" if mark and lines else where, hint=hint
        ) from None
    finally:
        reader.dispose()


class Converter:
    """Makes values with origins of YAML's nodes. An alias gives the same value again."""

    def __init__(self, reader: Reader, where: str, folder: str, lines: bool):
        self.reader, self.where, self.folder, self.lines = reader, where, folder, lines
        self.done: dict[int, Given | None] = {}

    def convert(self, node: yaml.Node) -> Given:
        if id(node) not in self.done:
            self.done[id(node)] = None
            self.done[id(node)] = self.made(node)
        found = self.done[id(node)]
        if found is None:
            raise ConfigError(f"the value in line {self.line(node)} is part of itself", where=self.where)
        return found

    def made(self, node: yaml.Node) -> Given:
        origin = self.origin(node)
        if isinstance(node, yaml.MappingNode):
            return Given(self.mapping(node), origin)
        if isinstance(node, yaml.SequenceNode):
            return Given([self.convert(item) for item in node.value], origin)
        number = node.tag in (f"{TAG}int", f"{TAG}float")
        return Given(self.scalar(node), origin, node.value if number else None)

    def mapping(self, node: yaml.MappingNode) -> dict[str, Given]:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(
                    "a key is a list or a group", where=self.origin(key).where, hint="Is a quote missing?"
                )
            if key.value in lines:
                raise ConfigError(
                    f"the key {key.value!r} is given twice; the first time in line {lines[key.value]}"
                    if self.lines
                    else f"the key {key.value!r} is given twice",
                    where=self.origin(key).where,
                    hint="Remove one of them.",
                )
            lines[key.value] = self.line(key)
        self.reader.flatten_mapping(node)  # `<<` takes over another mapping's keys
        made = {}
        for key, item in node.value:
            found = self.convert(item)
            made[key.value] = Given(found.value, self.origin(key), found.text)
        return made

    def scalar(self, node: yaml.Node) -> Any:
        kind, text = node.tag.removeprefix(TAG), node.value
        try:
            if kind == "null":
                return None
            if kind == "bool":
                return {"true": True, "false": False}[text.lower()]
            if kind == "int":
                digits = text.replace("_", "")
                return int(digits, 0) if digits[:2] in ("0x", "0o") else int(digits)
            if kind == "float":
                return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
        except (ValueError, KeyError):
            raise ConfigError(f"{text!r} is not a valid {kind}", where=self.origin(node).where) from None
        if kind != "str":
            raise ConfigError(f"the tag {node.tag} is not known here", where=self.origin(node).where)
        return text

    def line(self, node: yaml.Node) -> int:
        return int(node.start_mark.line) + 1

    def origin(self, node: yaml.Node) -> Origin:
        return Origin(f"{self.where}:{self.line(node)}" if self.lines else self.where, self.folder)

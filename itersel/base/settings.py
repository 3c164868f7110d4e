"""Settings: values from YAML files and from the command line, each with its origin.

In: files, `--set KEY=VALUE` and flags. Out: one tree of values, in which a later value replaces an earlier one. Every
value remembers where it was given (`file:line`, the option) for messages, and the folder that its paths are relative
to. Nothing is checked here but the form; itersel.base.config makes configurations of settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from itersel.base.errors import ConfigError
from itersel.base.files import read_utf8

TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Origin:
    """Where a value was given."""

    where: str | None = None
    """For messages: `file:line`, or the option."""
    folder: str = ""
    """What its paths are relative to; empty: the current folder."""


@dataclass(frozen=True)
class Given:
    """A value: a scalar, a list of Given, or a dict from text to Given."""

    value: Any
    origin: Origin = Origin()
    text: str | None = None
    """A number as it was written: a field that wants text takes it so."""

    @classmethod
    def of(cls, value: Any, origin: Origin) -> Given:
        """A plain value, whose parts all have the same origin."""
        if isinstance(value, Settings):
            return value.given
        if isinstance(value, Given):
            return value
        if isinstance(value, Mapping):
            return cls({str(key): cls.of(item, origin) for key, item in value.items()}, origin)
        if isinstance(value, list | tuple):
            return cls([cls.of(item, origin) for item in value], origin)
        return cls(value, origin)

    def plain(self) -> Any:
        """The value without origins."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return [item.plain() for item in self.value] if isinstance(self.value, list) else self.value


@dataclass(frozen=True)
class Settings:
    """A group of keys with values. Changes make copies."""

    given: Given = field(default_factory=lambda: Given({}))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Settings:
        """What a YAML file holds; an empty file holds no keys."""
        name = os.fspath(path)
        found = _parse(read_utf8(path).decode(), name, os.path.dirname(name))
        if found is None:
            return cls(Given({}, Origin(name, os.path.dirname(name))))
        if not isinstance(found.value, dict):
            raise ConfigError("not a list of keys", where=found.origin.where, hint="Write lines such as `key: value`.")
        return cls(Given(found.value, Origin(name, found.origin.folder)))

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str | os.PathLike[str] | None = None) -> Settings:
        """Plain values, such as those of a run.json. Paths stay as they are."""
        return cls(Given.of(values, Origin(None if where is None else os.fspath(where))))

    def override(self, assignments: Sequence[str]) -> Settings:
        """With each `key=value` of the option --set; the value is YAML, and the parts of a key are joined by dots."""
        made = self
        for assignment in assignments:
            key, equals, text = assignment.partition("=")
            if not equals or not all(part.strip() for part in key.split(".")):
                raise ConfigError(
                    f"not an assignment: {assignment!r}", where="--set", hint="Write key=value, such as section.key=50."
                )
            where = f"--set {assignment}"
            value = _parse(text, where, "", lines=False) or Given(None, Origin(where))
            made = made.put(key.strip(), value)
        return made

    def put(self, key: str, value: Any, where: str | None = None) -> Settings:
        """With the value at the key, whose parts are joined by dots. A plain value's paths are relative to here."""
        return Settings(_put(self.given, key.split("."), Given.of(value, Origin(where)), key))

    def put_flags(self, values: Mapping[str, Any], flags: Mapping[str, str]) -> Settings:
        """With the command line's flags, by the keys they stand for; a flag of None was not given."""
        made = self
        for flag, key in flags.items():
            if values.get(flag) is not None:
                made = made.put(key, values[flag], ("--" if len(flag) > 1 else "-") + flag.replace("_", "-"))
        return made

    def find(self, key: str) -> Given | None:
        """The value at a key; None if it is not given."""
        found = self.given
        for part in key.split("."):
            if not isinstance(found.value, dict) or part not in found.value:
                return None
            found = found.value[part]
        return found

    def items(self) -> list[tuple[str, Given]]:
        return list(self.given.value.items())

    def plain(self) -> dict[str, Any]:
        """The values without their origins."""
        made = self.given.plain()
        assert isinstance(made, dict)
        return made


def read_yaml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The keys and values of a YAML file, without their origins."""
    return Settings.read(path).plain()


def _put(group: Given, parts: Sequence[str], value: Given, key: str) -> Given:
    known = {} if group.value is None else group.value
    if not isinstance(known, dict):
        name = ".".join(key.split(".")[: -len(parts)])
        raise ConfigError(
            f"{name} is {shown(group.plain())}, so there is no {key}", where=value.origin.where, hint="Leave one out."
        )
    first, *rest = parts
    below = _put(known.get(first, Given({}, value.origin)), rest, value, key) if rest else value
    return Given(known | {first: below}, group.origin)


def shown(value: Any) -> str:
    """A value for messages, as YAML would have it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shown(item)}" for key, item in value.items()) + "}"
    return repr(value) if isinstance(value, str | int | float) else repr(str(value))


class _Reader(yaml.SafeLoader):
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
    _Reader.add_implicit_resolver(TAG + _kind, re.compile(f"(?:{_pattern})$"), [one.strip("\0") for one in _first])


def _parse(text: str, where: str, folder: str, *, lines: bool = True) -> Given | None:
    reader = _Reader(text)
    try:
        node = reader.get_single_node()
        return None if node is None else _Converter(reader, where, folder, lines).convert(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        hint = "Is something indented wrongly, or a bracket or quote left open?"
        raise ConfigError(
            f"not YAML: {problem}", where=f"{where}:{mark.line + 1}" if mark and lines else where, hint=hint
        ) from None
    finally:
        reader.dispose()


class _Converter:
    """Makes values with origins of YAML's nodes. An alias gives the same value again."""

    def __init__(self, reader: _Reader, where: str, folder: str, lines: bool):
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

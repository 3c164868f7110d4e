"""Configurations: frozen dataclasses made of settings. All kinds of configuration files go through this one loader.

The type of a field says what its value may be, and marks in `Annotated` say the rest:

    @dataclass(frozen=True)
    class MertConfig:
        starts: Annotated[int, Range(1)] = 20
        space: Annotated[str, OneOf("list", "forest")] = "list"
        start: PathStr | None = None

        def __post_init__(self) -> None:
            validate(self)  # for those who make one in Python

Types: bool, int, float, str, Path, a nested dataclass, `X | None`, `tuple[X, ...]`, `dict[str, X]`, Literal, Any, and
Settings (a group of keys that is not looked into). A mistake is a ConfigError that says what is wrong, where the value
was given, and what is valid. An error that `__post_init__` raises should begin with the key it is about: the loader
adds the name of the group, and finds the line.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import functools
import math
import os
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from itersel.base.errors import ConfigError, UserError
from itersel.base.given import Given, Origin
from itersel.base.rules import INTERNAL, LOCATION, Formerly, Internal, Matches, OneOf, PathStr, Range, Rule
from itersel.base.settings import Settings, read_yaml, shown

__all__ = [
    "Formerly",
    "Internal",
    "Matches",
    "OneOf",
    "PathStr",
    "Range",
    "Rule",
    "Settings",
    "build",
    "load",
    "load_sections",
    "read_yaml",
    "validate",
]

Config = TypeVar("Config")
NOUNS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", Path: "a path"}
TRUTH = dict.fromkeys(("yes", "on"), True) | dict.fromkeys(("no", "off"), False)


# Loading


def load(kind: type[Config], settings: Settings | Mapping[str, Any]) -> Config:
    """The configuration with these settings; keys that are not given have their defaults.

    A group of keys changes values of the group's default; the others stay. `key:` without a value, or null, is None
    where the field may be None, and the default elsewhere.
    """
    return load_sections(kind, settings, {})[0]


def load_sections(
    kind: type[Config], settings: Settings | Mapping[str, Any], sections: Mapping[str, type]
) -> tuple[Config, dict[str, Any]]:
    """The same, with further groups of the file that other dataclasses are for, such as an algorithm's own.

    `sections` are their keys with the dataclasses; the second result has their configurations by key. A section that is
    not given has its defaults.
    """
    given = settings.given if isinstance(settings, Settings) else Settings.of(settings).given
    made = _group(kind, None, given, "", sections)
    assert isinstance(made, kind)
    found = {name: Settings(given).find(name) or Given({}, given.origin) for name in sections}
    return made, {name: _group(its, None, found[name], name, {}) for name, its in sections.items()}


def build(kind: type[Config], values: Mapping[str, Any], where: str | os.PathLike[str] | None = None) -> Config:
    """The same from plain values, such as those of a run.json, in which paths stay as they are."""
    return load(kind, Settings.of(values, where))


def validate(config: Any) -> None:
    """Check the fields of a configuration made in Python, as `load` does: call it in `__post_init__`.

    A list becomes a tuple, a former word the new one, a whole number a float where the field is one.
    """
    for one in _fields(config.__class__):
        value = getattr(config, one.name)
        if value is not None or not one.nullable:
            made = _convert(one.hint, Given.of(value, Origin()), one.name)
            if made is not value:
                object.__setattr__(config, one.name, made)


@dataclasses.dataclass(frozen=True)
class _Field:
    name: str
    hint: Any
    aliases: tuple[str, ...]
    default: Callable[[], Any] | None
    """None: a value must be given."""

    @property
    def nullable(self) -> bool:
        return self.hint is Any or type(None) in _members(self.hint)


@functools.cache
def _fields(kind: type) -> tuple[_Field, ...]:
    hints = typing.get_type_hints(kind, include_extras=True)
    found = (_field(one, hints[one.name]) for one in dataclasses.fields(kind) if one.init)
    return tuple(one for one in found if INTERNAL not in _marks(one.hint))


def _field(one: dataclasses.Field[Any], hint: Any) -> _Field:
    default: Callable[[], Any] | None = None
    if one.default_factory is not dataclasses.MISSING:
        default = one.default_factory
    elif one.default is not dataclasses.MISSING:
        value = one.default
        default = lambda: value  # noqa: E731
    marks = _marks(hint)
    aliases = tuple(mark.name for mark in marks if isinstance(mark, Formerly))
    return _Field(one.name, hint, aliases, default)


def _group(kind: type, default: Any, given: Given, key: str, sections: Mapping[str, type]) -> Any:
    """The dataclass with these values instead of those of the default one, or of the class's defaults."""
    fields = _fields(kind)
    values = _named(kind, fields, given, key, sections)
    made: dict[str, Any] = {}
    for one in fields:
        found = values.get(one.name)
        if found is not None and (found.value is not None or one.nullable):
            before = getattr(default, one.name) if default is not None else one.default() if one.default else None
            made[one.name] = _convert(one.hint, found, _join(key, one.name), before)
        elif default is None and one.default is None:
            raise ConfigError(
                f"the key {_join(key, one.name)!r} is missing",
                where=given.origin.where if found is None else found.origin.where,
                hint=_valid(kind, key, sections),
            )
    try:
        return kind(**made) if default is None else dataclasses.replace(default, **made)
    except UserError as error:
        raise _located(error, kind, given, key) from None


def _named(
    kind: type, fields: tuple[_Field, ...], given: Given, key: str, sections: Mapping[str, type]
) -> dict[str, Given]:
    """The values by the names of the fields and sections; a key that is none of them is an error."""
    if given.value is None:
        return {}
    if not isinstance(given.value, dict):
        raise ConfigError(
            f"{key or 'the configuration'} is {shown(given.plain())}; give a group of keys",
            where=given.origin.where,
            hint=_valid(kind, key, sections),
        )
    names = {one.name: one.name for one in fields} | {old: one.name for one in fields for old in one.aliases}
    names |= {name: name for name in sections}
    made: dict[str, Given] = {}
    for name, value in given.value.items():
        if name not in names:
            meant = _meant(name, kind, names)
            raise ConfigError(
                f"unknown key {_join(key, name)!r}" + (f"; did you mean {_join(key, meant)!r}?" if meant else ""),
                where=value.origin.where,
                hint=_valid(kind, key, sections),
            )
        if names[name] in made:
            raise ConfigError(
                f"{_join(key, names[name])} is given twice, also by its former name",
                where=value.origin.where,
                hint="Remove one of them.",
            )
        made[names[name]] = value
    return made


def _convert(hint: Any, given: Given, key: str, default: Any = None) -> Any:
    """The value as the type wants it."""
    members = [one for one in _members(hint) if one is not type(None)]
    if given.value is None and len(members) < len(_members(hint)):
        return None
    if len(members) > 1:
        return _first(members, given, key)
    kind, rules = _kind(members[0]), _marks(hint)
    if kind is Any:
        return given.plain()
    if kind is Settings:
        if not isinstance(given.value, dict):
            raise _invalid(given, key, "give a group of keys")
        return Settings(given)
    if dataclasses.is_dataclass(kind):
        if isinstance(given.value, typing.cast(type, kind)):  # made in Python
            return given.value
        return _group(typing.cast(type, kind), default, given, key, {})
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        items = given.value if isinstance(given.value, list) else [given]
        many = len(items) > 1 or dataclasses.is_dataclass(_kind(arguments[0]))
        value: Any = tuple(
            _convert(arguments[0], item, f"{key}[{at}]" if many else key) for at, item in enumerate(items, 1)
        )
    elif origin in (dict, Mapping):
        if not isinstance(given.value, dict):
            raise _invalid(given, key, "give names with values")
        value = {
            _convert(arguments[0], Given(name, item.origin), f"a name in {key}"): _convert(
                arguments[1], item, _join(key, name)
            )
            for name, item in given.value.items()
        }
    elif origin is typing.Literal:
        value, rules = _scalar(str, given, key, rules), [OneOf(*arguments)]
    else:
        value = _scalar(kind, given, key, rules)
    for rule in rules:
        if isinstance(rule, Rule):
            try:
                value = rule.apply(value)
            except ValueError:
                raise _invalid(given, key, rule.wanted(NOUNS.get(kind, "a value")), _near(given.value, rule)) from None
    return value


def _first(members: list[Any], given: Given, key: str) -> Any:
    """The value as the first of several types that takes it. Only a dataclass takes a group of keys, and
    nothing else, so an error in a group is reported as that of the group."""
    grouped = isinstance(given.value, dict) or dataclasses.is_dataclass(given.value)
    members = [one for one in members if dataclasses.is_dataclass(_kind(one)) == grouped] or members
    for member in members[:-1]:
        try:
            return _convert(member, given, key)
        except ConfigError:
            continue
    return _convert(members[-1], given, key)


def _scalar(kind: Any, given: Given, key: str, marks: list[Any]) -> Any:
    value = given.value
    if kind is bool and isinstance(value, str):
        value = TRUTH.get(value.lower(), value)
    elif kind in (int, float):
        value = _numeric(kind, value)
    elif kind in (str, Path) and given.text is not None:
        value = given.text
    if kind is Path and isinstance(value, str | os.PathLike) and os.fspath(value):
        return Path(os.path.abspath(_resolved(os.fspath(value), given.origin)))
    if kind is str and LOCATION in marks and isinstance(value, os.PathLike):
        value = os.fspath(value)
    if kind not in NOUNS:
        raise TypeError(f"{key}: configurations cannot have fields of type {kind!r}")
    if type(value) is not kind and not (isinstance(value, kind) and kind in (str, float)):
        rules = [one for one in marks if isinstance(one, Rule)]
        raise _invalid(given, key, rules[0].wanted(NOUNS[kind]) if rules else f"give {NOUNS[kind]}")
    return _resolved(value, given.origin) if kind is str and LOCATION in marks else value


def _numeric(kind: type, value: Any) -> Any:
    """The value as a number of this type, if it is one."""
    if isinstance(value, str):  # in quotes, or from a program
        try:
            value = int(value) if re.fullmatch(r"[-+]?[0-9]+", value) else float(value)
        except ValueError:
            return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if kind is int and value.is_integer() else value
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    return value


def _resolved(path: str, origin: Origin) -> str:
    if path in ("", "-") or "://" in path:
        return path
    path = os.path.expanduser(path)
    return os.path.normpath(os.path.join(origin.folder, path)) if origin.folder else path


# Messages


def _invalid(given: Given, key: str, wanted: str, hint: str | None = None) -> ConfigError:
    return ConfigError(f"{key} is {shown(given.plain())}; {wanted}", where=given.origin.where, hint=hint)


def _valid(kind: type, key: str, sections: Mapping[str, type]) -> str:
    names = [*(one.name for one in _fields(kind)), *sections]
    return f"Valid keys{f' of {key}' if key else ''}: {', '.join(names)}."


def _near(value: Any, rule: Rule) -> str | None:
    near = difflib.get_close_matches(str(value), rule.choices, 1) if isinstance(rule, OneOf) else []
    return f"Did you mean {near[0]!r}?" if near else None


def _meant(name: str, kind: type, names: Mapping[str, str]) -> str | None:
    """What an unknown key may have meant: one of similar spelling, or one of that name in a group."""
    deeper = [key for key in _keys(kind) if key.rpartition(".")[2] == name]
    near = [*difflib.get_close_matches(name, names, 1), *deeper]
    return names.get(near[0], near[0]) if near else None


def _keys(kind: type, prefix: str = "") -> Iterator[str]:
    """All keys in the groups of a configuration, their parts joined by dots."""
    for one in _fields(kind):
        below = _kind(next(member for member in _members(one.hint) if member is not type(None)))
        if dataclasses.is_dataclass(below):
            yield from _keys(typing.cast(type, below), f"{prefix}{one.name}.")
        elif prefix:
            yield prefix + one.name


def _located(error: UserError, kind: type, given: Given, key: str) -> ConfigError:
    """An error of `__post_init__` with the place of the key that it begins with, or that of the group."""
    if error.where is not None:
        return ConfigError(error.message, where=error.where, hint=error.hint)
    first = re.match(r"[A-Za-z_][\w.]*", error.message)
    names = {one.name for one in _fields(kind)}
    if first is None or first[0].partition(".")[0] not in names:
        return ConfigError(error.message, where=given.origin.where, hint=error.hint)
    found = Settings(given).find(first[0].rstrip("."))
    where = given.origin.where if found is None else found.origin.where
    return ConfigError(_join(key, error.message), where=where, hint=error.hint)


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


# Types


def _members(hint: Any) -> tuple[Any, ...]:
    """The types of a union; those of `Annotated[X | None, …]`, too."""
    if typing.get_origin(hint) is Annotated and typing.get_origin(hint.__origin__) in (typing.Union, types.UnionType):
        return typing.get_args(hint.__origin__)
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _kind(hint: Any) -> Any:
    """The type without marks, and without None."""
    members = [one for one in _members(hint) if one is not type(None)]
    found = members[0] if len(members) == 1 else hint
    return found.__origin__ if typing.get_origin(found) is Annotated else found


def _marks(hint: Any) -> list[Any]:
    """The marks of a type, and of the members of a union."""
    own = list(hint.__metadata__) if typing.get_origin(hint) is Annotated else []
    members = [one for one in _members(hint) if one is not hint]
    return own + [mark for one in members for mark in _marks(one)]

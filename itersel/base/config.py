"""Configurations: frozen dataclasses filled from YAML. An unknown key is an error that lists the valid ones."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import yaml

from itersel.base.errors import ConfigError
from itersel.base.files import read_utf8

Config = TypeVar("Config")


def read_yaml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The mapping a YAML file holds; an empty file is an empty one."""
    return _mapping(_parse(read_utf8(path).decode(), path), path)


def override(values: dict[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """A copy with each `key=value` set; the key's parts are joined by dots, the value is YAML."""
    for assignment in assignments:
        values = assign(values, *parse_assignment(assignment))
    return values


def parse_assignment(assignment: str) -> tuple[str, Any]:
    """The key, its parts joined by dots, and the value of `key=value`."""
    key, equals, text = assignment.partition("=")
    if not equals or not all(part.strip() for part in key.split(".")):
        raise ConfigError(f"not an assignment: {assignment!r}", hint="Write key=value, such as section.key=50.")
    return key.strip(), _parse(text, assignment)


def assign(values: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A copy with the value at the key, whose parts are joined by dots."""
    first, _, rest = key.partition(".")
    if not rest:
        return values | {first: value}
    inner = values.get(first) or {}
    if not isinstance(inner, dict):
        raise ConfigError(f"{first!r} is no group of keys, so there is no '{key}'")
    return values | {first: assign(inner, rest, value)}


def build(kind: type[Config], values: Mapping[str, Any], where: str | os.PathLike[str] | None = None) -> Config:
    """The dataclass with these values; nested mappings change values of the nested dataclasses' defaults."""
    return _build(kind(), values, "", where)


def _build(default: Any, values: Any, prefix: str, where: Any) -> Any:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{prefix.rstrip('.')} must be a group of keys, not {values!r}", where=where)
    hints = typing.get_type_hints(type(default))
    names = [field.name for field in dataclasses.fields(default)]
    for key in values:
        if key not in names:
            raise ConfigError(f"unknown key '{prefix}{key}'", where=where, hint=f"Known here: {', '.join(names)}.")
    given = {}
    for key, value in values.items():
        known = getattr(default, key)
        if dataclasses.is_dataclass(known):
            given[key] = known if value is None else _build(known, value, f"{prefix}{key}.", where)
        else:
            given[key] = _convert(hints[key], value, f"{prefix}{key}", where)
    try:
        return dataclasses.replace(default, **given)
    except ConfigError as error:
        raise ConfigError(error.message, where=error.where or where, hint=error.hint) from None


def _convert(kind: Any, value: Any, key: str, where: Any) -> Any:
    if isinstance(kind, types.UnionType):
        if value is None and type(None) in typing.get_args(kind):
            return None
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    if typing.get_origin(kind) is tuple:
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ConfigError(f"{key} is {value!r}", where=where, hint="Give a list of texts.")
        return tuple(items)
    if kind is float and isinstance(value, str):  # YAML takes 1e-4 for a text
        with contextlib.suppress(ValueError):
            value = float(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        word = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}[kind]
        raise ConfigError(f"{key} is {value!r}", where=where, hint=f"Give {word}.")
    return value


def _parse(text: str, where: str | os.PathLike[str]) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = os.fspath(where) if mark is None else f"{os.fspath(where)}:{mark.line + 1}"
        raise ConfigError(f"not YAML: {getattr(error, 'problem', None) or error}", where=place) from None


def _mapping(values: Any, where: str | os.PathLike[str]) -> dict[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError("expected lines such as `key: value`", where=where)
    return values

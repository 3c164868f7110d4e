"""Settings: values from YAML files and from the command line, each with its origin.

In: files, `--set KEY=VALUE` and flags. Out: one tree of values, in which a later value replaces an earlier one. Every
value remembers where it was given (`file:line`, the option) for messages, and the folder that its paths are relative
to. Nothing is checked here but the form; itersel.base.config makes configurations of settings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from itersel.base.errors import ConfigError
from itersel.base.files import read_utf8
from itersel.base.given import Given, Holder, Origin


@dataclass(frozen=True)
class Settings(Holder):
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


def _parse(text: str, where: str, folder: str, *, lines: bool = True) -> Given | None:
    from itersel.base.yaml_reader import parse  # takes its time, and workers of a job read no YAML

    return parse(text, where, folder, lines=lines)

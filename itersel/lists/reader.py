"""N-best lists of any system as text: one line per hypothesis, the lines of a list together, in one of two forms.

    moses:  0 ||| a man ||| LanguageModel= -2.5 Translation= 0.25 1 ||| -3.25    (also cdec's LanguageModel=-2.5, 0|||)
    json:   {"id": 0, "text": "a man", "features": {"LanguageModel": -2.5}, "score": -3.25}

A name with several values stands for name_0, name_1 …; values without a name get the name of their field, `field5`, or
`field5_0`, `field5_1` … if there are several. Lists stream: memory holds one at a time. Whole numbers as ids must
ascend; other ids may come in any order, but not twice. Every error is an InputError that names `path:line`.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from itersel.base.config import OneOf, validate
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.base.json_files import parse_json
from itersel.lists.writer import format_number
from itersel.model.features import NAME_RULES, is_feature_name
from itersel.model.vectors import feature_id

FORMS = ("auto", "moses", "json")
SEPARATOR = re.compile(r"(?:^|(?<=[ \t]))\|\|\|(?=[ \t]|$)")
SYSTEM_SCORE = "SystemScore"
"""The feature of a hypothesis that is its system's own score."""
WORDS = re.compile(r"[^ \t\r\n]+")
"""Words as the kernel splits them: a no-break space does not end a word."""


@dataclass(frozen=True)
class FieldsConfig:
    """Which field of a line has what. Fields of `|||` lines are numbers, from 1; those of JSON are keys."""

    form: Annotated[str, OneOf(*FORMS)] = "auto"
    """moses or json; auto: by the first character of a file."""
    features: tuple[str, ...] = ()
    """One or several fields: names with values, or a bare number, such as another system's score. Default: 3, or
    `features`."""
    score: str | None = None
    """Default: 4, or `score`. May be absent."""
    objective: str | None = None
    """A number that says how good the hypothesis is, higher is better; None: references do."""

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Entry:
    """A hypothesis, with all of its line, so that it can be written back."""

    text: str
    features: dict[str, float]
    score: float | None
    objective: float | None
    content: Any

    @property
    def with_score(self) -> dict[str, float]:
        """The features, and the system's score as one more."""
        return self.features if self.score is None else self.features | {SYSTEM_SCORE: self.score}


@dataclass(frozen=True)
class NbestList:
    """The lines of one list, not parsed yet: a process can do that with `parse`."""

    id: str
    path: str
    first: int
    """Line number of the first line, from 1."""
    lines: tuple[str, ...]
    form: Form

    def where(self, position: int = 0) -> str:
        return f"{self.path}:{self.first + position}"

    def parse(self) -> list[Entry]:
        return [self.form.parse(line, self.where(k)) for k, line in enumerate(self.lines)]

    def texts(self) -> list[str]:
        """Only the hypotheses, which is faster."""
        return [self.form.text(line, self.where(k)) for k, line in enumerate(self.lines)]


class Form(Protocol):
    """How a line is read and written."""

    def id(self, line: str, where: str) -> str: ...
    def text(self, line: str, where: str) -> str: ...
    def parse(self, line: str, where: str) -> Entry: ...
    def write(self, entry: Entry, score: float) -> str: ...


def read_lists(
    paths: Sequence[str | os.PathLike[str]], fields: FieldsConfig | None = None, *, ordered: bool = True
) -> Iterator[NbestList]:
    """The lists of one or several files, plain or gzip, `-` for standard input; ids continue from file to file.

    With `ordered`, ids that are whole numbers must ascend.
    """
    fields, order = fields or FieldsConfig(), _Order(ordered)
    for given in paths:
        path, form, found, lines, first = os.fspath(given), None, "", list[str](), 1
        for number, line in enumerate(read_lines(path), 1):
            where = f"{path}:{number}"
            if form is None:
                form = _form(line, fields)
            if line.strip() == "":
                raise InputError("an empty line", where=where, hint="Each line is a hypothesis; remove this one.")
            name = form.id(line, where)
            if name == found and lines:
                lines.append(line)
                continue
            if lines:
                yield NbestList(found, path, first, tuple(lines), form)
            order.check(name, where)
            found, lines, first = name, [line], number
        if lines and form is not None:
            yield NbestList(found, path, first, tuple(lines), form)


def whole_number(name: str) -> int | None:
    """The id as a number, if it is one."""
    return int(name) if name.isascii() and name.isdigit() and len(name) < 19 else None


class _Order:
    """Ids seen so far: numbers must ascend, of others the hashes are kept."""

    def __init__(self, ordered: bool) -> None:
        self.ordered, self.last, self.seen = ordered, -1, set[int]()

    def check(self, name: str, where: str) -> None:
        number = whole_number(name) if self.ordered else None
        if number is None:
            if feature_id(name) in self.seen:
                raise InputError(
                    f"list {name!r} appears twice, with another list in between",
                    where=where,
                    hint="Put the lines of a list together.",
                )
            self.seen.add(feature_id(name))
        elif number <= self.last:
            raise InputError(
                f"list {name} comes after list {self.last}",
                where=where,
                hint="Sort the lines by id, e.g. with sort -n -s -k1,1.",
            )
        else:
            self.last = number


def _form(line: str, fields: FieldsConfig) -> Form:
    is_json = line.lstrip().startswith("{") if fields.form == "auto" else fields.form == "json"
    return JsonForm(fields) if is_json else MosesForm(fields)


class MosesForm:
    """Fields between `|||`."""

    def __init__(self, fields: FieldsConfig):
        self.features = tuple(_place(field) for field in fields.features) or (2,)
        self.score = 3 if fields.score is None else _place(fields.score)
        self.objective = None if fields.objective is None else _place(fields.objective)
        needed = max((*self.features, -1 if self.objective is None else self.objective)) + 1
        self.needed = max(needed, 3 if fields.score is None else self.score + 1)

    def id(self, line: str, where: str) -> str:
        name, bars, _ = line.partition("|||")
        if not bars:
            raise _few_fields(1, self.needed, where)
        if not name.strip():
            raise InputError("the line has no id", where=where, hint="Write `id ||| text ||| features ||| score`.")
        return name.strip()

    def text(self, line: str, where: str) -> str:
        return self._content(line, where)[1]

    def _content(self, line: str, where: str) -> list[str]:
        content = _split(line, where)
        if len(content) < self.needed:
            raise _few_fields(len(content), self.needed, where)
        return content

    def parse(self, line: str, where: str) -> Entry:
        content = self._content(line, where)
        features: dict[str, float] = {}
        for place in self.features:
            found = _named_values(content[place], f"field{place + 1}", where)
            for name in features.keys() & found.keys():
                raise _twice(name, where)
            features |= found
        score = _number(content[self.score], "score", where) if self.score < len(content) else None
        objective = None if self.objective is None else _number(content[self.objective], "objective", where)
        return Entry(content[1], features, score, objective, content)

    def write(self, entry: Entry, score: float) -> str:
        content = [*entry.content]
        content[self.score : self.score + 1] = [format_number(score)]
        return " ||| ".join(content) + "\n"


class JsonForm:
    """One JSON object per line."""

    def __init__(self, fields: FieldsConfig):
        self.features = fields.features or ("features",)
        self.score, self.objective = fields.score or "score", fields.objective
        self.score_needed = fields.score is not None

    def id(self, line: str, where: str) -> str:
        name = self._value(self._object(line, where), "id", where)
        if isinstance(name, bool) or not isinstance(name, int | str) or not str(name) or "\n" in str(name):
            raise InputError(f"the id is {name!r}", where=where, hint="Give a text or a whole number.")
        return str(name)

    def text(self, line: str, where: str) -> str:
        return self._text(self._object(line, where), where)

    def _text(self, content: dict[str, Any], where: str) -> str:
        text = self._value(content, "text", where)
        if not isinstance(text, str):
            raise InputError(f"the text is {text!r}", where=where, hint="Give the hypothesis as a text.")
        return text

    def parse(self, line: str, where: str) -> Entry:
        content = self._object(line, where)
        text = self._text(content, where)
        features: dict[str, float] = {}
        for key in self.features:
            value = self._value(content, key, where)
            for name, one in value.items() if isinstance(value, dict) else [(key, value)]:
                _add(features, name, _json_number(one, name, where), where)
        score = None
        if self.score_needed or self.score in content:
            score = _json_number(self._value(content, self.score, where), self.score, where)
        objective = None
        if self.objective is not None:
            objective = _json_number(self._value(content, self.objective, where), self.objective, where)
        return Entry(text, features, score, objective, content)

    def write(self, entry: Entry, score: float) -> str:
        return json.dumps(entry.content | {self.score: float(format_number(score))}, ensure_ascii=False) + "\n"

    @staticmethod
    def _object(line: str, where: str) -> dict[str, Any]:
        try:
            content = parse_json(line)
        except ValueError as error:
            raise InputError(f"not JSON: {error}", where=where) from None
        if not isinstance(content, dict):
            raise InputError("not a JSON object", where=where, hint='Write {"id": …, "text": …, "features": {…}}.')
        return content

    @staticmethod
    def _value(content: dict[str, Any], key: str, where: str) -> Any:
        if key not in content:
            raise InputError(f"no {key!r}", where=where, hint=f"The line has {', '.join(map(repr, content))}.")
        return content[key]


def words_of(text: str) -> list[str]:
    """The words of a tokenised text."""
    return WORDS.findall(text)


def _place(field: str) -> int:
    if not field.isascii() or not field.isdigit() or int(field) < 1:
        raise ConfigError(
            f"{field!r} is not a field", hint="Fields of `|||` lines are numbered from 1: 3 is the third."
        )
    if int(field) < 3:
        raise ConfigError(f"field {field} is the list's id or the text", hint="Name a field from 3 on.")
    return int(field) - 1


def _few_fields(found: int, needed: int, where: str) -> InputError:
    return InputError(
        f"{found} fields where at least {needed} are needed",
        where=where,
        hint="Write `id ||| text ||| features ||| score`, or say which fields there are.",
    )


def _split(line: str, where: str) -> list[str]:
    """The fields between `|||` tokens, without blanks around them. Moses writes no blank after the id."""
    if line.count("|||") == line.count(" ||| "):  # most lines are like this, and it is much faster
        return [field.strip(" \t\r") for field in line.split(" ||| ")]
    name, _, rest = line.partition("|||")
    fields = [field.strip(" \t\r") for field in (name, *SEPARATOR.split(rest))]
    for field in fields:
        if "|||" in field:
            raise InputError(
                f"||| inside a field: {field[:40]!r}", where=where, hint="Put blanks around every ||| between fields."
            )
    return fields


def _named_values(text: str, field: str, where: str) -> dict[str, float]:
    """`name=value` tokens, and `name= value value …` groups; older versions of Moses wrote `name: value value …`."""
    tokens = WORDS.findall(text)
    features = _plain_values(tokens)
    if features is not None:
        return features
    features, group, values = {}, field, list[float]()

    def finish() -> None:
        if not values and group not in ("", field):
            raise InputError(f"feature {group!r} has no value", where=where, hint="Write name=1.5 or name= 1.5.")
        for k, value in enumerate(values):
            _add(features, group if len(values) == 1 else f"{group}_{k}", value, where)

    for token in tokens:
        name, equals, value = token.rpartition("=")
        if (equals and name and not value) or (not equals and token[-1] == ":" and len(token) > 1):
            finish()
            group, values = token[:-1], []
        elif equals:
            finish()
            group, values = "", []
            _add(features, name, _number(value, f"feature {name!r}", where), where)
        elif group:
            values.append(_number(token, f"feature {group!r}", where))
        else:
            raise InputError(f"{token!r} belongs to no feature", where=where, hint="Write name=1.5 or name= 1.5.")
    finish()
    return features


def _plain_values(tokens: list[str]) -> dict[str, float] | None:
    """A fast way for lines that have only valid `name=value` tokens, as most do; None for all others."""
    try:
        pairs = [
            (name, float(value)) for name, _, value in [token.rpartition("=") for token in tokens] if "_" not in value
        ]
    except ValueError:
        return None
    features = dict(pairs)
    good = len(features) == len(tokens) and all(map(math.isfinite, features.values()))
    return features if good and all(map(is_feature_name, features)) else None


def _number(text: str, what: str, where: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    return _finite(value, text, what, where)


def _json_number(given: Any, what: str, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return _finite(math.nan, given, what, where)
    try:
        return _finite(float(given), given, what, where)
    except OverflowError:
        return _finite(math.inf, given, what, where)


def _finite(value: float, given: Any, what: str, where: str) -> float:
    if not math.isfinite(value):
        shown = repr(given)[:60]
        raise InputError(f"{what} is {shown}", where=where, hint="Give a finite number, such as -1.5 or 2e-3.")
    return value


def _add(features: dict[str, float], name: str, value: float, where: str) -> None:
    if not is_feature_name(name):
        raise InputError(f"{name!r} cannot be a feature's name", where=where, hint=NAME_RULES)
    if name in features:
        raise _twice(name, where)
    features[name] = value


def _twice(name: str, where: str) -> InputError:
    return InputError(f"feature {name!r} occurs twice", where=where, hint="Give each feature one value.")

"""The loader of configurations: types, marks, defaults, origins, and sections of other classes."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.config import (
    Formerly,
    Internal,
    Matches,
    OneOf,
    PathStr,
    Range,
    Settings,
    build,
    load,
    load_sections,
    read_yaml,
    validate,
)
from itersel.base.errors import ConfigError


@dataclass(frozen=True)
class Inner:
    rate: Annotated[float, Range(above=0)] = 0.5
    size: Annotated[int, Range(1, 10)] | None = None
    mode: Annotated[str, OneOf("fast", "exact", old={"slow": "exact"})] = "fast"

    def __post_init__(self) -> None:
        validate(self)
        if self.size == 7:
            raise ConfigError("size is 7, which nobody likes", hint="Give another.")


@dataclass(frozen=True)
class Outer:
    count: int = 3
    names: tuple[str, ...] = ()
    limits: dict[Annotated[str, Matches("[a-z]+", "small letters")], int] = field(default_factory=dict)
    flag: bool = False
    place: PathStr | None = None
    folder: Path | None = None
    inner: Inner = field(default_factory=lambda: Inner(size=5))
    maybe: Inner | None = None
    many: tuple[Inner, ...] = ()
    level: Literal["low", "high"] = "low"
    either: int | str = 0
    anything: Any = None
    loose: Settings = field(default_factory=Settings)
    renamed: Annotated[int, Formerly("was")] = 0
    own: Internal = None

    def __post_init__(self) -> None:
        validate(self)


def read(tmp_path, text, *overrides):
    (tmp_path / "c.yaml").write_text(text)
    return load(Outer, Settings.read(tmp_path / "c.yaml").override(overrides))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("count: 1e6", "count", 1_000_000),
        ("count: 2.0", "count", 2),
        ("count: 1_000", "count", 1000),
        ("count: '12'", "count", 12),
        ("count: 010", "count", 10),
        ("count:", "count", 3),
        ("count: null", "count", 3),
        ("names: a", "names", ("a",)),
        ("names: [no, 3, 1e5, 12:30]", "names", ("no", "3", "1e5", "12:30")),
        ("flag: yes", "flag", True),
        ("flag: Off", "flag", False),
        ("flag: 'true'", "flag", None),
        ("limits: {a: 1, b: 2e2}", "limits", {"a": 1, "b": 200}),
        ("inner: {rate: 1e-4}", "inner", Inner(1e-4, 5)),
        ("inner: {rate: 3}", "inner", Inner(3.0, 5)),
        ("inner: {size: null}", "inner", Inner(size=None)),
        ("inner: {mode: slow}", "inner", Inner(size=5, mode="exact")),
        ("inner:", "inner", Inner(size=5)),
        ("maybe: {size: 2}", "maybe", Inner(size=2)),
        ("maybe: null", "maybe", None),
        ("many: [{size: 1}, {}]", "many", (Inner(size=1), Inner())),
        ("level: high", "level", "high"),
        ("either: 3", "either", 3),
        ("either: x", "either", "x"),
        ("anything: {a: [1, 1e-1]}", "anything", {"a": [1, 0.1]}),
        ("was: 4", "renamed", 4),
        ("renamed: 4", "renamed", 4),
        ("a: &a {size: 2}\ncount: 1", None, "unknown key 'a'"),
        ("anything: &a {size: 2, rate: 2}\ninner: {<<: *a, rate: 3}", "inner", Inner(3.0, 2)),
    ],
)
def test_values(tmp_path, text, key, value):
    if key is None or (value is None and "null" not in text):
        with pytest.raises(ConfigError, match=value or "give true or false"):
            read(tmp_path, text)
    else:
        found = getattr(read(tmp_path, text), key)
        assert found == value and type(found) is type(value)


def test_nothing_given_is_the_default(tmp_path):
    assert read(tmp_path, "") == Outer() == read(tmp_path, "# only a comment\n") == build(Outer, {})


def test_a_path_is_relative_to_what_names_it(tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "c.yaml").write_text("place: ../data/*.x\nfolder: out\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    file = Settings.read("conf/c.yaml")
    made = load(Outer, file)
    assert (made.place, made.folder) == ("data/*.x", tmp_path / "conf" / "out")
    made = load(Outer, file.override(["place=a", "folder=b"]))
    assert (made.place, made.folder) == ("a", tmp_path / "b")
    made = load(Outer, file.put_flags({"place": "a", "folder": None}, {"place": "place", "folder": "folder"}))
    assert (made.place, made.folder) == ("a", tmp_path / "conf" / "out")
    for place in ("/abs/x", "s3://bucket/x", "-"):
        assert load(Outer, file.put("place", place)).place == place
    assert load(Outer, file.override(["place=~/x"])).place == "/home/me/x"
    assert load(Outer, Settings.read(tmp_path / "conf" / "c.yaml")).place == f"{tmp_path}/data/*.x"


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        ("inner:\n  size: 11", [], "c.yaml:2: inner.size is 11; give a whole number from 1 to 10"),
        ("inner:\n  rate: 1\n  size: 7", [], "c.yaml:3: inner.size is 7, which nobody likes\n  Give another."),
        ("many:\n  - {}\n  - {size: 0}", [], "c.yaml:3: many[2].size is 0; give"),
        ("names: [a]\nlimits: {A: 1}", [], "c.yaml:2: a name in limits is 'A'; give small letters"),
        ("inner: {size: 7}", ["inner.size=8", "inner.rate=0"], "--set inner.rate=0: inner.rate is 0; give a number gr"),
        ("level: middle", [], "c.yaml:1: level is 'middle'; choose one of low, high"),
        ("loose: 3", [], "c.yaml:1: loose is 3; give a group of keys"),
        ("was: 1\nrenamed: 2", [], "c.yaml:2: renamed is given twice, also by its former name"),
        ("own: 1", [], "unknown key 'own'"),
        ("iner: {}", [], "unknown key 'iner'; did you mean 'inner'?\n  Valid keys: count, names, limits"),
        ("", ["inner.size=[1, 2]"], "inner.size is [1, 2]; give a whole number from 1 to 10"),
        ("count: " + "9" * 400, ["inner.rate=" + "9" * 400], "inner.rate is 999"),
    ],
)
def test_messages(tmp_path, text, overrides, message):
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, text, *overrides)
    assert message in str(raised.value)


def test_made_in_python():
    assert (
        Outer(names=["a"]).names == ("a",) and Inner(mode="slow").mode == "exact" and type(Inner(rate=1).rate) is float
    )
    assert Outer(many=[Inner()]).many == (Inner(),)
    for values in ({"count": "many"}, {"flag": 1}, {"names": [None]}, {"level": "x"}):
        with pytest.raises(ConfigError, match=f"{next(iter(values))}.* is .*; "):
            Outer(**values)
    with pytest.raises(ConfigError, match="size is 0; give a whole number from 1 to 10"):
        Inner(size=0)


def test_sections_of_other_classes(tmp_path):
    (tmp_path / "c.yaml").write_text("count: 2\nmert:\n  size: 3\n")
    settings = Settings.read(tmp_path / "c.yaml")
    assert load_sections(Outer, settings, {"mert": Inner}) == (Outer(count=2), {"mert": Inner(size=3)})
    assert load_sections(Outer, Settings(), {"mert": Inner}) == (Outer(), {"mert": Inner()})
    with pytest.raises(ConfigError, match="unknown key 'mert'"):
        load(Outer, settings)
    with pytest.raises(ConfigError, match=r"c\.yaml:3: mert\.size is 3; give a whole number"):
        load_sections(Outer, settings, {"mert": _small()})
    with pytest.raises(ConfigError, match="unknown key 'mret'; did you mean 'mert'") as raised:
        load_sections(Outer, settings.override(["mret.size=1"]), {"mert": Inner})
    assert raised.value.hint.endswith("renamed, mert.")


def _small():
    @dataclass(frozen=True)
    class Small:
        size: Annotated[int, Range(high=2)] = 1

    return Small


def test_flags_are_named_as_they_are_typed():
    settings = Settings().put_flags({"inner_size": 0, "k": None}, {"inner_size": "inner.size", "k": "count"})
    with pytest.raises(ConfigError, match=r"^--inner-size: inner\.size is 0; give"):
        load(Outer, settings)
    with pytest.raises(ConfigError, match=r"^-k: count is 'x'; give a whole number"):
        load(Outer, Settings().put_flags({"k": "x"}, {"k": "count"}))


TEXT = st.text("abcö :-#'\"\n[{&*!", max_size=6)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
        lambda items: st.lists(items, max_size=3) | st.dictionaries(TEXT, items, max_size=3),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict))
)
def test_reads_what_yaml_writes(tmp_path_factory, values):
    """PyYAML's own output means the same here, but for words that are no longer special."""
    path = tmp_path_factory.mktemp("yaml") / "c.yaml"
    path.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")
    assert read_yaml(path) == values

"""Weight files in cdec's form: what is read, what is refused and where, and that values come back exactly."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.model.features import Weights

READ = [
    ("Glue 0.1\nLanguageModel 1\n", {"Glue": 0.1, "LanguageModel": 1.0}),
    ("Glue\t0.1\n  LanguageModel \t 1  ", {"Glue": 0.1, "LanguageModel": 1.0}),
    ("# a comment\n\n  # another\nGlue 1e-3\r\n#x 1\r\n", {"Glue": 0.001}),
    ("R:X:a_#:b -2.5\nRBT:<r>_ü +7\nf .5", {"R:X:a_#:b": -2.5, "RBT:<r>_ü": 7.0, "f": 0.5}),
    ("a\u00a0b 1", {"a\u00a0b": 1.0}),
    ("zero 0\nminus -0.0", {"zero": 0.0, "minus": 0.0}),
    ("tiny 5e-324\nhuge 1.7976931348623157e308", {"tiny": 5e-324, "huge": 1.7976931348623157e308}),
    ("", {}),
]

REFUSED = [
    ("Glue", "expected 'name value', found 'Glue'"),
    ("Glue 1 2", "expected 'name value', found 'Glue 1 2'"),
    ("Glue x", "expected a finite number after the name, found 'x'"),
    ("Glue 1x", "found '1x'"),
    ("Glue 1,5", "found '1,5'"),
    ("Glue inf", "found 'inf'"),
    ("Glue -inf", "found '-inf'"),
    ("Glue nan", "found 'nan'"),
    ("Glue 1e999", "found '1e999'"),
    ("Glue +-1", "found '+-1'"),
    ("Glue +", "found '+'"),
    ("first 2", "the weight of 'first' is given twice"),
    ("x" + "ü" * 40, "found 'x" + "ü" * 29 + "…'"),
]


def read(folder: Path, content: bytes, name: str = "weights") -> Weights:
    path = folder / name
    path.write_bytes(content)
    return Weights.read(path)


@pytest.mark.parametrize(("text", "expected"), READ)
@pytest.mark.parametrize("compress", [False, True])
def test_reading(tmp_path: Path, text: str, expected: dict[str, float], compress: bool) -> None:
    content = gzip.compress(text.encode()) if compress else text.encode()
    found = read(tmp_path, content)
    assert dict(found) == expected
    assert len(found) == len(expected)
    assert "absent" not in found
    assert found.get("absent", 0.0) == 0.0


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_refused_lines(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"first 1\n# comment\n{line}\nlast 1\n".encode())
    assert caught.value.where == f"{tmp_path / 'weights'}:3"
    assert message in caught.value.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="weights:2: invalid UTF-8"):
        read(tmp_path, b"a 1\n\xff 2\n")
    with pytest.raises(InputError, match="damaged gzip"):
        read(tmp_path, gzip.compress(b"a 1\n" * 100)[:-9])
    with pytest.raises(InputError, match="cannot read"):
        Weights.read(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "value"), [("", 1.0), ("a b", 1.0), ("a\n", 1.0), ("#a", 1.0), ("a", math.inf), ("a", math.nan)]
)
def test_refused_values(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match="not a feature weight"):
        Weights({name: value})


names = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n"), min_size=1, max_size=6).filter(
    lambda name: not name.startswith("#") and not name.endswith("=")
)
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("name", ["weights", "weights.gz"])
@given(values=st.dictionaries(names, finite, max_size=6))
def test_values_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, name: str, values: dict[str, float]
) -> None:
    """All but zeros; lines are sorted by the names' bytes, so equal weights make equal files."""
    path = tmp_path_factory.mktemp("weights") / name
    Weights(values).write(path)
    assert dict(Weights.read(path)) == {key: value for key, value in values.items() if value}
    again = path.with_name("again" + path.suffix)
    Weights(dict(reversed(values.items()))).write(again)
    assert again.read_bytes() == path.read_bytes()
    content = path.read_bytes()
    lines = (gzip.decompress(content) if name.endswith(".gz") else content).split(b"\n")[:-1]
    keys = [line.split(b" ")[0] for line in lines]
    assert keys == sorted(keys)

"""The README's figures are those of benchmarks/figures.json, and each says where it comes from."""

import json
import sys
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import figures  # noqa: E402


def document() -> dict:
    return json.loads(figures.FIGURES.read_text())


def test_the_readme_has_the_figures_as_they_are():
    """After a change of figures.json: python benchmarks/figures.py table."""
    readme = figures.README.read_text()
    assert figures.rewritten(readme) == readme


def test_every_figure_says_data_and_date():
    assert document()
    for name, entry in document().items():
        assert (figures.FOLDER / f"{name}.py").is_file() and entry["data"] == figures.BENCHMARKS[name]
        assert date.fromisoformat(entry["date"]) and entry["commit"] and entry["figures"]


def test_figures_of_other_systems_have_a_source():
    others = json.loads(figures.OTHERS.read_text())
    assert {row.other for row in figures.ROWS if row.other} == set(others)
    for entry in others.values():
        number, unit = entry["shown"].split()[:2]
        assert float(number) * {"M": 1e6, "G": 1e9}.get(unit, 1) == entry["value"]
        assert entry["system"] and entry["source"]


def test_lines_of_a_benchmark():
    printed = "peak_mb: 65\nspeed: 1.5e+08\ngap: -0.25\nsaid in words: no\nshare: 12 %\n"
    assert figures.parse(printed) == {"peak_mb": 65, "speed": 1.5e8, "gap": -0.25}


@pytest.mark.parametrize("script", ["print('speed 7')", "print('speed: 7'); raise SystemExit(1)"])
def test_a_benchmark_without_figures_has_failed(tmp_path, monkeypatch, script):
    """One that prints none, or ends with an error: what was known of it stays."""
    (tmp_path / "mix.py").write_text(script)
    (tmp_path / "figures.json").write_text('{"mix": "known"}')
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    monkeypatch.setattr(figures, "FIGURES", tmp_path / "figures.json")
    with pytest.raises(SystemExit, match="failed: mix"):
        figures.run(["mix"])
    assert json.loads((tmp_path / "figures.json").read_text()) == {"mix": "known"}


def test_a_row_without_figures_is_left_out():
    others = json.loads(figures.OTHERS.read_text())
    entry = {"data": "200 sentences", "date": "2026-01-02", "commit": "c", "figures": {"peak_mb": 86.0}}
    lines = figures.table({"decode": entry}, others).splitlines()
    assert lines[2:4] == ["| peak memory of decoding | cdec: 172 MB | 86 MB | 2.0 |", ""]
    assert lines[4].startswith("`benchmarks/decode.py`, 2026-01-02: 200 sentences. cdec, 172 MB: ")

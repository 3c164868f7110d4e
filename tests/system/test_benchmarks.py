"""Benchmarks are scripts that nothing imports: a renamed function would go unnoticed until somebody measures."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_every_script_loads_and_explains_itself(script, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])  # as `python benchmarks/….py` has it
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(script), run_name="__main__")
    assert not end.value.code
    assert capsys.readouterr().out.startswith("usage:")

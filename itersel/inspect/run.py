"""A training run: its settings, the figures of each epoch as its algorithm declares them, the chosen weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from itersel.base.json_files import read_json
from itersel.base.tables import text_table
from itersel.inspect import weights
from itersel.inspect.options import ViewOptions
from itersel.inspect.record import flat
from itersel.run.history import read_history


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    described = read_json(path / "run.json")
    settings = dict(flat(described.get("configuration", {})))
    versions = described.get("versions", {})
    yield f"run {path}, made by " + ", ".join(f"{name} {version}" for name, version in versions.items())
    shown = [[key, value] for key, value in settings.items() if options.matches(key)]
    if shown:
        yield from ("", text_table([["setting", "value"], *shown], left=(0, 1)))
    if (path / "manifest.json").is_file() and (path / "statistics.jsonl").is_file():
        yield from ("", epoch_table(path))
    else:
        yield "no epoch is finished"
    chosen = path / "weights.txt.gz"
    if chosen.is_file() and options.top:
        yield from ("", *weights.lines(chosen, options))


def epoch_table(directory: Path) -> str:
    """The declared figures of each finished epoch of a run; the chosen epoch is marked."""
    history = read_history(directory)
    figures = history.declaration.shown("table")
    rows = [("epoch", *(figure.label for figure in figures))]
    for epoch in history.epochs:
        mark = " *" if epoch.number == history.chosen else "  "
        rows.append((f"{epoch.number}{mark}", *(figure.text(epoch.whole.value(figure)) for figure in figures)))
    note = f"* chosen: its weights are the result of the run. The weights of every epoch are in {directory}"
    return f"{text_table(rows, left=())}\n{note}"

"""The table that a run's algorithm declares (itersel.base.figures.Listing), of every epoch that has one."""

from __future__ import annotations

import math
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.figures import Listing
from itersel.base.files import read_lines
from itersel.report.gather import Run

Row = tuple[str | float, ...]


def listings(run: Run) -> tuple[Listing, dict[int, list[Row]]] | None:
    """What the run declares, and its rows by epoch; None if there is none."""
    declared = run.history.declaration.listing
    if declared is None:
        return None
    found = {}
    for epoch in run.epochs:
        place = run.folder(epoch.number) / declared.file
        if str(place.relative_to(run.directory.path)) in epoch.files:
            found[epoch.number] = [_row(line, declared, place) for line in read_lines(place)]
    return (declared, found) if found else None


def _row(line: str, declared: Listing, where: Path) -> Row:
    cells = line.split("\t")
    if len(cells) != len(declared.columns):
        raise InputError(f"damaged: a row has {len(cells)} cells instead of {len(declared.columns)}", where=where)
    return tuple(_cell(text, form, where) for text, (_, form) in zip(cells, declared.columns, strict=True))


def _cell(text: str, form: str, where: Path) -> str | float:
    if form == "text":
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"damaged: {text!r} is not a number", where=where)
    return number

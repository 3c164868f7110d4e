"""Scores and model sizes as a function of one setting: for cells of a grid that differ in nothing else.

Two or more values of a number that a block varies, such as `epoch.learn.l1` or `selection.top`, make a plot. A value of
`null`, no limit, comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from itersel.base.paper_table import Plot
from itersel.pipeline.experiment.cells import CellResult
from itersel.pipeline.experiment.config import BY_DOMAIN
from itersel.pipeline.experiment.grid_result import GridResult, scores_by_test

NO_LIMIT = "none"


def plots(grid: GridResult, systems: Sequence[CellResult], about: str = "") -> tuple[Plot, ...]:
    """All plots that the systems allow (repeats as one, with their means), in the grid's order. `about` names them, by
    default with algorithm, tuning set and features."""
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for system in systems:
        for key in system.varied:
            others = tuple((name, str(value)) for name, value in system.varied.items() if name != key)
            same = (system.algorithm, system.tuning, system.features, others, key)
            if _is_number(system.varied[key]):
                groups.setdefault(same, []).append(system)
    return tuple(_plot(grid, key[-1], members, about) for key, members in groups.items() if len(members) > 1)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _plot(grid: GridResult, key: str, members: Sequence[CellResult], about: str) -> Plot:
    ordered = sorted(members, key=lambda one: (one.varied[key] is None, one.varied[key] or 0))
    first = ordered[0]
    choice = first.declaration.choice
    scores = [(choice.label, tuple(one.facts.get(choice.key) for one in ordered))]
    by_test = [scores_by_test(grid, one.name) for one in ordered]
    scores += [(label, tuple(one[label] for one in by_test)) for label in by_test[0]]
    others = [
        f"{name.rpartition('.')[2]} {value}" for name, value in first.varied.items() if name not in (key, BY_DOMAIN)
    ]
    named = [about] if about else [first.declaration.label, first.tuning, first.features]
    title = ", ".join([*named, *others])
    values = [NO_LIMIT if one.varied[key] is None else f"{one.varied[key]:,}" for one in ordered]
    sizes = tuple(one.weights / one.models for one in ordered)
    return Plot(f"{title}: by {key}", key, tuple(values), tuple(scores), sizes)

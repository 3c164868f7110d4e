"""Scores and model sizes as a function of one setting: for cells of a grid that differ in nothing else.

Two or more values of a number that a block varies, such as `epoch.learn.l1` or `selection.top`, make a plot. A value of
`null`, no limit, comes last. So do tuning sets that are the first shards of one set, such as `train:1`, `train:2` and
`train:4`: scores as a function of how much was learned from (figure 1 of NAACL 2013).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from itersel.base.paper_table import Plot
from itersel.pipeline.experiment.cells import CellResult
from itersel.pipeline.experiment.chosen_shards import ChosenShards, file_name
from itersel.pipeline.experiment.grid_result import GridResult

NO_LIMIT = "none"


@dataclass(frozen=True)
class _Axis:
    """A setting that systems may differ in, what they have in common, and the words for that."""

    setting: str
    common: tuple[Any, ...]
    about: str


def plots(grid: GridResult, systems: Sequence[CellResult]) -> tuple[Plot, ...]:
    """All plots that the systems allow (repeats as one, with their means), in the grid's order."""
    groups: dict[_Axis, list[tuple[float | None, CellResult]]] = {}
    for system in systems:
        for axis, value in _axes(system):
            groups.setdefault(axis, []).append((value, system))
    return tuple(_plot(grid, axis, members) for axis, members in groups.items() if len(members) > 1)


def _axes(system: CellResult) -> Iterator[tuple[_Axis, float | None]]:
    """The settings of a system that plots can be a function of, with its values."""
    declared, tuning = system.declaration.label, system.tuning
    for key, value in system.varied.items():
        if _is_number(value):
            others = {name: other for name, other in system.varied.items() if name != key}
            common = (system.algorithm, tuning, system.features, *((name, str(one)) for name, one in others.items()))
            yield _Axis(key, common, ", ".join([declared, tuning, system.features, *_words(others)])), value
    parts = ChosenShards.parse(tuning)
    if len(parts) == 1 and parts[0].only_first is not None:
        name = parts[0].name
        common = (system.name.replace(file_name(tuning), name, 1),)
        about = ", ".join([declared, name, system.features, *_words(system.varied)])
        yield _Axis(f"shards of {name}", common, about), parts[0].only_first


def _words(varied: dict[str, Any]) -> list[str]:
    return [f"{name.rpartition('.')[2]} {value}" for name, value in varied.items()]


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _plot(grid: GridResult, axis: _Axis, members: Sequence[tuple[float | None, CellResult]]) -> Plot:
    ordered = sorted(members, key=lambda one: (one[0] is None, one[0] or 0))
    systems = [system for _, system in ordered]
    choice = systems[0].declaration.choice
    scores = [(choice.label, tuple(one.facts.get(choice.key) for one in systems))]
    for test, evaluation in grid.evaluations.items():
        label = f"{test} {evaluation.labels['bleu']}"
        scores.append((label, tuple(evaluation.score(one.name).mean for one in systems)))
    values = [NO_LIMIT if value is None else f"{value:,}" for value, _ in ordered]
    sizes = tuple(one.weights / one.models for one in systems)
    return Plot(f"{axis.about}: by {axis.setting}", axis.setting, tuple(values), tuple(scores), sizes)

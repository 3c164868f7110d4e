"""Tables of settings that a column of the tables by tuning mode was chosen from: scores and model sizes by setting.

A block that varies settings, such as the λ of ℓ1, is still one column: what its epochs are chosen by, such as devtest
BLEU, also chooses among its settings. Here are all of them, with the chosen one in bold, and a plot for each setting
that is a number.
"""

from __future__ import annotations

from collections.abc import Sequence

from itersel.base.paper_table import Column, Entry, Marks, PaperTable, Row
from itersel.pipeline.experiment.cells import CellResult
from itersel.pipeline.experiment.config import BY_DOMAIN
from itersel.pipeline.experiment.grid_result import GridResult, ModeColumn, mode_columns, scores_by_test
from itersel.pipeline.experiment.plots import NO_LIMIT, plots
from itersel.pipeline.experiment.table import system_rows

SIZE = "model size"


def setting_tables(grid: GridResult) -> list[PaperTable]:
    """One for each column with several finished systems, in the grid's order."""
    means = {system.mean.name: system.mean for system in system_rows(grid)}
    found = [(column, [means[name] for name in column.systems if name in means]) for column in mode_columns(grid)]
    return [_table(grid, column, systems) for column, systems in found if len(systems) > 1]


def _table(grid: GridResult, column: ModeColumn, systems: Sequence[CellResult]) -> PaperTable:
    choice = systems[0].declaration.choice
    keys = [key for key in systems[0].varied if key != BY_DOMAIN]
    tests = list(scores_by_test(grid, systems[0].name))
    about = f"{column.table}, {column.label}"
    rows = []
    for system in systems:
        decisive, scores = system.facts.get(choice.key), scores_by_test(grid, system.name)
        shown = Marks(best=system.name == column.chosen)
        entries = [_value(system.varied[key]) for key in keys]
        text = system.declaration.choice_figure.text(decisive)
        entries.append(Entry(text, decisive, marks=shown))
        entries += [Entry(f"{score:.2f}", score) for score in scores.values()]
        entries.append(_size(system))
        rows.append(Row(system.name, tuple(entries)))
    labels = [*keys, choice.label, *tests, SIZE]
    return PaperTable(
        tuple(map(Column, labels)),
        tuple(rows),
        (f"{about}: the setting in bold was chosen by {choice.label}.",),
        caption=f"{about}: settings",
        plots=plots(grid, systems, about),
    )


def _value(value: object) -> Entry:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return Entry(f"{value:,}", value)
    return Entry(NO_LIMIT if value is None else str(value), None)


def _size(system: CellResult) -> Entry:
    """Of several models, the mean."""
    size = system.weights / system.models
    return Entry(f"{size:,.0f}", size)

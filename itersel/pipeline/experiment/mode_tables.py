"""The tables of an experiment in the form of WMT 2013, tables 2 to 5: one for each learner.

Rows are test sets, the domains of one of them, and the average of these; columns are tuning modes, numbered from 0. A
raised number at a score names a column of the same row that it is significantly better than. The last rows are what
the training took and the number of features (of several models, their mean). Of a column that varies settings, the
chosen one is shown (itersel.pipeline.experiment.setting_tables).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from itersel.base.paper_table import Column, Entry, Marks, PaperTable, Repeats, Row
from itersel.evaluation.scoring import Evaluation
from itersel.pipeline.experiment.cells import CellResult
from itersel.pipeline.experiment.grid_result import (
    AVERAGE,
    METRICS,
    GridResult,
    by_system,
    is_domain_row,
    mode_columns,
    row_name,
)
from itersel.pipeline.experiment.results import effort, sentence

TIME, SIZE = "CPU s", "model size"
MISSING = Entry("–", None)


@dataclass(frozen=True)
class Mode:
    """A column: its label, the name of its system, and the runs of that; none if no run is finished."""

    label: str
    system: str
    runs: tuple[CellResult, ...]


def mode_tables(grid: GridResult) -> list[PaperTable]:
    """A table for each learner, in the grid's order, all of them with the same rows."""
    found = [_table(grid, name, modes) for name, modes in _modes(grid).items()]
    return [one for one in found if one is not None]


def _modes(grid: GridResult) -> dict[str, list[Mode]]:
    finished = by_system(grid.results)
    tables: dict[str, list[Mode]] = {}
    for column in mode_columns(grid):
        mode = Mode(column.label, column.chosen, tuple(finished.get(column.chosen, ())))
        tables.setdefault(column.table, []).append(mode)
    return tables


def _table(grid: GridResult, name: str, modes: Sequence[Mode]) -> PaperTable | None:
    if not any(mode.runs for mode in modes):
        return None
    columns = [Column("test set", left=True), *(Column(f"{mode.label} {k}") for k, mode in enumerate(modes))]
    level = grid.config.significance.level
    rows, averaged = [], list[Mapping[str, float]]()
    for row, evaluation in grid.evaluations.items():
        label = _label(grid, row)
        if is_domain_row(grid, row):
            averaged.append({mode.system: evaluation.score(mode.system).mean for mode in modes if mode.runs})
        rows.append(Row(row, (_words(label), *(_score(evaluation, modes, k, level) for k in range(len(modes))))))
    if averaged:
        means = [fmean(one[mode.system] for one in averaged) if mode.runs else None for mode in modes]
        rows.append(Row(AVERAGE, (_words(AVERAGE), *(_number(mean, ".2f") for mean in means))))
    seconds = [fmean(run.cpu_seconds for run in mode.runs) if mode.runs else None for mode in modes]
    sizes = [fmean(run.weights / run.models for run in mode.runs) if mode.runs else None for mode in modes]
    rows.append(Row(TIME, (_words(TIME), *(_seconds(one) for one in seconds))))
    rows.append(Row(SIZE, (_words(SIZE), *(_size(size) for size in sizes))))
    return PaperTable(
        tuple(columns),
        tuple(rows),
        _legend(grid),
        _repeats(grid, modes),
        caption=f"BLEU: {name}",
        mark="better than column",
    )


def _label(grid: GridResult, row: str) -> str:
    """What a row is called in the table: a test set by its name, a domain without that of the set."""
    table = grid.config.table
    if table is None or table.domains is None:
        return row
    return row.removeprefix(row_name(table.domains, ""))


def _words(text: str) -> Entry:
    return Entry(text, text)


def _number(value: float | None, form: str) -> Entry:
    return MISSING if value is None else Entry(format(value, form), value)


def _size(value: float | None) -> Entry:
    """As in the paper: with one digit after the point if it is a mean that is not whole."""
    return _number(value, ",.0f" if value is None or float(value).is_integer() else ",.1f")


def _seconds(value: float | None) -> Entry:
    return _number(value, ",.1f" if value is not None and value < 10 else ",.0f")


def _score(evaluation: Evaluation, modes: Sequence[Mode], at: int, level: float) -> Entry:
    system = modes[at].system
    if not modes[at].runs:
        return MISSING
    beaten = [
        k
        for k, other in enumerate(modes)
        if k != at and other.runs and evaluation.comparison(system, other.system).better(level) == system
    ]
    score = evaluation.score(system)
    spread = "" if score.deviation is None else f"±{score.deviation:.2f}"
    return Entry(f"{score.mean:.2f}", score.mean, spread, marks=Marks(tuple(beaten)))


def _repeats(grid: GridResult, modes: Sequence[Mode]) -> tuple[Repeats, ...]:
    """BLEU of every run, where any mode has several."""
    if not any(len(mode.runs) > 1 for mode in modes):
        return ()
    return tuple(
        Repeats(
            _label(grid, row),
            evaluation.labels[METRICS[0]],
            tuple((mode.label, evaluation.score(mode.system).runs) for mode in modes if mode.runs),
        )
        for row, evaluation in grid.evaluations.items()
    )


def _legend(grid: GridResult) -> tuple[str, ...]:
    """The same for all tables."""
    significance, results = grid.config.significance, grid.results
    several = (
        " Columns with several runs, which have different seeds, have means; ±: standard deviation."
        if any(one.run > 1 for one in results)
        else ""
    )
    divided = (
        " The size of a system of several models is the mean of theirs."
        if any(one.models > 1 for one in results)
        else ""
    )
    missing = len(grid.config.cells) - len(results)
    note = f" {missing} of {len(grid.config.cells)} cells are not finished." if missing else ""
    return (
        f"Raised: significantly better than that column (p < {significance.level}, approximate randomisation, "
        f"{significance.trials:,} shuffles). Average: over the domains. CPU: seconds of training, all epochs, "
        f"without devtest; of all models.{several}{divided}",
        sentence(effort(grid), len(results)) + note,
    )

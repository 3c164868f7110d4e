"""The table of an experiment in the form of ACL 2012, tables 2 and 3.

A raised number at a test score names an algorithm whose best cell (by what its epochs are chosen by) with the same
features differs significantly, in either direction; given weights are compared with cells of all features. The best
score of an algorithm over several feature groups is bold, and † marks its cells of other groups that differ from it
significantly. @n is the chosen epoch. Numbers and labels of the algorithms, and the column of what decides, are those
that the runs declare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from itersel.base.figures import Choice, Declaration
from itersel.base.paper_table import Column, Entry, Marks, PaperTable, Repeats, Row
from itersel.evaluation.scoring import Evaluation
from itersel.pipeline.experiment.cells import CellResult
from itersel.pipeline.experiment.config import GIVEN
from itersel.pipeline.experiment.grid_result import METRICS, GridResult, by_system
from itersel.pipeline.experiment.plots import plots
from itersel.pipeline.experiment.results import effort, sentence

UNKNOWN = Entry("–", None)
DEVTEST = "devtest"
"""The name of a devtest set that needs no explanation."""


@dataclass(frozen=True)
class SystemRow:
    """A cell, or all repeats of one: `mean` has the means of what was measured."""

    mean: CellResult
    runs: tuple[CellResult, ...]

    @staticmethod
    def of(runs: Sequence[CellResult]) -> SystemRow:
        shared = [key for key in runs[0].facts if all(key in one.facts for one in runs)]
        measured = replace(
            runs[0],
            name=runs[0].system,
            run=1,
            weights=round(fmean(one.weights for one in runs)),
            facts={key: fmean(one.facts[key] for one in runs) for key in shared},
            cpu_seconds=fmean(one.cpu_seconds for one in runs),
        )
        return SystemRow(measured, tuple(runs))


def system_rows(grid: GridResult) -> list[SystemRow]:
    """In the grid's order."""
    return [SystemRow.of(runs) for runs in by_system(grid.results).values()]


def mark(grid: GridResult, test: str) -> dict[str, Marks]:
    """The marks of all systems on a test set, by name."""
    results = [system.mean for system in system_rows(grid)]
    numbers = {cell.name: grid.numbers[cell.algorithm] for cell in results}
    evaluation, level = grid.evaluations[test], grid.config.significance.level

    def differs(one: CellResult, other: CellResult) -> bool:
        return evaluation.comparison(one.name, other.name).randomization.p < level

    found = {}
    for cell in results:
        raised = []
        for number in sorted(set(numbers.values()) - {numbers[cell.name]}):
            rivals = [one for one in results if numbers[one.name] == number and _comparable(one, cell)]
            if rivals and differs(cell, _chosen(rivals)):
                raised.append(number)
        found[cell.name] = Marks(tuple(raised))
    for number in set(numbers.values()):
        family = [cell for cell in results if numbers[cell.name] == number]
        if len({cell.features for cell in family}) < 2:
            continue
        best = max(family, key=lambda one: evaluation.score(one.name).mean)
        for cell in family:
            dagger = cell.features != best.features and differs(cell, best)
            found[cell.name] = replace(found[cell.name], best=cell is best, dagger=dagger)
    return found


def _comparable(one: CellResult, other: CellResult) -> bool:
    return one.features == other.features or GIVEN in (one.algorithm, other.algorithm)


def _chosen(cells: Sequence[CellResult]) -> CellResult:
    """The best of an algorithm's cells, by what its epochs are chosen by."""
    choice = cells[0].declaration.choice
    known = [one for one in cells if choice.key in one.facts]
    return known[choice.best([one.facts[choice.key] for one in known])] if known else cells[0]


def paper_table(grid: GridResult) -> PaperTable:
    """All finished cells, repeats in one row, in the grid's order; settings (the name of the block, and what cells
    vary in) only where there are some."""
    found, numbers = system_rows(grid), grid.numbers
    varied = any(system.mean.label or system.mean.varied or len(system.runs) > 1 for system in found)
    settings = [Column("settings", left=True)] if varied else []
    counted = any(system.mean.sentences for system in found)
    sentences = [Column("sentences")] if counted else []
    measured = any(system.mean.sent_bytes is not None for system in found)
    columns = [
        *(Column("alg."), Column("tuning set", left=True), *sentences),
        *(Column("features", left=True), *settings),
        *(Column("#features"), *(Column(choice.label) for choice in grid.choices)),
        *(Column(label, test) for test in grid.evaluations for label in ("BLEU", "chrF", "length")),
        *(Column("CPU s"), *([Column("MB sent")] if measured else [])),
    ]
    marks = {test: mark(grid, test) for test in grid.evaluations}
    rows = []
    for system in found:
        cell, several = system.mean, len(system.runs) > 1
        number = numbers[cell.algorithm]
        entries = [Entry(str(number), number), _words(cell.tuning or GIVEN)]
        entries += [Entry(f"{cell.sentences:,}", cell.sentences) if cell.sentences else UNKNOWN] * counted
        entries.append(_words(cell.features.replace(",", "+")))
        if varied:
            values = [cell.label] * bool(cell.label)
            values += [f"{key.rpartition('.')[2]} {value}" for key, value in cell.varied.items()]
            entries.append(_words(", ".join(values + [f"{len(system.runs)} runs"] * several)))
        entries.append(Entry(f"{cell.weights:,}", cell.weights))
        entries += [_decisive(system, choice, declared) for choice, declared in grid.choices.items()]
        for test, evaluation in grid.evaluations.items():
            entries += _scores(cell, evaluation, marks[test][cell.name])
        seconds = cell.cpu_seconds
        entries.append(Entry(f"{seconds:,.1f}" if seconds < 10 else f"{seconds:,.0f}", seconds))
        if measured:
            megabytes = None if cell.sent_bytes is None else cell.sent_bytes / 2**20
            entries.append(UNKNOWN if megabytes is None else Entry(f"{megabytes:,.0f}", megabytes))
        rows.append(Row(cell.name, tuple(entries)))
    drawn = plots(grid, [system.mean for system in found])
    return PaperTable(tuple(columns), tuple(rows), legend(grid), repeats(grid, found), plots=drawn)


def repeats(grid: GridResult, systems: Sequence[SystemRow]) -> tuple[Repeats, ...]:
    """BLEU of every run, where any system has several."""
    if not any(len(system.runs) > 1 for system in systems):
        return ()
    names = [system.mean.name for system in systems]
    return tuple(
        Repeats(test, evaluation.labels[METRICS[0]], tuple((name, evaluation.score(name).runs) for name in names))
        for test, evaluation in grid.evaluations.items()
    )


def _decisive(system: SystemRow, choice: Choice, declared: Declaration) -> Entry:
    """The value of what decides, with the epochs that it chose."""
    value = system.mean.facts.get(choice.key)
    decides = system.mean.declaration.choice == choice
    chosen = "/".join(str(one.chosen) for one in system.runs if one.chosen is not None) if decides else ""
    return Entry(declared.choice_figure.text(value), value, f"@{chosen}" if chosen else "")


def _words(text: str) -> Entry:
    return Entry(text, text)


def _scores(cell: CellResult, evaluation: Evaluation, marks: Marks) -> list[Entry]:
    (bleu, deviation), (chrf, _) = (
        (score.mean, score.deviation) for score in (evaluation.score(cell.name, metric) for metric in METRICS)
    )
    length = evaluation.length_ratios[cell.name]
    spread = "" if deviation is None else f"±{deviation:.2f}"
    return [Entry(f"{bleu:.2f}", bleu, spread, marks), Entry(f"{chrf:.2f}", chrf), Entry(f"{length:.3f}", length)]


LEGEND = (
    "Algorithms: {algorithms}. @n: epoch chosen by {choices}{devtest}. "
    "Raised: differs from that algorithm's best cell with the same features (p < {level}, approximate randomisation, "
    "{trials:,} shuffles); bold: an algorithm's best over feature groups; †: differs from that. CPU: seconds of "
    "training, all epochs, without devtest."
)
SENT = " MB sent: by all shards in all epochs (weights, names, states), of the first run."


REPEATS = (
    " Runs with different seeds share a row: means; ±: standard deviation; differences are tested over all runs, each "
    "at its own epoch."
)


def legend(grid: GridResult) -> tuple[str, ...]:
    """What the table's signs mean, what the experiment cost, and whether cells are missing."""
    config, cells = grid.config, len(grid.results)
    one = config.significance
    numbered = [(number, name) for name, number in grid.numbers.items()]
    labels = {result.algorithm: result.declaration.label for result in grid.results}
    remark = REPEATS if any(result.run > 1 for result in grid.results) else ""
    missing = len(config.cells) - cells
    note = f" {missing} of {len(config.cells)} cells are not finished." if missing else ""
    return (
        LEGEND.format(
            algorithms=", ".join(f"{number} {labels[name]}" for number, name in sorted(numbered)),
            choices=" or ".join(dict.fromkeys(choice.label for choice in grid.choices)),
            devtest="" if config.devtest == DEVTEST else f" (devtest is {config.devtest})",
            level=one.level,
            trials=one.trials,
        )
        + (SENT if any(result.sent_bytes is not None for result in grid.results) else "")
        + remark,
        sentence(effort(grid), cells) + note,
    )

"""The table of an experiment in the form of ACL 2012, tables 2 and 3.

A raised number at a test score names an algorithm whose best cell (by devtest) with the same features differs
significantly, in either direction; given weights, number 0, are compared with cells of all features. The best score of
an algorithm over several feature groups is bold, and † marks its cells of other groups that differ from it
significantly. @n is the epoch that devtest chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from itersel.base.paper_table import Column, Entry, Marks, PaperTable, Row
from itersel.evaluation.scoring import Evaluation
from itersel.pipeline.experiment.cells import METRICS, CellResult, Outcome
from itersel.pipeline.experiment.config import GIVEN
from itersel.pipeline.experiment.results import effort, sentence


@dataclass(frozen=True)
class System:
    """A cell, or all repeats of one: `mean` has the means of what was measured."""

    mean: CellResult
    runs: tuple[CellResult, ...]

    @staticmethod
    def of(runs: Sequence[CellResult]) -> System:
        measured = replace(
            runs[0],
            name=runs[0].system,
            run=1,
            weights=round(fmean(one.weights for one in runs)),
            devtest_bleu=fmean(one.devtest_bleu for one in runs),
            cpu_seconds=fmean(one.cpu_seconds for one in runs),
        )
        return System(measured, tuple(runs))


def systems(outcome: Outcome) -> list[System]:
    """In the grid's order."""
    found: dict[str, list[CellResult]] = {}
    for one in outcome.results:
        found.setdefault(one.system, []).append(one)
    return [System.of(runs) for runs in found.values()]


def mark(outcome: Outcome, test: str) -> dict[str, Marks]:
    """The marks of all systems on a test set, by name."""
    results = [system.mean for system in systems(outcome)]
    evaluation, level = outcome.evaluations[test], outcome.config.significance.level

    def differs(one: CellResult, other: CellResult) -> bool:
        return evaluation.comparison(one.name, other.name).randomization.p < level

    found = {}
    for cell in results:
        raised = []
        for number in sorted({other.number for other in results} - {cell.number}):
            rivals = [one for one in results if one.number == number and _comparable(one, cell)]
            if rivals and differs(cell, max(rivals, key=lambda one: one.devtest_bleu)):
                raised.append(number)
        found[cell.name] = Marks(tuple(raised))
    for number in {cell.number for cell in results}:
        family = [cell for cell in results if cell.number == number]
        if len({cell.features for cell in family}) < 2:
            continue
        best = max(family, key=lambda one: evaluation.score(one.name).mean)
        for cell in family:
            dagger = cell.features != best.features and differs(cell, best)
            found[cell.name] = replace(found[cell.name], best=cell is best, dagger=dagger)
    return found


def _comparable(one: CellResult, other: CellResult) -> bool:
    return one.features == other.features or GIVEN in (one.algorithm, other.algorithm)


def paper_table(outcome: Outcome) -> PaperTable:
    """All finished cells, repeats in one row, in the grid's order; settings only where cells vary in some."""
    config, found = outcome.config, systems(outcome)
    varied = any(system.mean.varied or len(system.runs) > 1 for system in found)
    settings = [Column("settings", left=True)] if varied else []
    columns = [
        *(Column("alg."), Column("tuning set", left=True), Column("features", left=True), *settings),
        *(Column("#features"), Column(f"{config.devtest} BLEU")),
        *(Column(label, test) for test in outcome.evaluations for label in ("BLEU", "chrF", "length")),
        Column("CPU s"),
    ]
    marks = {test: mark(outcome, test) for test in outcome.evaluations}
    rows = []
    for system in found:
        cell, several = system.mean, len(system.runs) > 1
        entries = [Entry(str(cell.number), cell.number), _words(cell.tuning or GIVEN)]
        entries.append(_words(cell.features.replace(",", "+")))
        if varied:
            values = [f"{key.rpartition('.')[2]} {value}" for key, value in cell.varied.items()]
            entries.append(_words(", ".join(values + [f"{len(system.runs)} runs"] * several)))
        entries.append(Entry(f"{cell.weights:,}", cell.weights))
        chosen = "/".join(str(one.chosen) for one in system.runs if one.chosen is not None)
        entries.append(Entry(f"{cell.devtest_bleu:.2f}", cell.devtest_bleu, f"@{chosen}" if chosen else ""))
        for test, evaluation in outcome.evaluations.items():
            entries += _scores(cell, evaluation, marks[test][cell.name])
        seconds = cell.cpu_seconds
        entries.append(Entry(f"{seconds:,.1f}" if seconds < 10 else f"{seconds:,.0f}", seconds))
        rows.append(Row(cell.name, tuple(entries)))
    return PaperTable(tuple(columns), tuple(rows), legend(outcome))


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
    "Algorithms: 0 given weights, 1 SGD, 2 MixSGD, 3 IterMixSGD, 4 IterSelSGD. @n: epoch chosen on {devtest}. "
    "Raised: differs from that algorithm's best cell with the same features (p < {level}, approximate randomisation, "
    "{trials:,} shuffles); bold: an algorithm's best over feature groups; †: differs from that. CPU: seconds of "
    "decoding and learning in training, all epochs."
)


REPEATS = (
    " Of several runs, which differ in seeds, there are means; ±: standard deviation; differences are tested over "
    "all runs, each of which has its own epoch."
)


def legend(outcome: Outcome) -> tuple[str, ...]:
    """What the table's signs mean; what it took, and whether cells are missing."""
    config, cells = outcome.config, len(outcome.results)
    one = config.significance
    repeats = REPEATS if any(result.run > 1 for result in outcome.results) else ""
    missing = len(config.cells) - cells
    note = f" {missing} of {len(config.cells)} cells are not finished." if missing else ""
    return (
        LEGEND.format(devtest=config.devtest, level=one.level, trials=one.trials) + repeats,
        sentence(effort(outcome), cells) + note,
    )

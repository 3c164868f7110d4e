"""The table of an experiment in the form of ACL 2012, tables 2 and 3.

A raised number at a test score names an algorithm whose best cell (by devtest) with the same features differs
significantly, in either direction; given weights, number 0, are compared with cells of all features. The best score of
an algorithm over several feature groups is bold, and † marks its cells of other groups that differ from it
significantly. @n is the epoch that devtest chose.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, replace

from itersel.evaluate import Evaluation
from itersel.experiment import CellResult, Outcome
from itersel.experiment_config import GIVEN
from itersel.experiment_results import effort, sentence
from itersel.tables import markdown_table, text_table

LEFT = (1, 2, 3)


@dataclass(frozen=True)
class Marks:
    """At one test score: algorithms it differs from, whether it is its algorithm's best, or below that."""

    raised: tuple[int, ...] = ()
    best: bool = False
    dagger: bool = False


def mark(outcome: Outcome, test: str) -> dict[str, Marks]:
    """The marks of all cells on a test set, by name."""
    results, evaluation, level = outcome.results, outcome.evaluations[test], outcome.config.significance.level

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


def table(outcome: Outcome, form: str = "text") -> str:
    """The table as `text`, `markdown` or `html`."""
    varied = any(cell.varied for cell in outcome.results)
    header = ["alg.", "tuning set", "features", "settings", "#features", f"{outcome.config.devtest} BLEU"]
    for test in outcome.config.tests:
        header += [f"{test} BLEU", "chrF", "length"]
    rows = [[*header, "CPU s"]]
    marks = {test: mark(outcome, test) for test in outcome.evaluations}
    for cell in outcome.results:
        settings = ", ".join(f"{key.rpartition('.')[2]} {value}" for key, value in cell.varied.items())
        chosen = "" if cell.chosen is None else f" @{cell.chosen}"
        row = [
            str(cell.number),
            cell.tuning or GIVEN,
            cell.features.replace(",", "+"),
            settings,
            f"{cell.weights:,}",
            f"{cell.devtest_bleu:.2f}{chosen}",
        ]
        for test, evaluation in outcome.evaluations.items():
            row += _scores(cell, evaluation, marks[test][cell.name], form)
        rows.append([*row, f"{cell.cpu_seconds:,.1f}" if cell.cpu_seconds < 10 else f"{cell.cpu_seconds:,.0f}"])
    if not varied:
        rows = [row[:3] + row[4:] for row in rows]
    left = LEFT if varied else LEFT[:2]
    if form == "html":
        return _html_table(rows)
    return markdown_table(rows, left) if form == "markdown" else text_table(rows, left)


def _scores(cell: CellResult, evaluation: Evaluation, marks: Marks, form: str) -> list[str]:
    bleu = f"{evaluation.score(cell.name).mean:.2f}"
    raised = "".join(map(str, marks.raised))
    if form == "text":
        bleu = ("*" if marks.best else "") + bleu + ("†" if marks.dagger else "") + (f"^{raised}" if raised else "")
    else:
        strong = {"markdown": f"**{bleu}**", "html": f"<b>{bleu}</b>"}[form]
        bleu = strong if marks.best else bleu
        bleu += ("†" if marks.dagger else "") + (f"<sup>{raised}</sup>" if raised else "")
    return [bleu, f"{evaluation.score(cell.name, 'chrf').mean:.2f}", f"{evaluation.length_ratios[cell.name]:.3f}"]


def _html_table(rows: list[list[str]]) -> str:
    """Cells are escaped, but for the marks made here."""
    allowed = {html.escape(tag): tag for tag in ("<b>", "</b>", "<sup>", "</sup>")}

    def cell(text: str) -> str:
        shown = html.escape(text)
        for escaped, tag in allowed.items():
            shown = shown.replace(escaped, tag)
        return shown

    lines = ["<table>", "<tr>" + "".join(f"<th>{cell(text)}</th>" for text in rows[0]) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{cell(text)}</td>" for text in row) + "</tr>" for row in rows[1:]]
    return "\n".join([*lines, "</table>"])


LEGEND = (
    "Algorithms: 0 given weights, 1 SGD, 2 MixSGD, 3 IterMixSGD, 4 IterSelSGD. @n: epoch chosen on {devtest}. "
    "Raised: differs from that algorithm's best cell with the same features (p < {level}, approximate randomisation, "
    "{trials:,} shuffles); bold: an algorithm's best over feature groups; †: differs from that. CPU: seconds of "
    "decoding and learning in training, all epochs."
)


def legend(outcome: Outcome) -> list[str]:
    """What the table's signs mean; what it took, and whether cells are missing."""
    config, cells = outcome.config, len(outcome.results)
    one = config.significance
    missing = len(config.cells) - cells
    note = f" {missing} of {len(config.cells)} cells are not finished." if missing else ""
    return [
        LEGEND.format(devtest=config.devtest, level=one.level, trials=one.trials),
        sentence(effort(outcome), cells) + note,
    ]

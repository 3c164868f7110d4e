"""Tables 1 to 5 of ACL 2014 from tested systems: scores with marks, differences, and translations side by side.

Texts of the test questions and the outcomes of their parses come in; tables go out that are shown as Markdown and on
the report's page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from itersel.base.paper_table import Column, Entry, Marks, PaperTable, Row
from itersel.evaluation.significance import Randomization, p_text, randomization_test, system_score
from itersel.metrics.corpus import CorpusMetric, Statistics
from itersel.response.geoquery.scores import answer_scores, f1_scores, precision_scores, recall_scores

SIGNIFICANT = 0.05
EXAMPLES = 10
"""Translations that a table begins with; Markdown has only these."""
LEGEND = (
    "Raised numbers name the systems that one is significantly better than (approximate randomisation, "
    f"p < {SIGNIFICANT:g})."
)
DIFFERENCES = "F1 of the first system minus that of the second, with p by approximate randomisation, two-sided."


@dataclass(frozen=True, eq=False)
class Tested:
    """One run on the test questions: what it translated them to, and how the answers came out."""

    texts: Sequence[str]
    rows: npt.NDArray[np.float64]
    """For each question: answered right, parsed, 1."""
    answers: Sequence[str] = ()


Systems = Mapping[str, Sequence[Tested]]
"""The runs of each system, one per seed."""
Pairs = dict[tuple[int, int], Randomization]


def score_table(systems: Systems, metric: CorpusMetric, rows: npt.NDArray[np.bool_], caption: str = "") -> PaperTable:
    """Precision, recall, F1 and BLEU on the questions that `rows` says: means over the runs, each with its tests."""
    answers = _outcomes(systems, rows)
    texts: list[Statistics] = [
        np.stack([metric.statistics(run.texts)[rows] for run in runs]) for runs in systems.values()
    ]
    lines = [[Entry(f"{at + 1} {name.upper()}", at)] for at, name in enumerate(systems)]
    for statistics, score in (
        *((answers, score) for score in (precision_scores, recall_scores, f1_scores)),
        (texts, metric.scores),
    ):
        better = _better(_tests(statistics, score))
        for at, line in enumerate(lines):
            line.append(_score(system_score(statistics[at], score), better.get(at, ())))
    made = tuple(Row(name, tuple(line)) for name, line in zip(systems, lines, strict=True))
    columns = (Column("method", left=True), *map(Column, ("precision", "recall", "F1", "BLEU")))
    return PaperTable(columns, made, (LEGEND,), caption=caption, mark="significantly better than")


def difference_table(systems: Systems, rows: npt.NDArray[np.bool_], caption: str = "") -> PaperTable:
    """Every pair of systems, with its difference in F1 and p."""
    names = [name.upper() for name in systems]
    lines = []
    for (first, second), test in _tests(_outcomes(systems, rows), f1_scores).items():
        pair = f"{names[first]} − {names[second]}"
        difference = f"{test.difference:+.2f}".replace("-", "−")
        significant = Marks(best=test.p < SIGNIFICANT)
        entries = (
            Entry(pair, pair),
            Entry(difference, test.difference),
            Entry(p_text(test.p), test.p, "", significant),
        )
        lines.append(Row(pair, entries))
    columns = (Column("systems", left=True), Column("difference"), Column("p"))
    return PaperTable(columns, tuple(lines), (DIFFERENCES,), caption=caption)


def run_table(systems: Systems, metric: CorpusMetric, seeds: Sequence[int], caption: str = "") -> PaperTable:
    """F1 and BLEU of every run: how much the order of the questions changes."""
    lines = []
    for name, runs in systems.items():
        for seed, run in zip(seeds if len(runs) > 1 else ["–"], runs, strict=True):
            f1 = system_score(run.rows[None], f1_scores)
            bleu = system_score(metric.statistics(run.texts)[None], metric.scores)
            entries = (Entry(name.upper(), name), Entry(str(seed), str(seed)), _score(f1), _score(bleu))
            lines.append(Row(f"{name} {seed}", entries))
    columns = (Column("method", left=True), Column("seed"), Column("F1"), Column("BLEU"))
    return PaperTable(columns, tuple(lines), (), caption=caption)


def parser_table(parsers: Mapping[str, Statistics], answered: npt.NDArray[np.bool_], caption: str = "") -> PaperTable:
    """The parsers' own scores: outcomes of English questions come in, by parser."""
    lines = []
    for at, (name, rows) in enumerate(parsers.items()):
        whole, some = answer_scores(rows), answer_scores(rows[answered])
        scores = [_score(value) for value in (whole.precision, whole.recall, whole.f1, some.f1)]
        lines.append(Row(name, (Entry(name, at), *scores)))
    heads = ("precision", "recall", "F1", "F1 without empty gold answers")
    columns = (Column("parser", left=True), *map(Column, heads))
    return PaperTable(columns, tuple(lines), (), caption=caption)


def example_table(columns: Mapping[str, Sequence[str]], chosen: Sequence[int], caption: str = "") -> PaperTable:
    """The chosen questions, counted from 1, with a column of sentences for each of `columns`."""
    lines = tuple(
        Row(
            f"question {at + 1}",
            (Entry(str(at + 1), at), *(Entry(texts[at], texts[at]) for texts in columns.values())),
        )
        for at in chosen
    )
    heads = (Column("question"), *(Column(name, left=True, prose=True) for name in columns))
    total = f"{len(chosen)} {'question' if len(chosen) == 1 else 'questions'} in total."
    return PaperTable(heads, lines, (total,), caption=caption, first=EXAMPLES)


def eta_table(etas: Mapping[str, Any], caption: str = "") -> PaperTable:
    """F1 by method and η; the chosen η is in bold."""
    values = list(next(iter(etas.values()))["scores"])
    lines = []
    for at, (name, one) in enumerate(etas.items()):
        scores = [_score(one["scores"][eta], best=eta == one["chosen"]) for eta in values]
        lines.append(Row(name, (Entry(name.upper(), at), *scores)))
    columns = (Column("method", left=True), *(Column(f"η = {eta:g}") for eta in values))
    return PaperTable(columns, tuple(lines), ("The chosen η is in bold.",), caption=caption)


def variants(run: Tested, references: Sequence[str]) -> list[int]:
    """The questions whose translation is accepted although it is not the reference."""
    return [at for at, text in enumerate(run.texts) if run.rows[at][0] and text != references[at]]


def wins(one: Tested, other: Tested) -> list[int]:
    """The questions that one run answers and the other does not."""
    return [at for at in range(len(one.texts)) if one.rows[at][0] and not other.rows[at][0]]


def markdown(tables: Sequence[PaperTable]) -> str:
    """All tables below their captions, with the first of many rows."""
    parts = []
    for table in tables:
        cut = replace(table, rows=table.rows[: table.first])
        parts += [f"## {table.caption}", cut.markdown(), *table.legend]
    return "\n\n".join(parts) + "\n"


def _score(value: float, raised: tuple[int, ...] = (), best: bool = False) -> Entry:
    return Entry(f"{value:.2f}", float(value), marks=Marks(raised, best=best))


def _outcomes(systems: Systems, rows: npt.NDArray[np.bool_]) -> list[Statistics]:
    return [np.stack([run.rows[rows] for run in runs]) for runs in systems.values()]


def _tests(systems: Sequence[Statistics], score: Any) -> Pairs:
    """Later systems against earlier ones."""
    return {
        (second, first): randomization_test(systems[second], systems[first], score)
        for first, second in combinations(range(len(systems)), 2)
    }


def _better(tests: Pairs) -> dict[int, tuple[int, ...]]:
    """For each system, the numbers (from 1) of those that it is significantly better than."""
    found: dict[int, tuple[int, ...]] = {}
    for (one, other), test in tests.items():
        if test.p < SIGNIFICANT and test.difference != 0:
            better, worse = (one, other) if test.difference > 0 else (other, one)
            found[better] = tuple(sorted((*found.get(better, ()), worse + 1)))
    return found

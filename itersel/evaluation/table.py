"""An evaluation as tables: for a terminal, or as Markdown with the signatures a paper needs."""

from __future__ import annotations

from itersel.base.tables import Row, markdown_table, text_table
from itersel.evaluation.oracle import OracleEvaluation
from itersel.evaluation.scoring import Evaluation, SystemScore
from itersel.evaluation.significance import p_text

LEVEL = 0.05
"""Below this p-value of the randomisation test, the table names the better system."""


def render(evaluation: Evaluation, oracle: OracleEvaluation | None = None, *, markdown: bool = False) -> str:
    """All tables of an evaluation, and of a k-best list's oracles beside it."""
    table = markdown_table if markdown else text_table
    signed = evaluation if evaluation.scores or oracle is None else oracle.evaluation
    parts = []
    if evaluation.scores:
        parts.append(table(score_rows(evaluation)))
    if evaluation.comparisons:
        parts += [table(comparison_rows(evaluation), left=(0, 1, 6)), _explanation(evaluation)]
    if oracle is not None:
        parts.append(f"Chosen from {oracle.hypotheses:,} hypotheses by sentence-level BLEU+1:")
        parts.append(table(score_rows(oracle.evaluation)))
    bullet = "- " if markdown else ""
    parts.append("\n".join(f"{bullet}{signed.labels[name]}: {signed.signatures[name]}" for name in signed.metrics))
    return "\n\n".join(parts)


def score_rows(evaluation: Evaluation) -> list[Row]:
    """One row per system: scores with their 95 % intervals, length ratio; with several runs, their deviation."""
    several = any(len(score.runs) > 1 for score in evaluation.scores)
    header = ["system", *(["runs"] if several else [])]
    for metric in evaluation.metrics:
        header += [evaluation.labels[metric], *(["± runs"] if several else []), "95 %"]
    rows: list[Row] = [[*header, "length"]]
    for system in evaluation.systems:
        found = [evaluation.score(system, metric) for metric in evaluation.metrics]
        cells = [system, *([str(len(found[0].runs))] if several else [])]
        for score in found:
            cells += [f"{score.mean:.2f}", *([_deviation(score)] if several else []), _interval(score.interval)]
        rows.append([*cells, f"{evaluation.length_ratios[system]:.3f}"])
    return rows


def comparison_rows(evaluation: Evaluation) -> list[Row]:
    """One row per pair of systems and metric."""
    rows: list[Row] = [["systems", "metric", "difference", "95 %", "p randomisation", "p bootstrap", "better"]]
    for one in evaluation.comparisons:
        rows.append(
            [
                f"{one.first} − {one.second}",
                evaluation.labels[one.metric],
                f"{one.difference:+.2f}",
                _interval(one.bootstrap.interval),
                p_text(one.randomization.p),
                p_text(one.bootstrap.p),
                one.better(LEVEL) or "–",
            ]
        )
    return rows


def _explanation(evaluation: Evaluation) -> str:
    tests = [one.randomization for one in evaluation.comparisons]
    how = "all arrangements" if tests[0].exact else f"{evaluation.trials:,} shuffles"
    return (
        f"{evaluation.sentences:,} sentences; {how}, {evaluation.trials:,} bootstrap samples, seed {evaluation.seed}.\n"
        f"Better: p < {LEVEL} by randomisation, not corrected for the number of tests ({len(tests)})."
    )


def _interval(bounds: tuple[float, float]) -> str:
    return f"[{bounds[0]:.2f}, {bounds[1]:.2f}]"


def _deviation(score: SystemScore) -> str:
    return "–" if score.deviation is None else f"{score.deviation:.2f}"

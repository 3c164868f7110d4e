"""What learning from lists of hypotheses measures: the statistics of an epoch and the figures people see of them."""

from __future__ import annotations

from itersel.base.figures import Figure, Statistic

STATISTICS = (
    Statistic("lists"),
    Statistic("hypotheses"),
    Statistic("features"),
    Statistic("pairs"),
    Statistic("rank_errors"),
    Statistic("margin_violations"),
    Statistic("updates"),
    Statistic("best_metric"),
    Statistic("best_score"),
    Statistic("nonzero", "max"),
    Statistic("sent"),
)

FIGURES = (
    Figure("features", "features", "weights", form="count", about="Weights that are not 0.", shown=("table", "curve")),
    Figure(
        "updates",
        "updates",
        "updates",
        form="count",
        about="Updates of the weights.",
        shown=("progress", "table"),
    ),
    Figure("nonzero", "features", "nonzero", form="count", shown=("progress",)),
    Figure(
        "metric",
        "1-best metric",
        "best_metric",
        "lists",
        form="metric",
        about="Mean of the training metric over the best translations.",
        shown=("progress", "table", "curve", "spread"),
    ),
    Figure(
        "pair_error",
        "pair errors",
        "rank_errors",
        "pairs",
        form="percent",
        about="Share of the pairs that the model ranks wrongly.",
        shown=("progress", "table", "curve", "spread"),
    ),
    Figure(
        "updates_per_sentence",
        "updates per sentence",
        "updates",
        "lists",
        form="number",
        about="Updates for each sentence of a shard.",
        shown=("spread",),
    ),
)

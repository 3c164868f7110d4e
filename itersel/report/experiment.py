"""An experiment's tables for the browser."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from itersel.base.paper_table import Entry, PaperTable, Repeats
from itersel.report.box_plot import box_of


def experiment_values(table: PaperTable) -> dict[str, Any]:
    """Caption, columns, rows of entries, and the legend."""
    return {
        "caption": table.caption,
        "mark": table.mark,
        "first": table.first,
        "columns": [
            {"label": one.label, "test": one.test, "left": one.left, "prose": one.prose} for one in table.columns
        ],
        "rows": [{"name": row.name, "entries": [_entry(one) for one in row.entries]} for row in table.rows],
        "legend": list(table.legend),
        "repeats": [_repeats(one) for one in table.repeats],
        "plots": [
            {
                "caption": one.caption,
                "setting": one.setting,
                "values": list(one.values),
                "scores": [
                    {"label": label, "values": list(values), "intervals": [pair and list(pair) for pair in intervals]}
                    for (label, values), intervals in zip(one.scores, one.intervals or repeat(()), strict=False)
                ],
                "sizes": list(one.sizes),
            }
            for one in table.plots
        ],
    }


def _repeats(one: Repeats) -> dict[str, Any]:
    """A box for each system with several runs; the scores themselves."""
    return {
        "test": one.test,
        "label": one.label,
        "systems": [
            {"name": name, "values": list(values), "box": box_of(values) if len(values) > 1 else None}
            for name, values in one.systems
        ],
    }


def _entry(entry: Entry) -> dict[str, Any]:
    """Marks only where there are any."""
    made: dict[str, Any] = {"text": entry.text, "value": entry.value}
    if entry.note:
        made["note"] = entry.note
    if entry.marks.raised:
        made["raised"] = list(entry.marks.raised)
    return made | {key: True for key in ("best", "dagger") if getattr(entry.marks, key)}

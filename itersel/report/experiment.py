"""An experiment's table for the browser."""

from __future__ import annotations

from typing import Any

from itersel.base.paper_table import Entry, PaperTable


def experiment_values(table: PaperTable) -> dict[str, Any]:
    """Columns, rows of entries, and the legend."""
    return {
        "columns": [{"label": one.label, "test": one.test, "left": one.left} for one in table.columns],
        "rows": [{"name": row.name, "entries": [_entry(one) for one in row.entries]} for row in table.rows],
        "legend": list(table.legend),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    """Marks only where there are any."""
    made: dict[str, Any] = {"text": entry.text, "value": entry.value}
    if entry.note:
        made["note"] = entry.note
    if entry.marks.raised:
        made["raised"] = list(entry.marks.raised)
    return made | {key: True for key in ("best", "dagger") if getattr(entry.marks, key)}

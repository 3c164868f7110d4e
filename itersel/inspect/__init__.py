"""Views: what is inside a file or folder, as text for a terminal.

`view` recognises what it is by content, not by name, and passes it to the module that shows this kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from itersel.base.errors import ConfigError
from itersel.inspect import binary, folder, grammar, language_model, record, run, shard, text, weights
from itersel.inspect.options import ViewOptions
from itersel.inspect.recognition import recognize

__all__ = ["VIEWS", "recognize", "view"]

VIEWS: dict[str, text.View] = {
    "grammar": grammar.lines,
    "shard": shard.lines,
    "weights": weights.lines,
    "vector": weights.lines,
    "arpa": language_model.lines,
    "kenlm": language_model.lines,
    "run": run.lines,
    "folder": folder.lines,
    "mark": folder.mark_lines,
    "json": record.object_lines,
    "json lines": record.line_lines,
    "index": binary.index_lines,
    "seen": binary.seen_lines,
    "list table": binary.list_table_lines,
    "job records": binary.job_record_lines,
    "columns": binary.column_lines,
    **text.VIEWS,
}


def view(path: str | os.PathLike[str], options: ViewOptions | None = None) -> Iterator[str]:
    """The lines to show. An option that does not apply to what the path holds is a ConfigError."""
    place = Path(path)
    options = options or ViewOptions()
    kind = recognize(place)
    if kind != "shard" and options.for_shards:
        raise ConfigError("not a shard file", where=place, hint=f"Only shards have {', '.join(options.for_shards)}.")
    return VIEWS[kind](place, options)

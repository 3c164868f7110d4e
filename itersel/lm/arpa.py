"""A language model as an ARPA file: log10 values, tabs around the n-gram, the n-grams in lmplz's order.

N-grams are sorted by last word, then last but one, and so on, words by first occurrence in the text. Values
have seven decimals, so equal models are equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np

from itersel.base.progress import Progress
from itersel.lm.estimate import Model

ROWS = 100_000


def write_arpa(model: Model, stream: IO[bytes], *, progress: Progress | None = None) -> None:
    """Write the model; `progress` advances by the n-grams written."""
    sizes = "".join(f"ngram {order}={len(table)}\n" for order, table in enumerate(model.tables, 1))
    stream.write(f"\\data\\\n{sizes}".encode())
    words = np.array(model.words, dtype=object)
    for order in range(1, len(model.tables) + 1):
        stream.write(f"\n\\{order}-grams:\n".encode())
        for text, rows in _format_rows(model, order, words):
            stream.write(text.encode())
            if progress:
                progress.advance(rows)
    stream.write(b"\n\\end\\\n")


def _format_rows(model: Model, order: int, words: np.ndarray) -> Iterator[tuple[str, int]]:
    """Pieces of a section, each with the number of its lines."""
    table = model.tables[order - 1]
    has_backoff = len(table.backoff) > 0
    template = "%.7f\t" + " ".join(["%s"] * order) + ("\t%.7f\n" if has_backoff else "\n")
    for start in range(0, len(table), ROWS):
        rows: np.ndarray | slice = slice(start, start + ROWS)
        # Adding 0 turns a negative zero into a plain one.
        columns = [(table.probability[rows] + 0.0).tolist()]
        last = (table.backoff[rows] + 0.0).tolist() if has_backoff else None
        for shorter in reversed(model.tables[:order]):
            columns.append(words[shorter.first[rows]].tolist())
            rows = shorter.suffix[rows]
        if last is not None:
            columns.append(last)
        yield "".join(map(template.__mod__, zip(*columns, strict=True))), len(columns[0])

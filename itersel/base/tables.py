"""Tables for people: columns lined up for a terminal, or Markdown."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def text_table(rows: Sequence[Row], left: Sequence[int] = (0,)) -> str:
    """The rows, the header first, in columns two blanks apart; columns are flush right, except for those in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown_table(rows: Sequence[Row], left: Sequence[int] = (0,)) -> str:
    """The same as a table in Markdown; a `|` in a cell is escaped."""
    header, *body = [[cell.strip().replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---" if at in left else "---:" for at in range(len(header))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, rule, *body])

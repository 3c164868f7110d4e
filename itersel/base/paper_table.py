"""A table of results in the form of ACL 2012, tables 2 and 3: columns by test set, scores with marks.

itersel.pipeline.experiment.table makes it; it is shown as text, as Markdown, and on the report's page.
"""

from __future__ import annotations

from dataclasses import dataclass

from itersel.base.tables import markdown_table, text_table


@dataclass(frozen=True)
class Marks:
    """At one test score: algorithms it differs from, whether it is its algorithm's best, or below that."""

    raised: tuple[int, ...] = ()
    best: bool = False
    dagger: bool = False


@dataclass(frozen=True)
class Column:
    """`test` is the set whose scores it has, if any; `left`: flush left, for words."""

    label: str
    test: str = ""
    left: bool = False


@dataclass(frozen=True)
class Entry:
    """One place of the table; `note` comes after the text and means less."""

    text: str
    value: float | str | None
    """What to sort by; entries without one come last."""
    note: str = ""
    marks: Marks = Marks()

    def plain(self) -> str:
        """With `*` for bold and `^` before what is raised."""
        raised = "".join(map(str, self.marks.raised))
        shown = ("*" if self.marks.best else "") + self.text + ("†" if self.marks.dagger else "")
        return shown + (f"^{raised}" if raised else "") + (f" {self.note}" if self.note else "")

    def markdown(self) -> str:
        raised = "".join(map(str, self.marks.raised))
        shown = (f"**{self.text}**" if self.marks.best else self.text) + ("†" if self.marks.dagger else "")
        return shown + (f"<sup>{raised}</sup>" if raised else "") + (f" {self.note}" if self.note else "")


@dataclass(frozen=True)
class Row:
    """`name` is the system's, that of the training run."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class PaperTable:
    """Rows of as many entries as there are columns; the legend, paragraph by paragraph."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legend: tuple[str, ...]

    def text(self) -> str:
        """For a terminal, without the legend."""
        return text_table([self._header(), *([one.plain() for one in row.entries] for row in self.rows)], self._left())

    def markdown(self) -> str:
        """Without the legend."""
        rows = [[one.markdown() for one in row.entries] for row in self.rows]
        return markdown_table([self._header(), *rows], self._left())

    def _header(self) -> list[str]:
        """On one line: the first column of a test set has its name."""
        before = ("", *(column.test for column in self.columns))
        return [
            f"{column.test} {column.label}" if column.test not in ("", last) else column.label
            for column, last in zip(self.columns, before, strict=False)
        ]

    def _left(self) -> list[int]:
        return [number for number, column in enumerate(self.columns) if column.left]

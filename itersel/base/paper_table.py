"""A table of results in the form of ACL 2012, tables 2 and 3: columns by test set, scores with marks.

itersel.pipeline.experiment.table and itersel.pipeline.geoquery_tables make such tables; they are shown as text, as
Markdown, and on the report's page.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from itersel.base.tables import markdown_table, text_table


@dataclass(frozen=True)
class Marks:
    """Marks of a test score: algorithms it differs from, whether it is its algorithm's best, or worse than that."""

    raised: tuple[int, ...] = ()
    best: bool = False
    dagger: bool = False

    @property
    def numbers(self) -> str:
        """The raised numbers side by side, with commas if one of them has several digits."""
        return ("," if any(number > 9 for number in self.raised) else "").join(map(str, self.raised))


@dataclass(frozen=True)
class Column:
    """`test` is the set whose scores it has, if any; `left`: flush left, for words; `prose`: these are sentences."""

    label: str
    test: str = ""
    left: bool = False
    prose: bool = False


@dataclass(frozen=True)
class Entry:
    """One place of the table; `note` follows the text and is less important."""

    text: str
    value: float | str | None
    """What to sort by; entries without one come last."""
    note: str = ""
    marks: Marks = Marks()

    def plain(self) -> str:
        """With `*` for bold and `^` before raised text."""
        raised = self.marks.numbers
        shown = ("*" if self.marks.best else "") + self.text + ("†" if self.marks.dagger else "")
        return shown + (f"^{raised}" if raised else "") + (f" {self.note}" if self.note else "")

    def markdown(self) -> str:
        raised = self.marks.numbers
        text, note = html.escape(self.text, quote=False), html.escape(self.note, quote=False)
        shown = (f"**{text}**" if self.marks.best else text) + ("†" if self.marks.dagger else "")
        return shown + (f"<sup>{raised}</sup>" if raised else "") + (f" {note}" if note else "")


@dataclass(frozen=True)
class Row:
    """One system; `name` is that of its training run."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Repeats:
    """The scores of every run on a test set, by system: what box plots over seeds are drawn from (ACL 2012, fig. 4)."""

    test: str
    label: str
    """The name of the metric."""
    systems: tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Plot:
    """Scores and model sizes as functions of one setting, such as the λ of ℓ1."""

    caption: str
    setting: str
    values: tuple[str, ...]
    """The values of the setting, ascending."""
    scores: tuple[tuple[str, tuple[float | None, ...]], ...]
    """Scores by label, one for each value of the setting."""
    sizes: tuple[float, ...]
    """Numbers of features with a weight, one for each value of the setting."""
    intervals: tuple[tuple[tuple[float, float] | None, ...], ...] = ()
    """For each of the scores, 95 % intervals of its values; empty: none are drawn."""


@dataclass(frozen=True)
class PaperTable:
    """Rows of as many entries as there are columns; the legend, paragraph by paragraph."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legend: tuple[str, ...]
    repeats: tuple[Repeats, ...] = ()
    """One per test set, if any system was trained several times."""
    caption: str = ""
    mark: str = "differs from algorithm"
    """What raised numbers mean, for a reader who points at them."""
    first: int | None = None
    """Rows that the page shows before the reader asks for more; None: all."""
    plots: tuple[Plot, ...] = ()

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

"""What an algorithm measures, declared as data: statistics, the figures made of them, and which one decides.

A mapper counts *statistics*; `combine` says how those of several shards become one. A *figure* is what people see: a
statistic, or one divided by another, with a label and a form. The declaration is stored in a run's run.json, so the
progress line, the report, the epoch table and the experiment tables draw what is declared and know no algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from itersel.base.errors import InputError

COMBINE = ("sum", "max")
FORMS = {
    "count": "{:,.0f}",
    "percent": "{:.1%}",
    "score": "{:.2f}",
    "metric": "{:.4f}",
    "ratio": "{:.3f}",
    "number": "{:,.4g}",
    "seconds": "{:,.1f}",
}
"""How values are written, by the name of the form."""
PLACES = ("progress", "table", "curve", "spread")
"""Where a figure is shown: progress line, epoch table, curve over the rounds, spread over the shards."""


@dataclass(frozen=True)
class Statistic:
    """A number that a mapper counts."""

    key: str
    combine: str = "sum"
    """How the shards' numbers become one: sum, or max."""

    def __post_init__(self) -> None:
        assert self.combine in COMBINE, f"combine is {self.combine!r}"


@dataclass(frozen=True)
class Figure:
    """A number that people see: the statistic or fact `of`, divided by `per` if that is given."""

    key: str
    label: str
    """A few words in lower case, such as `pair errors`."""
    of: str
    per: str | None = None
    form: str = "number"
    about: str = ""
    """One sentence for the report."""
    shown: tuple[str, ...] = ("table", "curve")
    beside: str | None = None
    """The key of a figure whose chart has this one's curve, too: what was promised beside what was reached."""

    def __post_init__(self) -> None:
        assert self.form in FORMS, f"form is {self.form!r}"
        assert set(self.shown) <= set(PLACES), f"shown is {self.shown!r}"

    def value(self, sums: Mapping[str, Any]) -> float | None:
        """The figure of these sums; None if they lack one of its parts, or divide by 0."""
        above, below = sums.get(self.of), 1 if self.per is None else sums.get(self.per)
        if above is None or not below:
            return None
        return float(above) / float(below)

    def text(self, value: float | None) -> str:
        """For people; an absent value is a dash."""
        return "–" if value is None else FORMS[self.form].format(value)


@dataclass(frozen=True)
class CrossSections:
    """A score as a function of one weight, the others as they are: a file of each round's folder, at its weights.

    The file is JSON: `{feature: {"at": weight, "weights": [ascending …], "values": [score at each weight …]}}`.
    """

    file: str
    label: str
    form: str = "score"
    about: str = ""

    def __post_init__(self) -> None:
        assert self.form in FORMS, f"form is {self.form!r}"
        assert "/" not in self.file and self.file not in ("", ".", ".."), f"file is {self.file!r}"


@dataclass(frozen=True)
class Listing:
    """A table in a file of each round's folder: a line per row, cells separated by tabs, in the order of `columns`."""

    file: str
    label: str
    """A few words in lower case, such as `largest gradients`."""
    columns: tuple[tuple[str, str], ...]
    """The label of each column and the form of its values, one of FORMS or `text`."""
    about: str = ""

    def __post_init__(self) -> None:
        assert self.columns and all(form in (*FORMS, "text") for _, form in self.columns), f"columns is {self.columns}"
        assert "/" not in self.file and self.file not in ("", ".", ".."), f"file is {self.file!r}"


@dataclass(frozen=True)
class Choice:
    """The fact that decides which round's model is the run's; of equals, the earlier round."""

    key: str = "devtest_bleu"
    label: str = "devtest BLEU"
    largest: bool = True

    def better(self, value: float, other: float) -> bool:
        return value > other if self.largest else value < other

    def best(self, values: Sequence[float]) -> int:
        """The position of the first best value."""
        return values.index(max(values) if self.largest else min(values))

    def rounds_without_gain(self, values: Sequence[float]) -> int:
        """How many of the last values in a row brought nothing better."""
        return len(values) - 1 - self.best(values) if values else 0


@dataclass(frozen=True)
class Declaration:
    """An algorithm's name and number, and what it measures."""

    name: str
    label: str
    number: int | None = None
    """As in the papers' tables; None if it has none."""
    statistics: tuple[Statistic, ...] = ()
    figures: tuple[Figure, ...] = ()
    choice: Choice = Choice()
    sections: CrossSections | None = None
    listing: Listing | None = None

    def combine(self, shards: Iterable[Mapping[str, Any]]) -> dict[str, float]:
        """The declared statistics of several shards as one."""
        made: dict[str, float] = {}
        for one in shards:
            for statistic in self.statistics:
                if statistic.key in one:
                    value, known = one[statistic.key], made.get(statistic.key, 0)
                    made[statistic.key] = max(known, value) if statistic.combine == "max" else known + value
        return made

    def shown(self, place: str) -> tuple[Figure, ...]:
        """The figures for one of PLACES."""
        return tuple(figure for figure in self.figures if place in figure.shown)

    @property
    def choice_figure(self) -> Figure:
        """How the fact that decides is shown: as a figure of it declares, or as a plain number."""
        for figure in self.figures:
            if figure.of == self.choice.key and figure.per is None:
                return figure
        return Figure(self.choice.key, self.choice.label, self.choice.key)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: Any) -> Declaration:
        """Reads what `to_json` made; InputError for anything else."""
        try:
            made = cls(
                name=str(values["name"]),
                label=str(values["label"]),
                number=None if values["number"] is None else int(values["number"]),
                statistics=tuple(Statistic(**one) for one in values["statistics"]),
                figures=tuple(Figure(**(one | {"shown": tuple(one["shown"])})) for one in values["figures"]),
                choice=Choice(**values["choice"]),
                sections=CrossSections(**values["sections"]) if values.get("sections") is not None else None,
                listing=_listing(values["listing"]) if values.get("listing") is not None else None,
            )
        except (KeyError, TypeError, ValueError, OverflowError, AssertionError) as error:
            raise InputError(f"damaged: not the declaration of an algorithm: {error}") from None
        for name, text in made._texts():
            if not isinstance(text, str):
                raise InputError(f"damaged: not the declaration of an algorithm: {name} is {text!r}")
        if not isinstance(made.choice.largest, bool):
            raise InputError(f"damaged: not the declaration of an algorithm: largest is {made.choice.largest!r}")
        return made

    def _texts(self) -> Iterator[tuple[str, Any]]:
        """What has to be text, and is used as a key or shown."""
        for statistic in self.statistics:
            yield "the key of a statistic", statistic.key
        for figure in self.figures:
            given = [(name, getattr(figure, name)) for name in ("per", "beside") if getattr(figure, name) is not None]
            for name, text in (("key", figure.key), ("label", figure.label), ("of", figure.of), *given):
                yield f"`{name}` of a figure", text
            yield "`about` of a figure", figure.about
        if self.sections is not None:
            yield "the label of the cross-sections", self.sections.label
            yield "`about` of the cross-sections", self.sections.about
        if self.listing is not None:
            for name, text in (("label", self.listing.label), ("about", self.listing.about)):
                yield f"`{name}` of the listing", text
            for label, _ in self.listing.columns:
                yield "a column of the listing", label
        yield "the key of the choice", self.choice.key
        yield "the label of the choice", self.choice.label


def _listing(values: Any) -> Listing:
    return Listing(**values | {"columns": tuple((label, form) for label, form in values["columns"])})

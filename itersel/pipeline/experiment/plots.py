"""Scores and model sizes as a function of one setting: for cells of a grid that differ in nothing else.

Two or more values of a number that a block varies, such as `epoch.learn.l1` or `selection.top`, make a plot. A value of
`null`, no limit, comes last. So do cells that learn from different numbers of shards of the same set (`train:20`,
`train`): a plot for each test set, by the number of sentences, with intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from itersel.base.figures import Choice
from itersel.base.paper_table import Plot
from itersel.pipeline.experiment.cells import CellResult
from itersel.pipeline.experiment.chosen_shards import ChosenShards, file_name
from itersel.pipeline.experiment.config import BY_DOMAIN
from itersel.pipeline.experiment.grid_result import GridResult, scores_by_test

NO_LIMIT = "none"


def plots(grid: GridResult, systems: Sequence[CellResult], about: str = "") -> tuple[Plot, ...]:
    """All plots that the systems allow (repeats as one, with their means), in the grid's order. `about` names them, by
    default with the name of their block, algorithm, tuning set and features."""
    groups: dict[tuple[Any, ...], list[CellResult]] = {}
    for system in systems:
        for key in system.varied:
            others = tuple((name, str(value)) for name, value in system.varied.items() if name != key)
            same = (system.label, system.algorithm, system.tuning, system.features, others, key)
            if _is_number(system.varied[key]):
                groups.setdefault(same, []).append(system)
    made = [_plot(grid, key[-1], members, about) for key, members in groups.items() if len(members) > 1]
    return (*made, *_by_sentences(grid, systems))


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _plot(grid: GridResult, key: str, members: Sequence[CellResult], about: str) -> Plot:
    ordered = sorted(members, key=lambda one: (one.varied[key] is None, one.varied[key] or 0))
    first = ordered[0]
    choice = first.declaration.choice
    scores = [(choice.label, tuple(one.facts.get(choice.key) for one in ordered))]
    by_test = [scores_by_test(grid, one.name) for one in ordered]
    scores += [(label, tuple(one[label] for one in by_test)) for label in by_test[0]]
    others = [
        f"{name.rpartition('.')[2]} {value}" for name, value in first.varied.items() if name not in (key, BY_DOMAIN)
    ]
    block = [first.label] if first.label else []
    named = [about] if about else [*block, first.declaration.label, first.tuning, first.features]
    title = ", ".join([*named, *others])
    values = [NO_LIMIT if one.varied[key] is None else f"{one.varied[key]:,}" for one in ordered]
    sizes = tuple(one.weights / one.models for one in ordered)
    return Plot(f"{title}: by {key}", key, tuple(values), tuple(scores), sizes)


def _by_sentences(grid: GridResult, systems: Sequence[CellResult]) -> Iterator[Plot]:
    """Learning curves; the best system that learned from another set is drawn as a line of its own."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for system in systems:
        if system.sentences:
            base = _base(system.tuning)
            groups.setdefault((base, system.name.replace(file_name(system.tuning), base, 1)), []).append(system)
    for (base, name), members in groups.items():
        ordered = sorted(members, key=lambda one: one.sentences)
        if len({one.sentences for one in ordered}) < max(len(ordered), 2):
            continue
        first = ordered[0]
        others = [one for one in systems if one.sentences and _base(one.tuning) != base]
        rival = _best(first.declaration.choice, others)
        for test, evaluation in grid.evaluations.items():
            drawn = [(first.declaration.label, ordered)]
            drawn += [(rival.name, [rival] * len(ordered))] if rival is not None else []
            scores = [[evaluation.score(one.name) for one in several] for _, several in drawn]
            yield Plot(
                f"{name}: {test} {evaluation.labels['bleu']} by the number of sentences learned from",
                "sentences",
                tuple(f"{one.sentences:,}" for one in ordered),
                tuple((label, tuple(one.mean for one in row)) for (label, _), row in zip(drawn, scores, strict=True)),
                tuple(one.weights / one.models for one in ordered),
                tuple(tuple(one.interval for one in row) for row in scores),
            )


def _base(tuning: str) -> str:
    """The set whose first shards these are, or all of them; other choices stand for themselves."""
    first, *others = ChosenShards.parse(tuning)
    return first.name if not others and first.first == 1 else tuning


def _best(choice: Choice, systems: Sequence[CellResult]) -> CellResult | None:
    """The best of the systems whose epochs are chosen by this, too; None if there are none."""
    known = [one for one in systems if one.declaration.choice == choice and choice.key in one.facts]
    return known[choice.best([one.facts[choice.key] for one in known])] if known else None

"""What became of an experiment's grid: finished cells, and the scores of their systems in each row of the tables.

A row is a test set, or the sentences of one domain of a test set (`table.domains`). Repeats of a cell are one system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Protocol, TypeVar

from itersel.base.figures import Choice, Declaration
from itersel.base.files import read_lines
from itersel.evaluation.scoring import Evaluation, EvaluationOptions, System, score_systems
from itersel.pipeline.build import built
from itersel.pipeline.experiment.cells import CellPlan, CellResult, finished
from itersel.pipeline.experiment.config import ExperimentConfig
from itersel.pipeline.stages import StageResult
from itersel.shards.shard import Shard

METRICS = ("bleu", "chrf")
AVERAGE = "average"
"""The row of the mean over domains."""


@dataclass(frozen=True)
class GridResult:
    """All finished cells in the grid's order, and the evaluation of their systems by row."""

    config: ExperimentConfig
    results: tuple[CellResult, ...]
    evaluations: dict[str, Evaluation]
    """By test set; of a set with a row for each domain, by the names of these rows."""
    runs: tuple[Path, ...] = ()
    """Directories of trainings to report on."""
    stages: tuple[StageResult, ...] = ()
    """The stages of the build, as they were made; empty if the build is not complete."""
    cell_bytes: int = 0
    """What the folders of the cells take on disk."""

    @property
    def numbers(self) -> dict[str, int]:
        """The number of each algorithm in the table: as declared.

        Those without a number of their own get the next free ones, in the grid's order.
        """
        declared = {one.algorithm: one.declaration.number for one in self.results}
        made: dict[str, int] = {}
        for name, number in declared.items():
            if number is not None and number not in made.values():
                made[name] = number
        following = max([0, *made.values()]) + 1
        for name in declared:
            if name not in made:
                made[name] = following
                following += 1
        return made

    @property
    def choices(self) -> dict[Choice, Declaration]:
        """What the cells' epochs are chosen by, each with the first declaration that says so."""
        made: dict[Choice, Declaration] = {}
        for one in self.results:
            made.setdefault(one.declaration.choice, one.declaration)
        return made


class OfSystem(Protocol):
    """Something of a cell, which belongs to a system."""

    @property
    def system(self) -> str: ...


Member = TypeVar("Member", bound=OfSystem)


def by_system(members: Iterable[Member]) -> dict[str, list[Member]]:
    """Cells with their repeats, by the name that they share, in the order given."""
    found: dict[str, list[Member]] = {}
    for one in members:
        found.setdefault(one.system, []).append(one)
    return found


@dataclass(frozen=True)
class ModeColumn:
    """A column of a table by tuning mode: its systems, which differ in varied settings, and the one that is shown."""

    table: str
    label: str
    systems: tuple[str, ...]
    chosen: str


def mode_columns(grid: GridResult) -> list[ModeColumn]:
    """All columns, in the grid's order. What epochs are chosen by also chooses among a column's finished systems."""
    return _mode_columns(grid.config, grid.results)


def _mode_columns(config: ExperimentConfig, results: Iterable[CellResult]) -> list[ModeColumn]:
    finished_runs = by_system(results)
    places: dict[tuple[str, str], dict[str, None]] = {}
    for cell in config.cells:
        places.setdefault((cell.table, cell.column), {})[cell.system] = None
    found = []
    for (table, label), systems in places.items():
        values = dict[str, float]()
        for name in systems:
            runs = finished_runs.get(name, ())
            key = runs[0].declaration.choice.key if runs else ""
            if runs and all(key in run.facts for run in runs):
                values[name] = fmean(run.facts[key] for run in runs)
        finished_ones = [name for name in systems if name in finished_runs]
        chosen = next(iter(finished_ones or systems))
        if values:
            choice = finished_runs[next(iter(values))][0].declaration.choice
            chosen = list(values)[choice.best(list(values.values()))]
        found.append(ModeColumn(table, label, tuple(systems), chosen))
    return found


def is_domain_row(grid: GridResult, row: str) -> bool:
    """Whether a row has the sentences of one domain."""
    table = grid.config.table
    return table is not None and table.domains is not None and row.startswith(row_name(table.domains, ""))


def scores_by_test(grid: GridResult, system: str) -> dict[str, float]:
    """BLEU by test set, named by set and metric; of a set with a row for each domain, the mean over these."""
    found, by_domain = {}, list[float]()
    for row, evaluation in grid.evaluations.items():
        score = evaluation.score(system).mean
        if is_domain_row(grid, row):
            by_domain.append(score)
        else:
            found[f"{row} {evaluation.labels[METRICS[0]]}"] = score
    if by_domain:
        label = next(iter(grid.evaluations.values())).labels[METRICS[0]]
        found[f"{AVERAGE} {label}"] = fmean(by_domain)
    return found


@dataclass(frozen=True)
class ScoredRow:
    """A row of the tables: a test set, or the sentences of a domain in it, by number."""

    name: str
    test: str
    domain: str = ""
    sentences: tuple[int, ...] | None = None

    def of(self, lines: Sequence[str]) -> list[str]:
        """The row's part of a text that belongs to the test set."""
        return list(lines) if self.sentences is None else [lines[number] for number in self.sentences]


def row_name(test: str, domain: str) -> str:
    """The name of a domain's row."""
    return f"{test}: {domain}"


def scored_rows(config: ExperimentConfig, tests: dict[str, tuple[str, ...]]) -> Iterator[ScoredRow]:
    """The rows, in the order of the test sets; domains in code point order of their labels."""
    for test in config.tests:
        if config.table is None or test != config.table.domains:
            yield ScoredRow(test, test)
            continue
        labels = [shard.domain(number) for shard in map(Shard, tests[test]) for number in range(len(shard))]
        for domain in sorted(set(labels)):
            chosen = tuple(number for number, label in enumerate(labels) if label == domain)
            yield ScoredRow(row_name(test, domain), test, domain, chosen)


def evaluate_cells(config: ExperimentConfig, plans: Sequence[CellPlan], jobs: int = 1) -> GridResult:
    """Scores of all finished cells' systems in each row, and tests of the differences: between any two systems, or, if
    the configuration names columns, between those of one table."""
    done = [(plan, result) for plan in plans if (result := finished(plan)) is not None]
    columns = [] if config.table is None else _mode_columns(config, [result for _, result in done])
    runs = by_system(plan for plan, _ in done)
    evaluations = {}
    options = EvaluationOptions(
        metrics=METRICS,
        trials=config.significance.trials,
        seed=config.significance.seed,
        pairs=None if config.table is None else tuple(_pairs_of_tables(columns, list(runs))),
        jobs=jobs,
    )
    for row in scored_rows(config, done[0][0].tests) if done else ():
        shards = [Shard(path) for path in done[0][0].tests[row.test]]
        references = [shard.references(number) for shard in shards for number in range(len(shard))]
        if row.sentences is not None:
            references = [references[number] for number in row.sentences]
        systems = [
            System(system, [row.of(list(read_lines(plan.translations(row.test)))) for plan in several])
            for system, several in runs.items()
        ]
        evaluations[row.name] = score_systems(systems, references, options)
    # Tables by column may have many trainings: of repeats, the first is shown, of settings, the chosen one, and of
    # models by domain, none.
    chosen = {column.chosen for column in columns}
    shown = [
        plan
        for plan, _ in done
        if config.table is None or (plan.cell.run == 1 and not plan.domains and plan.system in chosen)
    ]
    trainings = tuple(dict.fromkeys(directory for plan in shown for directory in plan.trainings))
    taken = sum(
        file.stat().st_size
        for folder in {plan.folder for plan, _ in done}
        for file in folder.rglob("*")
        if file.is_file()
    )
    results = tuple(result for _, result in done)
    return GridResult(config, results, evaluations, trainings, tuple(built(config.build)), taken)


def _pairs_of_tables(columns: Sequence[ModeColumn], systems: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs that tables mark: what is shown in columns of the same one."""
    tables = {column.chosen: column.table for column in columns}
    for earlier, later in combinations([one for one in systems if one in tables], 2):
        if tables[earlier] == tables[later]:
            yield later, earlier

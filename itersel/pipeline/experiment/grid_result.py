"""What became of an experiment's grid: finished cells, and the scores of their systems in each row of the tables.

A row is a test set, or the sentences of one domain of a test set (`table.domains`). Repeats of a cell are one system.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
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
    runs = by_system(plan for plan, _ in done)
    evaluations = {}
    options = EvaluationOptions(
        metrics=METRICS,
        trials=config.significance.trials,
        seed=config.significance.seed,
        pairs=None if config.table is None else tuple(_pairs_of_tables(config, list(runs))),
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
    # Tables by column may have many trainings: of repeats, the first is shown, and of models by domain, none.
    shown = [plan for plan, _ in done if config.table is None or (plan.cell.run == 1 and not plan.domains)]
    trainings = tuple(dict.fromkeys(directory for plan in shown for directory in plan.trainings))
    taken = sum(
        file.stat().st_size
        for folder in {plan.folder for plan, _ in done}
        for file in folder.rglob("*")
        if file.is_file()
    )
    results = tuple(result for _, result in done)
    return GridResult(config, results, evaluations, trainings, tuple(built(config.build)), taken)


def _pairs_of_tables(config: ExperimentConfig, systems: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The pairs that tables mark: columns of the same one."""
    tables = {cell.system: cell.table for cell in config.cells}
    for earlier, later in combinations(systems, 2):
        if tables[earlier] == tables[later]:
            yield later, earlier

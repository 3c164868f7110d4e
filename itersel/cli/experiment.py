"""Run an experiment: build the data, train every cell of a grid, translate the test sets, print the table.

The configuration (conf/experiments/*.yaml) names a build, the sets, and a grid of algorithms, tuning sets, feature
groups and settings. Run the same command again to resume: it skips stages, shards, epochs and cells that are done.
Table (Markdown), results (JSON: configuration, seeds, commits, what it took, every p) and a report for each
test set (HTML) go to the output folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write
from itersel.base.folders import EXPERIMENT, check_folder_kind, claim_folder
from itersel.base.json_files import write_json
from itersel.base.paper_table import PaperTable
from itersel.base.version import commit
from itersel.cli.arguments import add_jobs
from itersel.engines import RUNNERS
from itersel.pipeline.experiment.cells import build_data, plan_cells
from itersel.pipeline.experiment.config import ExperimentConfig, load_experiment
from itersel.pipeline.experiment.grid_result import GridResult, evaluate_cells
from itersel.pipeline.experiment.mode_tables import mode_tables
from itersel.pipeline.experiment.results import document
from itersel.pipeline.experiment.schedule import run_cells
from itersel.pipeline.experiment.table import paper_table
from itersel.report import write_report

SUMMARY = "train and test a grid of algorithms, sets and features; print the table"
EXAMPLE = """\
  itersel experiment conf/experiments/sample.yaml --output work/sample/results
  itersel experiment conf/experiments/sample.yaml --only 'sgd-*' --output work/sample/results --jobs 2
  itersel experiment conf/experiments/sample.yaml -r inline --output work/sample/results
  itersel experiment conf/experiments/sample.yaml --table --output work/sample/results"""


FEATURES, SENTENCES = 50, 20
"""Limits of a report about many trainings."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("configuration", metavar="FILE", help="YAML")
    parser.add_argument(
        "--output", metavar="DIR", help="folder for table and results (default: benchmarks/results/NAME)"
    )
    parser.add_argument("-r", "--runner", choices=RUNNERS, help="the engine that trains the cells (docs/engines.md)")
    add_jobs(parser, None, "processes; cells run in parallel (default: 1)")
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="run only cells whose names match, such as 'sgd-*'"
    )
    parser.add_argument("--table", action="store_true", help="run nothing; print the table of finished cells")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override an option of the build"
    )


def run(args: argparse.Namespace) -> None:
    config = load_experiment(args.configuration, args.set)
    given = {"runner": args.runner, "jobs": args.jobs}
    config = replace(config, run=replace(config.run, **{key: one for key, one in given.items() if one is not None}))
    jobs = config.run.jobs
    output = Path(args.output) if args.output else Path("benchmarks/results") / config.name
    check_folder_kind(output, EXPERIMENT)
    commit()  # looked up before the long work, in which the source tree may move on
    if not args.table:
        build_data(config, jobs)
        for result in run_cells(plan_cells(config, only=args.only), jobs):
            chosen = "" if result.chosen is None else f" after epoch {result.chosen}"
            declared = result.declaration
            value = declared.choice_figure.text(result.facts.get(declared.choice.key))
            events.note(f"{result.name}: {declared.choice.label} {value}{chosen}")
    grid = evaluate_cells(config, plan_cells(config), jobs)
    if not grid.results:
        raise ConfigError("no cell is finished yet", hint="Run without --table.")
    tables = [paper_table(grid)] if config.table is None else mode_tables(grid)
    write_results(output, config, grid, tables)
    for table in tables:
        print(*([table.caption] if table.caption else []), table.text(), "", sep="\n")
    print(*_legend(tables), f"results: {output}", sep="\n")


def _legend(tables: Sequence[PaperTable]) -> list[str]:
    """Every paragraph once."""
    return list(dict.fromkeys(paragraph for table in tables for paragraph in table.legend))


def write_results(output: Path, config: ExperimentConfig, grid: GridResult, tables: Sequence[PaperTable]) -> None:
    """results.json, table.md, and reports about the trainings, which have the tables, too.

    There is a report-TEST.html for each test set; with tables by column, which have the test sets, one report.html."""
    claim_folder(output, EXPERIMENT)
    write_json(output / "results.json", document(grid))
    with atomic_write(output / "table.md") as stream:
        parts = [f"# Experiment {config.name}"]
        for table in tables:
            parts += [f"## {table.caption}"] * bool(table.caption) + [table.markdown()]
        stream.write(("\n\n".join([*parts, *_legend(tables)]) + "\n").encode())
    title = f"Experiment {config.name}"
    if not grid.runs:
        return
    if config.table is not None:
        place = output / "report.html"
        write_report(grid.runs, place, title=title, features=FEATURES, sentences=SENTENCES, experiment=tables)
        return
    for test, evaluation in grid.evaluations.items():
        place = output / f"report-{test}.html"
        write_report(grid.runs, place, title=f"{title}: {test}", evaluation=evaluation, experiment=tables)

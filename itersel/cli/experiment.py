"""Run an experiment: build the data, train every cell of a grid, translate the test sets, print the table.

The configuration (conf/experiments/*.yaml) names a build, the sets, and a grid of algorithms, tuning sets, feature
groups and settings. Run the same command again to resume: it skips stages, shards, epochs and cells that are done.
Table (Markdown), results (JSON: configuration, seeds, commits, what it took, every p) and a report for each
test set (HTML) go to the output folder.
"""

from __future__ import annotations

import argparse
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
from itersel.pipeline.experiment import cells as runner
from itersel.pipeline.experiment.cells import GridResult
from itersel.pipeline.experiment.config import ExperimentConfig, load_experiment
from itersel.pipeline.experiment.results import document
from itersel.pipeline.experiment.table import paper_table
from itersel.report import write_report

SUMMARY = "train and test a grid of algorithms, sets and features; print the table"
EXAMPLE = """\
  itersel experiment conf/experiments/sample.yaml --output work/sample/results
  itersel experiment conf/experiments/sample.yaml --only 'sgd-*' --output work/sample/results --jobs 2
  itersel experiment conf/experiments/sample.yaml -r inline --output work/sample/results
  itersel experiment conf/experiments/sample.yaml --table --output work/sample/results"""


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
        runner.build_data(config, jobs)
        for result in runner.run_cells(runner.plan_cells(config, only=args.only), jobs):
            chosen = "" if result.chosen is None else f" after epoch {result.chosen}"
            declared = result.declaration
            value = declared.choice_figure.text(result.facts.get(declared.choice.key))
            events.note(f"{result.name}: {declared.choice.label} {value}{chosen}")
    grid = runner.evaluate_cells(config, runner.plan_cells(config), jobs)
    if not grid.results:
        raise ConfigError("no cell is finished yet", hint="Run without --table.")
    table = paper_table(grid)
    write_results(output, config, grid, table)
    print(table.text(), "", *table.legend, f"results: {output}", sep="\n")


def write_results(output: Path, config: ExperimentConfig, grid: GridResult, table: PaperTable) -> None:
    """results.json, table.md, and for each test set report-TEST.html about the trainings, which has the table, too."""
    claim_folder(output, EXPERIMENT)
    write_json(output / "results.json", document(grid))
    with atomic_write(output / "table.md") as stream:
        parts = [f"# Experiment {config.name}", table.markdown(), *table.legend]
        stream.write(("\n\n".join(parts) + "\n").encode())
    for test, evaluation in grid.evaluations.items() if grid.runs else ():
        title = f"Experiment {config.name}: {test}"
        place = output / f"report-{test}.html"
        write_report(grid.runs, place, title=title, evaluation=evaluation, experiment=[table])

"""Run an experiment: build the data, train every cell of a grid, translate the test sets, print the table.

The configuration (conf/experiments/*.yaml) names a build, the sets, and a grid of algorithms, tuning sets, feature
groups and settings. The same command again does only what is missing: stages, shards, epochs and cells are skipped by
content. Table (Markdown), results (JSON: configuration, seeds, commits, what it took, every p) and a report for each
test set (HTML) go to the output folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write
from itersel.base.json_files import write_json
from itersel.base.paper_table import PaperTable
from itersel.base.version import commit
from itersel.pipeline.experiment import cells as runner
from itersel.pipeline.experiment.cells import Outcome
from itersel.pipeline.experiment.config import ExperimentConfig, load_experiment
from itersel.pipeline.experiment.results import document
from itersel.pipeline.experiment.table import paper_table
from itersel.report import write_report

SUMMARY = "train and test a grid of algorithms, sets and features; print the table"
EXAMPLE = """\
  itersel experiment conf/experiments/sample.yaml --output work/sample/results
  itersel experiment conf/experiments/sample.yaml --only 'sgd-*' --output work/sample/results --jobs 2
  itersel experiment conf/experiments/sample.yaml --table --output work/sample/results"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("configuration", metavar="FILE", help="YAML")
    parser.add_argument("--output", metavar="DIR", help="for table and results (default: benchmarks/results/NAME)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; cells run side by side")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="run only cells with such names, as 'sgd-*'")
    parser.add_argument("--table", action="store_true", help="run nothing: tabulate the cells that are finished")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override an option of the build"
    )


def run(args: argparse.Namespace) -> None:
    if args.jobs < 1:
        raise ConfigError(f"--jobs is {args.jobs}", hint="Give the number of processes, at least 1.")
    config = load_experiment(args.configuration, args.set)
    output = Path(args.output) if args.output else Path("benchmarks/results") / config.name
    commit()  # looked up before the long work, in which the source tree may move on
    if not args.table:
        runner.build_data(config, args.jobs)
        for result in runner.run_cells(runner.plan_cells(config, only=args.only), args.jobs):
            chosen = "" if result.chosen is None else f" after epoch {result.chosen}"
            events.note(f"{result.name}: {config.devtest} BLEU {result.devtest_bleu:.2f}{chosen}")
    outcome = runner.evaluate_cells(config, runner.plan_cells(config), args.jobs)
    if not outcome.results:
        raise ConfigError("no cell is finished yet", hint="Run without --table.")
    table = paper_table(outcome)
    write_results(output, config, outcome, table)
    print(table.text(), "", *table.legend, f"results: {output}", sep="\n")


def write_results(output: Path, config: ExperimentConfig, outcome: Outcome, table: PaperTable) -> None:
    """results.json, table.md, and for each test set report-TEST.html about the trainings, which has the table, too."""
    write_json(output / "results.json", document(outcome))
    with atomic_write(output / "table.md") as stream:
        parts = [f"# Experiment {config.name}", table.markdown(), *table.legend]
        stream.write(("\n\n".join(parts) + "\n").encode())
    for test, evaluation in outcome.evaluations.items() if outcome.runs else ():
        title = f"Experiment {config.name}: {test}"
        place = output / f"report-{test}.html"
        write_report(outcome.runs, place, title=title, evaluation=evaluation, experiment=table)

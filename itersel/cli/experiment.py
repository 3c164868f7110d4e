"""Run an experiment: build the data, train every cell of a grid, translate the test sets, print the table.

The configuration (conf/experiments/*.yaml) names a build, the sets, and a grid of algorithms, tuning sets, feature
groups and settings. Run the same command again to resume: it skips stages, shards, epochs and cells that are done.
Table (Markdown), results (JSON: configuration, seeds, commits, what it took, every p) and a report for each
test set (HTML) go to the output folder. A file with the key `experiments` names the files of others, which run one
after the other; each has a folder of its own in the output folder, and table.md has the tables of all.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write
from itersel.base.folders import EXPERIMENT, check_folder_kind, claim_folder
from itersel.base.json_files import write_json
from itersel.base.paper_table import PaperTable
from itersel.base.version import commit
from itersel.cli.arguments import add_jobs
from itersel.engines import RUNNERS
from itersel.pipeline.experiment.cells import build_data, chosen_cells, is_begun, matching_cells, plan_cells
from itersel.pipeline.experiment.chosen_shards import file_name
from itersel.pipeline.experiment.config import ExperimentConfig, load_experiment
from itersel.pipeline.experiment.grid_result import GridResult, evaluate_cells
from itersel.pipeline.experiment.mode_tables import mode_tables
from itersel.pipeline.experiment.results import document
from itersel.pipeline.experiment.schedule import FailedCell, run_cells
from itersel.pipeline.experiment.setting_tables import setting_tables
from itersel.pipeline.experiment.suite import Suite, load_suite
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
    suite = load_suite(args.configuration, args.set)
    if suite is None:
        config = load_experiment(args.configuration, args.set)
        output = _output(args, config.name)
        check_folder_kind(output, EXPERIMENT)
        print(*run_one(args, config, output, args.table), f"results: {output}", sep="\n")
    else:
        run_suite(args, suite, _output(args, suite.name))


def _output(args: argparse.Namespace, name: str) -> Path:
    return Path(args.output) if args.output else Path("benchmarks/results") / name


def run_suite(args: argparse.Namespace, suite: Suite, output: Path) -> None:
    """Every experiment that has cells to run, and a page with the tables of all that have been run."""
    for folder in (output, *(output / one.name for one in suite.experiments)):
        check_folder_kind(folder, EXPERIMENT)
    chosen = [one.name for one in suite.experiments if matching_cells(one, args.only)]
    if not chosen:
        raise ConfigError(f"no cell of these experiments matches {args.only!r}", where=args.configuration)
    pages = []
    for config in suite.experiments:
        try:
            text = run_one(args, config, output / config.name, args.table or config.name not in chosen)
        except NothingFinishedError:
            events.note(f"{config.name}: no cell is finished yet")
            continue
        print(f"{config.name}:", *text, "", sep="\n", flush=True)
        pages.append((output / config.name / "table.md").read_text(encoding="utf-8").replace("\n## ", "\n### "))
    if not pages:
        raise NothingFinishedError
    claim_folder(output, EXPERIMENT)
    with atomic_write(output / "table.md") as stream:
        stream.write("\n".join([f"# Experiments {suite.name}\n", *(f"#{page}" for page in pages)]).encode())
    print(f"results: {output}")


class NothingFinishedError(ConfigError):
    """There is no table yet."""

    def __init__(self) -> None:
        super().__init__("no cell is finished yet", hint="Run without --table.")


def run_one(args: argparse.Namespace, config: ExperimentConfig, output: Path, finished: bool) -> list[str]:
    """Build, train and test, unless only what is finished counts; the tables as text. Results go to the folder."""
    given = {"runner": args.runner, "jobs": args.jobs}
    config = replace(config, run=replace(config.run, **{key: one for key, one in given.items() if one is not None}))
    jobs = config.run.jobs
    commit()  # looked up before the long work, in which the source tree may move on
    failed: list[FailedCell] = []
    if finished and not is_begun(config):
        raise NothingFinishedError
    if not finished:
        chosen_cells(config, args.only)  # none is an error that should not wait for the build
        build_data(config, jobs)
        for result in run_cells(plan_cells(config, only=args.only), jobs):
            if isinstance(result, FailedCell):
                failed.append(result)
                events.warn(f"{result.name} failed: {result.error.message}; the other cells go on")
                continue
            chosen = "" if result.chosen is None else f" after epoch {result.chosen}"
            declared = result.declaration
            value = declared.choice_figure.text(result.facts.get(declared.choice.key))
            events.note(f"{result.name}: {declared.choice.label} {value}{chosen}")
    grid = evaluate_cells(config, plan_cells(config), jobs)
    if not grid.results:
        if failed:
            raise failed[0].error
        raise NothingFinishedError
    tables = [paper_table(grid)] if config.table is None else [*mode_tables(grid), *setting_tables(grid)]
    write_results(output, config, grid, tables)
    lines = []
    for table in tables:
        lines += [*([table.caption] if table.caption else []), table.text(), ""]
    if failed:
        print(*lines, *_legend(tables), sep="\n")
        raise _failure(failed, output)
    return [*lines, *_legend(tables)]


def _failure(failed: Sequence[FailedCell], output: Path) -> InputError:
    """The first error, with the names of all cells that failed."""
    first, names = failed[0].error, ", ".join(one.name for one in failed)
    count = "a cell" if len(failed) == 1 else f"{len(failed)} cells"
    hint = f"{first.hint} " if first.hint else ""
    return InputError(
        f"{count} failed ({names}): {first.message}", where=first.where, hint=f"{hint}{output} has the other cells."
    )


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
        place = output / f"report-{file_name(test)}.html"
        write_report(grid.runs, place, title=f"{title}: {test}", evaluation=evaluation, experiment=tables)

"""Train and test on the corpus in data/demo: German to English, from text to a report, in a few minutes.

Builds shards, trains SGD on the development set (dense features) and IterSelSGD on the training set (all sparse
features), translates the test set with untuned, hand-set and trained weights, tests the differences, and writes a
report. Run the same command again to resume. The figures are the same each time, for any number of jobs.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from itersel.cli.arguments import add_jobs
from itersel.pipeline.demo import METRICS, demo_sources, outcome_table, run_demo

SUMMARY = "train and test on the corpus that comes with the package"
EXAMPLE = """\
  itersel demo
  itersel demo --output elsewhere --jobs 4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--output", default="work/demo", metavar="DIR", help="folder for all output (default: %(default)s)"
    )
    add_jobs(parser, cores, "processes (default: one per core)")
    parser.add_argument("--sources", metavar="DIR", help="has conf/ and data/ (default: this folder or the package's)")


def run(args: argparse.Namespace) -> None:
    outcome = run_demo(demo_sources(args.sources), Path(args.output), args.jobs)
    evaluation = outcome.evaluation
    print(outcome_table(outcome))
    print(f"\n{evaluation.sentences} test sentences. Gain in {evaluation.labels[METRICS[0]]} over the line above; p by")
    print(f"approximate randomisation ({evaluation.trials:,} shuffles). The report: {outcome.report}")

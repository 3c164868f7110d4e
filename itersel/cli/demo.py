"""Train and test on the corpus in data/demo: German to English, from text to a report, in a few minutes.

Builds shards, trains SGD on the development set (dense features) and IterSelSGD on the training set (all sparse
features), translates the test set with untuned and with trained weights, tests the differences, and writes a page about
it all. The same command again takes up an interrupted demo; its figures are the same each time, for any number of jobs.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from itersel.base.errors import ConfigError
from itersel.pipeline.demo import METRICS, demo_sources, outcome_table, run_demo

SUMMARY = "train and test on the corpus that comes with the package"
EXAMPLE = """\
  itersel demo
  itersel demo --output elsewhere --jobs 4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--output", default="work/demo", metavar="DIR", help="everything goes here (%(default)s)")
    parser.add_argument("--jobs", type=int, default=cores, metavar="N", help="processes (default: one a core)")
    parser.add_argument("--sources", metavar="DIR", help="has conf/ and data/ (default: this folder or the package's)")


def run(args: argparse.Namespace) -> None:
    if args.jobs < 1:
        raise ConfigError(f"--jobs is {args.jobs}", hint="Give the number of processes, at least 1.")
    outcome = run_demo(demo_sources(args.sources), Path(args.output), args.jobs)
    evaluation = outcome.evaluation
    print(outcome_table(outcome))
    print(f"\n{evaluation.sentences} test sentences; gain in {evaluation.labels[METRICS[0]]} over the line above, p by")
    print(f"approximate randomisation ({evaluation.trials:,} shuffles). Everything about it: {outcome.report}")

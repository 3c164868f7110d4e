"""Write one HTML page about training runs: curves, shards, time, features, translations, configuration.

RUN is a directory of `itersel train`, finished or not. The page compares several runs. It is one file and needs no
network.
"""

from __future__ import annotations

import argparse

from itersel.base.outputs import keep_inputs
from itersel.report import write_report
from itersel.report.evaluation import read_evaluation
from itersel.report.page import FEATURES, SENTENCES

SUMMARY = "write an HTML page about training runs"
EXAMPLE = """\
  itersel report run --output report.html
  itersel report runs/sgd runs/select --title 'Selection against SGD' --evaluation test.json --output report.html"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="directories of itersel train")
    parser.add_argument(
        "--output",
        default="report.html",
        metavar="FILE",
        help="the page, compressed if the name ends in .gz (default: %(default)s)",
    )
    parser.add_argument("--title", metavar="TEXT", help="the page's heading")
    parser.add_argument(
        "--evaluation", metavar="FILE", help="scores and tests, as `itersel evaluate --json` prints them"
    )
    limits = parser.add_argument_group("size of the page")
    limits.add_argument(
        "--features",
        type=int,
        default=FEATURES,
        metavar="N",
        help="most features shown per run, by weight and by norm (default: %(default)s)",
    )
    limits.add_argument(
        "--sentences",
        type=int,
        default=SENTENCES,
        metavar="M",
        help="most devtest sentences shown (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    keep_inputs([args.output], [args.evaluation])
    page = write_report(
        args.runs,
        args.output,
        title=args.title,
        features=args.features,
        sentences=args.sentences,
        evaluation=None if args.evaluation is None else read_evaluation(args.evaluation),
    )
    print(page)

"""Score outputs against references (BLEU, chrF, TER by sacrebleu) and test the differences between systems.

A system is FILE, NAME=FILE, or NAME=FILE,FILE for several optimizer runs, whose scores are averaged (Clark et al.
2011). Approximate randomisation and paired bootstrap test the differences between all systems, or those to --baseline.
Input must already be tokenised. --kbest scores the best and the worst choice from each k-best list.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.evaluation.inputs import parse_systems, read_references, read_systems
from itersel.evaluation.oracle import score_oracles
from itersel.evaluation.scoring import EvaluationOptions, score_systems
from itersel.evaluation.table import render
from itersel.metrics.corpus import CASES, METRICS, TOKENIZERS, MetricOptions

SUMMARY = "score outputs, with significance tests"
EXAMPLE = """\
  itersel evaluate dense=a.txt sparse=b.txt --reference test.en
  itersel evaluate dense=a1.txt,a2.txt sparse=b1.txt,b2.txt --reference test.en --baseline dense --markdown
  itersel evaluate --reference test.en.0 --reference test.en.1 --kbest test.kbest.gz --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options = EvaluationOptions()
    parser.add_argument(
        "systems", nargs="*", metavar="SYSTEM", help="FILE, NAME=FILE, or NAME=FILE,FILE for several runs"
    )
    parser.add_argument(
        "-r",
        "--reference",
        action="append",
        default=[],
        metavar="FILE",
        help="references; repeat the option for several",
    )
    parser.add_argument("--kbest", metavar="FILE", help="k-best lists to score the oracles of")
    scores = parser.add_argument_group("scores")
    scores.add_argument(
        "--metrics", default=",".join(METRICS), metavar="NAMES", help="separated by commas (default: %(default)s)"
    )
    scores.add_argument(
        "--tokenize", choices=TOKENIZERS, default="none", help="BLEU's tokeniser (default: %(default)s)"
    )
    scores.add_argument("--case", choices=CASES, default="mixed", help="lower: ignore case (default: %(default)s)")
    tests = parser.add_argument_group("tests")
    tests.add_argument("--baseline", metavar="NAME", help="compare with this system only (default: all pairs)")
    tests.add_argument(
        "--trials",
        type=int,
        default=options.trials,
        metavar="N",
        help="number of shuffles and samples (default: %(default)s)",
    )
    tests.add_argument("--seed", type=int, default=options.seed, metavar="N", help="seed (default: %(default)s)")
    tests.add_argument(
        "--exact", action="store_true", help="try all arrangements instead of shuffles; for few sentences"
    )
    tests.add_argument("--no-tests", action="store_true", help="print scores and intervals only")
    tests.add_argument(
        "--jobs", type=int, default=options.jobs, metavar="N", help="processes; the results do not depend on it"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--markdown", action="store_true", help="print tables in Markdown")


def run(args: argparse.Namespace) -> None:
    if not args.systems and args.kbest is None:
        raise ConfigError("nothing to evaluate", hint="Give the output of a system, or --kbest.")
    options = EvaluationOptions(
        metrics=tuple(args.metrics.split(",")),
        metric=MetricOptions(args.tokenize, args.case),
        trials=args.trials,
        seed=args.seed,
        exact=args.exact,
        baseline=args.baseline,
        tests=not args.no_tests,
        jobs=args.jobs,
    )
    systems = parse_systems(args.systems)
    references = read_references(args.reference)
    outputs = read_systems(systems, len(references), args.reference[0])
    evaluation = score_systems(outputs, references, options, show_progress=bool(outputs))
    oracle = None if args.kbest is None else score_oracles(args.kbest, references, options)
    for warning in evaluation.warnings:
        events.warn(warning)
    if args.json:
        record = asdict(evaluation) | {"oracle": None if oracle is None else asdict(oracle)}
        print(json.dumps(record, indent=1, ensure_ascii=False))
    else:
        print(render(evaluation, oracle, markdown=args.markdown))

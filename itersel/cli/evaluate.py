"""Score outputs against references (BLEU, chrF, TER by sacrebleu) and test the differences between systems.

A system is FILE, NAME=FILE, or NAME=FILE,FILE for several optimizer runs, whose scores are averaged (Clark et al.
2011). Approximate randomisation and paired bootstrap test the differences between all systems, or those to --baseline.
Input must already be tokenised. With --build and --on, systems are runs (or weights files): a set of the build is
translated with them and scored against its references. --kbest scores the best and the worst choice from each k-best
list.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write
from itersel.base.resources import resource
from itersel.cli.arguments import add_jobs
from itersel.cli.translate import add_domains, add_limits
from itersel.decode.decoder import DecoderConfig
from itersel.evaluation.inputs import parse_systems, read_references, read_systems
from itersel.evaluation.oracle import score_oracles
from itersel.evaluation.scoring import EvaluationOptions, System, score_systems
from itersel.evaluation.table import render
from itersel.metrics.corpus import CASES, METRICS, TOKENIZERS, MetricOptions
from itersel.run.build_folder import BuildFolder
from itersel.run.testing import BuiltSet

HAND_SET, HAND_SET_WEIGHTS = "hand-set", "conf/experiments/hand-set.weights"
SUMMARY = "score outputs, with significance tests"
EXAMPLE = """\
  itersel evaluate --build work/mine --on test sgd=work/sgd select=work/run --hand-set
  itersel evaluate dense=a.txt sparse=b.txt --reference test.en
  itersel evaluate dense=a1.txt,a2.txt sparse=b1.txt,b2.txt --reference test.en --baseline dense --markdown
  itersel evaluate --reference test.en.0 --reference test.en.1 --kbest test.kbest.gz --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options = EvaluationOptions()
    parser.add_argument(
        "systems",
        nargs="*",
        metavar="SYSTEM",
        help="FILE, NAME=FILE, or NAME=FILE,FILE for several runs; with --build, directories of runs, RUN/domains for "
        "each sentence with its domain's weights",
    )
    parser.add_argument(
        "-r",
        "--reference",
        action="append",
        default=[],
        metavar="FILE",
        help="references; repeat the option for several",
    )
    built = parser.add_argument_group("sets of a build")
    built.add_argument("--build", metavar="DIR", help="work folder of itersel build")
    built.add_argument("--on", metavar="SET", help="translate this set of the build: systems are runs or weights files")
    built.add_argument("--hand-set", action="store_true", help="add weights that a person would guess, as a baseline")
    built.add_argument("--outputs", metavar="DIR", help="folder to write the translations to, as SYSTEM.SET.txt")
    add_domains(built)
    add_limits(built)
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
    add_jobs(tests, options.jobs)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--markdown", action="store_true", help="print tables in Markdown")


def _translated(args: argparse.Namespace, systems: dict[str, list[str]]) -> tuple[list[System], list[list[str]]]:
    """The outputs of runs on a set of a build, and its references."""
    if args.on is None or args.reference:
        raise ConfigError("--build needs --on SET, which has references", hint="Leave out --reference.")
    if args.hand_set:
        systems = {HAND_SET: [str(resource(HAND_SET_WEIGHTS))]} | systems
    test = BuiltSet.of_build(BuildFolder.read(args.build), args.on)
    options = DecoderConfig(args.span_limit, args.pop_limit)
    outputs, warnings = test.translate(
        systems, options, args.jobs, domain=args.domain, unknown_domains=args.unknown_domains
    )
    for warning in warnings:
        events.warn(warning)
    for system in outputs if args.outputs is not None else ():
        for number, lines in enumerate(system.runs):
            part = f".{number + 1}" if len(system.runs) > 1 else ""
            name = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in system.name)
            with atomic_write(Path(args.outputs) / f"{name}{part}.{args.on}.txt") as stream:
                stream.write("".join(f"{line}\n" for line in lines).encode())
    return outputs, test.references


def run(args: argparse.Namespace) -> None:
    for option in ("on", "outputs", "hand_set", "domain"):
        if getattr(args, option) and args.build is None:
            raise ConfigError(
                f"--{option.replace('_', '-')} needs --build DIR", hint="Name the work folder of a build."
            )
    if not args.systems and args.kbest is None and not args.hand_set:
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
    if args.build is None:
        references = read_references(args.reference)
        outputs = read_systems(systems, len(references), args.reference[0])
    else:
        outputs, references = _translated(args, systems)
    evaluation = score_systems(outputs, references, options, show_progress=bool(outputs))
    oracle = None if args.kbest is None else score_oracles(args.kbest, references, options)
    for warning in evaluation.warnings:
        events.warn(warning)
    if args.json:
        record = asdict(evaluation) | {"oracle": None if oracle is None else asdict(oracle)}
        print(json.dumps(record, indent=1, ensure_ascii=False))
    else:
        print(render(evaluation, oracle, markdown=args.markdown))

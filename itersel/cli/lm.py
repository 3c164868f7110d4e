"""Estimate an n-gram language model on a text and write it as ARPA.

Uses interpolated modified Kneser-Ney smoothing with the conventions of KenLM's lmplz. The text has one tokenised
sentence per line, without sentence marks. The output sorts n-grams by last word, then by the word before it, and so on;
words are in the order of their first occurrence. The same text and options give the same bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, read_lines
from itersel.base.outputs import keep_inputs
from itersel.base.progress import Progress, track
from itersel.lm.arpa import write_arpa
from itersel.lm.corpus import Fold, read_vocabulary
from itersel.lm.estimate import Model, Settings, estimate
from itersel.lm.seen import SeenWriter, seen_path

SUMMARY = "estimate an n-gram language model"
EXAMPLE = """\
  itersel lm --text train.en.gz --order 3 --output lm.arpa.gz
  itersel lm --text mono.en.gz --order 5 --prune 0 0 1 --vocabulary-file train.en.gz --output lm.arpa.gz
"""

FOLD_MARK = "{fold}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--text",
        required=True,
        metavar="FILE",
        help="text with one sentence per line, plain or gzip; - is standard input",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="ARPA file; compressed if it ends in .gz")
    parser.add_argument("--order", type=int, default=3, metavar="N", help="longest n-gram, 2 to 6 (default: 3)")
    parser.add_argument(
        "--prune",
        type=int,
        nargs="+",
        default=[],
        metavar="COUNT",
        help="drop n-grams that occur at most this often: one threshold per order from 1, not decreasing;"
        " the last one is for all higher orders. 0 0 1 drops trigrams and longer n-grams that occur once"
        " (default: drop nothing)",
    )
    parser.add_argument(
        "--folds",
        type=int,
        metavar="N",
        help="write N models, each without one fold of the text; line i, from 0, is in fold i mod N, as for extract."
        " Write {fold} in the name of the output for the number of the fold",
    )
    vocabulary = parser.add_mutually_exclusive_group()
    vocabulary.add_argument(
        "--vocabulary",
        type=int,
        metavar="N",
        help="keep the N most frequent words (ties: the earlier one); others become <unk>",
    )
    vocabulary.add_argument(
        "--vocabulary-file",
        metavar="FILE",
        help="keep the words of this text, plain or gzip; others become <unk>",
    )
    parser.add_argument(
        "--discount-fallback",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="if the text is too small or too repetitive to estimate the discounts of an order, use 0.5, 1, 1.5"
        " and warn instead of failing (default: yes)",
    )


def run(args: argparse.Namespace) -> None:
    keep_inputs([args.output], [args.text, args.vocabulary_file])
    vocabulary = args.vocabulary if args.vocabulary_file is None else read_vocabulary(args.vocabulary_file)
    settings = Settings(args.order, tuple(args.prune), vocabulary, args.discount_fallback)
    if args.folds is None:
        _write(args.text, args.output, settings, None)
        return
    if FOLD_MARK not in args.output or args.text == "-":
        raise ConfigError(
            f"--folds needs an output name with {FOLD_MARK}, and a text that can be read several times",
            hint="For example --text train.en --folds 5 --output lm.{fold}.arpa.gz.",
        )
    for fold in [Fold(args.folds, number) for number in range(max(args.folds, 1))]:
        _write(args.text, args.output.replace(FOLD_MARK, str(fold.number)), settings, fold)


def _write(text: str, output: str, settings: Settings, without: Fold | None) -> None:
    if Path(output).is_dir():
        raise InputError("cannot write: it is a directory", where=output, hint="Name a file in it.")
    # The output is opened first, so that a place that cannot be written fails before the work, not after it.
    with atomic_write(output) as stream:
        seen = SeenWriter(without)
        model = estimate(seen.watch(track(read_lines(text), "reading")), settings, source=text, without=without)
        seen.result().write(seen_path(output))  # a model that is there has its sentences beside it
        _report(model)
        with Progress("writing", sum(map(len, model.tables)), unit="n-grams") as progress:
            write_arpa(model, stream, progress=progress)


def _report(model: Model) -> None:
    for reason in model.fallbacks:
        events.warn(f"{reason}; using 0.5, 1 and 1.5")
    events.note(f"{model.sentences:,} sentences, {model.tokens:,} words, {len(model.words):,} types")
    for order, (table, discounts) in enumerate(zip(model.tables, model.discounts, strict=True), 1):
        shown = " ".join(f"{discount:.4f}" for discount in discounts)
        events.note(f"order {order}: {len(table):,} n-grams, discounts {shown}")

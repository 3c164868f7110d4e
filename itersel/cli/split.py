"""Split compounds into their parts, by the frequencies of words (Koehn & Knight 2003).

`train` counts the words of a tokenised text, normally the source side of the training bitext. `apply` splits a word
where its parts are more frequent than the word itself: with counts of German text, aktionsplan becomes `aktion plan`.
Split all source text of a system in the same way: training, development and test sets. `itersel build` does that with
the option text.split_source.
"""

from __future__ import annotations

import argparse

from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, read_lines
from itersel.base.outputs import keep_inputs, open_output
from itersel.base.progress import track
from itersel.text.compounds import CompoundSplitter, SplitConfig

SUMMARY = "split compounds by the frequencies of their parts"
EXAMPLE = """\
  itersel split train --text train.de.gz --output splitter.gz
  itersel split apply test.de --model splitter.gz --output test.split.de"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    defaults = SplitConfig()
    train = actions.add_parser("train", help="count the words of a text", description="Count the words of a text.")
    train.add_argument(
        "--text", required=True, metavar="FILE", help="tokenised text, plain or gzip; - is standard input"
    )
    train.add_argument("--output", required=True, metavar="FILE", help="the splitter; compressed if it ends in .gz")
    train.add_argument(
        "--min-length",
        type=int,
        default=defaults.min_length,
        metavar="N",
        help="least number of letters in a part (default: %(default)s)",
    )
    train.add_argument(
        "--min-count",
        type=int,
        default=defaults.min_count,
        metavar="N",
        help="how often a part must occur in the text (default: %(default)s)",
    )
    train.add_argument(
        "--links",
        nargs="*",
        default=defaults.links,
        metavar="LETTERS",
        help=f"linking elements left out between parts (default: {' '.join(defaults.links)})",
    )
    apply = actions.add_parser("apply", help="split the words of a text", description="Split the words of a text.")
    apply.add_argument("text", metavar="FILE", help="tokenised text, plain or gzip; - is standard input")
    apply.add_argument("--model", required=True, metavar="FILE", help="what `train` wrote")
    apply.add_argument("--output", metavar="FILE", help="compressed if it ends in .gz (default: standard output)")


def run(args: argparse.Namespace) -> None:
    if args.action == "train":
        _train(args)
    else:
        _apply(args)


def _train(args: argparse.Namespace) -> None:
    for link in args.links:
        if not link.isalpha():
            raise ConfigError(f"--links: {link!r} is not made of letters")
    keep_inputs([args.output], [args.text])
    config = SplitConfig(args.min_length, args.min_count, tuple(link.lower() for link in args.links))
    with atomic_write(args.output) as stream:
        splitter = CompoundSplitter.train(track(read_lines(args.text), "reading"), config)
        if not splitter.counts:
            raise InputError("the text has no words", where=args.text)
        splitter.write(stream)
    events.note(f"{sum(splitter.counts.values()):,} words, {len(splitter.counts):,} types")


def _apply(args: argparse.Namespace) -> None:
    keep_inputs([args.output], [args.text, args.model])
    splitter = CompoundSplitter.read(args.model)
    with open_output(args.output) as stream:
        for line in track(read_lines(args.text), "splitting"):
            stream.write(splitter(line).encode() + b"\n")

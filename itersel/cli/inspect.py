"""Look inside any file or folder that itersel writes: grammars, shards, weights, language models, runs, builds.

What a file is, is recognised by its content. For a shard, --sentence shows the rules of one sentence, --weights its
best translations, and --derivation the tree of a translation with what each rule adds to the score.
"""

from __future__ import annotations

import argparse

from itersel.cli.translate import add_limits
from itersel.decode.decoder import DecoderConfig
from itersel.inspect import view
from itersel.inspect.options import ViewOptions

SUMMARY = "look inside any file or folder that itersel writes"
EXAMPLE = """\
  itersel inspect run/weights.txt.gz --top 20 --grep '^RBT:'
  itersel inspect shards/train/shard.0000.itsh --sentence 3 --grep haus
  itersel inspect shards/dev/shard.0000.itsh --sentence 3 --weights run/weights.txt.gz --lm lm.arpa.gz --derivation"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options = ViewOptions()
    parser.add_argument("path", metavar="FILE", help="a file or a folder")
    parser.add_argument(
        "--top", type=int, default=options.top, metavar="N", help="length of lists (default: %(default)s)"
    )
    parser.add_argument("--grep", metavar="PATTERN", help="list only what matches this regular expression")
    shards = parser.add_argument_group("for shards")
    shards.add_argument("--sentence", type=int, metavar="N", help="show this sentence, from 0")
    shards.add_argument("--weights", metavar="FILE", help="translate the sentence with these weights (text or .vec)")
    shards.add_argument("--lm", metavar="FILE", help="ARPA or KenLM binary file")
    shards.add_argument(
        "--derivation", action="store_true", help="show the tree of a translation, with --top features per rule"
    )
    shards.add_argument(
        "--rank", type=int, metavar="K", help="show the tree of the K-th translation (default: the best)"
    )
    add_limits(shards)


def run(args: argparse.Namespace) -> None:
    options = ViewOptions(
        top=args.top,
        grep=args.grep,
        sentence=args.sentence,
        weights=args.weights,
        language_model=args.lm,
        derivation=args.derivation,
        rank=args.rank,
        decoder=DecoderConfig(args.span_limit, args.pop_limit),
    )
    for line in view(args.path, options):
        print(line)

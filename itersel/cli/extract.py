"""Extract a Hiero grammar for every sentence from a word-aligned bitext, in the form cdec reads.

Writes grammar.N.gz for line N, from 0, and input.sgm. With --source, --target and --alignment, it builds the index
first; without them, it uses an existing index. Run the same command again to resume.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from itersel.base.config import load
from itersel.base.errors import ConfigError
from itersel.base.files import read_lines
from itersel.base.outputs import keep_inputs
from itersel.base.progress import Progress
from itersel.cli.arguments import add_jobs
from itersel.grammar.extraction import ExtractConfig, build_index
from itersel.grammar.folder import write_grammars
from itersel.run.build_folder import BuildFolder

SUMMARY = "extract per-sentence grammars from a word-aligned bitext"
EXAMPLE = """\
  itersel extract --source train.de --target train.en --alignment train.align --index model/index \\
      --sentences test.de --output grammars/
  itersel extract --build work/mine --sentences new.de --output grammars/
  itersel extract --index model/index --sentences train.de --leave-one-out --output loo/ --jobs 4"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    bitext = parser.add_argument_group("training bitext (plain or gzip), to build the index")
    bitext.add_argument("--source", metavar="FILE", help="tokenised source sentences, one per line")
    bitext.add_argument("--target", metavar="FILE", help="their translations")
    bitext.add_argument("--alignment", metavar="FILE", help="word alignment in Pharaoh format: 0-0 1-2 …")
    parser.add_argument("--index", metavar="FILE", help="index of the bitext")
    parser.add_argument(
        "--build", metavar="DIR", help="work folder of itersel build: take its index and the options of its rules"
    )
    parser.add_argument("--sentences", metavar="FILE", help="tokenised sentences that need grammars")
    parser.add_argument("--output", metavar="DIR", help="folder for the grammars")
    add_jobs(parser)
    add_rule_arguments(parser.add_argument_group("rules"))


def add_rule_arguments(rules: argparse._ArgumentGroup) -> None:
    """The options of ExtractConfig, for every verb that extracts."""
    defaults = ExtractConfig()
    for name, text in (
        ("max-span", "most words that a rule may cover"),
        ("max-symbols", "most words and non-terminals of a source side"),
        ("max-nonterminals", "most non-terminals of a rule, up to 2"),
        ("max-samples", "most occurrences to look at per source phrase, 0 for all"),
        ("max-rules-per-source", "keep the most probable rules of each source side, 0 for all"),
        ("folds", "give a sentence no rules from its own fold; sentence i is in fold i mod N, 0 for no folds"),
    ):
        default = getattr(defaults, name.replace("-", "_"))
        help_text = f"{text} (default {default})"
        rules.add_argument(f"--{name}", type=int, metavar="N", help=help_text)
    rules.add_argument(
        "--loose", action="store_true", default=None, help="allow unaligned words at the edges of phrases"
    )
    rules.add_argument(
        "--phrase-features", action="store_true", default=None, help="add p(f|e) and a phrase penalty to the features"
    )
    rules.add_argument(
        "--leave-one-out",
        action="store_true",
        help="the sentences are the training source: give no sentence rules from its own pair",
    )


def rule_options(args: argparse.Namespace, base: ExtractConfig | None = None) -> ExtractConfig:
    """The options given, over those of `base` or the defaults."""
    names = ("max_span", "max_symbols", "max_nonterminals", "max_samples", "max_rules_per_source", "folds")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    given |= {} if args.loose is None else {"tight": False}
    given |= {} if args.phrase_features is None else {"phrase_features": True}
    given |= {"leave_one_out": True} if args.leave_one_out else {}
    return replace(base or ExtractConfig(), **given)


def run(args: argparse.Namespace) -> None:
    base = None
    if args.build is not None:
        folder = BuildFolder.read(args.build)
        if args.index is not None or any((args.source, args.target, args.alignment)) or folder.index is None:
            raise ConfigError("--build has an index", hint="Leave out --index, --source, --target and --alignment.")
        args.index, base = os.fspath(folder.index), load(ExtractConfig, dict(folder.extract))
    if args.index is None:
        raise ConfigError("no index", hint="Give --index FILE, or --build DIR.")
    options = rule_options(args, base)
    if (args.sentences is None) != (args.output is None):
        raise ConfigError("--sentences and --output belong together")
    bitext = (args.source, args.target, args.alignment)
    if any(bitext):
        if not all(bitext):
            raise ConfigError("--source, --target and --alignment belong together: give all three or none")
        keep_inputs([args.index], [*bitext, args.sentences])
        with Progress("index", 1, unit="bitext") as progress:
            build_index(*bitext, args.index)
            progress.advance()
    if args.sentences is None:
        return
    sentences = list(read_lines(args.sentences))
    kept = 0
    with Progress("extract", len(sentences)) as progress:
        for made in write_grammars(args.index, sentences, args.output, options, jobs=args.jobs, name=args.sentences):
            kept += not made
            progress.advance(note=f"{kept:,} kept" if kept else "")

"""Translate sentences with a hierarchical grammar, weights and a language model.

Input: one tokenised sentence per line with --grammar or --grammars, or cdec's lines that name their grammar:
<seg grammar="grammars/grammar.0.gz" id="0"> ein mann </seg>. Output: one translation per line, in the order of the
input, or with --kbest lists of hypotheses with their features. Files may be gzipped.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.outputs import open_output
from itersel.base.progress import Progress
from itersel.decode.decoder import Decoder, DecoderOptions
from itersel.decode.translator import GrammarOptions, Translator, translate
from itersel.grammar.grammar import PASS_THROUGH
from itersel.lists.writer import FORMATS, format_kbest
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights, parse_groups
from itersel.text.sentences import GrammarPlaces, Sentence, read_sentences

SUMMARY = "translate sentences, or list their best translations"
EXAMPLE = """\
  itersel translate test.sgm --weights weights.txt --lm lm.arpa.gz --jobs 4 --output test.en
  itersel translate test.de --grammars grammars --weights weights.txt --lm lm.bin --kbest 100 --output test.kbest.gz
  echo 'ein mann' | itersel translate --grammar grammar.gz --weights weights.txt --pass-through all"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options = DecoderOptions()
    inputs = parser.add_argument_group("input and output")
    inputs.add_argument("input", nargs="?", default="-", metavar="FILE", help="sentences (default: standard input)")
    inputs.add_argument(
        "--output", metavar="FILE", help="appears when it is complete (default: standard output, line by line)"
    )
    grammars = inputs.add_mutually_exclusive_group()
    grammars.add_argument("--grammar", metavar="FILE", help="grammar for all lines that name none")
    grammars.add_argument("--grammars", metavar="DIR", help="folder with grammar.N or grammar.N.gz for line N, from 0")
    inputs.add_argument(
        "--grammar-root", metavar="DIR", help="folder of the grammars in <seg> lines (default: the input's folder)"
    )
    model = parser.add_argument_group("model")
    model.add_argument("--weights", metavar="FILE", required=True, help="lines `name value`")
    model.add_argument("--lm", metavar="FILE", help="ARPA or KenLM binary file")
    model.add_argument("--features", default="dense", metavar="GROUPS", help="dense, all, or some of id,ng,shape")
    model.add_argument("--goal", default="S", metavar="LABEL", help="label of a sentence (default: %(default)s)")
    model.add_argument(
        "--nonterminal", default="X", metavar="LABEL", help="label that glue rules join (default: %(default)s)"
    )
    search = parser.add_argument_group("search")
    add_limits(search)
    search.add_argument(
        "--pass-through",
        choices=PASS_THROUGH,
        default=options.pass_through,
        help="words that may be copied (default: %(default)s)",
    )
    search.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: %(default)s)")
    lists = parser.add_argument_group("k-best lists")
    lists.add_argument("--kbest", type=int, metavar="K", help="list up to K hypotheses of each sentence")
    lists.add_argument(
        "--unique", action=argparse.BooleanOptionalAction, help="list only the best of equal strings (default: yes)"
    )
    lists.add_argument("--format", choices=FORMATS, help=f"format of the lists (default: {FORMATS[0]})")


def add_limits(search: argparse._ArgumentGroup) -> None:
    """The limits of the search, for every verb that decodes."""
    options = DecoderOptions()
    search.add_argument(
        "--span-limit",
        type=int,
        default=options.span_limit,
        metavar="N",
        help="most words that a rule may span, 0: any (default: %(default)s)",
    )
    search.add_argument(
        "--pop-limit",
        type=int,
        default=options.pop_limit,
        metavar="N",
        help="most combinations tried per span and label, 0: all (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    if args.kbest is None and (args.format is not None or args.unique is not None):
        raise ConfigError("--format and --unique are for lists", hint="Give --kbest K, too.")
    if args.jobs < 1:
        raise ConfigError(f"--jobs is {args.jobs}", hint="Give the number of processes, at least 1.")
    grammar_options = GrammarOptions(parse_groups(args.features), args.goal, args.nonterminal)
    decoder_options = DecoderOptions(args.span_limit, args.pop_limit, args.pass_through)
    places = GrammarPlaces(
        args.grammar is not None,
        None if args.grammars is None else Path(args.grammars),
        None if args.grammar_root is None else Path(args.grammar_root),
    )
    # The output is opened first, so that a place that cannot be written fails before the work, not after it.
    with open_output(args.output) as output:
        weights = Weights.read(args.weights)
        if args.lm is None and weights.get("LanguageModel", 0.0) != 0.0:
            events.warn("the weights have LanguageModel, but there is no --lm")
        decoder = Decoder(weights, None if args.lm is None else LanguageModel(args.lm), decoder_options)
        grammar = None if args.grammar is None else grammar_options.read(args.grammar)
        translator = Translator(
            decoder, grammar, options=grammar_options, kbest=args.kbest, unique=args.unique is not False
        )

        def lines(sentence: Sentence) -> bytes:  # made in the workers: the features of long lists are much text
            made = translator(sentence)
            text = (
                made.best_line()
                if args.kbest is None
                else format_kbest(made.id, made.hypotheses, args.format or FORMATS[0])
            )
            return text.encode()

        results = translate(read_sentences(args.input, places), lines, args.jobs)
        # Translations on a terminal are progress enough.
        quiet = args.output is None and sys.stdout.isatty()
        with contextlib.closing(results), contextlib.nullcontext() if quiet else Progress("translate") as progress:
            for result in results:
                output.write(result)
                if args.output is None:
                    output.flush()
                if progress is not None:
                    progress.advance()

"""Translate sentences with a hierarchical grammar, weights and a language model.

Input: shards, which have grammars; or one tokenised sentence per line with --grammar or --grammars; or cdec's lines
that name their grammar: <seg grammar="grammars/grammar.0.gz" id="0"> ein mann </seg>. Output: one translation per line,
in the order of the input, or with --kbest lists of hypotheses with their features. Files may be gzipped.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.files import read_bytes
from itersel.base.magic import is_shard
from itersel.base.outputs import keep_inputs, open_output
from itersel.base.progress import Progress
from itersel.cli.arguments import add_jobs
from itersel.decode.coverage import names_in, unmet_weights
from itersel.decode.decoder import Decoder, DecoderConfig, Hypothesis
from itersel.decode.trained import TrainedModel
from itersel.decode.translator import GrammarOptions, Translator, check_kbest, translate
from itersel.grammar.grammar import PASS_THROUGH
from itersel.lists.writer import FORMATS, format_kbest
from itersel.lm.model import LanguageModel
from itersel.model.domain_weights import ERROR, UNKNOWN_DOMAINS, DomainWeights
from itersel.model.features import Weights, named_groups, parse_groups
from itersel.text.sentences import GrammarPlaces, Sentence, read_sentences

SUMMARY = "translate sentences, or list their best translations"
EXAMPLE = """\
  itersel translate work/mine/shards/test --weights work/run --output test.en
  itersel translate test.sgm --weights weights.txt --lm lm.arpa.gz --jobs 4 --output test.en
  itersel translate test.de --grammars grammars --weights weights.txt --lm lm.bin --kbest 100 --output test.kbest.gz
  echo 'ein mann' | itersel translate --grammar grammar.gz --weights weights.txt --pass-through all"""


SHARD_FREE = ("grammar", "grammars", "grammar_root", "features", "goal", "nonterminal", "pass_through")
"""Options that shards do not leave open."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options = DecoderConfig()
    inputs = parser.add_argument_group("input and output")
    inputs.add_argument(
        "inputs",
        nargs="*",
        default=["-"],
        metavar="FILE",
        help="a file of sentences (default: standard input), or shards: files or folders",
    )
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
    model.add_argument("--weights", metavar="FILE", required=True, help="lines `name value`, or the directory of a run")
    add_domains(model)
    model.add_argument("--lm", metavar="FILE", help="KenLM binary or ARPA file (default: that of the run)")
    model.add_argument(
        "--features",
        metavar="GROUPS",
        help="dense, all, or some of id,ng,shape (default: those that the weights name; shards have their own)",
    )
    model.add_argument("--goal", metavar="LABEL", help="label of a sentence (default: S)")
    model.add_argument("--nonterminal", metavar="LABEL", help="label that glue rules join (default: X)")
    search = parser.add_argument_group("search")
    add_limits(search)
    search.add_argument(
        "--pass-through",
        choices=PASS_THROUGH,
        help=f"words that may be copied (default: {options.pass_through})",
    )
    add_jobs(search)
    lists = parser.add_argument_group("k-best lists")
    lists.add_argument("--kbest", type=int, metavar="K", help="list up to K hypotheses of each sentence")
    lists.add_argument(
        "--unique", action=argparse.BooleanOptionalAction, help="list only the best of equal strings (default: yes)"
    )
    lists.add_argument("--format", choices=FORMATS, help=f"format of the lists (default: {FORMATS[0]})")


def add_domains(model: argparse._ArgumentGroup) -> None:
    """Which weights of a folder with weights by domain a sentence gets, for every verb that decodes."""
    model.add_argument(
        "--domain",
        metavar="NAME",
        help="the domain of all sentences, for weights by domain such as RUN/domains (default: the shards' labels)",
    )
    model.add_argument(
        "--unknown-domains",
        choices=UNKNOWN_DOMAINS,
        default=ERROR,
        help="sentences of a domain without weights: an error, or the mean of all weights (default: %(default)s)",
    )


def add_limits(search: argparse._ArgumentGroup) -> None:
    """The limits of the search, for every verb that decodes."""
    options = DecoderConfig()
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
    check_kbest(args.kbest)
    options = DecoderConfig(args.span_limit, args.pop_limit, args.pass_through or "unknown")
    of_shards = any(path != "-" and (os.path.isdir(path) or is_shard(path)) for path in args.inputs)
    if of_shards:
        for option in SHARD_FREE:
            if getattr(args, option) is not None:
                raise ConfigError(f"--{option.replace('_', '-')} has no effect on shards", hint="They have grammars.")
    elif len(args.inputs) > 1:
        raise ConfigError("several files of sentences", hint="Give one file, or shards.")
    keep_inputs([args.output], [*args.inputs, args.weights, args.lm, args.grammar])
    # The output is opened first, so that a place that cannot be written fails before the work, not after it.
    with open_output(args.output) as output:
        model = TrainedModel.read(args.weights)
        path = args.lm or model.language_model
        if path is None and model.weights.get("LanguageModel", 0.0) != 0.0:
            events.warn("the weights have LanguageModel, but there is no --lm")
        language_model = None if path is None else LanguageModel(path)
        make = _of_shards if of_shards else _of_text
        results, total = make(args, model.prepared(args.domain, args.unknown_domains), language_model, options)
        # Translations on a terminal are progress enough.
        quiet = args.output is None and sys.stdout.isatty()
        shown = contextlib.nullcontext() if quiet else Progress("translate", total)
        with contextlib.closing(results), shown as progress:
            for result in results:
                output.write(result)
                if args.output is None:
                    output.flush()
                if progress is not None:
                    progress.advance()


Results = tuple[Generator[bytes, None, None], int | None]
"""What is written for each sentence, and how many sentences there are, if that is known."""


def _of_shards(
    args: argparse.Namespace, weights: Weights | DomainWeights, model: LanguageModel | None, options: DecoderConfig
) -> Results:
    # Who translates text needs neither numpy nor the rooms of training.
    from itersel.decode.shard_translator import ShardTranslator
    from itersel.run.testing import find_shards, warnings_about

    shards = find_shards(args.inputs)
    for warning in warnings_about(weights, shards):
        events.warn(warning)
    translator = ShardTranslator(shards, weights, model, options)
    if args.kbest is None:
        return (f"{line}\n".encode() for line in translator.best(args.jobs)), len(translator)

    def form(id: str, found: list[Hypothesis]) -> bytes:
        return format_kbest(id, found, args.format or FORMATS[0]).encode()

    return translator.lists(args.kbest, form, args.jobs, unique=args.unique is not False), len(translator)


def _of_text(
    args: argparse.Namespace, weights: Weights | DomainWeights, model: LanguageModel | None, options: DecoderConfig
) -> Results:
    if isinstance(weights, DomainWeights):
        weights = weights.of("")  # text has no labels
    groups = named_groups(weights) if args.features is None else parse_groups(args.features)
    grammar_options = GrammarOptions(groups, args.goal or "S", args.nonterminal or "X")
    places = GrammarPlaces(
        args.grammar is not None,
        None if args.grammars is None else Path(args.grammars),
        None if args.grammar_root is None else Path(args.grammar_root),
    )
    grammar = None if args.grammar is None else grammar_options.read(args.grammar)
    translator = Translator(
        Decoder(weights, model, options),
        grammar,
        options=grammar_options,
        kbest=args.kbest,
        unique=args.unique is not False,
    )

    def lines(sentence: Sentence) -> bytes:  # made in the workers: the features of long lists are much text
        made = translator(sentence)
        if args.kbest is None:
            return made.best_line().encode()
        return format_kbest(made.id, made.hypotheses, args.format or FORMATS[0]).encode()

    def sentences() -> Iterator[Sentence]:
        """The input; the grammar of the first sentence is looked at on the way."""
        for number, sentence in enumerate(read_sentences(args.inputs[0], places)):
            if number == 0:
                place = sentence.grammar or args.grammar
                names = names_in(read_bytes(place)) if place is not None and os.path.isfile(place) else None
                for warning in unmet_weights(weights, groups, names):
                    events.warn(warning)
            yield sentence

    return translate(sentences(), lines, args.jobs), None

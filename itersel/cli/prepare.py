"""Clean a bitext: normalise Unicode, tokenise and lower-case on request, and drop unusable pairs.

Without options, tokenised text stays as it is, except for blanks and Unicode normalisation. Files may be plain or
gzipped; an output is compressed if its name ends in .gz. All outputs appear together, or none does. With a source side
alone (text for a language model, input to translate, references), every line is cleaned and no line is dropped.
"""

from __future__ import annotations

import argparse
import json

from itersel.base.errors import ConfigError
from itersel.base.outputs import atomic_group, keep_inputs
from itersel.base.progress import track
from itersel.text.bitext import NORMALIZATIONS, SEPARATOR, Bitext, Cleaning, Limits, Summary, clean_side, prepare
from itersel.text.detokenizer import Detokenizer

SUMMARY = "clean, tokenise and filter a bitext"
EXAMPLE = """\
  itersel prepare --source train.de.gz --target train.en.gz \\
      --tokenize-source de --tokenize-target en --lowercase \\
      --output-source train.tok.lc.de.gz --output-target train.tok.lc.en.gz --summary train.json
  itersel prepare --joint train.de-en --output-source train.de --output-target train.en
  itersel prepare --source test.de --tokenize-source de --output-source test.tok.de
  itersel prepare --source test.tok.de --detokenize de --output-source test.txt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    limits = Limits()
    inputs = parser.add_argument_group("input")
    inputs.add_argument("--source", metavar="FILE", help="source side, one sentence per line")
    inputs.add_argument("--target", metavar="FILE", help="target side; line i translates line i of the source")
    inputs.add_argument("--joint", metavar="FILE", help=f"both sides in one file: `source {SEPARATOR} target`")
    outputs = parser.add_argument_group("output")
    outputs.add_argument("--output-source", metavar="FILE", required=True)
    outputs.add_argument("--output-target", metavar="FILE")
    outputs.add_argument("--kept", metavar="FILE", help="write the input line numbers of the kept pairs, from 1")
    outputs.add_argument("--summary", metavar="FILE", help="write counts and options as JSON")
    cleaning = parser.add_argument_group("cleaning")
    cleaning.add_argument("--normalize", choices=NORMALIZATIONS, default="nfc", help="Unicode form (default: nfc)")
    cleaning.add_argument("--tokenize-source", metavar="LANGUAGE", help="tokenise the source side, e.g. de")
    cleaning.add_argument("--tokenize-target", metavar="LANGUAGE", help="tokenise the target side, e.g. en")
    cleaning.add_argument("--detokenize", metavar="LANGUAGE", help="turn a tokenised source side back into plain text")
    cleaning.add_argument("--punctuation", action="store_true", help="replace typographic quotes and dashes by ASCII")
    cleaning.add_argument("--escape", action="store_true", help="write & | < > ' \" [ ] as entities, as Moses does")
    cleaning.add_argument("--lowercase", action="store_true")
    filters = parser.add_argument_group("dropping pairs")
    filters.add_argument(
        "--max-length",
        type=int,
        default=limits.max_length,
        metavar="N",
        help="most tokens per side, 0: any (default: %(default)s)",
    )
    filters.add_argument(
        "--max-ratio",
        type=float,
        default=limits.max_ratio,
        metavar="X",
        help="largest ratio of the longer to the shorter side, 0: any (default: %(default)s)",
    )
    filters.add_argument(
        "--drop-separator",
        action="store_true",
        help=f"drop pairs with {SEPARATOR} in a token instead of stopping",
    )


def run(args: argparse.Namespace) -> None:
    alone = args.target is None and args.joint is None
    if (args.joint is None) == (args.source is None) or (args.joint is not None and args.target is not None):
        raise ConfigError(
            "wrong combination of --source, --target and --joint",
            hint="Give --source alone, --source and --target, or --joint alone.",
        )
    if alone != (args.output_target is None) or (alone and args.kept is not None):
        raise ConfigError(
            "the outputs do not fit the input",
            hint="A bitext needs --output-target; a source side alone has neither that nor --kept.",
        )
    if args.detokenize is not None and (not alone or args.tokenize_source is not None):
        raise ConfigError("--detokenize is for one tokenised side", hint="Give --source alone, and do not tokenise it.")
    keep_inputs(
        (args.output_source, args.output_target, args.kept, args.summary), (args.source, args.target, args.joint)
    )
    source, target = (
        Cleaning(args.normalize, language, args.punctuation, args.escape, args.lowercase)
        for language in (args.tokenize_source, args.tokenize_target)
    )
    if alone:
        _run_alone(args, source)
        return
    bitext = Bitext(args.source, args.target) if args.joint is None else Bitext(args.joint)
    limits = Limits(args.max_length, args.max_ratio, args.drop_separator)
    summary = Summary()
    paths = [args.output_source, args.output_target, args.kept, args.summary]
    with atomic_group([path for path in paths if path is not None]) as opened:
        streams = dict(zip([path for path in paths if path is not None], opened, strict=True))
        left, right = streams[args.output_source], streams[args.output_target]
        kept = None if args.kept is None else streams[args.kept]
        for pair in track(prepare(bitext, source, target, limits, summary), "prepare"):
            left.write(pair.source.encode() + b"\n")
            right.write(pair.target.encode() + b"\n")
            if kept is not None:
                kept.write(b"%d\n" % pair.number)
        if args.summary is not None:
            document = {
                **summary.as_dict(),
                "source_cleaning": vars(source),
                "target_cleaning": vars(target),
                "limits": vars(limits),
            }
            streams[args.summary].write((json.dumps(document, indent=2) + "\n").encode())
    print(f"prepare: {summary}")


def _run_alone(args: argparse.Namespace, cleaning: Cleaning) -> None:
    lines = tokens = 0
    with atomic_group([path for path in (args.output_source, args.summary) if path is not None]) as streams:
        join = None if args.detokenize is None else Detokenizer(args.detokenize)
        for line in track(clean_side(args.source, cleaning), "prepare"):
            line = line if join is None else join(line)
            streams[0].write(line.encode() + b"\n")
            lines, tokens = lines + 1, tokens + len(line.split())
        if args.summary is not None:
            document = {
                "read": lines,
                "kept": lines,
                "source_tokens": tokens,
                "source_cleaning": vars(cleaning),
            }
            streams[1].write((json.dumps(document, indent=2) + "\n").encode())
    print(f"prepare: {lines:,} lines, {tokens:,} tokens")

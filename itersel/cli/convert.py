"""Convert rule tables and weights of Moses and Joshua to itersel's formats, and back; mend ARPA files.

Whether a file has rules, weights or a language model is recognised by its content. Values change with the names, since
the decoders scale their features differently: docs/formats.md has the table. An ARPA file without </s> gets one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, read_head, read_lines
from itersel.grammar.grammar import Grammar
from itersel.grammar.joshua import rules_from_joshua, rules_to_joshua
from itersel.grammar.moses import rules_from_moses, rules_to_moses
from itersel.lm.sentence_marks import add_sentence_marks
from itersel.model.features import Weights
from itersel.model.other_weights import (
    NAMES,
    weights_from_joshua,
    weights_from_moses,
    weights_to_joshua,
    weights_to_moses,
)

SUMMARY = "convert rules and weights of Moses and Joshua, and back"
EXAMPLE = """\
  itersel convert rule-table.gz --from moses --output grammar.gz
  itersel convert moses.ini --from moses --output weights.txt
  itersel convert grammar.gz --from joshua --name pt --output rules.gz
  itersel convert weights.txt --to joshua > joshua.weights
  itersel convert srilm.arpa --output lm.arpa.gz"""
SYSTEMS = ("moses", "joshua")
TABLE_NAMES = {"moses": "TranslationModel0", "joshua": "pt"}
HEAD = 1 << 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="rules, weights or an ARPA file, plain or gzip")
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument("--from", dest="origin", choices=SYSTEMS, help="the system that the file comes from")
    direction.add_argument("--to", dest="goal", choices=SYSTEMS, help="the system that the result is for")
    parser.add_argument("--output", default="-", metavar="FILE", help="the result (default: standard output)")
    parser.add_argument(
        "--name", metavar="NAME", help="of the rules' scores (default: TranslationModel0), or Joshua's owner (pt)"
    )
    parser.add_argument(
        "--names",
        choices=NAMES,
        default="decoder",
        help="weights for itersel's decoder (default), or with the names of the system's own n-best lists",
    )


def run(args: argparse.Namespace) -> None:
    lines = _converted(args)
    if args.output == "-":
        for line in lines:
            sys.stdout.write(line + "\n")
        return
    with atomic_write(args.output) as stream:
        for line in lines:
            stream.write(line.encode() + b"\n")


def _converted(args: argparse.Namespace) -> Iterator[str]:
    head = read_head(args.file, HEAD).decode(errors="replace").lstrip()
    if not head:
        raise InputError("the file is empty", where=args.file)
    if head.startswith("\\data\\"):
        if args.origin or args.goal:
            raise ConfigError("an ARPA file is the same for all systems", hint="Leave --from and --to out.")
        return add_sentence_marks(read_lines(args.file), read_lines(args.file), args.file)
    system = args.origin or args.goal
    if system is None:
        raise ConfigError("neither --from nor --to is given", hint="Give --from or --to, with moses or joshua.")
    name = args.name or TABLE_NAMES[system]
    if "|||" in head.partition("\n")[0]:
        if args.goal:
            ours = Grammar.read(args.file).text().decode().splitlines()
            return (rules_to_moses if system == "moses" else rules_to_joshua)(ours, args.file, name)
        return (rules_from_moses if system == "moses" else rules_from_joshua)(read_lines(args.file), args.file, name)
    if args.goal:
        return (weights_to_moses if system == "moses" else weights_to_joshua)(Weights.read(args.file))
    read = weights_from_moses if system == "moses" else weights_from_joshua
    weights = Weights(read(read_lines(args.file), args.file, args.names))
    return iter(weights.native.text().decode().splitlines())

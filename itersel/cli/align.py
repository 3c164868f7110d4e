"""Align the words of a tokenised bitext with eflomal in both directions, or use links from another aligner.

Writes one line per sentence pair in Pharaoh format, `0-0 1-2` (source-target, from 0). --lexicon also writes a table of
lexical translation probabilities for rule extraction. An output is compressed if its name ends in .gz.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict

from itersel.align.aligner import (
    AlignedPair,
    AlignerConfig,
    eflomal_links,
    eflomal_version,
    given_links,
    symmetrize,
)
from itersel.align.lexicon import NULL, LexiconCounter, format_entry
from itersel.align.links import SYMMETRIZATIONS, format_links
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.outputs import atomic_group, keep_inputs
from itersel.base.progress import track
from itersel.text.bitext import SEPARATOR, Bitext

SUMMARY = "align the words of a bitext"
EXAMPLE = """\
  itersel align --source train.de.gz --target train.en.gz --output train.align.gz --lexicon train.lex.gz
  itersel align --source train.de --target train.en --forward fwd --reverse rev --output train.align
  itersel align --source train.de --target train.en --given train.align --lexicon train.lex.gz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    config = AlignerConfig()
    inputs = parser.add_argument_group("input")
    inputs.add_argument("--source", metavar="FILE", help="source side, tokenised, one sentence per line")
    inputs.add_argument("--target", metavar="FILE", help="target side; line i translates line i of the source")
    inputs.add_argument("--joint", metavar="FILE", help=f"both sides in one file: `source {SEPARATOR} target`")
    inputs.add_argument("--forward", metavar="FILE", help="links from source to target; eflomal does not run")
    inputs.add_argument("--reverse", metavar="FILE", help="links from target to source, also written source-target")
    inputs.add_argument("--given", metavar="FILE", help="final links, to be checked, sorted and counted")
    outputs = parser.add_argument_group("output")
    outputs.add_argument("--output", metavar="FILE", help="write the links to this file")
    outputs.add_argument(
        "--lexicon", metavar="FILE", help="write the table `source target p(target|source) p(source|target)`"
    )
    outputs.add_argument("--summary", metavar="FILE", help="write options, versions, counts and checksum as JSON")
    options = parser.add_argument_group("options")
    options.add_argument(
        "--method",
        choices=tuple(SYMMETRIZATIONS),
        default="grow-diag-final-and",
        help="symmetrisation (default: %(default)s)",
    )
    options.add_argument(
        "--seed", type=int, default=config.seed, help="seed of eflomal's sampling (default: %(default)s)"
    )
    options.add_argument(
        "--samplers",
        type=int,
        default=config.samplers,
        metavar="N",
        help="number of independent samplers (default: %(default)s)",
    )
    options.add_argument(
        "--effort",
        type=float,
        default=config.effort,
        metavar="X",
        help="factor for the number of iterations (default: %(default)s)",
    )
    options.add_argument(
        "--null-prior",
        type=float,
        default=config.null_prior,
        metavar="P",
        help="prior probability of no link (default: %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    if (args.joint is None) == (args.source is None) or (args.source is None) != (args.target is None):
        raise ConfigError(
            "wrong combination of --source, --target and --joint", hint="Give --source and --target, or --joint alone."
        )
    if (args.forward is None) != (args.reverse is None) or (args.given is not None and args.forward is not None):
        raise ConfigError(
            "wrong combination of --forward, --reverse and --given",
            hint="Give --forward and --reverse, or --given, or none of them.",
        )
    if args.output is None and args.lexicon is None and args.given is None:
        raise ConfigError("there is nothing to write", hint="Give --output, --lexicon or both.")
    if "-" in (args.source, args.target, args.joint, args.forward, args.reverse):
        raise ConfigError("standard input cannot be read twice", hint="Write it to a file first.")
    inputs = (args.source, args.target, args.joint, args.forward, args.reverse, args.given)
    keep_inputs((args.output, args.lexicon, args.summary), inputs)
    bitext = Bitext(args.source, args.target) if args.joint is None else Bitext(args.joint)
    manifest: dict[str, object] = {}
    with contextlib.ExitStack() as stack:
        paths = [path for path in (args.output, args.lexicon, args.summary) if path is not None]
        # Opened before the aligner runs, so that an impossible output is noticed at once.
        streams = dict(zip(paths, stack.enter_context(atomic_group(paths)), strict=True))
        pairs = _pairs(args, bitext, manifest, stack)
        counter = LexiconCounter()
        checksum = hashlib.sha256()
        count = links = unlinked = 0
        for pair in track(pairs, "align"):
            line = format_links(pair.links).encode() + b"\n"
            checksum.update(line)
            if args.output is not None:
                streams[args.output].write(line)
            if args.lexicon is not None:
                _refuse_null(bitext, pair)
                counter.add(pair.source, pair.target, pair.links)
            count, links, unlinked = count + 1, links + len(pair.links), unlinked + (not pair.links)
        if args.lexicon is not None:
            for entry in counter.entries():
                streams[args.lexicon].write(format_entry(entry).encode() + b"\n")
        manifest |= {
            "pairs": count,
            "links": links,
            "pairs_without_links": unlinked,
            "sha256": checksum.hexdigest(),
        }
        if args.summary is not None:
            streams[args.summary].write((json.dumps(manifest, indent=2) + "\n").encode())
    print(f"align: {links:,} links in {count:,} pairs, {unlinked:,} pairs without links")


def _pairs(
    args: argparse.Namespace, bitext: Bitext, manifest: dict[str, object], stack: contextlib.ExitStack
) -> Iterator[AlignedPair]:
    """The aligned pairs, made as the arguments say; `manifest` gets a description."""
    if args.given is not None:
        manifest |= {"links_from": "given", "deterministic": True}
        return given_links(bitext, args.given)
    manifest |= {"method": args.method}
    if args.forward is not None:
        manifest |= {"links_from": "forward and reverse", "deterministic": True}
        return symmetrize(bitext, args.forward, args.reverse, args.method)
    config = AlignerConfig(args.seed, args.samplers, args.effort, args.null_prior)
    events.note("align: eflomal runs in both directions")
    directed = stack.enter_context(eflomal_links(bitext, config))
    if not directed.deterministic:
        events.warn("this eflomal cannot be seeded; a second run will differ slightly")
    if directed.skipped:
        events.warn(f"{directed.skipped:,} pairs get no links: they are empty or too long")
    manifest |= {
        "links_from": f"eflomal {eflomal_version()}",
        "deterministic": directed.deterministic,
        "skipped": directed.skipped,
        "config": asdict(config),
    }
    return symmetrize(bitext, directed.forward, directed.reverse, args.method)


def _refuse_null(bitext: Bitext, pair: AlignedPair) -> None:
    if NULL in pair.source or NULL in pair.target:
        raise InputError(
            f"the text contains {NULL}, which stands for no word in lexical tables",
            where=bitext.where(pair.number, target=NULL in pair.target),
            hint="Remove or rename that token.",
        )

"""Compile sentences, references and grammars into shards, the units of training and tuning.

Rules come directly from an index (made by itersel extract) or from grammar files: --grammars, or <seg grammar="…">
lines. Writes shard.0000.itsh … and manifest.json. Run the same command again to resume: it keeps complete shards of
equal content and makes the others.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from itersel.base import events
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write
from itersel.base.progress import Progress
from itersel.cli.arguments import add_jobs
from itersel.cli.extract import add_rule_arguments, rule_options
from itersel.engines import RUNNERS, RunConfig
from itersel.grammar.grammar import PASS_THROUGH
from itersel.pipeline.compile_job import CompileJob, compile_shards, side_files
from itersel.shards.assignment import DEFAULT_SIZE, KINDS, Layout, current_kind
from itersel.shards.compiler import Corpus, FileGrammars, GrammarSource, IndexGrammars, ShardCompiler, ShardOptions
from itersel.shards.folder import Count, PlannedShard, ShardRecord, describe_inputs, plan_shards, write_shards
from itersel.text.sentences import GrammarPlaces

SUMMARY = "compile sentences and grammars into shards"
EXAMPLE = """\
  itersel shard --sentences train.de --references train.en --index model/index --leave-one-out \\
      --size 1000 --output shards/train --jobs 4
  itersel shard --sentences dev.sgm --references dev.en.0 dev.en.1 --layout sequential --output shards/dev
  itersel shard --sentences train.de --references train.en --domains train.topic --layout domains \\
      --index model/index --folds 10 --output shards/topics --runner local"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options, layout = ShardOptions(), Layout()
    inputs = parser.add_argument_group("input (plain or gzip)")
    inputs.add_argument(
        "--sentences", required=True, metavar="FILE", help="tokenised sentences, one per line, or <seg> lines"
    )
    inputs.add_argument(
        "--references", nargs="+", default=[], metavar="FILE", help="translations; line i is for sentence i"
    )
    inputs.add_argument("--domains", "--tasks", metavar="FILE", help="the domain of each sentence, one label per line")
    grammars = inputs.add_mutually_exclusive_group()
    grammars.add_argument("--index", metavar="FILE", help="extract the rules from this index")
    grammars.add_argument("--grammars", metavar="DIR", help="folder with grammar.N or grammar.N.gz for line N, from 0")
    grammars.add_argument(
        "--grammar-root", metavar="DIR", help="folder of the grammars in <seg> lines (default: the input's folder)"
    )
    outputs = parser.add_argument_group("output")
    outputs.add_argument("--output", metavar="DIR", help="folder for the shards")
    outputs.add_argument("--plan", metavar="FILE", help="write only the plan, one line per shard, and no shards")
    shape = parser.add_argument_group("shards")
    shape.add_argument(
        "--layout",
        type=current_kind,
        choices=KINDS,
        default=layout.kind,
        help="which sentences go together (default: %(default)s)",
    )
    number = shape.add_mutually_exclusive_group()
    number.add_argument("--size", type=int, metavar="N", help=f"most sentences per shard (default: {DEFAULT_SIZE})")
    number.add_argument("--shards", type=int, metavar="N", help="number of shards")
    shape.add_argument("--seed", type=int, default=layout.seed, help="seed of the random layout (default: %(default)s)")
    shape.add_argument(
        "--features",
        default=options.features,
        metavar="GROUPS",
        help="dense, all, or some of id,ng,shape (default: %(default)s)",
    )
    shape.add_argument(
        "--pass-through",
        choices=PASS_THROUGH,
        default=options.pass_through,
        help="words that may be copied (default: %(default)s)",
    )
    shape.add_argument(
        "--goal", default=options.goal, metavar="LABEL", help="label of a sentence (default: %(default)s)"
    )
    shape.add_argument(
        "--nonterminal",
        default=options.nonterminal,
        metavar="LABEL",
        help="label that glue rules join (default: %(default)s)",
    )
    work = parser.add_argument_group("work")
    add_jobs(work)
    work.add_argument(
        "--runner", choices=("none", *RUNNERS), default="none", help="run as a job on this engine (needs --index)"
    )
    work.add_argument("--store", metavar="PLACE", help="folder or address that the engine's workers can reach")
    add_rule_arguments(parser.add_argument_group("rules, with --index"))


def run(args: argparse.Namespace) -> None:
    if (args.output is None) == (args.plan is None):
        raise ConfigError("wrong combination of --output and --plan", hint="Give --output, or --plan alone.")
    if "-" in (args.sentences, *args.references, args.domains):
        raise ConfigError("standard input cannot be read twice", hint="Write it to a file first.")
    layout = Layout(args.layout, args.size, args.shards, args.seed)
    options = ShardOptions(args.features, args.pass_through, args.goal, args.nonterminal)
    rules = rule_options(args)
    grammars: GrammarSource
    if args.index is not None:
        places, grammars = None, IndexGrammars(args.index, rules)
    else:
        if args.runner != "none":
            raise ConfigError("a map-reduce job extracts rules from an index", hint="Give --index.")
        folder, root = (None if path is None else Path(path) for path in (args.grammars, args.grammar_root))
        places, grammars = GrammarPlaces(folder=folder, root=root), FileGrammars()
    corpus = Corpus.read(args.sentences, args.references, args.domains, places=places)
    compiler = ShardCompiler(corpus, grammars, options)
    if args.plan is not None:
        with atomic_write(args.plan) as stream:
            stream.writelines(planned.to_line().encode() + b"\n" for planned in plan_shards(compiler, layout))
        return
    labels = [] if args.domains is None else [args.domains]
    inputs = describe_inputs({"sentences": [args.sentences], "references": args.references, "tasks": labels})

    def launch(missing: Sequence[PlannedShard], advance: Count) -> Iterable[ShardRecord]:
        job = CompileJob(rules=rules, options=options, folder=os.path.abspath(args.output))
        side = side_files(args.index, args.sentences, args.references, args.domains)
        return compile_shards(missing, job, side, RunConfig(args.runner, jobs=args.jobs, store=args.store), advance)

    runner = None if args.runner == "none" else launch
    made = kept = size = 0
    with Progress("shard", len(corpus)) as progress:
        for outcome in write_shards(
            compiler, layout, args.output, jobs=args.jobs, inputs=inputs, runner=runner, advance=progress.advance
        ):
            if outcome.trouble is not None:
                name = Path(args.output) / outcome.record.name
                events.warn(f"{name}: {outcome.trouble}; the shard was made again")
            made, kept = made + outcome.made, kept + (not outcome.made)
            size += outcome.record.bytes
            progress.skip(0 if outcome.made else len(outcome.record.sentences), note=f"{made + kept:,} shards")
    print(f"shard: {len(corpus):,} sentences, {made:,} shards made, {kept:,} kept, {size:,} bytes")

"""Train and apply rerankers of any system's n-best lists, with the algorithms of `itersel train`.

`train` learns feature weights from lists and references, or from a score that each hypothesis has. `apply` gives lists
new scores, sorts them and writes them in their own format. Lists are `id ||| text ||| features ||| score` lines (Moses,
cdec) or JSON lines with id, text, features and score, plain or gzip. Both actions read lists one by one.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from itersel.algorithms.registry import registered
from itersel.base import events
from itersel.base.config import Settings
from itersel.base.outputs import keep_inputs, open_output
from itersel.base.progress import Progress
from itersel.cli.arguments import add_jobs, put_options
from itersel.engines.config import RUNNERS
from itersel.inspect.run import epoch_table
from itersel.lists.compiler import ORDERS
from itersel.lists.reader import FORMS, FieldsConfig, read_lists
from itersel.lists.rescoring import rescore
from itersel.model.features import Weights
from itersel.run.config import load_with_algorithm
from itersel.run.rerank import train_reranker
from itersel.run.rerank_config import RerankConfig

SUMMARY = "train and apply rerankers of n-best lists"
EXAMPLE = """\
  itersel rerank train --lists dev.kbest.gz --references dev.en --output reranker --shards 4 --jobs 2
  itersel rerank apply test.kbest.gz --weights reranker/weights.txt.gz --output test.reranked.gz
  itersel rerank apply test.kbest.gz --weights reranker/weights.txt.gz --one-best > test.out
  itersel rerank train --lists rated.jsonl --features features logprob --objective rating --output rated"""

FLAGS = {
    "lists": "lists",
    "merge": "merge",
    "references": "references",
    "references_by": "references_by",
    "devtest": "devtest",
    "devtest_references": "devtest_references",
    "form": "fields.form",
    "features": "fields.features",
    "score": "fields.score",
    "objective": "fields.objective",
    "lower_is_better": "objective.lower_is_better",
    "metric": "objective.metric",
    "start": "start",
    "algorithm": "algorithm",
    "epochs": "epochs",
    "patience": "patience",
    "eta": "learn.eta",
    "top": "selection.top",
    "layout": "layout.kind",
    "shards": "layout.shards",
    "seed": "layout.seed",
    "runner": "run.runner",
    "jobs": "run.jobs",
    "store": "run.store",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_train(actions.add_parser("train", help="learn weights from lists", description="Learn weights from lists."))
    _add_apply(actions.add_parser("apply", help="score and sort lists", description="Score and sort lists."))


def _add_fields(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    group = parser.add_argument_group("fields: numbers from 1 in ||| lines, keys in JSON")
    group.add_argument("--form", choices=FORMS, help="format of the lists (default: recognised by the first character)")
    group.add_argument(
        "--features",
        nargs="+",
        metavar="FIELD",
        help="fields with named values or a bare number (default: 3, or features)",
    )
    group.add_argument("--score", metavar="FIELD", help="field with the system's score (default: 4, or score)")
    return group


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("configuration", nargs="?", metavar="FILE", help="YAML, such as conf/rerank.yaml")
    parser.add_argument("--output", required=True, metavar="DIR", help="the run's directory")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override any key, such as learn.pairs.kind=pro"
    )
    data = parser.add_argument_group("data")
    data.add_argument("--lists", nargs="+", metavar="FILE", help="n-best lists to learn from")
    data.add_argument(
        "--merge",
        action="store_true",
        default=None,
        help="join the files' lists of a sentence: those of an outside decoder's successive iterations",
    )
    data.add_argument("--references", nargs="+", metavar="FILE", help="references, tokenised like the hypotheses")
    data.add_argument(
        "--references-by",
        choices=ORDERS,
        help="how a list finds its line of references: by its id, from 0, or by its position",
    )
    data.add_argument("--devtest", nargs="+", metavar="FILE", help="lists that choose the best epoch")
    data.add_argument("--devtest-references", nargs="+", metavar="FILE")
    data.add_argument("--start", metavar="FILE", help="weights to start from")
    fields = _add_fields(parser)
    fields.add_argument(
        "--objective", metavar="FIELD", help="field that says how good a hypothesis is, instead of references"
    )
    fields.add_argument(
        "--lower-is-better", action="store_true", default=None, help="low values of the objective are good"
    )
    learning = parser.add_argument_group("learning")
    learning.add_argument("--metric", metavar="NAME", help="sentence metric; for tuners bleu, chrf, ter or a sum")
    learning.add_argument("--algorithm", metavar="NAME", help=f"{', '.join(registered())}, or module:name")
    learning.add_argument("--epochs", type=int, metavar="T", help="number of epochs")
    learning.add_argument("--patience", type=int, metavar="N", help="stop after N epochs without a better devtest BLEU")
    learning.add_argument("--eta", type=float, metavar="RATE", help="learning rate")
    learning.add_argument("--top", type=int, metavar="K", help="number of features that survive an epoch")
    learning.add_argument(
        "--layout", choices=("random", "reshard", "sequential"), help="how lists are divided into shards"
    )
    learning.add_argument("--shards", type=int, metavar="N", help="number of shards")
    learning.add_argument("--seed", type=int, help="seed of the layout")
    work = parser.add_argument_group("work (does not change the result)")
    work.add_argument("-r", "--runner", choices=RUNNERS, help="the engine (docs/engines.md)")
    add_jobs(work, None, "processes")
    work.add_argument("--store", metavar="PLACE", help="folder or address that all workers can reach")
    parser.set_defaults(act=_train)


def _add_apply(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lists", nargs="*", default=["-"], metavar="FILE", help="lists (default: standard input)")
    parser.add_argument("--weights", required=True, metavar="FILE", help="lines `name value`")
    parser.add_argument(
        "--output", metavar="FILE", help="appears when it is complete (default: standard output, list by list)"
    )
    parser.add_argument("--one-best", action="store_true", help="write the best text of each list only")
    add_jobs(parser)
    _add_fields(parser)
    parser.set_defaults(act=_apply)


def run(args: argparse.Namespace) -> None:
    args.act(args)


def _train(args: argparse.Namespace) -> None:
    settings = Settings() if args.configuration is None else Settings.read(args.configuration)
    settings = put_options(settings.override(args.set), vars(args), FLAGS)
    config = load_with_algorithm(RerankConfig, settings)
    weights = train_reranker(config, args.output)
    events.note(epoch_table(Path(args.output)))
    print(weights)


def _apply(args: argparse.Namespace) -> None:
    fields = FieldsConfig(args.form or "auto", tuple(args.features or ()), args.score)
    keep_inputs([args.output], [*args.lists, args.weights])
    # The output is opened first, so that a place that cannot be written fails before the work, not after it.
    with open_output(args.output) as output:
        weights = dict(Weights.read(args.weights))
        done = rescore(read_lists(args.lists, fields), weights, best_only=args.one_best, jobs=args.jobs)
        with contextlib.closing(done), Progress("rerank", unit="lists") as progress:
            for lines in done:
                output.write(lines.encode())
                progress.advance()

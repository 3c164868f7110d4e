"""Train or tune weights on shards, with any algorithm and on any engine.

Reads a YAML configuration (conf/train.yaml shows all keys with their defaults). Options override it. Paths in the file
are relative to the file; paths on the command line are relative to the current folder. All output goes into the
--output directory. Run the same command again to resume an interrupted run. The result is the same to the last bit,
with any number of jobs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from itersel.algorithms.registry import registered
from itersel.base import events
from itersel.base.config import Settings
from itersel.cli.arguments import add_jobs, put_options
from itersel.engines import RUNNERS
from itersel.inspect.run import epoch_table
from itersel.run.config import load_train_config
from itersel.run.driver import train
from itersel.run.estimate import dry_run
from itersel.run.layout import KINDS
from itersel.shards.assignment import current_kind

SUMMARY = "train weights on shards"
EXAMPLE = """\
  itersel train --build work/mine --output work/run --jobs 4
  itersel train --build work/mine --algorithm sgd --output work/sgd
  itersel train --shards 'shards/*.itsh' --devtest dev.itsh --lm lm.bin --output other --jobs 4
  itersel train conf/sample-train.yaml --output l1 --set selection.norm=l1"""

FLAGS = {
    "build": "build",
    "learn_from": "learn_from",
    "shards": "shards",
    "devtest": "devtest",
    "lm": "language_model",
    "fold_lm": "fold_models",
    "allow_seen_references": "allow_seen_references",
    "start": "start",
    "algorithm": "algorithm",
    "epochs": "epochs",
    "patience": "patience",
    "layout": "layout.kind",
    "top": "selection.top",
    "eta": "epoch.learn.eta",
    "metric": "epoch.metric",
    "k": "epoch.k",
    "runner": "run.runner",
    "jobs": "run.jobs",
    "reducers": "run.reducers",
    "store": "run.store",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("configuration", nargs="?", metavar="FILE", help="YAML (default: the default of every key)")
    parser.add_argument("--output", required=True, metavar="DIR", help="the run's directory")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override any key, such as epoch.learn.l1=0.001"
    )
    data = parser.add_argument_group("data")
    data.add_argument("--build", metavar="DIR", help="work folder of itersel build: shards, devtest, language models")
    data.add_argument(
        "--learn-from", metavar="SET", help="set of the build (default: dev for sgd and tuners, train for others)"
    )
    data.add_argument("--shards", nargs="+", metavar="FILE", help="files or patterns to train on")
    data.add_argument("--devtest", nargs="+", metavar="FILE", help="shards that choose the best epoch")
    data.add_argument("--lm", metavar="FILE", help="ARPA or KenLM binary file")
    data.add_argument(
        "--fold-lm", nargs="+", metavar="FILE", help="models to train with, each without one fold of the training text"
    )
    data.add_argument(
        "--allow-seen-references",
        action="store_true",
        default=None,
        help="train although the language model was estimated on the references (translation gets worse)",
    )
    data.add_argument("--start", metavar="FILE", help="weights to start from")
    learning = parser.add_argument_group("learning")
    learning.add_argument("--algorithm", metavar="NAME", help=f"{', '.join(registered())}, or module:name")
    learning.add_argument("--epochs", type=int, metavar="T", help="number of epochs")
    learning.add_argument("--patience", type=int, metavar="N", help="stop after N epochs without a better devtest BLEU")
    learning.add_argument("--layout", type=current_kind, choices=KINDS, help="which sentences make up a shard")
    learning.add_argument("--top", type=int, metavar="K", help="number of features that survive an epoch")
    learning.add_argument("--eta", type=float, metavar="RATE", help="learning rate")
    learning.add_argument(
        "--metric", metavar="NAME", help="sentence metric, such as stupid_bleu; for tuners bleu, chrf, ter or a sum"
    )
    learning.add_argument("-k", type=int, metavar="N", help="length of the k-best lists")
    work = parser.add_argument_group("work (does not change the result)")
    work.add_argument("-r", "--runner", choices=RUNNERS, help="the engine (docs/engines.md)")
    add_jobs(work, None, "processes")
    work.add_argument("--reducers", type=int, metavar="N", help="number of reducers, each for a range of features")
    work.add_argument("--dry-run", action="store_true", help="only show what the engine would make and cost")
    work.add_argument("--store", metavar="PLACE", help="folder or address that all workers can reach")


def run(args: argparse.Namespace) -> None:
    settings = Settings() if args.configuration is None else Settings.read(args.configuration)
    config = load_train_config(put_options(settings.override(args.set), vars(args), FLAGS))
    if args.dry_run:
        print(dry_run(config, args.output))
        return
    weights = train(config, args.output)
    events.note(epoch_table(Path(args.output)))
    print(weights)

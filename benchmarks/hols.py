"""Cost of a gradient of held-out line search: `python benchmarks/hols.py --shard FILE [--lm FILE] [--start FILE]`.

Takes the gradient of a shard's sentences by their rule identities, and runs an epoch of IterSelSGD over the same
sentences: decode, lists, metric, pairs, update. Both are the map tasks that an engine runs, in one process, with lists
of the same length. Prints `name: value` lines.

`gradient_cost_ratio` is the processor time of the gradient over that of the epoch; the goal is at most 1.3.
`speedup_2_processes` is how much faster two processes take the gradients of two shards than one process one after the
other; the goal is 1.8. It means something on a machine with two free cores only.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.algorithms.epoch_job import EpochJob  # noqa: E402
from itersel.algorithms.gradient_job import GradientJob  # noqa: E402
from itersel.base.errors import UserError  # noqa: E402
from itersel.learn.epoch import EpochConfig  # noqa: E402
from itersel.lists.source import open_source  # noqa: E402
from itersel.mapreduce.job import Job  # noqa: E402
from itersel.mapreduce.shard_item import Part, shard_item  # noqa: E402
from itersel.mapreduce.side import Side  # noqa: E402
from itersel.mapreduce.work_item import ItemFile, WorkItem  # noqa: E402
from itersel.model.features import Weights  # noqa: E402
from itersel.model.vectors import Vector  # noqa: E402

START = {"LanguageModel": 0.1, "WordPenalty": -0.1, "PassThrough": -0.1, "EgivenFCoherent": -0.1}


def run_map(job: Job, item: WorkItem, side: Side) -> None:
    for _ in job.map(item, side, lambda *_: None):
        pass


def cpu_seconds(job: Job, item: WorkItem, side: Side, rounds: int) -> float:
    """Of the fastest of some rounds."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        run_map(job, item, side)
        found.append(time.process_time() - began)
    return min(found)


def elapsed(job: Job, item: WorkItem, side: Side, processes: int) -> float:
    """Wall-clock seconds in which each of the processes takes the whole gradient once."""
    context = get_context("fork")
    began = time.monotonic()
    workers = [context.Process(target=run_map, args=(job, item, side)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard", metavar="FILE", required=True, help="a compiled shard with rule identities")
    parser.add_argument("--lm", metavar="FILE", help="a language model")
    parser.add_argument("--start", metavar="FILE", help="weights (default: a handful of dense ones)")
    parser.add_argument("-k", type=int, default=100, help="length of the lists (default: 100)")
    parser.add_argument("--sentences", type=int, default=1000, help="at most so many of the shard (default: 1000)")
    parser.add_argument("--rounds", type=int, default=2, help="the fastest of so many counts (default: 2)")
    args = parser.parse_args()
    source = open_source(args.shard)
    count = min(args.sentences, len(source))
    item = shard_item(0, [Part(ItemFile(source.path, source.checksum), tuple(range(count)))], count)
    with tempfile.TemporaryDirectory() as folder:
        weights = dict(Weights.read(args.start)) if args.start else START
        Vector.of_names(weights).write(Path(folder) / "start.vec")
        files = {"start": f"{folder}/start.vec"} | ({"model": args.lm} if args.lm else {})
        side = Side(files)
        config = EpochConfig(k=args.k, metric="fixed_stupid_bleu")
        gradient = GradientJob(1, 0, config)
        run_map(gradient, shard_item(0, [Part(item.files[0], (0,))], 1), side)  # opens the model and the shard
        taken = cpu_seconds(gradient, item, side, args.rounds)
        learned = cpu_seconds(EpochJob(1, epoch=config), item, side, args.rounds)
        print(f"sentences: {count}")
        print(f"k: {args.k}")
        print(f"gradient_sentences_per_cpu_second: {count / taken:.1f}")
        print(f"epoch_sentences_per_cpu_second: {count / learned:.1f}")
        print(f"gradient_cost_ratio: {taken / learned:.3f}", flush=True)
        single, pair = elapsed(gradient, item, side, 1), elapsed(gradient, item, side, 2)
        print(f"speedup_2_processes: {2 * single / pair:.2f}")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:  # a file that is not there, for instance
        sys.exit(f"error: {error}")

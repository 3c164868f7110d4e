"""The cost model of itersel/engines/sizing.py against runs, and for a corpus of the paper's size.

    python benchmarks/cost_model.py [--shards FILE … --lm FILE]

Prints `name: value` lines. First the constants of the reduce step, measured on random vectors; then, for one and two
processes of the engine `local`, an epoch over the shards of data/sample (or --shards FILE… --lm FILE): what the model
says, what the run took, and the ratio. A shared machine gives a process less than a whole processor, so the model's
`speed` is the share that idle loops got just before the run. Last the model's epoch for --sentences, --of-shards and
--slots, by default the paper's Europarl setting: 1.66 million sentences, 2,290 shards, 300 slots.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.algorithms.epoch_job import EpochJob, ShardResult, collect  # noqa: E402
from itersel.engines import RunConfig  # noqa: E402
from itersel.engines.sizing import COLUMN_SECONDS, REDUCE_SECONDS, Measured, Slots, epoch_cost  # noqa: E402
from itersel.learn.mixing import SelectionConfig  # noqa: E402
from itersel.mapreduce.execution import reduce_range  # noqa: E402
from itersel.mapreduce.job import DRIVER, END, Record  # noqa: E402
from itersel.mapreduce.side import Side  # noqa: E402
from itersel.model.vectors import Vector, feature_ids  # noqa: E402
from itersel.pipeline.build import build  # noqa: E402
from itersel.pipeline.build_config import load_config  # noqa: E402
from itersel.pipeline.build_paths import language_model_path, shards_path  # noqa: E402
from itersel.run.config import TrainConfig  # noqa: E402
from itersel.run.driver import train  # noqa: E402
from itersel.run.estimate import measure  # noqa: E402
from itersel.shards.shard import Shard  # noqa: E402

EPOCHS = 3
SPIN_SECONDS = 2.0
TOP = 100_000


def reduce_constants(shards: int = 50, entries: int = 100_000, features: int = 400_000) -> None:
    """A reducer's time for an entry, and the driver's for a column, next to what the model takes them for."""
    draw = np.random.default_rng(1)
    names = [f"feature:{number}" for number in range(features)]
    ids = feature_ids(names)
    job = EpochJob(partitions=1, selection=SelectionConfig(top=TOP))
    pieces, records = [], []
    for number in range(shards):
        chosen = draw.choice(features, entries, replace=False)
        order = chosen[np.argsort(ids[chosen])]
        row = Vector.of(ids[order], draw.normal(size=entries))
        result = ShardResult(row, [names[k] for k in order])
        for sequence, (key, value) in enumerate(job.pieces(result)):
            (records if key == DRIVER else pieces).append(Record(key, number, sequence, value))
        pieces.append(Record(0, number, END, b""))
    started = time.process_time()
    reduced = [record for record in reduce_range(job, 0, pieces, shards, Side({})) if record.sequence != END]
    spent = time.process_time() - started
    print(f"reduce_seconds_per_entry: {spent / shards / entries:.2e}")
    print(f"reduce_seconds_of_the_model: {REDUCE_SECONDS:.2e}")
    started = time.process_time()
    made = collect([*records, *reduced], job.selection)
    spent = time.process_time() - started
    print(f"driver_seconds_per_column: {spent / len(made.columns):.2e}")
    print(f"driver_seconds_of_the_model: {COLUMN_SECONDS:.2e}")


def spin(seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def share(processes: int) -> float:
    """How much of a processor each of this many busy processes gets now."""
    context, before = get_context("fork"), time.monotonic()
    started = sum(os.times()[2:4])
    workers = [context.Process(target=spin, args=(SPIN_SECONDS,)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    spent = sum(os.times()[2:4]) - started
    return spent / processes / (time.monotonic() - before)


def compare(config: TrainConfig, measured: Measured, jobs: int) -> None:
    """An epoch of the engine `local` by the model and by the clock; the first is left out: its files are cold."""
    sizes = [len(Shard(path)) for path in config.shards]
    with tempfile.TemporaryDirectory() as folder:
        speed = share(jobs)
        began: list[float] = []
        ended: list[float] = []
        run = replace(config, run=RunConfig("local", jobs=jobs))
        for epochs in range(1, EPOCHS + 1):  # resumed, epoch by epoch, to see where each begins and ends
            began.append(time.monotonic())
            train(replace(run, epochs=epochs), Path(folder) / "run", warn=lambda _: None)
            ended.append(time.monotonic())
        lines = (Path(folder) / "run" / "statistics.jsonl").read_text().splitlines()
        spent = [sum(one["seconds"].values()) for one in map(json.loads, lines) if one["shard"] is None]
        speed = (speed + share(jobs)) / 2
    slots = Slots(jobs, task_seconds=0.02, job_seconds=0.3, speed=speed)
    loaded_once = replace(measured, load_seconds=0.0)  # forked processes share the model
    predicted = epoch_cost(sizes, loaded_once, slots, kept=config.selection.top)
    taken = [end - begin for begin, end in zip(began, ended, strict=True)][1:]
    print(f"local_{jobs}_processor_share: {speed:.2f}")
    print(f"local_{jobs}_predicted_work_seconds: {sum(sizes) * measured.sentence_seconds:.2f}")
    print(f"local_{jobs}_measured_work_seconds: {sum(spent[1:]) / len(spent[1:]):.2f}")
    print(f"local_{jobs}_predicted_seconds: {predicted.total:.2f}")
    print(f"local_{jobs}_measured_seconds: {sum(taken) / len(taken):.2f}")
    print(f"local_{jobs}_ratio: {sum(taken) / len(taken) / predicted.total:.2f}")


def project(measured: Measured, sentences: int, shards: int, slots: int, reducers: int) -> None:
    """The model's epoch for a corpus of another size."""
    sizes = [sentences // shards + (number < sentences % shards) for number in range(shards)]
    cost = epoch_cost(
        sizes,
        measured,
        Slots(slots, task_seconds=3.0, job_seconds=45.0),
        reducers=reducers,
        start_weights=TOP,
        kept=TOP,
    )
    print(f"corpus_sentences: {sentences}")
    print(f"corpus_shards: {shards}")
    print(f"corpus_slots: {slots}")
    print(f"corpus_reducers: {reducers}")
    for key in ("map", "reduce", "engine", "driver", "total", "cpu"):
        print(f"corpus_{key}_seconds: {getattr(cost, key):.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", nargs="+", metavar="FILE", help="(default: those of data/sample, built first)")
    parser.add_argument("--lm", metavar="FILE", help="their language model")
    parser.add_argument("--sentences", type=int, default=1_660_000)
    parser.add_argument("--of-shards", type=int, default=2290)
    parser.add_argument("--slots", type=int, default=300)
    parser.add_argument("--reducers", type=int, default=20)
    parser.add_argument("--no-runs", action="store_true", help="only constants and the large corpus")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.shards is None:
            made = load_config(ROOT / "conf" / "sample.yaml", [f"work={folder}"])
            list(build(made))
            args.shards = sorted(map(str, shards_path(made, "train").glob("*.itsh")))
            args.lm = str(language_model_path(made))
        config = TrainConfig(tuple(args.shards), language_model=args.lm)
        measured = measure(max(map(Shard, args.shards), key=len), args.lm, config.epoch)
        print(f"sentence_seconds: {measured.sentence_seconds:.4f}")
        print(f"entries_per_sentence: {measured.entries:.0f}")
        print(f"load_seconds: {measured.load_seconds:.2f}", flush=True)
        reduce_constants()
        for jobs in () if args.no_runs else (1, 2):
            compare(config, measured, jobs)
        project(measured, args.sentences, args.of_shards, args.slots, args.reducers)


if __name__ == "__main__":
    main()

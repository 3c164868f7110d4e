"""An epoch over very many tiny shards: what a shard costs beyond its work, and who holds how much memory.

    python benchmarks/many_shards.py local spark …       # the same as benchmarks/engines.py --shards 2290

Prints `name: value` lines. The shards have three artificial sentences each; the start
weights have `weights` features that no shard knows, and every shard sends them back, as it does with the features that
a real run has selected. The map side runs on the engine; then the same records are reduced, and taken over as the
driver does, each in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.algorithms.epoch_job import EpochJob, collect  # noqa: E402
from itersel.base.errors import UserError  # noqa: E402
from itersel.engines import RUNNERS, RunConfig  # noqa: E402
from itersel.engines.file_work import driver_records, map_to_file, mapped_path, reduce_to_file  # noqa: E402
from itersel.learn.epoch import EpochConfig  # noqa: E402
from itersel.learn.learner import LearnConfig  # noqa: E402
from itersel.learn.mixing import SelectionConfig  # noqa: E402
from itersel.lists.source import open_source  # noqa: E402
from itersel.mapreduce.execution import assemble  # noqa: E402
from itersel.mapreduce.record_file import RecordFile  # noqa: E402
from itersel.mapreduce.side import Side  # noqa: E402
from itersel.model.features import Weights  # noqa: E402
from itersel.model.vectors import Vector  # noqa: E402
from itersel.run.config import TrainConfig  # noqa: E402
from itersel.run.driver import train  # noqa: E402
from itersel.run.layout import LayoutConfig  # noqa: E402
from itersel.shards.shard import ShardWriter  # noqa: E402

Lines = Iterator[tuple[str, object]]
WORDS, SENTENCES, LENGTH = 60, 3, 5
DRIVER_BYTES_PER_SHARD = 20_000
"""What the driver may hold for a shard of this benchmark, apart from the model: its file, work item and statistics."""


def write_shards(folder: Path, count: int) -> tuple[str, ...]:
    """Shards of artificial sentences; each word has three translations, of which one is right."""
    draw = random.Random(1)
    rules = {
        k: "".join(f"[X] ||| w{k} ||| {word}{k} ||| p={p}\n" for word, p in (("a", 1), ("b", 0.5), ("c", 0.25)))
        for k in range(WORDS)
    }
    folder.mkdir(parents=True)
    paths = []
    for number in range(count):
        writer = ShardWriter(groups=("id",))
        for _ in range(SENTENCES):
            words = draw.choices(range(WORDS), k=LENGTH)
            grammar = "".join(rules[k] for k in sorted(set(words))).encode()
            target = " ".join(f"{draw.choice('abc')}{k}" for k in words)
            writer.add(" ".join(f"w{k}" for k in words), [target], grammar)
        path = folder / f"shard.{number:04d}.itsh"
        writer.write(path)
        paths.append(os.fspath(path))
    return tuple(paths)


def load_config(folder: Path, shards: int, weights: int) -> TrainConfig:
    """One epoch of IterSelSGD over the shards, from weights that all of them carry through."""
    start = folder / "start.txt"
    Weights({f"R:X:carried{k}:through": 1.0 + k / weights for k in range(weights)}).write(start)
    return TrainConfig(
        shards=write_shards(folder / "shards", shards),
        start=os.fspath(start),
        epochs=1,
        epoch=EpochConfig(k=10, learn=LearnConfig(eta=0.05, batch=True, schedule="adagrad")),
        selection=SelectionConfig(top=weights),
    )


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def in_own_process(work: Callable[[], Any]) -> dict[str, float]:
    """Processor seconds, and by how much the peak memory of a fresh process grew."""

    def run(connection: Any) -> None:
        before, began = resident_bytes(), time.process_time()
        kept = work()  # so that what it holds counts
        connection.send({"seconds": time.process_time() - began, "bytes": max(peak_bytes() - before, 0)})
        del kept

    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=run, args=(theirs,))
    process.start()
    theirs.close()
    made: dict[str, float] = ours.recv()
    process.join()
    return made


def resident_bytes() -> int:
    """What the process has in memory now."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds() -> float:
    """Processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def weights_sum(run: Path) -> str:
    return hashlib.sha256((run / "weights.vec").read_bytes()).hexdigest()[:16]


def measure_engine(config: TrainConfig, run: Path) -> Lines:
    """An epoch on the engine: time beyond the work of the shards. Processor time is that of this process and its own,
    without clusters; wall time depends on what else the machine does."""
    began, cpu = time.time(), cpu_seconds()
    train(config, run, warn=lambda _: None)
    seconds, spent = time.time() - began, cpu_seconds() - cpu
    lines = [json.loads(line) for line in (run / "statistics.jsonl").read_text().splitlines()]
    work = sum(sum(line["seconds"].values()) for line in lines if line["shard"] is None)
    shards = sum(line["shard"] is not None for line in lines)
    yield "seconds", f"{seconds:.1f}"
    yield "seconds_of_work", f"{work:.1f}"
    yield "milliseconds_beyond_work_per_shard", f"{1000 * (seconds - work) / shards:.1f}"
    yield "cpu_milliseconds_beyond_work_per_shard", f"{1000 * (spent - work) / shards:.1f}"
    yield "weights_checksum", weights_sum(run)


def measure_memory(config: TrainConfig, folder: Path, reducers: int) -> Lines:
    """The parts of an epoch one by one, in processes of their own; the driver also over a quarter of the shards, as the
    difference is what it holds for a shard."""
    folder.mkdir(parents=True)
    vector = folder / "start.vec"
    assert config.start is not None
    names = dict(Weights.read(config.start))
    Vector.of_names(names).write(vector)
    side = Side({"start": os.fspath(vector)})
    job = EpochJob(partitions=reducers, epoch=config.epoch, selection=config.selection)
    items = LayoutConfig().items([open_source(path) for path in config.shards], 0)
    mapped = [mapped_path(folder, item.number) for item in items]
    for item, path in zip(items, mapped, strict=True):
        map_to_file(job, item, side, path)
    held = {}
    for count in (len(items) // 4, len(items)):
        paths = mapped[:count]
        reduced = [folder / f"{count}.{key:05d}.reduced" for key in range(reducers)]

        def reduce(key: int, paths: list[Path] = paths, reduced: list[Path] = reduced) -> None:
            reduce_to_file(job, key, paths, side, reduced[key])

        def take_over(count: int = count, paths: list[Path] = paths, reduced: list[Path] = reduced) -> list[Any]:
            files = [open_source(path) for path in config.shards[:count]]
            records = assemble(job, driver_records(paths, reduced), count)
            return [files, LayoutConfig().items(files, 0), collect(records, config.selection, names)]

        found = [in_own_process(partial(reduce, key)) for key in range(reducers)]
        held[count] = in_own_process(take_over)
    mixed = collect(assemble(job, driver_records(mapped, reduced), len(items)), config.selection, names)
    entries = sum(len(Vector.from_bytes(record.value)) for record in _rows(mapped, reducers))
    reducer = max(one["bytes"] for one in found)
    few, many = held
    growth = (held[many]["bytes"] - held[few]["bytes"]) / (many - few)
    yield "shards", len(items)
    yield "start_weights", len(names)
    yield "reducers", reducers
    yield "entries_of_W", entries
    yield "bytes_sent_per_shard", round(sum(one["sent"] for one in mixed.statistics) / len(items))
    yield "reducer_megabytes", f"{reducer / 2**20:.0f}"
    yield "reducer_bytes_per_entry", f"{reducer / (entries / reducers):.0f}"
    yield "reducer_seconds_per_entry", f"{sum(one['seconds'] for one in found) / entries:.1e}"
    yield "driver_megabytes", f"{held[many]['bytes'] / 2**20:.1f}"
    yield f"driver_megabytes_of_{few}_shards", f"{held[few]['bytes'] / 2**20:.1f}"
    yield "driver_bytes_per_shard", round(growth)
    yield "driver_bytes_per_shard_stated", DRIVER_BYTES_PER_SHARD
    yield "driver_cpu_seconds", f"{held[many]['seconds']:.2f}"


def _rows(mapped: list[Path], reducers: int) -> Iterator[Any]:
    """The shards' pieces of W."""
    for path in mapped:
        for key in range(reducers):
            yield next(iter(RecordFile(path).records(key)))


def load_test(args: argparse.Namespace) -> None:
    """The memory of the parts, and an epoch on each engine; all must give the same weights."""
    with tempfile.TemporaryDirectory(prefix="itersel-load-") as temporary:
        folder = Path(temporary)
        config = load_config(folder, args.shards, args.weights)
        print(f"load_average: {os.getloadavg()[0]:.1f}", flush=True)  # a busy machine makes everything slower
        for name, value in measure_memory(config, folder / "parts", args.reducers):
            print(f"load_{name}: {value}", flush=True)
        options = tuple(args.option)
        for engine in args.engine:
            jobs = os.cpu_count() or 1
            run = RunConfig(engine, jobs, args.reducers, options=options, tasks=args.tasks)
            for name, value in measure_engine(replace(config, run=run), folder / engine):
                print(f"load_{engine}_{name}: {value}", flush=True)


def add_arguments(parser: argparse.ArgumentParser, shards: int | None) -> None:
    """The options of the load test; `shards` is the default number."""
    parser.add_argument("engine", nargs="+", choices=RUNNERS)
    parser.add_argument("--reducers", type=int, default=2)
    parser.add_argument("--shards", type=int, default=shards, metavar="N", help="tiny shards of the load test")
    parser.add_argument(
        "--weights", type=int, default=2000, metavar="N", help="load test: weights that all shards carry"
    )
    parser.add_argument("--tasks", type=int, default=100, metavar="N", help="load test: most map tasks (Hadoop, Spark)")
    parser.add_argument("--option", action="append", default=[], metavar="X", help="load test: as in run.options")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, shards=2290)
    args = parser.parse_args()
    load_test(args)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:  # an engine that is not there, for instance
        sys.exit(f"error: {error}")

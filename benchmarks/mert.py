"""MERT's line search: 1,014 lists of 1,000 hypotheses with 12 features, as Multi30k's val after some rounds.

    python benchmarks/mert.py     prints line_searches_per_cpu_second, best_steps_per_cpu_second, peak_mb
    python benchmarks/mert.py --shards 'val/*.itsh' --lm lm.bin --start weights.txt [--rounds N] [--pop-limit N]
                                  prints, of a whole run, optimise_share: processor time outside decoding; and
                                  speedup_2_processes: how much faster the same run is with two processes

A line search is the error surface of one direction over all lists. Twelve coordinates and two random directions start
from each of three points; projections of hypotheses onto points and directions are part of the time. The speedup is one
of elapsed time, so it needs two idle cores; each run is made several times, in turns, and the fastest one counts, as
other work of the machine only makes a run slower. driver_share, the part of the processor time that is not spread over
processes, does not.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from itersel.algorithms.mert import MertConfig
from itersel.decode.decoder import DecoderConfig
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.tune.objective import Objective
from itersel.tune.surface import list_surfaces

DIMENSIONS, POINTS, RANDOM = 12, 3, 2
SHARDS = 4  # of a whole run, with one process and with two: two halves differ too much in their work


def lists(count: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random features (a row per dimension), offsets and BLEU's statistics; lists differ more than hypotheses do."""
    draw = np.random.default_rng(1)
    rows = count * size
    features = 0.3 * draw.normal(size=(DIMENSIONS, rows)) + np.repeat(
        draw.normal(size=(DIMENSIONS, count)), size, axis=1
    )
    length = draw.integers(8, 15, rows)
    matches = np.sort(draw.integers(0, 9, (rows, 4)), axis=1)[:, ::-1]
    counts = length[:, None] - np.arange(4)
    statistics = np.column_stack([length, np.full(rows, 12), np.minimum(matches, counts), counts])
    return features, np.arange(0, rows + 1, size), statistics.astype(np.float32)


def measure_run(args: argparse.Namespace) -> None:
    """MERT with its defaults, in one process and in two, in turns."""
    config = TrainConfig(
        (args.shards,),
        algorithm="mert",
        own=MertConfig(),
        language_model=args.lm,
        start=args.start,
        epochs=args.rounds,
        epoch=EpochConfig(decoder=DecoderConfig(pop_limit=args.pop_limit)),
        layout=LayoutConfig("random", shards=SHARDS),
        run=RunConfig("inline"),
    )
    of_one, of_two = [], []
    for _ in range(args.times):
        with tempfile.TemporaryDirectory() as folder:
            alone, together = Path(folder) / "alone", Path(folder) / "together"
            spent = timed(config, alone)
            lines = map(json.loads, (alone / "statistics.jsonl").read_text().splitlines())
            of_one.append((spent, [line for line in lines if line["shard"] is None]))
            of_two.append(timed(replace(config, run=RunConfig("local", jobs=2)), together))
            assert (alone / "weights.vec").read_bytes() == (together / "weights.vec").read_bytes()
    (elapsed, total, _), epochs = min(of_one, key=lambda one: one[0])
    elapsed_together, both, driver = min(of_two)
    # Decoding is what the k-best jobs say they decoded. The first round decodes twice, and counts the second time only.
    decoding = sum(line["seconds"]["decode"] for line in epochs) + epochs[0]["seconds"]["decode"]
    print(f"rounds: {len(epochs)}")
    print(f"line_searches: {sum(line['line_searches'] for line in epochs)}")
    print(f"cpu_seconds: {total:.1f}")
    print(f"decode_cpu_seconds: {decoding:.1f}")
    print(f"optimise_share: {1 - decoding / total:.3f}")
    print(f"speedup_2_processes: {elapsed / elapsed_together:.2f}")
    print(f"cpu_seconds_2_processes: {both:.1f}")
    print(f"driver_share: {driver / both:.3f}")
    print(f"peak_mb: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")
    print(f"peak_mb_of_a_worker: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f}")


def timed(config: TrainConfig, folder: Path) -> tuple[float, float, float]:
    """Train: elapsed seconds, processor time of all processes, and of this one."""

    def clocks() -> np.ndarray:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        mine = own.ru_utime + own.ru_stime
        return np.array([time.perf_counter(), mine + children.ru_utime + children.ru_stime, mine])

    began = clocks()
    train(config, folder)
    elapsed, both, own = (clocks() - began).tolist()
    return elapsed, both, own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=1014)
    parser.add_argument("--hypotheses", type=int, default=1000)
    parser.add_argument("--shards", help="measure a whole run on these shards instead")
    parser.add_argument("--lm", help="its language model")
    parser.add_argument("--start", help="its start weights")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--times", type=int, default=3, help="how often each run is made")
    parser.add_argument("--pop-limit", type=int, default=DecoderConfig().pop_limit)
    args = parser.parse_args()
    if args.shards is not None:
        measure_run(args)
        return
    features, offsets, statistics = lists(args.lists, args.hypotheses)
    draw = np.random.default_rng(2)
    origins, directions = [], []
    for _ in range(POINTS):
        point = draw.normal(size=DIMENSIONS)
        for direction in (*np.eye(DIMENSIONS), *draw.normal(size=(RANDOM, DIMENSIONS))):
            origins.append(point)
            directions.append(direction)
    began = time.process_time()
    surfaces = list_surfaces(features, offsets, statistics, np.array(origins), np.array(directions))
    searched = time.process_time()
    objective = Objective()
    for surface in surfaces:
        surface.best_step(objective)
    chosen = time.process_time()
    print(f"line_searches_per_cpu_second: {len(surfaces) / (searched - began):.1f}")
    print(f"best_steps_per_cpu_second: {len(surfaces) / (chosen - searched):.0f}")
    print(f"changes_per_surface: {np.mean([len(surface.points) for surface in surfaces]):.0f}")
    print(f"peak_mb: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


if __name__ == "__main__":
    main()

"""Mixing against the reference: 2.7 million weights of 100 shards, K = 100,000.

    python benchmarks/mix.py           prints cpu_seconds, cpu_ratio, peak_mb
    python benchmarks/mix.py --large   the papers' Europarl scale: 2,290 shards of 50,000 features

The reference is the Ruby script of the papers' system on the same number of entries: 43.6 s of CPU, 298 MB.
Ours is a whole process: start, imports, reading and checking the wire format, mixing, writing. Shards share a
long-tailed set of features, as rule features do.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from itersel.learn.mixing import Columns, SelectionConfig, in_shard_order, merge, reduce_range
from itersel.model.vectors import Vector, even_bounds

REFERENCE_SECONDS = 43.6
TOP = 100_000


def bits(x: np.ndarray) -> np.ndarray:
    """Spreads small numbers over 64 bits, as names' ids are."""
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x


def shard(number: int, features: int) -> Vector:
    """A shard's weights: half of the features from a common long tail, half rare ones."""
    generator = np.random.default_rng(number)
    drawn = (generator.pareto(0.3, 4 * features) * 50).clip(0, 1e7).astype(np.uint64)
    ids = generator.permutation(np.unique(drawn))[: features // 2]
    rare = generator.choice(40 * features, features - len(ids), replace=False).astype(np.uint64)
    ids = bits(np.concatenate([ids, rare + np.uint64(2 * 10**7)]))
    # Multiples of the learning rate: few distinct values, so many norms tie.
    return Vector.of(ids, 0.0001 * (1 + generator.geometric(0.3, len(ids))) * generator.choice([-1, 1], len(ids)))


def cpu_seconds() -> float:
    """Of this process since it started."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def name_of(ids: np.ndarray) -> list[str]:
    """Stands in for a table of names."""
    return [f"{k:020d}" for k in ids.tolist()]


def small(folder: Path) -> None:
    shards, features = 100, 27_000
    for z in range(shards):
        shard(z, features).write(folder / str(z))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, entries, selected, peak = pool.apply(mix_files, (folder, shards))
    print(f"entries: {entries}\nselected: {selected}")
    print(f"cpu_seconds: {seconds:.3f}\ncpu_ratio: {REFERENCE_SECONDS / seconds:.0f}\npeak_mb: {peak:.0f}")


def mix_files(folder: Path, shards: int) -> tuple[float, int, int, float]:
    vectors = [Vector.read(folder / str(z)) for z in range(shards)]
    selection = SelectionConfig(top=TOP)
    columns = merge([reduce_range(vectors, selection)], selection, names=name_of)
    columns.vector().write(folder / "mixed")
    return cpu_seconds(), sum(map(len, vectors)), len(columns), peak_mb()


def write_pieces(job: tuple[Path, int, int, int]) -> int:
    folder, number, features, reducers = job
    moved = 0
    for r, piece in enumerate(shard(number, features).cut(even_bounds(reducers))):
        (folder / f"{r}-{number}").write_bytes(data := piece.to_bytes())
        moved += len(data)
    return moved


def reduce_files(job: tuple[Path, int, int, int]) -> tuple[float, float, bytes]:
    folder, r, shards, reducers = job
    low, high = even_bounds(reducers)[r : r + 2]
    pieces = ((z, Vector.read(folder / f"{r}-{z}")) for z in range(shards))
    columns = reduce_range(in_shard_order(pieces, shards), SelectionConfig(top=TOP), low=low, high=high, names=name_of)
    return cpu_seconds(), peak_mb(), columns.to_bytes()


def large(folder: Path) -> None:
    shards, features, reducers = 2290, 50_000, 8
    context = multiprocessing.get_context("spawn")
    with context.Pool(os.cpu_count()) as pool:
        up = sum(pool.imap_unordered(write_pieces, ((folder, z, features, reducers) for z in range(shards))))
    with context.Pool(1, maxtasksperchild=1) as pool:  # a fresh process each, to measure its memory
        results = pool.map(reduce_files, [(folder, r, shards, reducers) for r in range(reducers)], chunksize=1)
    started = time.process_time()
    parts = [Columns.from_bytes(data) for _, _, data in results]
    mixed = merge(parts, SelectionConfig(top=TOP), names=name_of)
    merging = time.process_time() - started
    candidates = sum(len(data) for _, _, data in results)
    down = len(mixed.vector().to_bytes())
    print(f"entries: {shards * features}\nreducers: {reducers}\nselected: {len(mixed)}")
    print(f"cpu_seconds: {sum(seconds for seconds, _, _ in results) + merging:.1f}")
    print(f"cpu_seconds_longest_reducer: {max(seconds for seconds, _, _ in results):.1f}")
    print(f"peak_mb: {max(peak for _, peak, _ in results):.0f}")
    print(f"bytes_shards_to_reducers: {up}\nbytes_reducers_to_driver: {candidates}")
    print(f"bytes_driver_to_shards: {down * shards}\nbytes_per_epoch: {up + candidates + down * shards}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="2,290 shards of 50,000 features")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        (large if arguments.large else small)(Path(temporary))

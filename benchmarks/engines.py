"""What engines cost beyond the work itself: `python benchmarks/engines.py inline local hadoop …`.

Trains three epochs of IterSelSGD over the four shards of data/sample with each engine named, and prints `name: value`
lines. `seconds_per_epoch` is the wall-clock time of epochs two and three; `seconds_beyond_shard_work` is that less
the processor time of decoding and learning, spread over the processors that there are. `bytes_per_weight` counts the
epoch's weights as they travel to the workers, header apart: 16 is the limit. For Hadoop, `model_copies_` are how often
each node of the local cluster fetched the language model for all of its map tasks.

With `--shards N`, it is a load test instead: one epoch over N tiny shards, what an engine adds per shard, the memory of
a reducer, and what the driver holds (benchmarks/many_shards.py). Map tasks are at most `--tasks`, by default 100.

An engine that needs a cluster uses the one that is there: start it first (docs/engines.md).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import many_shards  # noqa: E402

from itersel.base.errors import UserError  # noqa: E402
from itersel.engines import RunConfig  # noqa: E402
from itersel.learn.mixing import SelectionConfig  # noqa: E402
from itersel.model.vectors import HEADER, Vector  # noqa: E402
from itersel.pipeline.build import build  # noqa: E402
from itersel.pipeline.build_config import load_config  # noqa: E402
from itersel.pipeline.build_paths import language_model_path, shards_path  # noqa: E402
from itersel.run.config import TrainConfig  # noqa: E402
from itersel.run.driver import train  # noqa: E402

EPOCHS = 3
Lines = Iterator[tuple[str, object]]


def hadoop_facts(config: TrainConfig, run: Path) -> Lines:
    """What the distributed cache of the local cluster did for this run's map tasks."""
    from itersel.engines.hadoop import LOG, stored_name
    from itersel.engines.hadoop_client import HadoopClient

    launched = re.findall(r"Launched map tasks=(\d+)", (run / LOG).read_text())
    yield "map_tasks", sum(map(int, launched))
    home = Path(HadoopClient.find().hadoop).parent.parent
    assert config.language_model is not None
    model = stored_name(config.language_model)
    for node in sorted((home / "data").glob("nodemanager-*")):
        yield f"model_copies_{node.name}", len(list(node.rglob(f"filecache/*/{model}")))


FACTS: dict[str, Callable[[TrainConfig, Path], Lines]] = {"hadoop": hadoop_facts}
"""By engine, more to report about a finished run."""


def measure(config: TrainConfig, run: Path) -> Lines:
    """Train, and compare the times at which epochs were finished with the work that their shards needed."""
    began = time.time()
    train(config, run, warn=lambda _: None)
    ends = [(run / f"epoch-{epoch:03d}" / "weights.vec").stat().st_mtime for epoch in range(1, EPOCHS + 1)]
    lines = [json.loads(line) for line in (run / "statistics.jsonl").read_text().splitlines()]
    work = [sum(line["seconds"].values()) for line in lines if line["shard"] is None and line["epoch"] > 1]
    shards = len({line["shard"] for line in lines if line["shard"] is not None})
    processors = 1 if config.run.runner == "inline" else min(os.cpu_count() or 1, shards)
    seconds = (ends[-1] - ends[0]) / (EPOCHS - 1)
    yield "seconds_first_epoch_and_start", f"{ends[0] - began:.2f}"
    yield "seconds_per_epoch", f"{seconds:.2f}"
    yield "seconds_beyond_shard_work", f"{seconds - sum(work) / len(work) / processors:.2f}"
    place = run / "epoch-002" / "weights.vec"
    yield "bytes_per_weight", (place.stat().st_size - HEADER.size) / len(Vector.read(place))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    many_shards.add_arguments(parser, shards=None)
    args = parser.parse_args()
    if args.shards is not None:
        many_shards.load_test(args)
        return
    with tempfile.TemporaryDirectory(prefix="itersel-engines-") as temporary:
        folder = Path(temporary)
        data = load_config(ROOT / "conf" / "sample.yaml", [f"work={folder / 'work'}"])
        list(build(data))
        config = TrainConfig(
            shards=(str(shards_path(data, "train") / "*.itsh"),),
            language_model=str(language_model_path(data)),
            epochs=EPOCHS,
            selection=SelectionConfig(top=2000),
        )
        print(f"load_average: {os.getloadavg()[0]:.1f}", flush=True)  # a busy machine makes everything slower
        for engine in args.engine:
            run = RunConfig(engine, jobs=os.cpu_count() or 1, reducers=args.reducers)
            whole = replace(config, run=run)
            for tell in filter(None, [measure, FACTS.get(engine)]):
                for name, value in tell(whole, folder / engine):
                    print(f"{engine}_{name}: {value}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:  # an engine that is not there, for instance
        sys.exit(f"error: {error}")

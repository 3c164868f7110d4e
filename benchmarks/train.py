"""Speed and memory of training: `python benchmarks/train.py [--shard FILE --lm FILE]`.

Runs one epoch with all sparse features, 100-best lists and the default learner, over the 200 sentences of
../shared/data/cdec-m30k (compiled first; not part of the figures) or over the given shard, and prints `name: value`
lines. `ratio_to_dtrain` is cdec's 1.27 processor seconds a sentence over ours: more is better, the goal is 100. That
figure is from other sentences of the same corpus and with a 5-gram model; the default here is a trigram, so give a
5-gram with --lm to compare like with like.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.epoch import STAGES, EpochConfig, run_epoch  # noqa: E402
from itersel.features import GROUPS  # noqa: E402
from itersel.files import read_bytes, read_lines  # noqa: E402
from itersel.language_model import LanguageModel  # noqa: E402
from itersel.shard import Shard, ShardWriter  # noqa: E402
from itersel.vectors import Vector  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "cdec-m30k"
DTRAIN_SECONDS = 1.27  # of processor a sentence, with a 5-gram, from the data's README
START = {"LanguageModel": 0.1, "WordPenalty": -0.1, "PassThrough": -0.1, "EgivenFCoherent": -0.1}


def compile_shard(path: Path) -> None:
    pattern = re.compile(r'<seg grammar="([^"]*)" id="(\d+)"> (.*) </seg> *')
    writer = ShardWriter(groups=GROUPS, pass_through="all")
    for line, reference in zip(read_lines(DATA / "input.sgm"), read_lines(DATA / "reference.en"), strict=True):
        match = pattern.fullmatch(line)
        assert match
        writer.add(match[3], [reference], read_bytes(DATA / match[1]), id=match[2])
    writer.write(path)


def train(shard: str, model: LanguageModel | None) -> None:
    run_epoch(Shard(shard), Vector.of_names(START), model, EpochConfig())


def elapsed(shard: str, model: LanguageModel | None, processes: int) -> float:
    """Wall-clock seconds in which each of the processes trains on the whole shard once."""
    started = time.monotonic()
    context = get_context("fork")
    workers = [context.Process(target=train, args=(shard, model)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.monotonic() - started


def report(shard: str, model: LanguageModel | None) -> None:
    opened = Shard(shard)
    started = time.process_time()
    result = run_epoch(opened, Vector.of_names(START), model, EpochConfig())
    seconds = (time.process_time() - started) / len(opened)
    print(f"sentences_per_cpu_second: {1 / seconds:.1f}")
    print(f"cpu_seconds_per_sentence: {seconds:.5f}")
    print(f"ratio_to_dtrain: {DTRAIN_SECONDS / seconds:.1f}")
    for stage in STAGES:
        print(f"share_{stage}: {result.seconds[stage] / len(opened) / seconds:.3f}")
    print(f"features_per_hypothesis: {result.statistics['features'] / result.statistics['hypotheses']:.1f}")
    print(f"weights: {len(result.weights)}")
    print(f"peak_mb: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}", flush=True)
    print(f"speedup_2_processes: {2 * elapsed(shard, model, 1) / elapsed(shard, model, 2):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard", metavar="FILE", help="a compiled shard (default: made from the 200 sentences)")
    parser.add_argument("--lm", metavar="FILE", help="its language model (default: the sentences' trigram model)")
    args = parser.parse_args()
    if args.shard is not None:
        report(args.shard, None if args.lm is None else LanguageModel(args.lm))
        return
    if not DATA.is_dir():
        sys.exit("The data is not here: ../shared/data/cdec-m30k is absent. Give --shard FILE.")
    with tempfile.TemporaryDirectory() as folder:
        shard = Path(folder) / "shard"
        worker = get_context("fork").Process(target=compile_shard, args=(shard,))  # its memory is not part of the peak
        worker.start()
        worker.join()
        report(str(shard), LanguageModel(args.lm or DATA / "lm3.arpa.gz"))


if __name__ == "__main__":
    main()

"""Speed and memory of training: `python benchmarks/train.py [--shard FILE --lm FILE]`.

Runs one epoch with all sparse features, 100-best lists and the default learner over Multi30k's val, built first by
benchmarks/multi30k-val.yaml (not part of the figures), or over the given shard, and prints `name: value` lines.
`ratio_to_dtrain` is cdec's 1.27 processor seconds a sentence, for the same sentences and with a 5-gram too, over ours
at the default pop limit, with which the search finds as much as cdec's with its own: more is better, the goal is 100.
`speedup_2_processes` is how much faster two processes train on two shards than one process on one after the other;
`peak_mb` is one process's memory. Where there is valgrind, callgrind counts the instructions of each stage over the
first COUNTED sentences: `instructions_<stage>` is per sentence, and `instruction_share_<stage>` is the stage's share of
them all. They do not depend on how busy the machine is, unlike `share_<stage>`, which is of processor time.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.learn.epoch import STAGES, EpochConfig, run_epoch  # noqa: E402
from itersel.lm.model import LanguageModel  # noqa: E402
from itersel.model.vectors import Vector  # noqa: E402
from itersel.pipeline.build import build  # noqa: E402
from itersel.pipeline.build_config import load_config  # noqa: E402
from itersel.pipeline.build_paths import language_model_path, shards_path  # noqa: E402
from itersel.shards.folder import read_manifest  # noqa: E402
from itersel.shards.shard import Shard  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "multi30k"
DTRAIN_SECONDS = 1.27  # of processor a sentence, from ../shared/data/cdec-m30k/README.md
COUNTED = 100  # sentences
FUNCTIONS = {
    "decode": "ShardDecoder::search(",
    "kbest": "ShardDecoder::extract(",
    "metric": "ShardEpoch::score(",
    "pairs": "Chooser::choose(",
    "update": "ShardEpoch::learn(",
}
"""The kernel's functions of the stages; they do not call each other."""
START = {"LanguageModel": 0.1, "WordPenalty": -0.1, "PassThrough": -0.1, "EgivenFCoherent": -0.1}


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


def stage_instructions(shard: str, lm: str | None) -> dict[str, float]:
    """Instructions per sentence of each stage, opening the shard not included."""
    count = min(COUNTED, len(Shard(shard)))
    with tempfile.TemporaryDirectory() as folder:
        profile = f"{folder}/profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", sys.executable, __file__]
        command += ["--epoch", str(count), "--shard", shard, *(["--lm", lm] if lm else [])]
        subprocess.run(command, check=True, capture_output=True)
        command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", profile]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = dict.fromkeys(STAGES, 0.0)
    for stage, function in FUNCTIONS.items():
        pattern = re.compile(rf"\s*([0-9,]+) .*[ :]itersel::{re.escape(function)}")
        counts = [int(match[1].replace(",", "")) for match in map(pattern.match, lines) if match]
        found[stage] = max(counts, default=0) / count
    return found


def report_instructions(shard: str, lm: str | None) -> None:
    if not shutil.which("valgrind"):
        return
    counts = stage_instructions(shard, lm)
    for stage, count in counts.items():
        print(f"instructions_{stage}: {count:.0f}")
    for stage, count in counts.items():
        print(f"instruction_share_{stage}: {count / sum(counts.values()):.4f}", flush=True)


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
    parser.add_argument("--shard", metavar="FILE", help="a compiled shard (default: Multi30k's val, built first)")
    parser.add_argument("--lm", metavar="FILE", help="its language model (default: the 5-gram built with it)")
    parser.add_argument("--instructions", action="store_true", help="count instructions only")
    parser.add_argument("--epoch", type=int, metavar="N", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.shard is not None:
        model = None if args.lm is None else LanguageModel(args.lm)
        if args.epoch is not None:
            run_epoch(Shard(args.shard), Vector.of_names(START), model, EpochConfig(), sentences=range(args.epoch))
            return
        if not args.instructions:
            report(args.shard, model)
        report_instructions(args.shard, args.lm)
        return
    if not DATA.is_dir():
        sys.exit("The data is not here: ../shared/data/multi30k is absent. Give --shard FILE.")
    config = load_config(ROOT / "benchmarks" / "multi30k-val.yaml")
    worker = get_context("fork").Process(target=lambda: list(build(config)))  # its memory is not part of the peak
    worker.start()
    worker.join()
    shard = shards_path(config, "val") / read_manifest(shards_path(config, "val"))["shards"][0]["name"]
    lm = str(args.lm or language_model_path(config))
    if not args.instructions:
        report(str(shard), LanguageModel(lm))
    report_instructions(str(shard), lm)


if __name__ == "__main__":
    main()

"""The size of shards, and what compression costs: `python benchmarks/storage.py [--shard FILE --lm FILE]`.

Prints `name: value` lines:

    shard_bytes_per_sentence           Multi30k: the first of conf/multi30k.yaml's 28 training shards (1,000 sentences,
                                       leave-one-out rules from all 28,000 pairs)
    shard_bytes_per_sentence_europarl  Europarl: the first 1,000 sentences, leave-one-out rules from the first 20,000
                                       pairs, all sparse features (docs/engines-sizing.md)
    epoch_cpu_ratio                    processor time of an epoch over the Multi30k shard (all features, 5-gram, default
                                       learner, opening included) over that of the same shard stored uncompressed
    epoch_instruction_ratio            the same in instructions

Processor time on a machine that others use varies by more than the ratio, so both shards take turns in short slices:
opening with the first sentence, then epochs over SLICE sentences each. The least time of several rounds counts, and the
times of all slices are added up. Instructions are counted by callgrind, if there is valgrind: those of opening, and
those of some sentences spread over the shard, extrapolated to all. Both shards are compiled first, in
work/benchmark-storage, unless they are given.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel import _kernel  # noqa: E402
from itersel.learn.epoch import EpochConfig, run_epoch  # noqa: E402
from itersel.lm.model import LanguageModel  # noqa: E402
from itersel.model.vectors import Vector  # noqa: E402
from itersel.pipeline.build import build  # noqa: E402
from itersel.pipeline.build_config import load_config  # noqa: E402
from itersel.pipeline.build_paths import language_model_path, shards_path  # noqa: E402
from itersel.shards.shard import Shard  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
WORK = ROOT / "work" / "benchmark-storage"
START = {"LanguageModel": 0.1, "WordPenalty": -0.1, "PassThrough": -0.1, "EgivenFCoherent": -0.1}
EUROPARL_PAIRS = 20_000
SLICE = 25
Row = list[float]  # a figure for each shard
EUROPARL = """work: europarl
train: {source: europarl.de, target: europarl.en}
lm: {order: 2}
extract: {leave_one_out: true}
shards: {layout: sequential, size: 1000, first: 1, features: all}
"""


def multi30k() -> tuple[Path, Path]:
    """The first training shard, and the 5-gram."""
    config = load_config(ROOT / "conf" / "multi30k.yaml", [f"work={WORK / 'multi30k'}", "shards.first=1"])
    list(build(config))
    return shards_path(config, "train") / "shard.0000.itsh", language_model_path(config)


def europarl() -> Path:
    WORK.mkdir(parents=True, exist_ok=True)
    for side in ("de", "en"):
        with gzip.open(DATA / "europarl" / f"train.tok.lc.{side}.gz", "rt", encoding="utf-8") as lines:
            (WORK / f"europarl.{side}").write_text("".join(itertools.islice(lines, EUROPARL_PAIRS)), encoding="utf-8")
    (WORK / "europarl.yaml").write_text(EUROPARL)
    config = load_config(WORK / "europarl.yaml")
    list(build(config))
    return shards_path(config, "train") / "shard.0000.itsh"


def epoch(shard: Path | Shard, model: LanguageModel, sentences: Sequence[int]) -> None:
    opened = shard if isinstance(shard, Shard) else Shard(shard)
    run_epoch(opened, Vector.of_names(START), model, EpochConfig(), sentences=sentences)


def least_seconds(shards: Sequence[Path | Shard], model: LanguageModel, sentences: Sequence[int], rounds: int) -> Row:
    """The least processor time of an epoch over each shard; they take turns."""
    rows = []
    for _ in range(rounds):
        rows.append([])
        for shard in shards:
            started = time.process_time()
            epoch(shard, model, sentences)
            rows[-1].append(time.process_time() - started)
    return [min(times) for times in zip(*rows, strict=True)]


def compare_times(paths: Sequence[Path], lm: str, count: int, rounds: int) -> Row:
    """Processor seconds of an epoch over the first sentences of each shard."""
    model = LanguageModel(lm)
    slices = [least_seconds(paths, model, [0], rounds)]
    shards = [Shard(path) for path in paths]
    for shard in shards:
        epoch(shard, model, [0])  # what sentences share is read
    for begin in range(1, count, SLICE):
        slices.append(least_seconds(shards, model, range(begin, min(begin + SLICE, count)), rounds))
    return [sum(times) for times in zip(*slices, strict=True)]


def instructions(shard: Path, model: str, sentences: str) -> int:
    """Of this program's `--epoch` with these sentences; without any, the shard is not opened."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", sys.executable, __file__]
        command += [f"--epoch={sentences}", "--shard", str(shard), "--lm", model]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.findall(r"Collected : (\d+)", told)[0])


def compare_instructions(paths: Sequence[Path], lm: str, count: int, counted: int) -> Row:
    """Instructions of an epoch over the first sentences of each shard. What a process needs anyway, imports and opening
    the model, is left out; opening the shard is not."""
    some = range(1, count, max(1, count // counted))
    base = instructions(paths[0], lm, "")
    totals = []
    for path in paths:
        opening = instructions(path, lm, "0")
        decoding = instructions(path, lm, " ".join(map(str, [0, *some]))) - opening
        totals.append(opening - base + decoding * (count - 1) / len(some))
    return totals


def compare(shard: Path, lm: str, sentences: int | None, rounds: int, counted: int) -> None:
    count = len(Shard(shard)) if sentences is None else sentences
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.itsh"
        plain.write_bytes(_kernel.repack_shard(str(shard), False))
        print(f"uncompressed_bytes_per_sentence: {plain.stat().st_size // len(Shard(plain))}", flush=True)
        if counted > 0 and shutil.which("valgrind"):
            packed, unpacked = compare_instructions((shard, plain), lm, count, counted)
            print(f"epoch_instructions: {packed:.0f}")
            print(f"epoch_instructions_uncompressed: {unpacked:.0f}")
            print(f"epoch_instruction_ratio: {packed / unpacked:.4f}", flush=True)
        if rounds > 0:
            seconds = compare_times((shard, plain), lm, count, rounds)
            print(f"epoch_cpu_seconds: {seconds[0]:.2f}")
            print(f"epoch_cpu_seconds_uncompressed: {seconds[1]:.2f}")
            print(f"epoch_cpu_ratio: {seconds[0] / seconds[1]:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard", metavar="FILE", help="a training shard (default: Multi30k's, compiled first)")
    parser.add_argument("--lm", metavar="FILE", help="its language model")
    parser.add_argument("--europarl", metavar="FILE", help="a shard of Europarl (default: compiled first)")
    parser.add_argument("--sentences", type=int, metavar="N", help="epochs over the first N sentences (default: all)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="times that count once (default 3; 0: none)")
    parser.add_argument(
        "--counted", type=int, default=40, metavar="N", help="sentences for counting instructions (default 40; 0: none)"
    )
    parser.add_argument("--epoch", metavar="NUMBERS", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.epoch is not None:
        model = LanguageModel(args.lm)
        if args.epoch:
            epoch(Path(args.shard), model, [int(number) for number in args.epoch.split()])
        return
    if not DATA.is_dir() and not (args.shard and args.europarl):
        sys.exit("The data is not here: ../shared/data is absent. Give --shard FILE --lm FILE --europarl FILE.")
    shard, lm = (Path(args.shard), Path(args.lm)) if args.shard else multi30k()
    print(f"shard_bytes_per_sentence: {shard.stat().st_size // len(Shard(shard))}", flush=True)
    large = Path(args.europarl) if args.europarl else europarl()
    print(f"shard_bytes_per_sentence_europarl: {large.stat().st_size // len(Shard(large))}", flush=True)
    compare(shard, str(lm), args.sentences, args.rounds, args.counted)


if __name__ == "__main__":
    main()

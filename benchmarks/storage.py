"""The size of shards, and what compression costs: `python benchmarks/storage.py [--shard FILE --lm FILE]`.

Prints `name: value` lines:

    shard_bytes_per_sentence           Multi30k: the first of conf/multi30k.yaml's 28 training shards (1,000 sentences,
                                       leave-one-out rules from all 28,000 pairs)
    shard_bytes_per_sentence_europarl  Europarl: the first 1,000 sentences, leave-one-out rules from the first 20,000
                                       pairs, all sparse features (docs/engines-sizing.md)
    epoch_cpu_ratio                    processor time of an epoch over the Multi30k shard (all features, 5-gram, default
                                       learner, opening included) over that of the same shard stored uncompressed

The ratio compares the least times of several epochs, which take turns. --instructions counts instructions with
callgrind instead, on the first sentences; the figure does not depend on how busy the machine is. Both shards are
compiled first, in work/benchmark-storage, unless they are given.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import re
import subprocess
import sys
import tempfile
import time
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


def epoch_seconds(shard: Path, model: LanguageModel, count: int) -> float:
    started = time.process_time()
    run_epoch(Shard(shard), Vector.of_names(START), model, EpochConfig(), sentences=range(count))
    return time.process_time() - started


def instructions(shard: Path, model: str, count: int) -> int:
    """Of this program's `--epoch` with this many sentences."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", sys.executable, __file__]
        command += ["--epoch", str(count), "--shard", str(shard), "--lm", model]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.findall(r"Collected : (\d+)", told)[0])


def compare(shard: Path, lm: str, sentences: int | None, rounds: int, count_instructions: bool) -> None:
    count = len(Shard(shard)) if sentences is None else sentences
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.itsh"
        plain.write_bytes(_kernel.repack_shard(str(shard), False))
        print(f"uncompressed_bytes_per_sentence: {plain.stat().st_size // len(Shard(plain))}", flush=True)
        if count_instructions:
            # What a process needs anyway, imports and opening the model, is subtracted; opening the shard is not.
            base = instructions(shard, lm, 0)
            packed, unpacked = (instructions(path, lm, count) - base for path in (shard, plain))
            print(f"epoch_instructions: {packed}")
            print(f"epoch_instructions_uncompressed: {unpacked}")
        else:
            model = LanguageModel(lm)
            taken = [(epoch_seconds(shard, model, count), epoch_seconds(plain, model, count)) for _ in range(rounds)]
            packed, unpacked = (min(times) for times in zip(*taken, strict=True))
            print(f"epoch_cpu_seconds: {packed:.2f}")
            print(f"epoch_cpu_seconds_uncompressed: {unpacked:.2f}")
        print(f"epoch_cpu_ratio: {packed / unpacked:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shard", metavar="FILE", help="a training shard (default: Multi30k's, compiled first)")
    parser.add_argument("--lm", metavar="FILE", help="its language model")
    parser.add_argument("--europarl", metavar="FILE", help="a shard of Europarl (default: compiled first)")
    parser.add_argument("--sentences", type=int, metavar="N", help="epochs over the first N sentences (default: all)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="epochs of each kind (default 3)")
    parser.add_argument("--instructions", action="store_true", help="count instructions with callgrind")
    parser.add_argument("--epoch", type=int, metavar="N", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.epoch is not None:
        model = LanguageModel(args.lm)
        if args.epoch > 0:
            epoch_seconds(Path(args.shard), model, args.epoch)
        return
    if not DATA.is_dir() and not (args.shard and args.europarl):
        sys.exit("The data is not here: ../shared/data is absent. Give --shard FILE --lm FILE --europarl FILE.")
    shard, lm = (Path(args.shard), Path(args.lm)) if args.shard else multi30k()
    print(f"shard_bytes_per_sentence: {shard.stat().st_size // len(Shard(shard))}", flush=True)
    large = Path(args.europarl) if args.europarl else europarl()
    print(f"shard_bytes_per_sentence_europarl: {large.stat().st_size // len(Shard(large))}", flush=True)
    compare(shard, str(lm), args.sentences, args.rounds, args.instructions)


if __name__ == "__main__":
    main()

"""What folds cost: `python benchmarks/folds.py [--sentences N] [--folds N]`.

Prints `folds_cost_ratio`: the processor time of a build with folds divided by that of a build without any. Each part of
a build that folds change is measured by itself, in this process, on Multi30k: the language model (order 5; with folds,
one more for each fold) and the extraction of rules, for `--sentences` sentences in a seeded random order. The time of
extraction is scaled to all sentences. Word alignment and compiling shards, which folds do not change, are left out,
so the ratio of whole builds is lower.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.files import atomic_write, read_lines  # noqa: E402
from itersel.grammar.extraction import ExtractConfig, Extractor, build_index  # noqa: E402
from itersel.lm.arpa import write_arpa  # noqa: E402
from itersel.lm.binary import write_binary  # noqa: E402
from itersel.lm.corpus import Fold  # noqa: E402
from itersel.lm.estimate import Settings, estimate  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
CORPUS = DATA / "multi30k"


def model_seconds(targets: Sequence[str], folder: Path, without: Fold | None) -> float:
    started = time.process_time()
    model = estimate(targets, Settings(5), without=without)
    with atomic_write(folder / "lm.arpa.gz") as stream:
        write_arpa(model, stream)
    write_binary(folder / "lm.arpa.gz", folder / "lm.bin")
    return time.process_time() - started


def extraction_seconds(index: Path, sentences: Sequence[tuple[int, str]], folds: int) -> float:
    extractor = Extractor(index, ExtractConfig(folds=folds))
    started = time.process_time()
    for number, sentence in sentences:
        extractor.grammar(sentence, number)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=2000, help="training sentences to extract for (default 2000)")
    parser.add_argument("--folds", type=int, default=5, help="number of folds (default 5)")
    args = parser.parse_args()
    if not CORPUS.is_dir():
        sys.exit("The data is not here: ../shared/data/multi30k is absent.")
    bitext = [CORPUS / "train.tok.lc.de.gz", CORPUS / "train.tok.lc.en.gz", DATA / "cdec-m30k" / "train.alignment.gz"]
    sources, targets = (list(read_lines(path)) for path in bitext[:2])
    chosen = random.Random(1).sample(list(enumerate(sources)), args.sentences)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_index(*bitext, folder / "index")
        whole, by_fold = (model_seconds(targets, folder, without) for without in (None, Fold(args.folds, 0)))
        plain, folded = (extraction_seconds(folder / "index", chosen, folds) for folds in (0, args.folds))
    scale = len(sources) / args.sentences
    print(f"model_cpu_seconds: {whole:.2f}")
    print(f"fold_model_cpu_seconds: {by_fold:.2f}")
    print(f"extract_cpu_ms_per_sentence: {1000 * plain / args.sentences:.2f}")
    print(f"fold_extract_cpu_ms_per_sentence: {1000 * folded / args.sentences:.2f}")
    with_folds = whole + args.folds * by_fold + scale * folded
    print(f"folds_cost_ratio: {with_folds / (whole + scale * plain):.2f}")


if __name__ == "__main__":
    main()

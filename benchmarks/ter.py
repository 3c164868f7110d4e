"""Speed of a corpus's statistics beside sacrebleu's: `python benchmarks/ter.py [OUTPUT REFERENCE] [--lines N]`.

Prints `name: value` lines: CPU seconds of BLEU, chrF and TER for one output, TER's edits by sacrebleu itself, the
sentences in which the two differ, and the ratio. Without files, references are data/demo's, and in the output words
have changed places.
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sacrebleu.metrics import TER  # noqa: E402

from itersel.metrics.corpus import METRICS, CorpusMetric  # noqa: E402


def read(path: str, lines: int) -> list[str]:
    data = Path(path).read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode().splitlines()[:lines]


def shuffled(lines: list[str]) -> list[str]:
    """Each line with two of its pieces moved."""
    source, output = random.Random(1), []
    for line in lines:
        words = line.split()
        for _ in range(2):
            start = source.randrange(len(words))
            piece = words[start : start + 3]
            del words[start : start + 3]
            place = source.randint(0, len(words))
            words[place:place] = piece
        output.append(" ".join(words))
    return output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="an output and its reference, plain or gzip")
    parser.add_argument("--lines", type=int, default=500)
    args = parser.parse_args()
    if len(args.files) not in (0, 2):
        parser.error("give an output and its reference, or nothing")
    references = read(args.files[1] if args.files else str(ROOT / "data/demo/test.en"), args.lines)
    output = read(args.files[0], args.lines) if args.files else shuffled(references)

    def seconds(action):
        started = time.process_time()
        return action(), time.process_time() - started

    found = {}
    for name in METRICS:
        metric = CorpusMetric(name, [[line] for line in references])
        found[name] = seconds(lambda metric=metric: metric.statistics(output).tolist())
        print(f"{name}_seconds: {found[name][1]:.3f}")
    theirs = TER(case_sensitive=True, references=[references])
    rows, spent = seconds(lambda: theirs._extract_corpus_statistics(output, None))
    print(f"ter_sacrebleu_seconds: {spent:.3f}")
    print(f"different: {sum(a != b for a, b in zip(found['ter'][0], rows, strict=True))}")
    print(f"ter_ratio: {spent / found['ter'][1]:.1f}")


if __name__ == "__main__":
    main()

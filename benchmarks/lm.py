"""Speed and memory of language model estimation: `python benchmarks/lm.py [--europarl]`.

Prints `name: value` lines. Needs the text in ../shared/data, or another one with --text and --order.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.files import atomic_write, read_lines  # noqa: E402
from itersel.lm.arpa import write_arpa  # noqa: E402
from itersel.lm.estimate import Settings, estimate  # noqa: E402

DATA = ROOT.parent / "shared" / "data"


def measure(name: str, text: Path, order: int) -> None:
    """Estimate and write one model; the file is not compressed."""
    started, wall = time.process_time(), time.monotonic()
    model = estimate(read_lines(text), Settings(order=order))
    estimated = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "lm.arpa"
        with atomic_write(plain) as stream:
            write_arpa(model, stream)
        written = time.process_time()
        megabytes = plain.stat().st_size / 1e6
    figures = {
        "tokens": model.tokens,
        "ngrams": sum(map(len, model.tables)),
        "estimate_cpu_seconds": round(estimated - started, 2),
        "write_cpu_seconds": round(written - estimated, 2),
        "tokens_per_cpu_second": round(model.tokens / (written - started)),
        "wall_seconds": round(time.monotonic() - wall, 2),
        "arpa_mb": round(megabytes, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    for key, value in figures.items():
        print(f"{name}_{key}: {value}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--europarl", action="store_true", help="also a model of order 5 on Europarl")
    parser.add_argument("--text", type=Path, help="a text to measure instead")
    parser.add_argument("--order", type=int, default=3, help="order for --text")
    args = parser.parse_args()
    if args.text:
        measure("text", args.text, args.order)
        return
    measure("multi30k", DATA / "multi30k" / "train.tok.lc.en.gz", 3)
    if args.europarl:
        measure("europarl", DATA / "europarl" / "train.tok.lc.en.gz", 5)


if __name__ == "__main__":
    main()

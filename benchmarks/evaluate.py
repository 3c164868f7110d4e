"""Speed of the significance tests beside sacrebleu's own: `python benchmarks/evaluate.py [--sentences N] [--trials N]`.

Prints `name: value` lines: CPU seconds for one pair of systems and metric, from texts to p-value, and the p-values of
both sides: they differ by Monte Carlo error, and for TER by differences equal to the observed one. Texts are random.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sacrebleu.metrics import BLEU, CHRF, TER  # noqa: E402
from sacrebleu.significance import PairedTest  # noqa: E402

from itersel.evaluation.significance import bootstrap_test, randomization_test  # noqa: E402
from itersel.metrics.corpus import METRICS, CorpusMetric  # noqa: E402

SACREBLEU: dict[str, Callable[[], Any]] = {
    "bleu": lambda: BLEU(tokenize="none", force=True),
    "chrf": CHRF,
    "ter": lambda: TER(case_sensitive=True),
}
TESTS = {"ar": randomization_test, "bs": bootstrap_test}


def texts(sentences: int, *rates: float) -> list[list[str]]:
    """References, and for each rate an output with this share of wrong words."""
    source = random.Random(1)
    words = [f"word{number}" for number in range(500)]
    references = [source.choices(words, k=source.randint(5, 25)) for _ in range(sentences)]
    outputs = [
        [[source.choice(words) if source.random() < rate else w for w in r] for r in references] for rate in rates
    ]
    return [[" ".join(line) for line in text] for text in (references, *outputs)]


def ours(kind: str, name: str, lines: list[list[str]], trials: int) -> float:
    metric = CorpusMetric(name, [[line] for line in lines[0]])
    return TESTS[kind](*[metric.statistics(text) for text in lines[1:]], metric.scores, trials=trials).p


def theirs(kind: str, name: str, lines: list[list[str]], trials: int) -> float:
    systems = [("first", lines[1]), ("second", lines[2])]
    _, results = PairedTest(systems, {name: SACREBLEU[name]()}, [lines[0]], kind, n_samples=trials)()
    return next(values[1].p_value for key, values in results.items() if key != "System")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--trials", type=int, default=10_000)
    args = parser.parse_args()
    lines = texts(args.sentences, 0.3, 0.305)
    for name in METRICS:
        for kind in TESTS:
            figures = {}
            for side, test in (("itersel", ours), ("sacrebleu", theirs)):
                started = time.process_time()
                p = test(kind, name, lines, args.trials)
                figures[side] = time.process_time() - started
                print(f"{name}_{kind}_{side}_seconds: {figures[side]:.2f}")
                print(f"{name}_{kind}_{side}_p: {p:.4f}")
            print(f"{name}_{kind}_ratio: {figures['sacrebleu'] / figures['itersel']:.1f}")


if __name__ == "__main__":
    main()

"""Why the perceptron collapses: update rules on lists that stay the same, so that nothing but the rule differs.

    itersel translate work/multi30k/shards/val --weights conf/experiments/hand-set.weights --kbest 100 --output lists.gz
    python benchmarks/perceptron.py lists.gz val.en --epochs 3

Learns dense weights from the first 60 % of the lists, chooses the epoch on the next 20 %, and reports on the rest: BLEU
of the best hypotheses by the learned weights. `turn` is the mean angle by which one list turns the weights, `memory`
the norm of the weights over the mean norm of what a list adds to them. Prints Markdown.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from itersel.base.files import read_lines
from itersel.base.tables import markdown_table
from itersel.learn.learner import LearnConfig, Learner
from itersel.learn.pairs import PairConfig
from itersel.metrics.corpus import CorpusMetric
from itersel.metrics.sentence import sentence_values
from itersel.model.features import Weights

METRIC, SPARSE = "fixed_stupid_bleu", ("R:", "RBS:", "RBT:", "Shape_")
RATE = 2.0**-10
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class KBest:
    """The list of a sentence: texts, dense feature values, metric values."""

    texts: list[str]
    features: list[dict[str, float]]
    metric: Values


@dataclass(frozen=True)
class Setting:
    """A row of the table."""

    label: str
    learn: LearnConfig
    average: bool = False
    start: bool = False


def settings() -> list[Setting]:
    perceptron = LearnConfig(rule="perceptron", eta=RATE)
    batch = LearnConfig(rule="perceptron", eta=RATE, batch=True)

    def margin(value: float) -> Setting:
        return Setting(f"margin {value:g}", LearnConfig(rule="margin_perceptron", eta=0.00001, margin=value))

    def filtered(kind: str) -> LearnConfig:
        return LearnConfig(rule="perceptron", eta=RATE, pairs=PairConfig(kind=kind))

    return [
        *(margin(value) for value in (1.0, 0.1, 0.01, 0.001, 0.0001)),
        Setting("perceptron, online", perceptron),
        Setting("… 512 times the rate", LearnConfig(rule="perceptron", eta=512 * RATE)),
        Setting("… averaged", perceptron, average=True),
        Setting("… pairs of PRO", filtered("pro")),
        Setting("… pairs of PRO, averaged", filtered("pro"), average=True),
        Setting("… rate falls with 1/t", LearnConfig(rule="perceptron", eta=RATE, schedule="inverse")),
        *(
            Setting(f"… from hand-set weights, rate {rate:g}", LearnConfig(rule="perceptron", eta=rate), start=True)
            for rate in (1e-6, 1e-7, 1e-8)
        ),
        Setting("updates of a list added up", batch),
        Setting("… averaged", batch, average=True),
        Setting("… rate falls with 1/t", LearnConfig(rule="perceptron", eta=RATE, batch=True, schedule="inverse")),
        Setting("… AdaGrad", LearnConfig(rule="perceptron", eta=0.01, batch=True, schedule="adagrad")),
    ]


def read_lists(path: str, references: Sequence[str]) -> list[KBest]:
    """Moses lines; ids are line numbers of the references, from 0."""
    found: dict[int, tuple[list[str], list[dict[str, float]]]] = {}
    for line in read_lines(path):
        number, text, features = line.split(" ||| ")[:3]
        values = (item.rpartition("=") for item in features.split() if not item.startswith(SPARSE))
        texts, vectors = found.setdefault(int(number), ([], []))
        texts.append(text)
        vectors.append({name: float(value) for name, _, value in values})
    lists = []
    for number, (texts, vectors) in sorted(found.items()):
        words = [references[number].split()]
        lists.append(KBest(texts, vectors, sentence_values(METRIC, [text.split() for text in texts], words)))
    return lists


def bleu(lists: Sequence[KBest], references: Sequence[str], weights: Mapping[str, float]) -> float:
    best = []
    for one in lists:
        scores = [sum(weights.get(name, 0.0) * value for name, value in vector.items()) for vector in one.features]
        best.append(one.texts[int(np.argmax(scores))])
    metric = CorpusMetric("bleu", [[reference] for reference in references])
    return metric.score(metric.statistics(best))


def measure(
    setting: Setting,
    lists: Sequence[KBest],
    references: Sequence[str],
    start: Mapping[str, float],
    epochs: int,
) -> list[str]:
    """The row of a setting."""
    cuts = (len(lists) * 3 // 5, len(lists) * 4 // 5)
    names = sorted({name for one in lists for vector in one.features for name in vector})
    learner = Learner(setting.learn, start if setting.start else None)
    before = np.array([learner.weights.get(name, 0.0) for name in names])
    sums, count, models = np.zeros(len(names)), 0, []
    turns, steps, sizes = list[float](), list[float](), list[float]()
    order = np.random.default_rng(1)
    for _ in range(epochs):
        for at in order.permutation(cuts[0]):
            learner.learn(lists[at].features, lists[at].metric, sentence=int(at))
            found = learner.weights
            after = np.array([found.get(name, 0.0) for name in names])
            step, sizes_product = float(np.linalg.norm(after - before)), np.linalg.norm(after) * np.linalg.norm(before)
            steps.append(step)
            sizes.append(float(np.linalg.norm(after)))
            if sizes_product > 0:
                turns.append(math.degrees(math.acos(min(1.0, max(-1.0, float(after @ before / sizes_product))))))
            before, sums, count = after, sums + after, count + 1
        models.append(dict(zip(names, sums / count if setting.average else before, strict=True)))
    chosen = [bleu(lists[cuts[0] : cuts[1]], references[cuts[0] : cuts[1]], model) for model in models]
    best = int(np.argmax(chosen))
    reported = bleu(lists[cuts[1] :], references[cuts[1] : len(lists)], models[best])
    return [
        setting.label,
        f"{chosen[best]:.2f} @{best + 1}",
        f"{reported:.2f}",
        f"{np.mean(turns):.2g}°",
        f"{np.mean(sizes) / np.mean(steps):,.3g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", help="lists with features of all sentences, in Moses' format")
    parser.add_argument("references", help="one line per sentence")
    parser.add_argument("--start", default="conf/experiments/hand-set.weights", help="weights that made the lists")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--first", type=int, help="so many lists only")
    args = parser.parse_args()
    references = list(read_lines(args.references))
    lists = read_lists(args.lists, references)[: args.first]
    start = dict(Weights.read(args.start))
    cuts = (len(lists) * 3 // 5, len(lists) * 4 // 5)
    given = [bleu(lists[a:b], references[a:b], start) for a, b in (cuts, (cuts[1], len(lists)))]
    rows = [["rule", "chosen on BLEU", "BLEU", "turn", "memory"]]
    rows.append(["hand-set weights", f"{given[0]:.2f}", f"{given[1]:.2f}", "", ""])
    for setting in settings():
        rows.append(measure(setting, lists, references, start, args.epochs))
        print(rows[-1], flush=True)
    print(markdown_table(rows, left=(0,)))


if __name__ == "__main__":
    main()

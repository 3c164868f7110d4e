"""Why the perceptron collapses: update rules on lists that stay the same, so that nothing but the rule differs.

    python benchmarks/perceptron.py --epochs 2
    python benchmarks/perceptron.py --lists lists.gz --references val.en

Builds conf/multi30k-small.yaml and makes 100-best lists of its sets with hand-set weights; learns dense weights from
the lists of val, chooses the epoch on devtest and reports on `report`: BLEU of the best hypotheses by the learned
weights. Of given lists (`itersel translate --kbest`), the first 60 % are learned from, and 20 % each choose and report.
`turn` is the mean angle by which one list turns the weights, `memory` the norm of the weights over the mean norm of
what a list adds to them. Prints Markdown.

There is at least one row for each way in which the papers' perceptron may have differed: updates summed per list, pairs
filtered, weights averaged, weights or the score of the 1-best normalised, the language model's weight protected.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from itersel.base.files import read_lines
from itersel.base.tables import markdown_table
from itersel.base.temporary import temporary_folder
from itersel.cli import main as itersel
from itersel.learn.learner import LearnConfig, Learner
from itersel.learn.pairs import PairConfig, make_pairs
from itersel.metrics.corpus import CorpusMetric
from itersel.metrics.sentence import sentence_values
from itersel.model.features import Weights
from itersel.pipeline.build_config import load_config
from itersel.pipeline.build_paths import language_model_path, shards_path

METRIC, SPARSE = "fixed_stupid_bleu", ("R:", "RBS:", "RBT:", "Shape_")
RATE = 2.0**-10
LM = "LanguageModel"
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class KBest:
    """The list of a sentence: texts, dense feature values, metric values."""

    texts: list[str]
    features: list[dict[str, float]]
    metric: Values
    reference: str


@dataclass(frozen=True)
class Setting:
    """A row of the table."""

    label: str
    learn: LearnConfig
    average: bool = False
    start: bool = False
    """From the weights that made the lists, instead of 0."""
    scale: str = ""
    """`norm`: after each list, the weights are brought to a norm of 1, as dtrain does if asked to (`rescale`); `best`:
    before each list, to a score of 1 or -1 of its best hypothesis."""
    held: tuple[str, ...] = ()
    """Features that keep the weight that they have in the weights that made the lists."""


def settings() -> list[Setting]:
    perceptron = LearnConfig(rule="perceptron", eta=RATE)
    batch = LearnConfig(rule="perceptron", eta=RATE, batch=True)

    def margin(value: float) -> Setting:
        return Setting(f"margin {value:g}", LearnConfig(rule="margin_perceptron", eta=0.00001, margin=value))

    def filtered(kind: str) -> LearnConfig:
        return LearnConfig(rule="perceptron", eta=RATE, pairs=PairConfig(kind=kind))

    def at(rate: float, summed: bool = False) -> LearnConfig:
        return LearnConfig(rule="perceptron", eta=rate, batch=summed)

    dtrain = PairConfig(dtrain=True)
    return [
        *(margin(value) for value in (1.0, 0.1, 0.01, 0.001, 0.0001)),
        Setting("perceptron, online", perceptron),
        Setting("… 512 times the rate", LearnConfig(rule="perceptron", eta=512 * RATE)),
        Setting("… averaged", perceptron, average=True),
        Setting("… pairs of dtrain", LearnConfig(rule="perceptron", eta=RATE, pairs=dtrain)),
        Setting("… pairs of PRO", filtered("pro")),
        Setting("… pairs of PRO, averaged", filtered("pro"), average=True),
        Setting("… rate falls with 1/t", LearnConfig(rule="perceptron", eta=RATE, schedule="inverse")),
        *(
            Setting(f"… from hand-set weights, rate {rate:g}", LearnConfig(rule="perceptron", eta=rate), start=True)
            for rate in (1e-6, 1e-7, 1e-8)
        ),
        *(Setting(f"… norm 1 after each list, rate {rate:g}", at(rate), scale="norm") for rate in (1e-4, 1e-5, 1e-6)),
        *(Setting(f"… score of the 1-best is 1, rate {rate:g}", at(rate), scale="best") for rate in (1e-5, 1e-6, 1e-7)),
        *(Setting(f"… {LM} held, rate {rate:g}", at(rate), held=(LM,)) for rate in (1e-3, 1e-4, 1e-5, 1e-6)),
        Setting(f"… {LM} held, from hand-set weights, rate 1e-06", at(1e-6), start=True, held=(LM,)),
        Setting("updates of a list added up", batch),
        Setting("… averaged", batch, average=True),
        Setting("… rate falls with 1/t", LearnConfig(rule="perceptron", eta=RATE, batch=True, schedule="inverse")),
        Setting("… AdaGrad", LearnConfig(rule="perceptron", eta=0.01, batch=True, schedule="adagrad")),
        Setting("… pairs of dtrain", LearnConfig(rule="perceptron", eta=RATE, batch=True, pairs=dtrain)),
        Setting("… pairs of PRO", LearnConfig(rule="perceptron", eta=RATE, batch=True, pairs=PairConfig(kind="pro"))),
        *(Setting(f"… norm 1 after each list, rate {rate:g}", at(rate, True), scale="norm") for rate in (1e-5, 1e-6)),
        *(Setting(f"… score of the 1-best is 1, rate {rate:g}", at(rate, True), scale="best") for rate in (1e-7, 1e-8)),
        *(Setting(f"… {LM} held, rate {rate:g}", at(rate, True), held=(LM,)) for rate in (1e-4, 1e-5, 1e-6)),
    ]


class DenseLearner:
    """Dense weights, updated list by list by the kernel; by a loop in Python where weights are held."""

    def __init__(self, setting: Setting, names: Sequence[str], start: Mapping[str, float]):
        self.setting, self.names = setting, names
        kept = {name: start.get(name, 0.0) for name in setting.held}
        self.start = dict(start) if setting.start else kept
        self.learner = Learner(setting.learn, self.start)
        self.free = np.array([name not in setting.held for name in names], dtype=float)
        self.weights = self._vector(self.start)

    def learn(self, one: KBest, number: int) -> tuple[Values, Values]:
        """The weights before and after the list, at the same scale."""
        scale = self.setting.scale
        if scale == "best":
            scores = self.matrix(one) @ self.weights
            self._rescale(abs(float(scores.max())))
        before = self.weights
        if self.setting.held:
            self._loop(one, number)
        else:
            self.learner.learn(one.features, one.metric, sentence=number)
            self.weights = self._vector(self.learner.weights)
        after = self.weights
        if scale == "norm":
            self._rescale(float(np.linalg.norm(after)))
        return before, after

    def matrix(self, one: KBest) -> Values:
        return np.array([[vector.get(name, 0.0) for name in self.names] for vector in one.features])

    def _vector(self, weights: Mapping[str, float]) -> Values:
        return np.array([weights.get(name, 0.0) for name in self.names])

    def _rescale(self, size: float) -> None:
        if size > 0:
            self.weights = self.weights / size
            self.learner = Learner(self.setting.learn, dict(zip(self.names, self.weights.tolist(), strict=True)))

    def _loop(self, one: KBest, number: int) -> None:
        """The perceptron with a constant rate."""
        learn, rows = self.setting.learn, self.matrix(one)
        pairs = make_pairs(one.metric, learn.pairs, sentence=number)
        differences = rows[pairs[:, 0]] - rows[pairs[:, 1]]
        if learn.batch:
            wrong = differences @ self.weights <= 0
            self.weights = self.weights + learn.eta * self.free * differences[wrong].sum(axis=0)
            return
        for difference in differences:
            if difference @ self.weights <= 0:
                self.weights = self.weights + learn.eta * self.free * difference


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
        values = sentence_values(METRIC, [text.split() for text in texts], words)
        lists.append(KBest(texts, vectors, values, references[number]))
    return lists


@dataclass(frozen=True)
class Lists:
    """What is learned from, what chooses the epoch, and what is reported on."""

    learn: Sequence[KBest]
    choose: Sequence[KBest]
    report: Sequence[KBest]

    @staticmethod
    def given(path: str, references: str, first: int | None) -> Lists:
        lists = read_lists(path, list(read_lines(references)))[:first]
        one, other = len(lists) * 3 // 5, len(lists) * 4 // 5
        return Lists(lists[:one], lists[one:other], lists[other:])

    @staticmethod
    def built(configuration: str, weights: str, first: int | None) -> Lists:
        if itersel(["build", configuration]) != 0:
            sys.exit(2)
        build = load_config(configuration)
        options = ["--lm", str(language_model_path(build)), "--weights", weights, "--kbest", "100"]
        made = []
        with temporary_folder("perceptron") as folder:
            for name in ("val", "devtest", "report"):
                file = str(folder / f"{name}.gz")
                if itersel(["translate", str(shards_path(build, name)), *options, "--output", file]) != 0:
                    sys.exit(2)
                references = list(read_lines(build.work / "text" / f"{name}.reference.0"))
                made.append(read_lists(file, references)[:first])
        return Lists(*made)


def bleu(lists: Sequence[KBest], weights: Mapping[str, float]) -> float:
    best = []
    for one in lists:
        scores = [sum(weights.get(name, 0.0) * value for name, value in vector.items()) for vector in one.features]
        best.append(one.texts[int(np.argmax(scores))])
    metric = CorpusMetric("bleu", [[one.reference] for one in lists])
    return metric.score(metric.statistics(best))


def measure(setting: Setting, lists: Lists, start: Mapping[str, float], epochs: int) -> list[str]:
    """The row of a setting."""
    names = sorted({name for one in lists.learn for vector in one.features for name in vector})
    learner = DenseLearner(setting, names, start)
    sums, count, models = np.zeros(len(names)), 0, []
    turns, steps, sizes = list[float](), list[float](), list[float]()
    order = np.random.default_rng(1)
    for _ in range(epochs):
        for at in order.permutation(len(lists.learn)):
            before, after = learner.learn(lists.learn[at], int(at))
            step, sizes_product = float(np.linalg.norm(after - before)), np.linalg.norm(after) * np.linalg.norm(before)
            steps.append(step)
            sizes.append(float(np.linalg.norm(after)))
            if sizes_product > 0:
                turns.append(math.degrees(math.acos(min(1.0, max(-1.0, float(after @ before / sizes_product))))))
            sums, count = sums + after, count + 1
        models.append(dict(zip(names, sums / count if setting.average else learner.weights, strict=True)))
    chosen = [bleu(lists.choose, model) for model in models]
    best = int(np.argmax(chosen))
    return [
        setting.label,
        f"{chosen[best]:.2f} @{best + 1}",
        f"{bleu(lists.report, models[best]):.2f}",
        f"{np.mean(turns):.2g}°",
        f"{np.mean(sizes) / np.mean(steps):,.3g}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="conf/multi30k-small.yaml", help="with the sets val, devtest and report")
    parser.add_argument("--lists", help="instead: lists with features of all sentences, in Moses' format")
    parser.add_argument("--references", help="of the lists, one line per sentence")
    parser.add_argument("--start", default="conf/experiments/hand-set.weights", help="weights that make the lists")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--first", type=int, help="so many lists only, of each set")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows with this text in their label")
    args = parser.parse_args()
    if (args.lists is None) != (args.references is None):
        parser.error("--lists and --references belong together")
    if args.lists is None:
        lists = Lists.built(args.build, args.start, args.first)
    else:
        lists = Lists.given(args.lists, args.references, args.first)
    start = dict(Weights.read(args.start))
    given = [bleu(some, start) for some in (lists.choose, lists.report)]
    rows = [["rule", "chosen on BLEU", "BLEU", "turn", "memory"]]
    rows.append(["hand-set weights", f"{given[0]:.2f}", f"{given[1]:.2f}", "", ""])
    for setting in (one for one in settings() if args.only in one.label):
        rows.append(measure(setting, lists, start, args.epochs))
        print(rows[-1], flush=True)
    print(markdown_table(rows, left=(0,)))


if __name__ == "__main__":
    main()

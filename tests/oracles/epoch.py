"""An epoch sentence by sentence in Python: lists from the shard decoder at the current weights, then the oracles."""

import numpy as np

from itersel.decode.shard_decoder import ShardDecoder
from itersel.metrics.sentence import corpus_scores, sentence_statistics
from itersel.model.features import Weights, group_of
from itersel.model.vectors import feature_id
from oracles import learn, metrics, pairs


def order(sentences, config, number):
    numbers = list(range(sentences))
    if config.shuffle:
        stream = pairs.splitmix(config.seed, number)
        for left in range(sentences, 1, -1):
            other = (pairs.splitmix(stream, left) >> 32) * left >> 32
            numbers[left - 1], numbers[other] = numbers[other], numbers[left - 1]
    return numbers


def pairs_of(values, config, number, sentence_id):
    if config.kind == "all":
        return pairs.all_pairs(values)
    if config.kind == "multipartite":
        return pairs.multipartite(values, config.share)
    seed = pairs.splitmix(config.seed, number)
    return pairs.pro(values, config.samples, config.threshold, config.keep, seed, feature_id(sentence_id))


def counts_of(shard, numbers):
    """The extraction count of each rule of the shard by the number of its identity, for rules of single words."""
    made = {number: 1 for name, number in numbers.items() if name.startswith("R:")}
    for sentence in range(len(shard)):
        for line in shard.grammar(sentence).decode().splitlines():
            _, source, target, values, *_ = line.split(" ||| ")
            number = numbers[f"R:X:{source}:{target}"]
            made[number] = max(made[number], round(10 ** float(values.split("=")[1]) - 1))
    return made


class Background:
    """A metric in the context of what was translated before: rows of statistics and a function of their sums."""

    def __init__(self, config):
        self.config, self.rows = config, []

    def score(self, rows):
        """The corpus metric, the later rows counting more: the last one 1, the one before it the decay …"""
        decay, width = self.config.background, len(rows[0])
        sums = [sum(row[k] * decay ** (len(rows) - 1 - i) for i, row in enumerate(rows)) for k in range(width)]
        (score,) = corpus_scores(self.config.metric, np.array([sums]), order=self.config.order)
        return 1 - score if self.config.metric == "ter" else score

    def values(self, texts, references):
        rows = [
            row.astype(float).tolist()
            for row in sentence_statistics(self.config.metric, texts, references, order=self.config.order)
        ]
        sentences = sum(self.config.background ** (k + 1) for k in range(len(self.rows)))
        old = self.score([*self.rows, [0.0] * len(rows[0])]) if self.rows else 0.0
        made = [old + (sentences + 1) * (self.score([*self.rows, row]) - old) for row in rows]
        self.rows.append(rows[0])
        return made


def factors_of(config, names):
    """What the updates of each feature are multiplied by, where that is not 1."""
    made = {}
    for number, name in enumerate(names):
        for wanted, factor in config.rates.items():
            if wanted != "dense" and (name == wanted or (wanted[-1] == "*" and name.startswith(wanted[:-1]))):
                made[number] = factor
                break
        else:
            if group_of(name) is None:
                made[number] = config.rates.get("dense", 1.0)
    return {number: factor for number, factor in made.items() if factor != 1}


def run(shard, start, model, config, number=0, history=None):
    """From named weights to the last ones, their mean over the sentences, and the counts of pairs, rank errors, margin
    violations and updates. `history` has AdaGrad's updates of earlier lists by the name of a feature, and grows."""
    names = shard.feature_names()
    numbers = {name: k for k, name in enumerate(names)}
    w = {numbers[name]: value for name, value in start.items() if name in numbers}
    counts, sums = [0, 0, 0, 0], {}
    background, factors = Background(config) if config.background else None, factors_of(config, names)
    known = {} if history is None else history
    updates = {numbers[name]: list(several) for name, several in known.items() if name in numbers}
    for sentence in order(len(shard), config, number):
        current = Weights({names[k]: value for k, value in w.items()})
        found = ShardDecoder(shard, current, model, config.decoder).kbest(sentence, config.k, unique=config.unique)
        references = [reference.split() for reference in shard.references(sentence)]
        values = [metrics.value(config.metric, one.text.split(), references, config.order) for one in found]
        if background is not None:
            values = background.values([one.text.split() for one in found], references)
        vectors = [{numbers[f]: x for f, x in one.features.items() if f not in config.leave_out} for one in found]
        rule = config.learn
        if rule.pairs.kind == "hope_fear":
            chosen = pairs.hope_fear(w, vectors, values)
        else:
            chosen = pairs_of(values, rule.pairs, number, shard.id(sentence))
        if rule.rule == "soft_ramp":
            chosen = []
            conditions = (counts_of(shard, numbers), len(shard)) if rule.schedule == "conditioned" else (None, 1)
            done = learn.soft_ramp(w, vectors, values, rule.cost_scale, rule.eta, rule.l2, *conditions)
        elif rule.rule == "passive_aggressive":
            done = learn.passive_aggressive(w, vectors, values, chosen, rule.eta)
        else:
            adagrad = updates if rule.schedule == "adagrad" else None
            done = learn.learn(
                *(w, vectors, chosen, rule.rule, rule.margin, rule.eta, rule.l1, rule.batch), adagrad, factors
            )
        counts = [a + b for a, b in zip(counts, (len(chosen), *done), strict=True)]
        for feature, value in w.items():
            sums[feature] = sums.get(feature, 0) + value
    known.update({names[k]: several for k, several in updates.items()})
    carried = {name: value for name, value in start.items() if name not in numbers}
    last = carried | {names[k]: value for k, value in w.items() if value != 0}
    mean = carried | {names[k]: value / len(shard) for k, value in sums.items() if value != 0}
    return last, mean, counts

"""An epoch sentence by sentence in Python: lists from the shard decoder at the current weights, then the oracles."""

from itersel.decode.shard_decoder import ShardDecoder
from itersel.model.features import Weights
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


def run(shard, start, model, config, number=0):
    """From named weights to the last ones, their mean over the sentences, and the counts of pairs, rank errors, margin
    violations and updates."""
    names = shard.feature_names()
    numbers = {name: k for k, name in enumerate(names)}
    w = {numbers[name]: value for name, value in start.items() if name in numbers}
    counts, sums = [0, 0, 0, 0], {}
    for sentence in order(len(shard), config, number):
        current = Weights({names[k]: value for k, value in w.items()})
        found = ShardDecoder(shard, current, model, config.decoder).kbest(sentence, config.k, unique=config.unique)
        references = [reference.split() for reference in shard.references(sentence)]
        values = [metrics.value(config.metric, one.text.split(), references, config.order) for one in found]
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
            done = learn.learn(w, vectors, chosen, rule.rule, rule.margin, rule.eta, rule.l1, rule.batch)
        counts = [a + b for a, b in zip(counts, (len(chosen), *done), strict=True)]
        for feature, value in w.items():
            sums[feature] = sums.get(feature, 0) + value
    carried = {name: value for name, value in start.items() if name not in numbers}
    last = carried | {names[k]: value for k, value in w.items() if value != 0}
    mean = carried | {names[k]: value / len(shard) for k, value in sums.items() if value != 0}
    return last, mean, counts

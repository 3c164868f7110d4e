"""The four algorithms on fixed lists, on dictionaries: textbook loops over the other oracles."""

from oracles import epoch, learn, mix


def epoch_of(w, lists, config, number):
    """`lists`: (id, vectors, metric values). Returns the weights after learning from each list in turn, and what the
    shard hands over: these, or their mean over the lists."""
    w, sums = dict(w), {}
    for name, vectors, values in lists:
        chosen = epoch.pairs_of(values, config.pairs, number, name)
        learn.learn(w, vectors, chosen, config.rule, config.margin, config.eta, config.l1, config.batch)
        for f, x in w.items():
            sums[f] = sums.get(f, 0) + x
    last = {f: x for f, x in w.items() if x != 0}
    return last, {f: x / len(lists) for f, x in sums.items() if x != 0} if config.average else last


def train(algorithm, shards, config, epochs, top=None, start=None):
    """The models after each epoch."""
    own = [dict(start or {}) for _ in shards]
    history, models, rows = [[] for _ in shards], [], [{} for _ in shards]
    model = dict(start or {})
    for number in range(epochs):
        for z, lists in enumerate(shards):
            own[z], rows[z] = epoch_of(own[z] if algorithm in ("sgd", "mix_sgd") else model, lists, config, number)
            history[z].append(rows[z])
        if algorithm in ("sgd", "mix_sgd"):
            model = mix.mix([mix.mix(past) for past in history])
        else:
            model = mix.mix(rows, top=top if algorithm == "iter_sel_sgd" else None)
        models.append({f: x for f, x in model.items() if x != 0})
    return models

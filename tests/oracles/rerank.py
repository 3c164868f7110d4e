"""The four algorithms on fixed lists, on dictionaries: textbook loops over the other oracles."""

from oracles import epoch, learn, mix


def epoch_of(w, lists, config, number):
    """`lists`: (id, vectors, metric values). Returns the weights after learning from each list in turn."""
    w = dict(w)
    for name, vectors, values in lists:
        chosen = epoch.pairs_of(values, config.pairs, number, name)
        learn.learn(w, vectors, chosen, config.rule, config.margin, config.eta, config.l1, config.batch)
    return {f: x for f, x in w.items() if x != 0}


def train(algorithm, shards, config, epochs, top=None, start=None):
    """The models after each epoch."""
    own = [dict(start or {}) for _ in shards]
    history, models = [[] for _ in shards], []
    model = dict(start or {})
    for number in range(epochs):
        for z, lists in enumerate(shards):
            own[z] = epoch_of(own[z] if algorithm in ("sgd", "mix_sgd") else model, lists, config, number)
            history[z].append(own[z])
        if algorithm in ("sgd", "mix_sgd"):
            model = mix.mix([mix.mix(past) for past in history])
        else:
            model = mix.mix(own, top=top if algorithm == "iter_sel_sgd" else None)
        models.append({f: x for f, x in model.items() if x != 0})
    return models

"""Online MIRA (Chiang 2012): hope and fear with passive-aggressive steps, against the oracles and by hand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.learn.learner import LearnConfig, Learner
from itersel.learn.pairs import PairConfig, make_pairs
from oracles import learn as learn_oracle
from oracles import pairs as pairs_oracle

MIRA = LearnConfig(rule="passive_aggressive", eta=0.5, pairs=PairConfig(kind="hope_fear"))
# Eighths: sums are exact, and ties are ties.
eighths = st.integers(-16, 16).map(lambda k: k / 8)
vectors = st.dictionaries(st.sampled_from("abcde"), eighths.filter(bool), max_size=4)
lists = st.lists(st.lists(st.tuples(vectors, st.integers(0, 8).map(lambda k: k / 8)), max_size=8), max_size=4)


@settings(deadline=None)
@given(lists=lists, eta=st.sampled_from([0.01, 0.5, 100.0]))
def test_it_equals_the_oracles(lists, eta):
    learner = Learner(LearnConfig(rule="passive_aggressive", eta=eta, pairs=PairConfig(kind="hope_fear")))
    w, counts = {}, np.zeros(4, dtype=int)
    for entries in lists:
        features, metric = [vector for vector, _ in entries], [value for _, value in entries]
        scores = [sum(learner.weights.get(f, 0.0) * x for f, x in vector.items()) for vector in features]
        for sign in (1, -1):  # rounding could decide between different hypotheses
            ranked = sorted({round(score + sign * value, 13) for score, value in zip(scores, metric, strict=True)})
            assume(all(b - a > 1e-9 for a, b in pairwise(ranked)))
        chosen = pairs_oracle.hope_fear(learner.weights, features, metric)
        done = learn_oracle.passive_aggressive(w, features, metric, chosen, eta)
        learner.learn(features, metric)
        counts += len(chosen), *done
        found = learner.weights
        assert [found.get(name, 0.0) for name in "abcde"] == pytest.approx([w.get(name, 0.0) for name in "abcde"])
    names = ("pairs", "rank_errors", "margin_violations", "updates")
    assert counts.tolist() == [learner.statistics[name] for name in names]


def test_two_lists_by_hand():
    learner = Learner(MIRA)
    # w = 0. Hope is the best by the metric, fear the worst: x = (1, -1), loss 0.75 - 0 = 0.75, norm 2, step 0.375.
    learner.learn([{"b": 1.0}, {"a": 1.0}, {"a": 1.0, "b": 1.0}], [0.25, 1.0, 0.5])
    assert learner.weights == {"a": 0.375, "b": -0.375}
    # Scores 0.75, 0, -0.375; plus the metric 1.25, 1, -0.375, minus it 0.25, -1, -0.375: the first is hope and fear.
    learner.learn([{"a": 2.0}, {"c": 1.0}, {"b": 1.0}], [0.5, 1.0, 0.0])
    assert learner.weights == {"a": 0.375, "b": -0.375}, "no pair: hope is fear"
    # Scores 0 and 1.5; hope is the first, fear the second. x = (-4, 0, 1), loss 3 - (-1.5) = 4.5, norm 17.
    learner.learn([{"c": 1.0}, {"a": 4.0}], [3.0, 0.0])
    step = 4.5 / 17
    assert learner.weights == pytest.approx({"a": 0.375 - 4 * step, "b": -0.375, "c": step})
    assert learner.statistics["updates"] == 2 and learner.statistics["pairs"] == 2


def test_no_step_is_longer_than_eta():
    learner = Learner(MIRA)
    learner.learn([{"a": 0.125}, {}], [1.0, 0.0])  # loss 1, norm 1/64: the full step would be 64
    assert learner.weights == {"a": 0.0625}


def test_where_it_makes_no_sense():
    with pytest.raises(ConfigError, match="passive_aggressive', which needs batch: false"):
        LearnConfig(rule="passive_aggressive", batch=True)
    with pytest.raises(InputError, match="hope and fear need the features"):
        make_pairs([0.0, 1.0], PairConfig(kind="hope_fear"))

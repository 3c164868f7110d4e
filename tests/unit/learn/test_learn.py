import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel import _kernel
from itersel.base.errors import ConfigError, InputError
from itersel.learn.learner import LearnConfig, Learner
from itersel.learn.pairs import PairConfig, make_pairs
from oracles import learn as oracle

values = st.integers(-3, 3).map(float) | st.floats(-2, 2).map(lambda x: round(x, 3))
vectors = st.dictionaries(st.integers(0, 9), values.filter(lambda x: x != 0), max_size=6)
metrics = st.integers(0, 6).map(lambda k: k / 6)
lists = st.lists(st.tuples(vectors, metrics), max_size=14)


def arrays(hypotheses):
    rows = [sorted(vector.items()) for vector in hypotheses]
    offsets = np.cumsum([0] + [len(row) for row in rows])
    flat = [entry for row in rows for entry in row]
    features = np.array([f for f, _ in flat], dtype=np.uint32)
    return offsets, features, np.array([x for _, x in flat], dtype=np.float64)


@given(
    lists=st.lists(lists, max_size=5),
    rule=st.sampled_from(["perceptron", "margin_perceptron"]),
    batch=st.booleans(),
    l1=st.sampled_from([0.0, 0.05]),
    kind=st.sampled_from(["multipartite", "all"]),
    schedule=st.sampled_from(["constant", "inverse", "inverse_sqrt", "adagrad"]),
    start=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.30000000000000004]), min_size=10, max_size=10),
)
def test_learner_equals_the_oracle(lists, rule, batch, l1, kind, schedule, start):
    pairs = PairConfig(kind=kind)
    batch = batch or schedule == "adagrad"
    updates = {} if schedule == "adagrad" else None
    config = LearnConfig(rule=rule, eta=0.1, batch=batch, l1=l1, schedule=schedule, average=True, pairs=pairs)
    learner = _kernel.Learner(start, config.options(), 0)
    w = dict(enumerate(start))
    totals, history = np.zeros(3, dtype=int), []
    for t, entries in enumerate(lists, 1):
        hypotheses, metric = [vector for vector, _ in entries], [value for _, value in entries]
        before = learner.weights
        learner.learn(*arrays(hypotheses), np.zeros(len(entries)), metric, 0)
        eta = {"constant": 0.1, "inverse": 0.1 / t, "inverse_sqrt": 0.1 / math.sqrt(t)}.get(schedule, 0.1)
        found = make_pairs(metric, pairs).tolist()
        totals += oracle.learn(w, hypotheses, found, rule, 1.0, eta, l1, batch, updates)
        np.testing.assert_allclose(learner.weights, [w[f] for f in range(10)], rtol=0, atol=1e-9)
        history.append([w[f] for f in range(10)])
        np.testing.assert_allclose(learner.average, np.mean(history, axis=0), rtol=0, atol=1e-9)
        assert set(np.flatnonzero(before != learner.weights)) <= set(learner.changed.tolist())
    statistics = learner.statistics
    assert totals.tolist() == [statistics[k] for k in ("rank_errors", "margin_violations", "updates")]
    assert statistics["nonzero"] == np.count_nonzero(learner.weights)


def test_average_by_hand():
    # a beats b twice; then {a: 1} beats {a: 1.5, c: 1}, which w = (1, −1) ranks wrongly: x̄ = (−0.5, 0, −1).
    config = LearnConfig("perceptron", eta=1, average=True, pairs=PairConfig(kind="all"))
    learner = _kernel.Learner([], config.options(), 0)
    with pytest.raises(InputError, match="no average"):
        _ = learner.average
    for worse in ({1: 1.0}, {1: 1.0}, {0: 1.5, 2: 1.0}):
        learner.learn(*arrays([{0: 1.0}, worse]), np.zeros(2), [1.0, 0.0], 0)
    assert learner.weights.tolist() == [0.5, -1, -1]
    np.testing.assert_allclose(learner.average, [(1 + 1 + 0.5) / 3, -1, -1 / 3], rtol=1e-15)


def test_adagrad_by_hand():
    # A feature's first update has the size of the rate, whatever its gradient; the n-th of equal ones that over √n.
    config = LearnConfig("perceptron", eta=0.5, batch=True, schedule="adagrad", pairs=PairConfig(kind="all"))
    learner = _kernel.Learner([], config.options(), 0)
    learner.learn(*arrays([{0: 3.0}, {1: 7.0}]), np.zeros(2), [1.0, 0.0], 0)
    np.testing.assert_allclose(learner.weights, [0.5, -0.5], atol=1e-6)
    learner.learn(*arrays([{1: 7.0, 2: 0.1}, {}]), np.zeros(2), [1.0, 0.0], 0)
    np.testing.assert_allclose(learner.weights, [0.5, -0.5 + 0.5 / math.sqrt(2), 0.5], atol=1e-5)
    with pytest.raises(ConfigError, match="schedule is 'adagrad', which needs batch: true"):
        LearnConfig(schedule="adagrad")


@given(
    lists=st.lists(lists, max_size=4),
    l2=st.sampled_from([0.0, 0.1]),
    start=st.lists(st.sampled_from([0.0, 0.5, -1.0]), min_size=10, max_size=10),
)
def test_soft_ramp_steps_equal_the_oracle(lists, l2, start):
    config = LearnConfig("soft_ramp", eta=0.3, batch=True, l2=l2, cost_scale=4.0)
    learner, w = _kernel.Learner(start, config.options(), 0), dict(enumerate(start))
    for entries in lists:
        hypotheses, metric = [vector for vector, _ in entries], [value for _, value in entries]
        learner.learn(*arrays(hypotheses), np.zeros(len(entries)), metric, 0)
        oracle.soft_ramp(w, hypotheses, metric, 4.0, 0.3, l2)
        np.testing.assert_allclose(learner.weights, [w[f] for f in range(10)], rtol=0, atol=1e-9)


def test_soft_ramp_by_hand():
    """Equal scores, costs 0 and log 3: shares are ½ and −½, and ℓ2 takes a tenth of the weights that a list touches."""
    config = LearnConfig("soft_ramp", eta=0.5, batch=True, l2=0.1, cost_scale=math.log(3))
    learner = Learner(config, {"a": 1.0, "b": 1.0, "both": 3.0, "far": 2.0})
    learner.learn([{"a": 1.0, "both": 1.0}, {"b": 1.0, "both": 1.0}], [1.0, 0.0])
    assert learner.weights == pytest.approx(
        {"a": 1 + 0.5 * (0.5 - 0.1), "b": 1 + 0.5 * (-0.5 - 0.1), "both": 3, "far": 2}
    )
    assert learner.statistics["pairs"] == 0 and learner.statistics["updates"] == 1


def test_bad_soft_ramp_settings():
    with pytest.raises(ConfigError, match="rule is 'soft_ramp', which needs batch: true"):
        LearnConfig("soft_ramp")
    with pytest.raises(ConfigError, match=r"l2 is 0.1, which needs batch: true"):
        LearnConfig(l2=0.1)
    with pytest.raises(ConfigError, match=r"l1 is 0.1 and l2 is 0.1; one of them must be 0"):
        LearnConfig(l1=0.1, l2=0.1, batch=True)
    with pytest.raises(InputError, match="the schedule conditioned needs shards"):
        Learner(LearnConfig(schedule="conditioned", batch=True))


def test_two_pairs_by_hand():
    # a > b > c, w = 0, eta = 1. Online: a−b is a tie, w = (1, −1, 0); then a−c has score 1, so nothing; then
    # b−c has score −1, w = (1, 0, −1). Batch: all three are ties; the sum is (2, 0, −2).
    hypotheses = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}]
    pairs = PairConfig(kind="all")
    online = Learner(LearnConfig("perceptron", eta=1, pairs=pairs))
    online.learn(hypotheses, [0.9, 0.5, 0.1], scores=[3.0, 2.0, 1.0])
    assert online.weights == {"a": 1, "c": -1}
    assert online.statistics == {
        "lists": 1, "hypotheses": 3, "features": 3, "pairs": 3, "rank_errors": 2, "margin_violations": 0,
        "updates": 2, "best_metric": 0.9, "best_score": 3.0, "nonzero": 2,
    }  # fmt: skip
    batch = Learner(LearnConfig("perceptron", eta=1, pairs=pairs, batch=True))
    batch.learn(hypotheses, [0.9, 0.5, 0.1])
    assert batch.weights == {"a": 2, "c": -2}
    margin = Learner(LearnConfig(rule="margin_perceptron", eta=0.5, pairs=pairs), {"a": 0.8})
    margin.learn(hypotheses[:2], [0.9, 0.5])
    assert margin.weights == {"a": 1.3, "b": -0.5}
    assert margin.statistics["margin_violations"] == 1 and margin.statistics["rank_errors"] == 0


def test_l1_clips_only_what_changed():
    learner = Learner(LearnConfig("perceptron", eta=1, l1=0.25, pairs=PairConfig(kind="all")), {"far": 5.0, "b": 0.9})
    learner.learn([{"a": 1.0, "far": 1.0}, {"b": 1.0, "far": 1.0}], [1.0, 0.0])
    assert learner.weights == {"far": 5.0, "a": 0.75}  # b went to −0.1 and stopped at 0


def test_shared_features_do_not_break_ties():
    # ⟨w, x̄⟩ is exactly 0 although the two scores, summed in different orders, differ in the last bit.
    learner = Learner(
        LearnConfig("perceptron", eta=1, pairs=PairConfig(kind="all")), {"x": 0.1, "s": 0.7, "t": 0.2, "y": 0.1}
    )
    first, second = {"x": 1.0, "s": 1.0, "t": 1.0}, {"s": 1.0, "t": 1.0, "y": 1.0}
    learner.learn([first, second, {"z": 1.0}], [1.0, 0.5, 0.5])
    assert learner.statistics["rank_errors"] == 1


def test_short_and_odd_lists():
    learner = Learner()
    learner.learn([], [])
    learner.learn([{"a": 1.0}], [0.5])
    learner.learn([{}, {"a": 0.0}], [0.5, 0.1])
    assert learner.weights == {}
    assert learner.statistics["lists"] == 3 and learner.statistics["features"] == 1
    with pytest.raises(InputError, match="1 hypotheses but there are 2 metric values"):
        learner.learn([{"a": 1.0}], [0.5, 0.6])
    with pytest.raises(ConfigError, match="eta is 0; give a number greater than 0"):
        LearnConfig("perceptron", eta=0)
    with pytest.raises(ConfigError, match="rule is 'mira'; choose one of perceptron, margin_perceptron"):
        LearnConfig(rule="mira")
    with pytest.raises(InputError, match="do not ascend"):
        kernel = _kernel.Learner([], LearnConfig().options(), 0)
        kernel.learn(np.array([0, 2]), np.array([1, 1], np.uint32), np.ones(2), np.zeros(1), [1.0], 0)


@pytest.mark.slow
def test_real_lists_equal_the_oracle(shared_data):
    import gzip

    from itersel.metrics.sentence import sentence_values

    references = (shared_data / "cdec-m30k" / "reference.en").read_text().splitlines()
    entries: dict[int, list] = {}
    with gzip.open(shared_data / "cdec-m30k" / "dense.100best.gz", "rt") as lines:
        for line in lines:
            number, words, features, _ = line.rstrip("\n").split(" ||| ")
            if int(number) >= 30:
                break
            vector = {name: float(x) for name, x in (f.split("=") for f in features.split()) if float(x) != 0}
            entries.setdefault(int(number), []).append((words.split(), vector))
    names = sorted({name for rows in entries.values() for _, vector in rows for name in vector})
    ids = {name: k for k, name in enumerate(names)}
    learner = _kernel.Learner([0.0] * len(names), LearnConfig("perceptron").options(), 0)
    w: dict[int, float] = {}
    for number, rows in entries.items():
        metric = sentence_values("smooth_bleu", [words for words, _ in rows], [references[number].split()])
        hypotheses = [{ids[name]: x for name, x in vector.items()} for _, vector in rows]
        learner.learn(*arrays(hypotheses), np.zeros(len(rows)), metric.tolist(), 0)
        oracle.learn(w, hypotheses, make_pairs(metric).tolist())
    np.testing.assert_allclose(learner.weights, [w.get(k, 0.0) for k in range(len(names))], rtol=0, atol=1e-9)
    assert any(w.values())

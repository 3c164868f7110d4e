"""RAMPION, EXEC and REBOL (ACL 2014, algorithm 1): the update against the twin with dictionaries, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_cases import write_model, write_shard
from itersel.decode.shard_decoder import ShardDecoder
from itersel.learn.epoch import EpochConfig
from itersel.learn.hope_fear import REFERENCES, Chosen, HopeFear, Questions, choose
from itersel.learn.learner import LearnConfig
from itersel.learn.response_epoch import STEP, Feedback, _against, run_response_epoch, run_response_list_epoch
from itersel.lists.table import CompiledList, ListTable, write_table
from itersel.lm.model import LanguageModel
from itersel.metrics.sentence import sentence_statistics, sentence_values
from itersel.model.feature_names import NameTable
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard
from oracles.hope_fear import learn

RAMPION = {"feedback": False, "references": "fixed"}
EXEC = {"cost": False, "references": "fixed"}
ETA = 0.125
# Eighths: sums are exact, and ties are ties.
eighths = st.integers(-16, 16).map(lambda k: k / 8)
vectors = st.dictionaries(st.sampled_from("abcde"), eighths.filter(bool), max_size=4)
texts = st.lists(st.sampled_from("uvwxy"), min_size=2, max_size=5).map(" ".join)
lists = st.lists(st.tuples(st.lists(st.tuples(texts, vectors), min_size=1, max_size=7), texts), min_size=1, max_size=4)


def run(data, rule, judge, folder, epochs=1, limit=None, block=1, start=None, metric="stupid_bleu"):
    """`data` are (id, texts, feature dicts, references). Returns the weights by name, and the feedback."""
    compiled = []
    for id, hypotheses, features, references in data:
        words, wanted = ([text.split(" ") for text in some] for some in (hypotheses, references))
        values, statistics = (
            sentence_values(metric, words, wanted),
            sentence_statistics(metric, words, wanted),
        )
        scores = np.zeros(len(hypotheses))
        compiled.append(CompiledList.of(id, features, values, scores, [*hypotheses, *references], statistics))
    folder.mkdir(exist_ok=True)
    write_table(compiled, folder / "table", "bleu")
    table = ListTable(folder / "table")
    feedback = Feedback(rule, (lambda id, some: [judge(id, text) for text in some]), limit, block)
    config = EpochConfig(metric=metric, learn=LearnConfig(eta=ETA, rule=STEP))
    weights, names = Vector.of_names(start or {}), set(start or {})
    for number in range(epochs):
        result = run_response_list_epoch(table, weights, config, feedback, number=number)
        weights, names = result.weights, names | set(result.names)
    found = dict(zip(NameTable(sorted(names))(weights.ids), weights.values.tolist(), strict=True))
    return {name: value for name, value in found.items() if value}, feedback


@settings(deadline=None)
@given(
    lists=lists,
    rule=st.one_of(
        st.builds(
            HopeFear,
            scale=st.sampled_from([0.0, 1.0, 0.5]),
            references=st.sampled_from(REFERENCES),
            corrections_only=st.booleans(),
            ask_prediction_only=st.booleans(),
        ),
        st.builds(
            HopeFear,
            scale=st.sampled_from([0.0, 1.0]),
            around_prediction=st.booleans(),
            **{key: st.just(value) for key, value in RAMPION.items()},
        ),
        st.builds(HopeFear, corrections_only=st.booleans(), **{key: st.just(value) for key, value in EXEC.items()}),
    ),
    good=st.sets(texts, max_size=30),
    letters=st.sets(st.sampled_from("uvwxy")),
    limit=st.sampled_from([None, 1, 2, 4]),
    block=st.sampled_from([1, 3]),
)
def test_it_equals_the_twin(tmp_path_factory, lists, rule, good, letters, limit, block):
    def judge(id, text):
        return text in good or letters <= set(text.split(" "))

    data = [
        (str(number), [text for text, _ in entries], [vector for _, vector in entries], [reference])
        for number, (entries, reference) in enumerate(lists)
    ]
    options = {"cost": rule.cost, "feedback": rule.feedback, "scale": rule.scale, "keep": rule.references}
    options |= {"failures": rule.corrections_only, "light": rule.ask_prediction_only, "around": rule.around_prediction}
    expected, won, counts = learn(data, {"a": 0.5}, ETA, judge=judge, epochs=2, limit=limit, **options)
    folder = tmp_path_factory.mktemp("lists")
    found, feedback = run(data, rule, judge, folder, epochs=2, limit=limit, block=block, start={"a": 0.5})
    assert found == {name: value for name, value in expected.items() if value}
    assert feedback.references == won
    assert (feedback.counts["successes"], feedback.counts["skipped"]) == (counts["successes"], counts["skipped"])


@pytest.mark.parametrize("name", ["rampion", "exec", "rebol"])
def test_an_epoch_over_a_shard_equals_the_twin(tmp_path, name):
    """Lists are decoded with the weights that the updates before have made; references of the first epoch count on."""
    rule = {"rampion": HopeFear(**RAMPION, scale=1), "exec": HopeFear(**EXEC), "rebol": HopeFear(scale=1)}[name]
    shard, model = Shard(write_shard(tmp_path / "shard", 12, 1)), LanguageModel(write_model(tmp_path / "lm", 1))
    config = EpochConfig(k=15, metric="stupid_bleu", learn=LearnConfig(eta=ETA, rule=STEP))

    def judge(_, text):
        return not {"house", "dog"} & set(text.split(" "))

    def lists_of(sentence):
        def decoded(w):
            found = ShardDecoder(shard, Weights(w), model, config.decoder).kbest(sentence, config.k)
            return [one.text for one in found], [one.features for one in found]

        return shard.id(sentence), decoded, None, shard.references(sentence)

    start = {"p": -0.01, "LanguageModel": 0.3}
    options = {"cost": rule.cost, "feedback": rule.feedback, "scale": rule.scale, "keep": rule.references}
    lists = [lists_of(sentence) for sentence in range(len(shard))]
    expected, won, counts = learn(lists, start, ETA, judge=judge, epochs=2, **options)
    feedback = Feedback(rule, lambda id, some: [judge(id, text) for text in some])
    weights, names = Vector.of_names(start), set(start)
    for number in range(2):
        result = run_response_epoch(shard, weights, [(model, None)], config, feedback, number=number)
        weights, names = result.weights, names | set(result.names)
    found = dict(zip(NameTable(sorted(names))(weights.ids), weights.values.tolist(), strict=True))
    assert found == pytest.approx({name: value for name, value in expected.items() if value}, rel=1e-5, abs=1e-9)
    assert feedback.references == won and bool(won) == (name == "rebol")
    assert (feedback.counts["successes"], feedback.counts["skipped"]) == (counts["successes"], counts["skipped"])
    assert counts["updates"] > 6


# s         3     2     1     0
# metric    0.25  1     0.5   0        c    0.75  0     0.5   1
# s − c     2.25  2     0.5  −1        s + c   3.75  2     1.5   1
# scaled    1     2/3   1/3   0
# s − c     0.25  2/3  −1/6  −1        s + c   1.75  2/3   5/6   1
SCORES, METRIC = np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.25, 1.0, 0.5, 0.0])


@pytest.mark.parametrize(
    ("rule", "success", "expected", "asked"),
    [
        pytest.param(HopeFear(**RAMPION), "", None, "", id="rampion: hope is fear"),
        pytest.param(HopeFear(**RAMPION, scale=1), "", (1, 0), "", id="rampion, scaled"),
        pytest.param(HopeFear(**EXEC), "23", (2, 0), "012", id="exec, the best fails"),
        pytest.param(HopeFear(**EXEC), "01", (0, 2), "012", id="exec, the best succeeds"),
        pytest.param(HopeFear(**EXEC), "0123", None, "0123", id="exec, nothing fails"),
        pytest.param(HopeFear(**EXEC), "", None, "0123", id="exec, nothing succeeds"),
        pytest.param(HopeFear(**EXEC, corrections_only=True), "01", None, "0", id="exec, only failures count"),
        pytest.param(HopeFear(corrections_only=True), "13", (1, 0), "01", id="rebol, only failures count: one"),
        pytest.param(HopeFear(corrections_only=True), "03", None, "0", id="rebol, only failures count: none"),
        pytest.param(HopeFear(), "13", (1, 0), "01", id="rebol, the best fails"),
        pytest.param(HopeFear(scale=1), "03", (0, 2), "032", id="rebol, scaled, the best succeeds"),
        pytest.param(HopeFear(scale=1), "23", (2, 0), "012", id="rebol, scaled, the best fails"),
        pytest.param(HopeFear(ask_prediction_only=True), "", None, "0", id="rebol light: hope is the prediction"),
        pytest.param(HopeFear(scale=1, ask_prediction_only=True), "", (1, 0), "0", id="rebol light, the best fails"),
        pytest.param(HopeFear(scale=1, ask_prediction_only=True), "0123", None, "0", id="rebol light: fear is it"),
        pytest.param(HopeFear(), "0123", None, "0123", id="rebol, nothing fails"),
        pytest.param(HopeFear(), "", None, "0123", id="rebol, nothing succeeds"),
    ],
)
def test_pairs_by_hand(rule, success, expected, asked):
    answered = []

    def ask(places):
        answered.extend(places)
        return [str(place) in success for place in places]

    chosen = choose(SCORES, METRIC, rule, Questions(ask))
    assert chosen == Chosen(expected, 0, ("0" in success) if rule.feedback else None)
    assert answered == [int(place) for place in asked]


def test_a_new_reference_counts_at_once():
    """With the prediction as a reference, c is 0, 0.5, 0.75, 0.25, and scaled s + c is 1, 7/6, 13/12, 0.25."""

    def ask(places):
        return [place == 0 for place in places]

    chosen = choose(SCORES, METRIC, HopeFear(scale=1), Questions(ask), lambda _: np.array([1.0, 0.5, 0.25, 0.75]))
    assert chosen.pair == (0, 1)
    assert choose(SCORES, METRIC, HopeFear(scale=1), Questions(ask)).pair == (0, 3)


def test_rampion_around_the_prediction(tmp_path):
    """The prediction equals the reference, so it is y⁺, although the metric of the reference itself is below 1."""
    rule, config = HopeFear(**RAMPION, scale=1, around_prediction=True), EpochConfig(metric="fixed_stupid_bleu")
    same = _against(config)(["t u"], "t u")[0]
    assert same < 1
    metric = np.array([same, 0.25, 0.0])
    assert choose(np.array([2.0, 1.0, 1.5]), metric, rule, Questions(list), None, lambda _: same).pair == (0, 2)
    assert choose(np.array([1.75, 2.0, 1.0]), metric, rule, Questions(list), None, lambda _: same).pair == (0, 1)
    data = [("0", ["t u", "v w"], [{"a": 1.0}, {"b": 1.0}], ["t u"])]
    found, _ = run(data, rule, None, tmp_path, metric="fixed_stupid_bleu")
    assert found == {"a": ETA, "b": -ETA}


def test_the_limit_ends_the_search():
    asked = []

    def ask(places):
        asked.extend(places)
        return [place == 2 for place in places]

    assert choose(SCORES, METRIC, HopeFear(), Questions(ask, limit=2)).pair is None
    assert asked == [0, 1]
    assert choose(SCORES, METRIC, HopeFear(), Questions(ask, limit=3)).pair == (2, 0)


def test_two_epochs_of_rebol_by_hand(tmp_path):
    """Scores are all 0 at first, so the first hypothesis is predicted, and scaling leaves 0.

    Epoch 1, `r s`: fails; the reference `t u` itself has the least cost and succeeds: w = η (b − a).
    Epoch 2: `t u` is predicted, succeeds and joins the references; `r s` fails: w = 2 η (b − a).
    The second sentence has nothing that succeeds and is skipped in both epochs.
    """
    data = [
        ("0", ["r s", "t u"], [{"a": 1.0}, {"b": 1.0}], ["t u"]),
        ("1", ["v w", "v x"], [{"c": 1.0}, {"d": 1.0}], ["t u"]),
    ]
    found, feedback = run(data, HopeFear(scale=1), lambda _, text: text == "t u", tmp_path, epochs=2)
    assert found == {"a": -2 * ETA, "b": 2 * ETA}
    assert feedback.references == {"0": ["t u"]}
    assert feedback.counts["skipped"] == 2 and feedback.counts["successes"] == 1


def test_the_prediction_can_be_the_only_reference_of_its_update(tmp_path):
    """Scores are 0, so y⁻ is what costs most. Against `t u` alone that is `v w`; with `v w` as a reference, `t x`."""
    data = [("0", ["t u", "v w", "t x"], [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], ["v w"])]
    rule = HopeFear(scale=1, references="prediction")
    found, feedback = run(data, rule, lambda _, text: text == "t u", tmp_path)
    assert found == {"a": ETA, "b": -ETA} and feedback.references == {}
    found, feedback = run(data, HopeFear(scale=1), lambda _, text: text == "t u", tmp_path / "grow")
    assert found == {"a": ETA, "c": -ETA} and feedback.references == {"0": ["t u"]}

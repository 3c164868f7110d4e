"""Paired tests against exhaustive enumeration over texts, and against sacrebleu's own tests."""

import math
import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from itersel.base.errors import ConfigError, InputError
from itersel.evaluation import significance
from itersel.evaluation.significance import bootstrap_test, p_text, randomization_test
from itersel.metrics.corpus import METRICS, CorpusMetric
from oracles import significance as oracle

SACREBLEU = {
    "bleu": lambda: BLEU(tokenize="none", force=True),
    "chrf": lambda: CHRF(),
    "ter": lambda: TER(case_sensitive=True),
}
WORDS = ["a", "man", "with", "the", "red", "hat", "sees", "two", "dogs", "near", "old", "trees", "in", "town"]


def corpus(seed, sentences, *errors):
    """References, and an output with each of these error rates."""
    generator = random.Random(seed)
    references = [generator.choices(WORDS, k=generator.randint(4, 12)) for _ in range(sentences)]

    def output(rate):
        return [" ".join(generator.choice(WORDS) if generator.random() < rate else w for w in r) for r in references]

    return [[" ".join(words)] for words in references], *[output(rate) for rate in errors]


def monte_carlo_error(p, *trials):
    """Four and a half standard deviations of the difference of estimates from so many trials."""
    return 4.5 * math.sqrt(max(p, 0.001) * (1 - min(p, 0.999)) * sum(1 / n for n in trials))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_exact_randomization_equals_all_permutations(name, seed):
    references, first, second = corpus(seed, 7, 0.2, 0.5)
    metric = CorpusMetric(name, references)
    expected = oracle.permutation_p(SACREBLEU[name](), [first], [second], references)
    found = randomization_test(metric.statistics(first), metric.statistics(second), metric.scores, exact=True)
    assert found.exact
    assert found.p == expected


@pytest.mark.parametrize("name", METRICS)
def test_random_shuffles_approach_the_exact_test(name):
    references, first, second = corpus(4, 7, 0.2, 0.4)
    metric = CorpusMetric(name, references)
    rows = metric.statistics(first), metric.statistics(second)
    exact = randomization_test(*rows, metric.scores, exact=True).p
    for seed in (1, 2):
        found = randomization_test(*rows, metric.scores, trials=20_000, seed=seed)
        assert found.p == (found.count + 1) / 20_001
        assert found.p == pytest.approx(exact, abs=monte_carlo_error(exact, 20_000))


@pytest.mark.parametrize(("runs", "sentences"), [((2, 1), 3), ((2, 2), 2), ((1, 3), 2)])
def test_several_runs_equal_all_permutations(runs, sentences):
    references, *outputs = corpus(5, sentences, *[0.2] * runs[0], *[0.6] * runs[1])
    first, second = outputs[: runs[0]], outputs[runs[0] :]
    metric = CorpusMetric("bleu", references)
    expected = oracle.permutation_p(SACREBLEU["bleu"](), first, second, references)
    rows = [np.stack([metric.statistics(run) for run in system]) for system in (first, second)]
    assert randomization_test(*rows, metric.scores, exact=True).p == expected
    found = randomization_test(*rows, metric.scores, trials=20_000)
    assert found.p == pytest.approx(expected, abs=monte_carlo_error(expected, 20_000))
    scores = [oracle.system_score(SACREBLEU["bleu"](), system, references) for system in (first, second)]
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-9)


@pytest.mark.parametrize("runs", [(1, 1), (2, 1)])
def test_bootstrap_approaches_all_resamples(runs):
    references, *outputs = corpus(6, 4, *[0.3] * runs[0], *[0.5] * runs[1])
    first, second = outputs[: runs[0]], outputs[runs[0] :]
    metric = CorpusMetric("bleu", references)
    expected = oracle.bootstrap_p(SACREBLEU["bleu"](), first, second, references)
    rows = [np.stack([metric.statistics(run) for run in system]) for system in (first, second)]
    found = bootstrap_test(*rows, metric.scores, trials=40_000)
    assert found.p == pytest.approx(expected, abs=monte_carlo_error(expected, 40_000))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("worse", [0.3, 0.33, 0.4])
def test_agrees_with_sacrebleu(name, worse, monkeypatch):
    if (
        name == "ter"
    ):  # edits are whole numbers, so many differences equal the observed one; sacrebleu counts none of them
        monkeypatch.setattr(significance, "SAME", -1e-9)
    references, first, second = corpus(7, 100, 0.3, worse)
    streams = [[texts[0] for texts in references]]
    metric = CorpusMetric(name, references)
    rows = metric.statistics(first), metric.statistics(second)
    for kind, test, trials in (("ar", randomization_test, 2000), ("bs", bootstrap_test, 2000)):
        paired = PairedTest(
            [("baseline", first), ("system", second)], {name: SACREBLEU[name]()}, streams, kind, n_samples=trials
        )
        _, results = paired()
        (their,) = (values[1].p_value for key, values in results.items() if key != "System")
        found = test(*rows, metric.scores, trials=10_000)
        assert found.p == pytest.approx(their, abs=monte_carlo_error(found.p, trials, 10_000)), kind


def test_equal_systems_have_p_1():
    references, first = corpus(8, 30, 0.3)
    metric = CorpusMetric("bleu", references)
    rows = metric.statistics(first)
    assert randomization_test(rows, rows, metric.scores, trials=500).p == 1
    assert randomization_test(rows, rows, metric.scores, exact=True).p == 1
    found = bootstrap_test(rows, rows, metric.scores, trials=500)
    assert (found.p, found.interval, found.wins, found.difference) == (1, (0, 0), 0, 0)


def test_order_of_systems_only_turns_the_sign():
    references, first, second = corpus(9, 50, 0.3, 0.4)
    metric = CorpusMetric("chrf", references)
    a, b = metric.statistics(first), metric.statistics(second)
    there, back = randomization_test(a, b, metric.scores), randomization_test(b, a, metric.scores)
    assert (there.p, there.difference) == (back.p, -back.difference)
    there, back = bootstrap_test(a, b, metric.scores), bootstrap_test(b, a, metric.scores)
    assert (there.p, there.interval) == (back.p, pytest.approx((-back.interval[1], -back.interval[0])))


def test_blocks_do_not_change_what_is_counted(monkeypatch):
    """Small blocks give other random numbers, but all arrangements once, and as many trials as asked for."""
    references, first, second = corpus(10, 6, 0.3, 0.5)
    metric = CorpusMetric("bleu", references)
    rows = metric.statistics(first), metric.statistics(second)
    whole = randomization_test(*rows, metric.scores, exact=True)
    monkeypatch.setattr(significance, "BLOCK", 100)
    assert randomization_test(*rows, metric.scores, exact=True) == whole
    assert randomization_test(*rows, metric.scores, trials=1001).trials == 1001
    assert bootstrap_test(*rows, metric.scores, trials=1001).trials == 1001


def test_exact_counts_only_differing_sentences():
    """A thousand equal sentences and five that differ: 32 arrangements, the same p as by random shuffles."""
    references, first, second = corpus(11, 1000, 0.2, 0.6)
    second = second[:5] + first[5:]
    metric = CorpusMetric("bleu", references)
    rows = metric.statistics(first), metric.statistics(second)
    exact = randomization_test(*rows, metric.scores, exact=True)
    assert exact.trials == 32
    assert exact.p == pytest.approx(randomization_test(*rows, metric.scores).p, abs=monte_carlo_error(exact.p, 10_000))


def test_bad_input():
    rows = np.ones((30, 2))
    score = CorpusMetric("ter", [["a"]]).scores
    with pytest.raises(InputError, match="30 and 29"):
        randomization_test(rows, rows[1:], score)
    with pytest.raises(InputError):
        bootstrap_test(rows[:0], rows[:0], score)
    with pytest.raises(ConfigError, match="trials"):
        randomization_test(rows, rows, score, trials=0)
    with pytest.raises(ConfigError, match="exact"):
        randomization_test(rows, rows + 1, score, exact=True)


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.0000"), (1 / 10001, "0.0001"), (0.00005, "0.0001"), (0.00004, "< 0.0001")]
)
def test_p_for_people(p, text):
    assert p_text(p) == text

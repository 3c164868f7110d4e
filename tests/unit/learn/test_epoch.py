"""The kernel's epoch against a plain Python one, its edges, and what it does on real sentences."""

import gzip
import threading

import numpy as np
import pytest

from itersel.base.errors import ConfigError, InputError
from itersel.learn.epoch import STAGES, EpochConfig, run_epoch
from itersel.learn.learner import LearnConfig
from itersel.learn.pairs import PairConfig
from itersel.lm.arpa import write_arpa
from itersel.lm.estimate import Settings, estimate
from itersel.lm.model import LanguageModel
from itersel.model.feature_names import NameTable
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard, ShardWriter
from oracles import epoch as oracle

GRAMMAR = b"""\
[X] ||| das ||| the ||| p=0.5
[X] ||| das ||| that ||| p=0.7
[X] ||| haus ||| house ||| p=0.25
[X] ||| haus ||| home ||| p=0.5
[X] ||| das haus ||| this house ||| p=1
[X] ||| [X,1] klein ||| small [X,1] ||| p=0.125
[X] ||| [X,1] klein ||| [X,1] little ||| p=0.3
[X] ||| ist ||| is ||| p=0.1
[X] ||| ist ||| was ||| p=0.4
"""
SENTENCES = [
    ("das haus klein", "the small house"),
    ("das haus ist klein", "the little house is"),
    ("haus ist das", "home is that"),
    ("das ist das haus klein", "that was the house"),
]
CONFIGS = {
    "default": EpochConfig(learn=LearnConfig("perceptron", eta=0.5)),
    "margin": EpochConfig(k=20, learn=LearnConfig(rule="margin_perceptron", margin=0.3, eta=0.1)),
    "batch": EpochConfig(
        metric="stupid_bleu", learn=LearnConfig("perceptron", eta=0.1, batch=True, pairs=PairConfig(kind="all"))
    ),
    "l1": EpochConfig(metric="smooth_bleu", learn=LearnConfig("perceptron", eta=0.1, l1=0.02), unique=False),
    "pro": EpochConfig(learn=LearnConfig(eta=0.1, pairs=PairConfig(kind="pro", samples=50, keep=7, seed=3))),
    "mira": EpochConfig(
        k=20, learn=LearnConfig("passive_aggressive", eta=0.05, average=True, pairs=PairConfig(kind="hope_fear"))
    ),
    "average": EpochConfig(learn=LearnConfig("perceptron", eta=0.1, l1=0.02, average=True)),
    "soft_ramp": EpochConfig(
        k=20, learn=LearnConfig("soft_ramp", eta=0.1, batch=True, l2=0.01, cost_scale=5.0, average=True)
    ),
    "rates": EpochConfig(
        k=20,
        rates={"RBT:*": 0.5, "dense": 0.25, "R:X:das:the": 0.0, "p": 2.0},
        learn=LearnConfig(eta=0.1, margin=0.3, batch=True, l1=0.001),
    ),
    "adagrad": EpochConfig(
        k=20, rates={"dense": 0.5}, learn=LearnConfig(eta=0.1, margin=0.3, batch=True, schedule="adagrad")
    ),
    "background": EpochConfig(
        metric="bleu", background=0.75, learn=LearnConfig(eta=0.1, margin=0.3, batch=True, pairs=PairConfig(kind="all"))
    ),
    "background_chrf": EpochConfig(metric="chrf", background=0.5, learn=LearnConfig("perceptron", eta=0.1)),
    "background_ter": EpochConfig(metric="ter", background=0.5, learn=LearnConfig("perceptron", eta=0.1)),
    "shuffled": EpochConfig(
        shuffle=True, seed=11, learn=LearnConfig("perceptron", eta=0.1), leave_out=("WordPenalty", "Glue")
    ),
}


def write_shard(path, sentences=SENTENCES, grammar=GRAMMAR, **options):
    writer = ShardWriter(**options)
    for source, target in sentences:
        writer.add(source, [target], grammar)
    writer.write(path)
    return Shard(path)


def named(result, known=(), vector=None):
    names, vector = NameTable([*result.names, *known]), result.weights if vector is None else vector
    return dict(zip(names(vector.ids), vector.values.tolist(), strict=True))


def compare(shard, start, model, config, number=0):
    result = run_epoch(shard, Vector.of_names(start), model, config, number=number)
    expected, mean, counts = oracle.run(shard, start, model, config, number)
    assert named(result, start) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    if config.learn.average:
        assert named(result, start, result.average) == pytest.approx(mean, rel=1e-9, abs=1e-12)
    assert (result.average is None) != config.learn.average
    found = [result.statistics[key] for key in ("pairs", "rank_errors", "margin_violations", "updates")]
    assert found == counts
    return result


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("groups", [(), ("id", "ng", "shape")])
def test_equals_the_oracle_on_a_small_shard(tmp_path, name, groups):
    shard = write_shard(tmp_path / "shard", groups=groups, pass_through="all")
    start = {}
    for number in range(3):
        result = compare(shard, start, None, CONFIGS[name], number)
        start = named(result, start) | ({"elsewhere": -2.5} if number == 0 else {})
    assert start["elsewhere"] == -2.5
    assert not set(CONFIGS[name].leave_out) & set(start)


COUNTED = b"""\
[X] ||| das ||| the ||| CountEF=0.6020599913
[X] ||| das ||| that ||| CountEF=0.3010299957
[X] ||| haus ||| house ||| CountEF=2
[X] ||| haus ||| home ||| CountEF=1
[X] ||| ist ||| is ||| CountEF=0.4771212547
"""


def test_rates_are_conditioned_by_extraction_counts(tmp_path):
    """The rules were extracted 3, 1, 99, 9 and 2 times."""
    shard = write_shard(tmp_path / "shard", grammar=COUNTED, groups=("id",), pass_through="all")
    learn = LearnConfig("soft_ramp", eta=1.0, batch=True, l2=0.01, schedule="conditioned")
    result = compare(shard, {"CountEF": 0.1, "R:X:ist:is": 0.2}, None, EpochConfig(k=20, learn=learn))
    assert len(result.weights) > 5
    with pytest.raises(InputError, match="do not say how often they were extracted"):
        run_epoch(write_shard(tmp_path / "other", groups=("id",)), config=EpochConfig(learn=learn))


def test_the_account_of_adagrad_lasts(tmp_path):
    """Two epochs over two shards that share features: sums go from one to the next, also of features unknown there."""
    config = EpochConfig(k=20, learn=LearnConfig(eta=0.1, margin=0.3, batch=True, schedule="adagrad"))
    shards = [
        write_shard(tmp_path / "first", SENTENCES[:2], groups=("id",), pass_through="all"),
        write_shard(tmp_path / "second", SENTENCES[2:], groups=("id", "ng"), pass_through="all"),
    ]
    weights, history, account = {}, {}, None
    for number in range(2):
        for shard in shards:
            result = run_epoch(shard, Vector.of_names(weights), None, config, number=number, account=account)
            expected, _, _ = oracle.run(shard, weights, None, config, number, history)
            weights, account = named(result, weights), result.account
            assert weights == pytest.approx(expected, rel=1e-9, abs=1e-12)
            squares = {name: sum(one**2 for one in several) for name, several in history.items()}
            found = dict(zip(NameTable(squares)(account.ids), account.values.tolist(), strict=True))
            assert found == pytest.approx({name: value for name, value in squares.items() if value}, rel=1e-9)
    again = run_epoch(shards[0], Vector.of_names(weights), None, config, number=2)
    assert named(again, weights) != named(
        run_epoch(shards[0], Vector.of_names(weights), None, config, number=2, account=account), weights
    )


def test_weights_with_a_rate_of_0_stay(tmp_path):
    shard = write_shard(tmp_path / "shard", groups=("id",), pass_through="all")
    config = EpochConfig(rates={"dense": 0.0}, learn=LearnConfig(eta=0.1, batch=True))
    start = {"p": 0.375, "Glue": -0.5}
    weights = named(run_epoch(shard, Vector.of_names(start), None, config), start)
    assert {name: value for name, value in weights.items() if not name.startswith("R:")} == start
    assert len(weights) > len(start)
    online = EpochConfig(rates={"dense": 0.0}, learn=LearnConfig(eta=0.1))
    with pytest.raises(InputError, match="rates by feature need batch: true"):
        run_epoch(shard, Vector.of_names(start), None, online)
    for bad in ({"": 1.0}, {"dense": -1.0}):
        with pytest.raises(ConfigError, match="rates"):
            EpochConfig(rates=bad)


def test_equals_the_oracle_on_real_sentences(tmp_path, shared_data):
    data = shared_data / "cdec-m30k"
    sources = [line.split("> ", 1)[1].rsplit(" <", 1)[0] for line in (data / "input.sgm").read_text().splitlines()]
    targets = (data / "reference.en").read_text().splitlines()
    model = LanguageModel(data / "lm3.arpa.gz")
    for groups in (), ("id", "ng", "shape"):
        writer = ShardWriter(groups=groups, pass_through="all")
        for k in range(5):
            grammar = gzip.decompress((data / "grammars" / f"grammar.{k}.gz").read_bytes())
            writer.add(sources[k], [targets[k]], grammar, id=str(k))
        writer.write(tmp_path / "shard")
        start = {"LanguageModel": 0.1, "WordPenalty": -0.1, "PassThrough": -0.2}
        result = compare(
            Shard(tmp_path / "shard"), start, model, EpochConfig(learn=LearnConfig("perceptron", eta=0.001))
        )
        assert result.statistics["updates"] > 100
        assert result.statistics["lists"] == 5


def test_statistics_and_times(tmp_path):
    result = run_epoch(write_shard(tmp_path / "shard"))
    assert result.statistics["lists"] == 4
    assert result.statistics["nonzero"] == len(result.weights) == len(result.names)
    assert tuple(result.seconds) == STAGES
    assert all(value >= 0 for value in result.seconds.values())
    assert (np.diff(result.weights.ids.astype(object)) > 0).all()


def test_same_bytes_in_several_threads(tmp_path):
    shard = write_shard(tmp_path / "shard", SENTENCES * 5, groups=("id", "ng"))
    results = [b""] * 4

    def train(k):
        results[k] = run_epoch(shard).weights.to_bytes()

    threads = [threading.Thread(target=train, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(results)) == 1
    assert len(results[0]) > 100


def test_progress_is_told_and_can_stop(tmp_path):
    shard = write_shard(tmp_path / "shard", [(" ".join(["das haus ist klein"] * 8), "the house")] * 1000)
    seen = []

    def stop(sums):
        seen.append(sums["lists"])
        raise InterruptedError

    with pytest.raises(InterruptedError):
        run_epoch(shard, progress=stop)
    assert 0 < seen[0] < 1000


def test_empty_sentences_teach_nothing(tmp_path):
    result = run_epoch(write_shard(tmp_path / "shard", [("", "the house"), ("das haus", "")]))
    assert result.statistics["pairs"] == 0
    assert len(result.weights) == 0


def test_what_cannot_be_trained_is_refused(tmp_path):
    with pytest.raises(InputError, match="no sentences"):
        run_epoch(write_shard(tmp_path / "empty", []))
    writer = ShardWriter()
    writer.add("das", [], GRAMMAR, id="seven")
    writer.write(tmp_path / "bare")
    with pytest.raises(InputError, match="bare: sentence seven: it has no reference"):
        run_epoch(Shard(tmp_path / "bare"))
    shard = write_shard(tmp_path / "shard")
    with pytest.raises(InputError, match="'p' is to be left out"):
        run_epoch(shard, Vector.of_names({"p": 1.0}), None, EpochConfig(leave_out=("p",)))
    with pytest.raises(InputError, match="smaller learning rate"):
        run_epoch(shard, None, None, EpochConfig(learn=LearnConfig("perceptron", eta=1e308)))
    with pytest.raises(InputError, match="not a finite number"):
        run_epoch(shard, Vector(np.array([1], np.uint64), np.array([np.nan])))
    with pytest.raises(InputError, match="do not ascend"):
        run_epoch(shard, Vector(np.array([2, 1], np.uint64), np.array([1.0, 1.0])))


def test_wrong_configurations():
    for options in ({"metric": "blue"}, {"k": 1}, {"seed": -1}, {"order": 0}):
        with pytest.raises(ConfigError):
            EpochConfig(**options)


@pytest.mark.slow
def test_epochs_improve_with_one_large_grammar(tmp_path, shared_data):
    data, texts = shared_data / "cdec-nc-wmt11", {}
    for side in "de", "en":
        texts[side] = gzip.decompress((data / f"nc-wmt11.{side}.gz").read_bytes()).decode().splitlines()
    with open(tmp_path / "lm.arpa", "wb") as stream:
        write_arpa(estimate(texts["en"], Settings(order=3)), stream)
    rules = gzip.decompress((data / "nc-wmt11.grammar.gz").read_bytes()).splitlines(keepends=True)
    words = [{word for word in rule.split(b" ||| ")[1].split() if not word.startswith(b"[X")} for rule in rules]
    writer = ShardWriter(groups=("id", "ng", "shape"))
    for source, target in list(zip(texts["de"], texts["en"], strict=True))[:50]:
        known = set(source.encode().split())
        grammar = b"".join(rule for rule, needed in zip(rules, words, strict=True) if needed <= known)
        writer.add(source, [target], grammar)
    writer.write(tmp_path / "shard")
    shard, model, weights, metric = Shard(tmp_path / "shard"), LanguageModel(tmp_path / "lm.arpa"), None, []
    for number in range(5):
        result = run_epoch(shard, weights, model, EpochConfig(metric="fixed_stupid_bleu"), number=number)
        weights = result.weights
        metric.append(result.statistics["best_metric"] / 50)
    assert min(metric[1:]) > metric[0]  # not in every epoch: an online learner swings
    assert metric[-1] > metric[0] + 0.05

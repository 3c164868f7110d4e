"""AvgMERT and multi-task MERT: weights per domain, their mean, and how far they move towards it."""

import json
from dataclasses import replace

import pytest

from engine_cases import small_data
from itersel.algorithms.domain_mert import MultitaskMertConfig, moved_towards
from itersel.algorithms.mert import MertConfig
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.model.domain_weights import average
from itersel.model.features import Weights
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.shards.shard import Shard, ShardWriter


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    data = small_data(tmp_path_factory.mktemp("data"))
    return replace(data, layout=LayoutConfig("domains"), devtest=(), run=RunConfig("inline"))


def test_weights_move_towards_the_mean_and_not_beyond_it():
    """PBML 2011, figure of MMERT: max(w_avg, w − λ) from above, min(w_avg, w + λ) from below."""
    weights, mean = {"a": 0.5, "b": -0.5, "c": 0.2, "d": 0.1}, {"a": 0.1, "b": 0.0, "c": 0.15, "d": 0.1, "e": 0.05}
    assert moved_towards(weights, mean, 0.1) == pytest.approx({"a": 0.4, "b": -0.4, "c": 0.15, "d": 0.1, "e": 0.05})
    assert moved_towards(weights, mean, 0.0) == weights
    assert moved_towards({"a": 0.05}, {}, 0.1) == {}, "the mean starts at 0"
    assert average([{"a": 1.0}, {"a": 0.5, "b": 1.0}]) == {"a": 0.75, "b": 0.5}


def tuned(data, folder, algorithm, own, epochs=3):
    """Each round's domains with their weights, and the run's weights of the last round."""
    train(replace(data, algorithm=algorithm, own=own, epochs=epochs), folder, warn=[].append)
    rounds = [
        {path.name.split(".")[1]: dict(Weights.read(path)) for path in sorted(epoch.glob("domain.*.txt"))}
        for epoch in sorted(folder.glob("epoch-*"))
    ]
    last = sorted(folder.glob("epoch-*"))[-1]
    return rounds, dict(Weights.read(last / "weights.txt.gz"))


def test_the_mean_of_the_domains(data, tmp_path):
    rounds, weights = tuned(data, tmp_path, "avg_mert", MertConfig(k=5, starts=2), epochs=2)
    assert sorted(rounds[-1]) == ["task0", "task1", "task2"]
    assert average(list(rounds[-1].values())) == pytest.approx(weights)
    for domain in rounds[-1].values():
        assert sum(map(abs, domain.values())) == pytest.approx(1)


def test_a_domain_that_is_done_rests(data, tmp_path):
    """With all hypotheses in the first lists, nothing is new after a round, and every domain keeps its weights."""
    rounds, _ = tuned(data, tmp_path, "avg_mert", MertConfig(k=1000, starts=2), epochs=8)
    entries = json.loads((tmp_path / "manifest.json").read_text())["epochs"]
    assert entries[-1]["active"] == 0 and len(entries) < 8
    states = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("epoch-*/domains.json"))]
    for before, after, old, new in zip(states, states[1:], rounds, rounds[1:], strict=False):
        for domain, record in before.items():
            if record["facts"]["new_hypotheses"] == 0:
                assert new[domain] == old[domain] and after[domain]["facts"]["line_searches"] == 0


def test_a_domains_result_moves_by_lambda(data, tmp_path):
    """In the first round the mean is 0, so what MERT alone finds moves towards 0 by λ, and is normalised again."""
    own = MultitaskMertConfig(k=5, starts=2, lambda_=0.0)
    ((free,), mean) = tuned(data, tmp_path / "free", "multitask_mert", own, epochs=1)
    ((moved,), moved_mean) = tuned(data, tmp_path / "moved", "multitask_mert", replace(own, lambda_=0.05), epochs=1)
    assert average(list(free.values())) == pytest.approx(mean)
    assert average(list(moved.values())) == pytest.approx(moved_mean)
    for domain, weights in free.items():
        left = {name: abs(value) - 0.05 for name, value in weights.items() if abs(value) > 0.05}
        assert 0 < len(left) < len(weights)
        expected = {name: value / sum(left.values()) * (1 if weights[name] > 0 else -1) for name, value in left.items()}
        assert moved[domain] == pytest.approx(expected)


def test_a_large_lambda_leaves_no_weights(data, tmp_path):
    with pytest.raises(InputError, match="all weights became 0"):
        tuned(data, tmp_path, "multitask_mert", MultitaskMertConfig(k=5, starts=2, lambda_=10.0), epochs=2)


def test_it_ends_when_the_mean_stays(data, tmp_path):
    """Of the mean's change in the second round, a little more or less as the threshold."""
    own = MultitaskMertConfig(k=5, starts=2, lambda_=0.02, threshold=0.0)
    tuned(data, tmp_path / "run", "multitask_mert", own, epochs=3)
    means = [dict(Weights.read(tmp_path / "run" / f"epoch-{k:03d}" / "weights.txt.gz")) for k in (1, 2)]
    names = {*means[0], *means[1]}
    change = max(abs(means[0].get(name, 0.0) - means[1].get(name, 0.0)) for name in names)
    assert 0 < change < 0.9
    for factor, rounds in ((1.001, 2), (0.999, 3)):
        place = tmp_path / str(factor)
        assert len(tuned(data, place, "multitask_mert", replace(own, threshold=factor * change))[0]) == rounds


def test_domains_from_several_sets(data, tmp_path):
    """Shards without labels are domains of their own: the weights are those of their sets' shards with labels."""
    labelled, bare = [], []
    for number, path in enumerate(data.shards[:2]):
        shard = Shard(path)
        for made, domain in ((labelled, f"shard {number}"), (bare, "")):
            writer = ShardWriter(groups=shard.groups)
            for k in range(len(shard)):
                writer.add(shard.source(k), shard.references(k), shard.grammar(k), id=shard.id(k), domain=domain)
            made.append(str(tmp_path / f"{number}.{domain or 'bare'}.itsh"))
            writer.write(made[-1])
    found = []
    for shards, layout in ((labelled, LayoutConfig("domains")), (bare, LayoutConfig())):
        config = replace(data, shards=tuple(shards), layout=layout)
        found.append(tuned(config, tmp_path / layout.kind, "avg_mert", MertConfig(k=5, starts=2), epochs=2))
    assert found[0] == found[1] and sorted(found[1][0][-1]) == ["shard 0", "shard 1"]


@pytest.mark.parametrize("algorithm", ["avg_mert", "multitask_mert"])
def test_a_domain_whose_output_is_too_short_is_named(data, tmp_path, algorithm):
    """Over both domains, the mean is within the limits."""
    shard, writer = Shard(data.shards[0]), ShardWriter(groups=("id",))
    for k in range(len(shard)):
        reference = " ".join([shard.references(k)[0]] * 3)
        writer.add(shard.source(k), [reference], shard.grammar(k), id=shard.id(k), domain="long")
    writer.write(tmp_path / "long.itsh")
    config = replace(data, shards=(str(tmp_path / "long.itsh"), data.shards[2]), layout=LayoutConfig())
    with pytest.raises(InputError, match=r"the output of shard 0 has 0\.3\d times the references' length"):
        tuned(config, tmp_path / "run", algorithm, MultitaskMertConfig(k=5, starts=2, steps=3), epochs=1)
    (entry,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["epochs"]
    ratios = entry["length_ratios"]
    assert len(ratios) == 2 and 0.5 < sum(ratios.values()) / 2 == pytest.approx(entry["length_ratio"])
    assert not (tmp_path / "run" / "weights.txt.gz").exists()


@pytest.mark.parametrize("algorithm", ["avg_mert", "multitask_mert"])
def test_domains_have_no_cross_sections(data, tmp_path, algorithm):
    with pytest.raises(ConfigError, match=f"{algorithm} draws no cross-sections"):
        tuned(data, tmp_path, algorithm, MultitaskMertConfig(sections=("p",)))


def test_one_domain_is_not_enough(data, tmp_path):
    with pytest.raises(ConfigError, match="avg_mert needs at least two domains"):
        tuned(replace(data, layout=LayoutConfig("random", shards=1)), tmp_path, "avg_mert", MertConfig())

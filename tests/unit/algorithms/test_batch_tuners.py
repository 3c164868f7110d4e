"""PRO and MIRA as algorithms: they gain, and PRO's gradient may come from the driver or from jobs."""

import json
from dataclasses import replace

import pytest

from engine_cases import small_data
from itersel.algorithms.mira import MiraConfig
from itersel.algorithms.pro import ProConfig
from itersel.algorithms.registry import algorithm_class
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.lists.accumulated import AccumulatedLists
from itersel.model.features import Weights, group_of
from itersel.run.config import load_train_config
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.shards.shard import Shard, ShardWriter


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    data = small_data(tmp_path_factory.mktemp("data"))
    return replace(data, layout=LayoutConfig("random", shards=2), devtest=(), run=RunConfig("inline"))


def tuned(data, folder, algorithm, own, epochs=3):
    train(replace(data, algorithm=algorithm, own=own, epochs=epochs), folder, warn=[].append)
    return json.loads((folder / "manifest.json").read_text())["epochs"]


@pytest.mark.parametrize(
    ("algorithm", "own"), [("mira", MiraConfig(k=20)), ("pro", ProConfig(k=20, interpolation=0.5))], ids=str
)
def test_it_gains(data, tmp_path, algorithm, own):
    entries = tuned(data, tmp_path, algorithm, own)
    assert max(entry["tune_score"] for entry in entries) > entries[0]["start_score"] + 5


def test_pros_gradient_from_jobs(data, tmp_path):
    """The same classifier, except for the order of the sums."""
    for gradient in ("driver", "job"):
        tuned(data, tmp_path / gradient, "pro", ProConfig(k=5, gradient=gradient, keep=5, l2=0.1), epochs=1)
    one, other = (dict(Weights.read(tmp_path / name / "weights.txt.gz")) for name in ("driver", "job"))
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert other[name] == pytest.approx(value, abs=1e-3)


def test_nothing_to_learn_is_an_error(data, tmp_path):
    with pytest.raises(InputError, match="no pair of hypotheses differs enough"):
        tuned(data, tmp_path / "pro", "pro", ProConfig(k=1))
    with pytest.raises(InputError, match="nothing can be learned"):
        tuned(data, tmp_path / "mira", "mira", MiraConfig(k=1))


def test_mira_is_about_bleu():
    with pytest.raises(ConfigError, match="metric is 'chrf'"):
        load_train_config({"algorithm": "mira", "mira": {"metric": "chrf"}})


def without_groups(folder, paths):
    """The same sentences, compiled without sparse features."""
    made = []
    for number, path in enumerate(paths):
        shard, writer = Shard(path), ShardWriter()
        for k in range(len(shard)):
            writer.add(shard.source(k), shard.references(k), shard.grammar(k), id=shard.id(k), domain=shard.domain(k))
        writer.write(folder / f"{number}.dense.itsh")
        made.append(str(folder / f"{number}.dense.itsh"))
    return tuple(made)


@pytest.mark.parametrize("algorithm", ["mert", "mira", "pro"])
def test_features_that_are_left_out_are_as_if_never_compiled(tmp_path, algorithm):
    """`epoch.leave_out`, as cells of an experiment with `features: dense` have it. MERT needs no sparse ones anyway."""
    data = replace(small_data(tmp_path), devtest=(), epochs=2, start=None, fold_models=(), algorithm=algorithm)
    kind = algorithm_class(algorithm).config_class
    data = replace(data, own=kind(k=30, **({"starts": 2} if algorithm == "mert" else {})))
    patterns = () if algorithm == "mert" else ("R:*", "RBS:*", "RBT:*", "Shape_*")
    weights = []
    dense = without_groups(tmp_path, data.shards)
    for name, shards, leave_out in (("some", data.shards, patterns), ("none", dense, ())):
        config = replace(data, shards=shards, epoch=replace(data.epoch, leave_out=leave_out))
        weights.append(dict(Weights.read(train(config, tmp_path / name, warn=[].append))))
    assert not any(map(group_of, weights[0])) and weights[0].keys() == weights[1].keys()
    if algorithm != "pro":  # whose draws depend on the shard's checksum
        assert weights[0] == weights[1]
    states = [tmp_path / name / "epoch-002" / "shards" / "00000.state" for name in ("some", "none")]
    names = [AccumulatedLists.from_bytes(state.read_bytes()).names for state in states]
    assert names[0] == names[1]


def test_a_start_weight_of_a_feature_that_is_left_out(tmp_path):
    data = replace(small_data(tmp_path), algorithm="mira", own=MiraConfig(k=5))
    with pytest.raises(InputError, match="the feature 'p' is to be left out, but there is a start weight for it"):
        train(replace(data, epoch=replace(data.epoch, leave_out=("p",))), tmp_path / "run", warn=[].append)

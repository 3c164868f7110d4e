"""PRO and MIRA as algorithms: they gain, and PRO's gradient may come from the driver or from jobs."""

import json
import math
import zlib
from dataclasses import replace
from itertools import pairwise

import msgpack
import numpy as np
import pytest

from engine_cases import small_data
from itersel.algorithms.candidates_job import best_candidate
from itersel.algorithms.mira import MiraConfig
from itersel.algorithms.pro import POINT, GradientJob, Pro, ProConfig
from itersel.algorithms.registry import algorithm_class
from itersel.algorithms.tuner import generator
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.lists.accumulated import AccumulatedLists, NewList
from itersel.mapreduce.execution import map_item
from itersel.mapreduce.job import DRIVER
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.domain_weights import normalised
from itersel.model.features import Weights, group_of
from itersel.run.config import TrainConfig, load_train_config
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.shards.shard import Shard, ShardWriter
from itersel.tune.objective import Objective
from itersel.tune.pairs import PairSampling, sample_pairs
from oracles.line_search import bleu


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


def test_the_gradient_of_jobs_equals_the_drivers(tmp_path):
    """Three shards with features of their own, at any point: loss, gradient and pairs, by all pairs as one matrix."""
    draw, items, scores, lists = np.random.default_rng(2), [], [], []
    for number, names in enumerate(("abc", "bcd", "ae")):
        new = []
        for _ in range(4):
            rows = np.tile(np.array([6, 6, *[1] * 4, 6, 5, 4, 3], np.float32), (6, 1))
            rows[:, 2:6] = np.minimum(rows[:, 6:], draw.integers(0, 7, (6, 1)))
            features = [dict(zip(names, one, strict=True)) for one in draw.normal(size=(6, len(names))).tolist()]
            new.append(NewList.of([f"{k}" for k in range(6)], features, rows))
        made = AccumulatedLists.empty([f"{number}.{k}" for k in range(4)], 10).extended(new)
        lists.append(made)
        items.append(WorkItem(number, f"{number}", state_content=made.to_bytes()))
        scores.append(Objective().sentence_scores(made.statistics))
    point = {"a": 0.5, "b": -1.0, "c": 0.25, "d": 2.0, "e": -0.5}
    (tmp_path / "point").write_bytes(msgpack.packb(point))
    job = GradientJob(number=3, seed=4, sampling=PairSampling(100, 5))
    loss, gradient, pairs = 0.0, dict.fromkeys(point, 0.0), 0
    for item in items:
        records = map_item(job, item, Side({POINT: str(tmp_path / "point")}))
        record = next(one for one in records if one.key == DRIVER)  # before the item's marks
        names, part, values, count = msgpack.unpackb(record.value)
        loss, pairs = loss + part, pairs + count
        for name, value in zip(names, values, strict=True):
            gradient[name] += value
    # All pairs in one place: by sentence, drawn as the job draws, with the difference of each pair by hand.
    expected, slope, seen = 0.0, dict.fromkeys(point, 0.0), 0
    for made, own in zip(lists, scores, strict=True):
        dense = np.zeros((made.rows, len(made.names)))
        for row in range(made.rows):
            inner = slice(made.starts[row], made.starts[row + 1])
            dense[row, made.features[inner]] = made.values[inner]
        for sentence, begin in zip(made.sentences, made.offsets, strict=False):
            random = generator(4, 3, zlib.crc32(sentence.encode()))
            for better, worse in sample_pairs(own[begin : begin + 6], PairSampling(100, 5), random).tolist():
                x = dense[begin + better] - dense[begin + worse]
                margin = sum(point[name] * value for name, value in zip(made.names, x, strict=True))
                expected, seen = expected + math.log(1 + math.exp(-margin)), seen + 1
                for name, value in zip(made.names, x.tolist(), strict=True):
                    slope[name] -= value / (1 + math.exp(margin))
    assert pairs == seen > 30
    assert loss == pytest.approx(expected) and gradient == pytest.approx(slope)


def test_interpolation_by_hand():
    """Both at an absolute sum of 1, then mixed; without last weights, the new ones alone."""
    pro = Pro(replace(TrainConfig(("x",)), algorithm="pro", own=ProConfig(interpolation=0.25)))
    assert pro.interpolated({"f": 3.0, "g": -1.0}, {"g": 0.5, "h": 0.5}) == {"f": 0.5625, "g": -0.0625, "h": 0.125}
    assert pro.interpolated({}, {"g": 0.5, "h": -0.5}) == {"g": 0.5, "h": -0.5}


def test_template_features_do_not_shrink_what_the_classifier_says_of_dense_ones():
    """However many there are: the step of the dense weights is the one they would take alone."""
    pro = Pro(replace(TrainConfig(("x",)), algorithm="pro", own=ProConfig(interpolation=0.25)))
    fitted = {"f": 1.0, "g": 1.0} | {f"R:X:{k}:{k}": 4.0 for k in range(1000)}
    mixed = pro.interpolated({"f": 3.0, "g": -1.0}, normalised(fitted))
    assert mixed == {"f": 0.6875, "g": -0.0625} | {f"R:X:{k}:{k}": 0.5 for k in range(1000)}
    assert normalised({"R:X:a:b": 3.0, "R:X:a:c": -1.0}) == {"R:X:a:b": 0.75, "R:X:a:c": -0.25}, "there are no others"


def test_the_pass_with_the_best_score_is_chosen(data, tmp_path, monkeypatch):
    """Every pass's average, scored on its own by what it ranks first in all lists."""
    seen = []

    def watched(tuning, candidates, objective):
        found = best_candidate(tuning, candidates, objective)
        scores = []
        for number in range(len(candidates.rows)):
            weights, sums = candidates.weights(number), np.zeros(10)
            for item in tuning.items:
                lists = AccumulatedLists.from_bytes(item.read_state())
                values = np.array([weights.get(name, 0.0) for name in lists.names])
                for begin, end in pairwise(lists.offsets.tolist()):
                    rows = [slice(*lists.starts[row : row + 2]) for row in range(begin, end)]
                    ranked = [lists.values[one] @ values[lists.features[one]] for one in rows]
                    sums += lists.statistics[begin + int(np.argmax(ranked))]
            scores.append(bleu(sums))
        seen.append((found, scores))
        return found

    monkeypatch.setattr("itersel.algorithms.mira.best_candidate", watched)
    (entry,) = tuned(data, tmp_path, "mira", MiraConfig(k=20, passes=6, c=0.1), epochs=1)
    (((chosen, score), scores),) = seen
    assert score == pytest.approx(max(scores)) and chosen == scores.index(max(scores)) and len(set(scores)) > 1
    assert entry["chosen_pass"] == chosen + 1 and entry["list_score"] == pytest.approx(100 * score)


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

"""Dealing sentences out in training: every sentence once, and the same as shards that were compiled so."""

import json
import os
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from engine_cases import GRAMMAR, small_data
from itersel.algorithms.epoch_job import EpochJob, State
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig, run_epoch
from itersel.learn.learner import LearnConfig
from itersel.lists.source import open_source
from itersel.lm.model import LanguageModel, LanguageModels
from itersel.mapreduce.shard_item import Part, domain_of, parts_of, shard_item
from itersel.mapreduce.work_item import ItemFile
from itersel.model.features import Weights
from itersel.model.vectors import Vector, feature_ids
from itersel.run.config import TrainConfig, by_numbers, fold_model_paths
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.shards.shard import Shard, ShardWriter


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def files(data):
    return [open_source(path) for path in data.shards]


def places(items):
    return [(part.file.path, sentence) for item in items for part in parts_of(item) for sentence in part.sentences]


def part(source, sentences=None):
    return Part(ItemFile(source.path, source.checksum), sentences)


def learn(item, start, state, config, *, epoch, carry):
    """One shard's epoch, as the mapper does it."""
    return EpochJob(epoch=config, number=epoch, carry=carry).learn(item, start, state, LanguageModels())


@pytest.mark.parametrize("layout", [LayoutConfig("random"), LayoutConfig("reshard", shards=3), LayoutConfig("domains")])
def test_every_sentence_once(files, layout):
    everything = Counter((shard.path, k) for shard in files for k in range(len(shard)))
    for epoch in range(3):
        items = layout.items(files, epoch)
        assert Counter(places(items)) == everything
        assert [item.number for item in items] == list(range(len(items)))
        assert all(item.size == sum(len(part.sentences) for part in parts_of(item)) for item in items)


def test_what_changes_with_epoch_and_seed(files):
    random, reshard = LayoutConfig("random", size=9), LayoutConfig("reshard", size=9)
    assert random.items(files, 0) == random.items(files, 5)
    assert reshard.items(files, 0) != reshard.items(files, 1)
    assert reshard.items(files, 1) == LayoutConfig("reshard", size=9).items(files, 1)
    assert random.items(files, 0) != LayoutConfig("random", size=9, seed=2).items(files, 0)
    sizes = [item.size for item in random.items(files, 0)]
    assert max(sizes) - min(sizes) <= 1 and max(sizes) <= 9 and sum(sizes) == 70


def test_tasks_have_one_label_each(files):
    items = LayoutConfig("tasks").items(files, 0)
    assert [domain_of(item) for item in items] == ["task0", "task1", "task2"]
    for item in items:
        labels = {Shard(part.file.path).domain(k) for part in parts_of(item) for k in part.sentences}
        assert labels == {domain_of(item)}


def test_a_label_is_needed(tmp_path):
    writer = ShardWriter()
    writer.add("ein", ["a"], b"[X] ||| ein ||| a ||| p=1\n", id="seven")
    writer.write(tmp_path / "0.itsh")
    with pytest.raises(InputError, match=r"0\.itsh: sentence seven has no domain"):
        LayoutConfig("domains").items([open_source(tmp_path / "0.itsh")], 0)


def test_wrong_layouts():
    for options, message in [
        ({"kind": "heap"}, "kind is 'heap'; choose one of files, random"),
        ({"shards": 3}, "has a shard for each file"),
        ({"kind": "random", "shards": 0}, "shards is 0"),
        ({"kind": "random", "shards": 2, "size": 3}, "exclude"),
        ({"kind": "tasks", "shards": 2}, "follows from the domains"),
        ({"kind": "random", "seed": -1}, "seed is -1; give a whole number from 0"),
    ]:
        with pytest.raises(ConfigError, match=message):
            LayoutConfig(**options)


@pytest.mark.parametrize("schedule", ["constant", "inverse_sqrt"])
def test_parts_are_learned_from_like_one_compiled_shard(tmp_path, files, schedule):
    """A shard compiled of the same sentences in the same order is the independent way to the same weights."""
    config = EpochConfig(k=20, learn=LearnConfig(eta=0.01, schedule=schedule))
    parts = [part(files[1], (5, 3, 29, 0)), part(files[3], (20, 2)), part(files[0])]
    writer = ShardWriter(groups=("id", "ng", "shape"))
    for one in parts:
        shard = Shard(one.file.path)
        for k in range(len(shard)) if one.sentences is None else one.sentences:
            writer.add(shard.source(k), shard.references(k), shard.grammar(k), id=shard.id(k))
    writer.write(tmp_path / "one.itsh")
    start = Vector.of_names({"p": -0.01, "elsewhere": 0.5})
    for epoch in (0, 2):
        expected = run_epoch(Shard(tmp_path / "one.itsh"), start, None, config, number=epoch)
        found = learn(shard_item(0, parts, 13), start, None, config, epoch=epoch, carry=False)
        assert found.row.to_bytes() == expected.weights.to_bytes()
        assert found.names == expected.names
        # Sums of parts are not rounded like one sum.
        assert {key: found.statistics[key] for key in expected.statistics} == pytest.approx(
            expected.statistics, rel=1e-12
        )


def test_own_weights_go_on_and_are_averaged(files):
    """Two epochs by states equal the two epochs' weights and their mean by hand."""
    config = EpochConfig(k=20, learn=LearnConfig(eta=0.01))
    item = shard_item(0, [part(files[0])], len(files[0]))
    first = run_epoch(files[0].data, None, None, config, number=0)
    second = run_epoch(files[0].data, first.weights, None, config, number=1)
    one = learn(item, None, None, config, epoch=0, carry=True)
    state = State.from_bytes(one.state)
    two = learn(item, None, state, config, epoch=1, carry=True)
    assert one.row.to_bytes() == first.weights.to_bytes()
    assert State.from_bytes(two.state).weights.to_bytes() == second.weights.to_bytes()
    mean = dict.fromkeys(first.weights.ids.tolist(), 0.0)
    for vector in (first.weights, second.weights):
        for key, value in zip(vector.ids.tolist(), vector.values.tolist(), strict=True):
            mean[key] = mean.get(key, 0.0) + value
    expected = {key: value / 2 for key, value in mean.items() if value != 0}
    assert dict(zip(two.row.ids.tolist(), two.row.values.tolist(), strict=True)) == expected
    assert feature_ids(two.names).tolist() == sorted(expected)
    with pytest.raises(InputError, match="damaged state"):
        State.from_bytes(b"\x00")


@pytest.mark.parametrize("kind", ["random", "reshard", "tasks"])
@pytest.mark.parametrize("algorithm", ["mix_sgd", "iter_sel_sgd"])
def test_runs_with_layouts(tmp_path, data, kind, algorithm):
    config = replace(data, layout=LayoutConfig(kind), algorithm=algorithm)
    train(config, tmp_path / "run", warn=lambda text: None)
    lines = [json.loads(line) for line in (tmp_path / "run" / "statistics.jsonl").read_text().splitlines()]
    for epoch in (1, 2, 3):
        assert sum(line["lists"] for line in lines if line["epoch"] == epoch and line["shard"] is not None) == 70
    with pytest.raises(ConfigError, match=r"layout\.kind"):
        train(replace(config, layout=LayoutConfig()), tmp_path / "run")


def test_sgd_takes_all_files_as_one_shard(tmp_path, data):
    with pytest.raises(ConfigError, match="sgd trains on one shard, but there are 4"):
        train(replace(data, algorithm="sgd"), tmp_path / "wrong")
    train(replace(data, algorithm="sgd", layout=LayoutConfig("random")), tmp_path / "run", warn=lambda text: None)
    assert len(Weights.read(tmp_path / "run" / "weights.txt.gz")) > 10


@pytest.mark.parametrize("layout", [LayoutConfig(), LayoutConfig("reshard", shards=3), LayoutConfig("tasks")])
def test_parts_have_sentences_of_one_fold(files, layout):
    everything = Counter((shard.path, k) for shard in files for k in range(len(shard)))
    items = layout.items(files, 1, folds=4)
    assert Counter(places(items)) == everything
    for one in (one for item in items for one in parts_of(item)):
        assert {int(Shard(one.file.path).id(k)) % 4 for k in one.sentences} == {one.fold}


def test_each_fold_is_decoded_with_its_model(data, tmp_path):
    """Against epochs over the folds' sentences one after the other, each with its model."""
    config = replace(data, shards=data.shards[:2], algorithm="iter_mix_sgd", epochs=1, devtest=())
    train(config, tmp_path, warn=lambda text: None)
    rows, start = [], Vector.of_names(dict(Weights.read(data.start)))
    for path in config.shards:
        shard, weights, before = Shard(path), start, 0
        for fold, model in enumerate(data.fold_models):
            mine = [k for k in range(len(shard)) if int(shard.id(k)) % 3 == fold]
            result = run_epoch(shard, weights, LanguageModel(model), config.epoch, sentences=mine, lists_before=before)
            weights, before = result.weights, before + len(mine)
        rows.append(weights)
    found = Vector.read(tmp_path / "weights.vec")
    expected = {}
    for row in rows:
        for name, value in zip(row.ids.tolist(), row.values.tolist(), strict=True):
            expected[name] = expected.get(name, 0) + value / 2
    assert dict(zip(found.ids.tolist(), found.values.tolist(), strict=True)) == pytest.approx(expected, rel=1e-12)
    other = replace(config, fold_models=())
    train(other, tmp_path / "other", warn=lambda text: None)
    assert Vector.read(tmp_path / "other" / "weights.vec").values.tolist() != found.values.tolist()


@pytest.mark.parametrize("carry", [False, True])
def test_averages_go_over_all_parts(files, carry):
    """Parts are learned from one after the other; their mean is that of one part with all sentences in that order."""
    config = EpochConfig(learn=LearnConfig(eta=0.1, average=True))
    shard, start = files[0], Vector.of_names({"LanguageModel": 0.5, "elsewhere": 2.0})
    numbers = tuple(range(len(shard)))
    rows, states = [], [None, None]
    for epoch in range(2):
        for k, cuts in enumerate(([numbers], [numbers[:3], numbers[3:4], numbers[4:]])):
            item = shard_item(0, [part(shard, one) for one in cuts], len(shard))
            found = learn(item, start, states[k], config, epoch=epoch, carry=carry)
            states[k] = None if found.state is None else State.from_bytes(found.state)
            rows.append(dict(zip(found.row.ids.tolist(), found.row.values.tolist(), strict=True)))
        assert rows[-1] == pytest.approx(rows[-2], rel=1e-12)
        assert found.names == [name for name in found.names if feature_ids([name])[0] in rows[-1]]
    last = run_epoch(shard.data, start, None, config)
    assert rows[0] == dict(zip(last.average.ids.tolist(), last.average.values.tolist(), strict=True))
    assert rows[0] != dict(zip(last.weights.ids.tolist(), last.weights.values.tolist(), strict=True))
    if carry:  # the next epoch goes on from the last weights, not from the mean
        again = run_epoch(shard.data, last.weights, None, config, number=1)
        both = (rows[0], dict(zip(again.average.ids.tolist(), again.average.values.tolist(), strict=True)))
        mean = {name: sum(one.get(name, 0) for one in both) / 2 for name in both[0].keys() | both[1].keys()}
        assert rows[2] == pytest.approx(mean, rel=1e-12)


def test_a_weight_whose_mean_is_0_keeps_its_name(tmp_path):
    """It goes on into the next epoch, where the shard may have other files (reshard), which do not know its name."""
    rules = b"[X] ||| a ||| x ||| p=1\n[X] ||| a ||| y ||| p=1\n"
    writers = [ShardWriter(groups=("id",)) for _ in range(2)]
    for reference in "xyy":  # the weight of x is 1 after the first sentence, then 0, then -1
        writers[0].add("a", [reference], rules)
    writers[1].add("b", ["z"], b"[X] ||| b ||| z ||| p=1\n[X] ||| b ||| u ||| p=1\n")
    items = []
    for k, writer in enumerate(writers):
        writer.write(tmp_path / f"{k}.itsh")
        shard = open_source(tmp_path / f"{k}.itsh")
        items.append(shard_item(0, [part(shard)], len(shard)))
    config = EpochConfig(learn=LearnConfig("perceptron", eta=1, average=True))
    state, lost = None, set(feature_ids(["R:X:a:x", "R:X:a:y"]).tolist())
    for epoch, item in enumerate(items):
        found = learn(item, None, state, config, epoch=epoch, carry=True)
        state = State.from_bytes(found.state)
        assert lost <= set(state.weights.ids.tolist())
        assert feature_ids(found.names).tolist() == found.row.ids.tolist()
        assert bool(lost & set(found.row.ids.tolist())) == (epoch == 1)


def test_equal_models_of_folds_are_one_model(data, tmp_path):
    """Where a shard's sentences are of one fold, or the order is the folds', models of equal content change nothing."""
    writer = ShardWriter(groups=("id",))
    for number in sorted(range(24), key=lambda number: number % 3):
        writer.add("das haus", [f"the {'home' if number % 2 else 'house'}"], GRAMMAR, id=str(number))
    writer.write(tmp_path / "shard.itsh")
    config = replace(data, shards=(str(tmp_path / "shard.itsh"),), algorithm="sgd", epochs=2, start=None)
    same = replace(config, fold_models=tuple(str(tmp_path / f"{k}.arpa") for k in range(3)))
    for path in same.fold_models:
        shutil.copy(data.language_model, path)
    train(same, tmp_path / "folds", warn=lambda text: None)
    train(replace(config, fold_models=()), tmp_path / "one", warn=lambda text: None)
    one, folds = (Vector.read(tmp_path / name / "weights.vec") for name in ("one", "folds"))
    assert one.to_bytes() == folds.to_bytes() and len(one) > 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fold_models": ("*.nothing",)}, "fold_models: no such file"),
        ({"language_model": None}, "fold_models is given without language_model"),
        ({"fold_models": "first"}, "needs at least two models, got one"),
    ],
)
def test_models_by_fold_that_cannot_be_meant(data, change, message, tmp_path):
    if change.get("fold_models") == "first":
        change = {"fold_models": data.fold_models[:1]}
    with pytest.raises((ConfigError, InputError), match=message):
        train(replace(data, **change), tmp_path / "run", warn=lambda text: None)


def test_models_of_a_pattern_come_in_the_order_of_their_numbers(tmp_path):
    """`itersel lm --folds 12` calls them lm.0 … lm.11; in another order, models would know what is learned from."""
    for k in range(12):
        (tmp_path / f"lm.{k}.arpa").touch()
    config = TrainConfig(language_model="lm", fold_models=(f"{tmp_path}/lm.*.arpa",))
    assert fold_model_paths(config) == [str(tmp_path / f"lm.{k}.arpa") for k in range(12)]
    names = ["9", "10", "lm.000.gz", "lm.01", "lm.1", "lm.2-of-10", "lm.10-of-2", "x", "x1x", "²"]
    assert sorted(set(names), key=by_numbers) == names


def test_an_id_that_is_no_number_has_no_fold(data, tmp_path):
    writer = ShardWriter(groups=())
    writer.add("das", ["the"], GRAMMAR, id="first")
    writer.write(tmp_path / "shard.itsh")
    config = replace(data, shards=(str(tmp_path / "shard.itsh"),), algorithm="sgd")
    with pytest.raises(InputError, match=r"shard\.itsh: the id 'first' of a sentence is not its number"):
        train(config, tmp_path / "run", warn=lambda text: None)


def test_models_are_opened_once_and_only_for_work(data, tmp_path, monkeypatch):
    """In the driver's process, before others are forked; an experiment that tests its cells anew needs none of them."""
    opened = []

    def open_model(path):
        opened.append((os.getpid(), str(path)))
        return LanguageModel(path)

    monkeypatch.setattr("itersel.lm.model.LanguageModel", open_model)
    monkeypatch.setattr("itersel.mapreduce.side._CACHE", {})
    config = replace(data, epochs=2, run=RunConfig(jobs=2))
    train(config, tmp_path, warn=lambda text: None)
    assert sorted(opened) == sorted((os.getpid(), path) for path in (data.language_model, *data.fold_models))
    opened.clear()
    train(config, tmp_path, warn=lambda text: None)
    assert not opened


def test_another_model_of_a_fold_is_another_run(data, tmp_path):
    train(replace(data, epochs=1), tmp_path, warn=lambda text: None)
    swapped = replace(data, fold_models=(*data.fold_models[1:], data.fold_models[0]))
    with pytest.raises(ConfigError, match=r"fold_models\.0"):
        train(swapped, tmp_path, warn=lambda text: None)

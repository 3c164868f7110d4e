"""Settings of learning that are chosen by the data, and how given ones override them."""

from pathlib import Path

import pytest

import itersel
from itersel.base.config import Settings
from itersel.base.errors import ConfigError
from itersel.lists.source import open_source
from itersel.run.config import TrainConfig, load_train_config
from itersel.run.defaults import with_defaults

LEAVE_OUT = ["R:*"]


def chosen(build: itersel.Build, settings: dict, name: str) -> TrainConfig:
    values = Settings()
    for key, value in settings.items():
        values = values.put(key, value)
    return with_defaults(load_train_config(values), [open_source(one.path) for one in build.shards(name)])


@pytest.mark.parametrize(
    ("settings", "name", "eta", "schedule"),
    [
        ({"algorithm": "sgd"}, "dev", 0.01, "adagrad"),  # one shard, rule identities
        ({"algorithm": "sgd", "epoch.leave_out": LEAVE_OUT}, "dev", 0.03, "adagrad"),
        ({}, "train", 0.05, "adagrad"),  # two shards
        ({"layout.kind": "random"}, "train", 0.00001, "constant"),  # shards that are no whole files
        ({"layout.kind": "random", "epoch.leave_out": LEAVE_OUT}, "train", 0.0001, "constant"),
        ({"epoch.learn.eta": 0.5}, "train", 0.5, "constant"),
        ({"epoch.learn.batch": True}, "train", 0.0001, "constant"),
        ({"epoch.learn.eta": None}, "train", 0.05, "adagrad"),
        ({"algorithm": "mert"}, "dev", 0.0001, "constant"),  # has no such rate
    ],
)
def test_the_rate_follows_shards_and_features(
    small_build: itersel.Build, settings: dict, name: str, eta: float, schedule: str
) -> None:
    found = chosen(small_build, settings, name)
    assert (found.epoch.learn.eta, found.epoch.learn.schedule) == (eta, schedule)
    assert found.open_choices == ()


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, "all"),
        ({"algorithm": "sgd"}, "all"),
        ({"epoch.learn.pairs.kind": None}, "all"),
        ({"epoch.learn.pairs.kind": "pro"}, "pro"),
        ({"epoch.learn.pairs.share": 0.2}, "multipartite"),  # what is asked for has an effect
        ({"epoch.learn.pairs.dtrain": True}, "multipartite"),
        ({"epoch.learn.eta": 0.001}, "multipartite"),  # more pairs would be a higher rate
        ({"layout.kind": "random"}, "multipartite"),
        ({"epoch.learn.schedule": "adagrad", "epoch.learn.batch": True}, "multipartite"),  # as given
        ({"algorithm": "mert"}, "multipartite"),
    ],
)
def test_all_pairs_go_with_a_chosen_adagrad(small_build: itersel.Build, settings: dict, kind: str) -> None:
    name = "dev" if settings.get("algorithm") else "train"
    assert chosen(small_build, settings, name).epoch.learn.pairs.kind == kind


def test_metric_and_order_are_chosen_apart(small_build: itersel.Build) -> None:
    sources = [open_source(one.path) for one in small_build.shards("dev")]
    given = {"epoch": {"metric": "chrf"}, "algorithm": "sgd"}
    found = with_defaults(load_train_config(given), sources).epoch
    assert (found.metric, found.shuffle, found.learn.schedule) == ("chrf", True, "adagrad")
    found = with_defaults(load_train_config({"epoch": {"shuffle": False}}), sources).epoch
    assert (found.metric, found.shuffle) == ("fixed_stupid_bleu", False)
    made_in_python = TrainConfig(algorithm="sgd")  # is complete
    assert with_defaults(made_in_python, sources).epoch == made_in_python.epoch


def test_a_run_records_and_keeps_what_was_chosen(small_build: itersel.Build, tmp_path: Path) -> None:
    run = itersel.train(small_build, tmp_path / "run", algorithm="sgd", epochs=1)
    learn = run.configuration["epoch"]["learn"]
    assert (learn["eta"], learn["schedule"], learn["batch"]) == (0.01, "adagrad", True)
    assert learn["pairs"]["kind"] == "all"
    again = {"epoch": {"learn": {"eta": 0.01, "schedule": "adagrad", "batch": True, "pairs": {"kind": "all"}}}}
    itersel.train(small_build, tmp_path / "run", algorithm="sgd", epochs=2, **again)  # the same settings: resumed
    with pytest.raises(ConfigError, match=r"epoch\.learn\.eta: 0\.01 there, 0\.02 now"):
        again["epoch"]["learn"]["eta"] = 0.02
        itersel.train(small_build, tmp_path / "run", algorithm="sgd", epochs=2, **again)

"""What every algorithm promises, whoever wrote it: declared figures, the same bytes, resuming, models by name."""

import json
from dataclasses import replace

import pytest
from response_cases import toy_response

from engine_cases import assert_same_run, small_data
from itersel.algorithms.base import Algorithm
from itersel.algorithms.mert import MertConfig
from itersel.algorithms.registry import BUILT_IN, algorithm_class, registered
from itersel.base.errors import ConfigError
from itersel.base.figures import Declaration
from itersel.engines import RunConfig
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run import driver
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig

ALGORITHMS = [*BUILT_IN, "toy_median:Median"]
OWN = {
    "mert": {"starts": 3, "k": 10, "seed": 2},
    "avg_mert": {"starts": 2, "k": 5},
    "multitask_mert": {"starts": 2, "k": 5, "threshold": 0.0},
    "pro": {"k": 10},
    "mira": {"k": 10, "passes": 5},
    "hols": {"k": 10, "passes": 1, "iterations": 2, "line_search": MertConfig(k=10, starts=2)},
}
"""By algorithm: what is quicker than its defaults."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


def config_of(data, name, **changes):
    kind = algorithm_class(name)
    layout = LayoutConfig("random", shards=1 if kind.one_shard else 3)
    own = None if kind.config_class is None else kind.config_class(**OWN.get(name, {}))
    response = toy_response() if name in ("exec", "rebol") else None
    return replace(data, algorithm=name, own=own, layout=layout, response=response, **changes)


@pytest.fixture(scope="module", params=ALGORITHMS)
def run(request, data, tmp_path_factory):
    """An algorithm's name, and its run in one process with one reducer."""
    folder = tmp_path_factory.mktemp("run")
    train(config_of(data, request.param, run=RunConfig("inline")), folder / "inline", warn=lambda text: None)
    return request.param, folder / "inline"


def test_it_has_a_name_a_label_and_a_declaration(run):
    name, folder = run
    kind = algorithm_class(name)
    assert issubclass(kind, Algorithm) and kind.label and name in (kind.name, "toy_median:Median")
    declaration = Declaration.from_json(json.loads((folder / "run.json").read_text())["declaration"])
    assert declaration == Declaration.from_json(declaration.to_json())
    assert (declaration.name, declaration.label, declaration.number) == (kind.name, kind.label, kind.number)
    keys = [figure.key for figure in declaration.figures]
    assert len(keys) == len(set(keys))


def test_what_it_declares_is_measured(run):
    _, folder = run
    declaration = Declaration.from_json(json.loads((folder / "run.json").read_text())["declaration"])
    entries = json.loads((folder / "manifest.json").read_text())["epochs"]
    lines = [json.loads(line) for line in (folder / "statistics.jsonl").read_text().splitlines()]
    for entry in entries:
        whole = next(line for line in lines if line["epoch"] == entry["epoch"] and line["shard"] is None)
        shards = [line for line in lines if line["epoch"] == entry["epoch"] and line["shard"] is not None]
        assert isinstance(entry[declaration.choice.key], int | float)
        for figure in declaration.figures:
            assert figure.value(whole | entry) is not None, figure.key
        for statistic in declaration.statistics:
            values = [line[statistic.key] for line in shards]
            expected = max(values) if statistic.combine == "max" else sum(values)
            assert whole[statistic.key] == pytest.approx(expected)


def test_the_best_round_by_its_own_choice_is_the_run(run):
    _, folder = run
    choice = Declaration.from_json(json.loads((folder / "run.json").read_text())["declaration"]).choice
    manifest = json.loads((folder / "manifest.json").read_text())
    values = [entry[choice.key] for entry in manifest["epochs"]]
    best = max(values) if choice.largest else min(values)
    assert values[manifest["chosen"] - 1] == best
    assert (folder / "weights.vec").read_bytes() == (
        folder / f"epoch-{manifest['chosen']:03d}" / "weights.vec"
    ).read_bytes()


def test_vectors_and_named_weights_agree(run):
    _, folder = run
    for place in sorted(folder.glob("epoch-*/weights.vec")):
        names = dict(Weights.read(place.with_name("weights.txt.gz")))
        assert Vector.of_names(names).to_bytes() == place.read_bytes()


def test_same_bytes_with_other_processes_and_ranges(run, data, tmp_path):
    name, folder = run
    train(config_of(data, name, run=RunConfig("local", jobs=2, reducers=3)), tmp_path / "other", warn=lambda text: None)
    assert_same_run(folder, tmp_path / "other")


def test_a_round_is_taken_up_at_its_last_finished_job(run, data, tmp_path, monkeypatch):
    """Interrupted after the learning job of the second round and before devtest: no job of it runs twice."""
    name, folder = run
    started = []
    original = driver.JobRunner._run

    def watched(self, job, items, *rest):
        started.append((type(job).__name__, self.folder, self.number))
        return original(self, job, items, *rest)

    def interrupted(*arguments):
        raise InterruptedError

    monkeypatch.setattr(driver.JobRunner, "_run", watched)
    config = config_of(data, name, run=RunConfig("inline"))
    train(replace(config, epochs=1), tmp_path / "run", warn=lambda text: None)
    with monkeypatch.context() as patched, pytest.raises(InterruptedError):
        patched.setattr(driver, "translate_sources", interrupted)
        train(config, tmp_path / "run", warn=lambda text: None)
    train(config, tmp_path / "run", warn=lambda text: None)
    learned = [one for one in started if one[0] != "TranslateJob"]
    assert len(learned) == len(set(learned)) >= 3
    assert_same_run(folder, tmp_path / "run")
    assert not list((tmp_path / "run").glob("epoch-*/jobs")), "finished rounds keep nothing of their jobs"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ConfigError, match="unknown algorithm 'sgdd'\n  Choose one of sgd, mix_sgd"):
        algorithm_class("sgdd")
    assert set(BUILT_IN) <= set(registered())


def test_entry_points_register_algorithms(monkeypatch):
    from importlib.metadata import EntryPoint, EntryPoints

    from itersel.algorithms import registry

    group = registry.GROUP
    points = EntryPoints(
        [EntryPoint("median", "toy_median:Median", group), EntryPoint("sgd", "toy_median:Median", group)]
    )
    monkeypatch.setattr(registry, "entry_points", lambda group: points.select(group=group))
    registry.registered.cache_clear()
    try:
        assert algorithm_class("median").label == "MedianSGD"
        assert algorithm_class("sgd").label == "SGD", "a name of ours stays ours"
    finally:
        registry.registered.cache_clear()

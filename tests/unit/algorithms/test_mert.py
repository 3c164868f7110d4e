"""MERT as an algorithm: on its own lists, on lists of others, on forests, with limits; guard rails."""

import json
import math
import random
from dataclasses import replace

import pytest

from engine_cases import small_data
from itersel.algorithms.mert import MertConfig
from itersel.algorithms.tuner import check_weights, largest_change
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.model.features import Weights
from itersel.run.config import load_train_config, load_with_algorithm
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.run.rerank import train_reranker
from itersel.run.rerank_config import RerankConfig

QUICK = MertConfig(k=10, starts=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    data = small_data(tmp_path_factory.mktemp("data"))
    return replace(data, algorithm="mert", layout=LayoutConfig("random", shards=2), devtest=(), run=RunConfig("inline"))


def tuned(data, folder, own, warnings=None):
    """The entries of the rounds, and the weights of the last."""
    train(replace(data, own=own), folder, warn=[].append if warnings is None else warnings.append)
    manifest = json.loads((folder / "manifest.json").read_text())
    last = folder / f"epoch-{len(manifest['epochs']):03d}" / "weights.txt.gz"
    return manifest["epochs"], dict(Weights.read(last))


def test_it_gains_and_its_weights_have_an_absolute_sum_of_one(data, tmp_path):
    entries, weights = tuned(data, tmp_path / "run", QUICK)
    assert max(entry["tune_score"] for entry in entries) > entries[0]["start_score"] + 5
    dense = {name: value for name, value in weights.items() if not name.startswith(("R", "Shape", "elsewhere"))}
    assert math.fsum(map(abs, dense.values())) == pytest.approx(1)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    scores = [entry["tune_score"] for entry in entries]
    assert manifest["chosen"] == 1 + scores.index(max(scores)), "without devtest, the tuning score decides"


def test_forests_need_no_lists(data, tmp_path):
    entries, _ = tuned(data, tmp_path / "run", replace(QUICK, space="forest", starts=1, steps=3))
    assert max(entry["tune_score"] for entry in entries) > entries[0]["start_score"] + 5
    assert not list((tmp_path / "run").glob("epoch-*/*.state"))


def test_ranges_and_fixed_features(data, tmp_path):
    free = tuned(replace(data, epochs=1), tmp_path / "free", QUICK)[1]
    sign = -1 if free["LanguageModel"] > 0 else 1
    limit = "LanguageModel=:0" if sign < 0 else "LanguageModel=0:"
    limited = tuned(replace(data, epochs=1), tmp_path / "limited", replace(QUICK, ranges=(limit,)))[1]
    assert sign * limited.get("LanguageModel", 0.0) >= 0
    fixed = tuned(replace(data, epochs=1), tmp_path / "fixed", replace(QUICK, fixed=("Glue", "LanguageModel")))[1]
    assert "Glue" not in fixed and "LanguageModel" not in fixed, "their start weights are 0"


def test_a_feature_that_never_varies_is_named(data, tmp_path):
    warnings = []
    tuned(replace(data, epochs=1), tmp_path, QUICK, warnings)
    assert any("features that never vary within a list keep their weights: WordPenalty" in text for text in warnings)


def write_lists(folder, good):
    """Twenty lists of three hypotheses; the feature `good` knows the best one, or nothing differs."""
    lines = []
    for number in range(20):
        for k, text in enumerate(["a b c d e", "a b c x e", "a x y"]):
            features = f"good={2 - k} noise={(number * k) % 3}" if good else "good=1"
            lines.append(f"{number} ||| {text} ||| {features} ||| 0\n")
    (folder / "lists").write_text("".join(lines))
    (folder / "references").write_text("a b c d e\n" * 20)


def reranker(folder):
    values = {"algorithm": "mert", "mert": {"starts": 2}, "epochs": 5, "run": {"runner": "inline"}}
    files = {"lists": [str(folder / "lists")], "references": [str(folder / "references")]}
    return load_with_algorithm(RerankConfig, values | files)


def test_lists_of_any_system(tmp_path):
    write_lists(tmp_path, good=True)
    train_reranker(reranker(tmp_path), tmp_path / "run", warn=[].append)
    (entry,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["epochs"]
    assert entry["tune_score"] == pytest.approx(100) and entry["new_hypotheses"] == 0
    assert Weights.read(tmp_path / "run" / "weights.txt.gz")["good"] > 0


@pytest.mark.parametrize("seed", range(6))
def test_it_never_ends_below_its_start_on_the_lists(tmp_path, seed):
    """The lists stay the same, so what it starts from and what it ends with can be compared."""
    draw = random.Random(seed)
    lines = [
        f"{number} ||| {' '.join(draw.choices('abcdef', k=draw.randint(4, 7)))} ||| f={draw.gauss(0, 1)}"
        f" g={draw.gauss(0, 1)} h={draw.gauss(0, 1)} ||| 0\n"
        for number in range(20)
        for _ in range(8)
    ]
    (tmp_path / "lists").write_text("".join(lines))
    (tmp_path / "references").write_text("a b c d e\n" * 20)
    Weights({name: draw.gauss(0, 1) for name in "fgh"}).write(tmp_path / "start")
    config = replace(reranker(tmp_path), start=str(tmp_path / "start"), own=MertConfig(starts=1, steps=seed + 1))
    train_reranker(config, tmp_path / "run", warn=[].append)
    (entry,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["epochs"]
    assert entry["start_score"] < entry["list_score"] == pytest.approx(entry["tune_score"])


def test_lists_without_a_difference_are_an_error(tmp_path):
    write_lists(tmp_path, good=False)
    with pytest.raises(InputError, match="no dense feature differs"):
        train_reranker(reranker(tmp_path), tmp_path / "run", warn=[].append)


def test_tables_have_no_forests(tmp_path):
    write_lists(tmp_path, good=True)
    config = replace(reranker(tmp_path), own=replace(QUICK, space="forest"))
    with pytest.raises(InputError, match="a table of lists has no forests"):
        train_reranker(config, tmp_path / "run", warn=[].append)


def test_weights_that_no_tuner_should_end_with():
    with pytest.raises(InputError, match="all weights became 0"):
        check_weights({"f": 0.0})
    with pytest.raises(InputError, match="the weight of f exploded: inf"):
        check_weights({"f": math.inf})
    assert largest_change({"f": 2.0}, {"f": 4.0}) == 0.0
    assert largest_change({"f": 1.0}, {"g": 1.0}) == 1.0


def test_a_run_that_made_things_worse_is_no_success(data):
    from itersel.algorithms.mert import Mert

    mert = Mert(replace(data, own=QUICK))
    entry = {"tune_score": 20.0, "start_score": 21.0, "length_ratio": 1.0}
    with pytest.raises(InputError, match=r"no round reached the tuning score of the start weights \(21.00\)"):
        mert.conclude([entry], entry)
    with pytest.raises(InputError, match=r"output of 0.40 times the references' length"):
        mert.conclude([entry], entry | {"start_score": 1.0, "length_ratio": 0.4})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"space": "woods"}, "mert.space is 'woods'"),
        ({"ranges": ["x"]}, "mert.ranges has 'x'"),
        ({"starts": 0}, "mert.starts is 0"),
        ({"metric": "blue"}, "metric is 'blue'"),
        ({"restarts": 1}, "unknown key 'mert.restarts'"),
    ],
)
def test_settings_that_make_no_sense(values, words):
    with pytest.raises(ConfigError, match=words):
        load_train_config({"algorithm": "mert", "mert": values})

"""PRO and MIRA as algorithms: they gain, and PRO's gradient may come from the driver or from jobs."""

import json
from dataclasses import replace

import pytest

from engine_cases import small_data
from itersel.algorithms.mira import MiraConfig
from itersel.algorithms.pro import ProConfig
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.model.features import Weights
from itersel.run.config import load_train_config
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig


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

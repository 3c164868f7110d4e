"""The demo's response, conf/keep_particle.py: what it says yes to."""

import sys
from pathlib import Path

from itersel.base.settings import read_yaml
from itersel.response.config import ResponseConfig
from itersel.response.opening import open_response
from itersel.run.config import load_train_config

CONF = Path(__file__).resolve().parents[3] / "conf"


def test_particles_must_be_the_same(tmp_path):
    (tmp_path / "gold").write_text("the trader turned down the loan .\na man sleeps .\n")
    files = {"script": str(CONF / "keep_particle.py"), "gold": str(tmp_path / "gold")}
    response = open_response(ResponseConfig((sys.executable, "{script}", "{gold}"), files=files))
    assert response("0", ["he turned the loan down", "he turned the loan", "he turned down and off"]) == [
        True,
        False,
        False,
    ]
    assert response("1", ["a man sleeps", "a man sleeps off"]) == [True, False]
    response.close()


def test_the_configuration_is_valid():
    config = load_train_config(read_yaml(CONF / "demo-response.yaml"))
    assert config.algorithm == "rebol" and config.response.files["script"].endswith("keep_particle.py")

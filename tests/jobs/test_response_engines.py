"""An external response on the engines of one machine; test_engine_spark.py has it on Spark."""

import signal
import sys
from collections import Counter
from dataclasses import replace

import pytest
from response_cases import SCRIPT, check_response, toy_response

from driver_process import DriverProcess
from engine_cases import small_data
from itersel.algorithms.response import RebolConfig
from itersel.base.errors import InputError
from itersel.engines import RunConfig
from itersel.response.config import ResponseConfig
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig

ENGINES = [RunConfig("local", jobs=2), RunConfig("mrjob-local", reducers=3)]
OBJECT = """\
class Without:
    def __init__(self, words):
        self.words, self.checksum = set(words), str(words)

    def __call__(self, sentence_id, hypotheses):
        return [not self.words & set(text.split()) for text in hypotheses]
"""
WAITING = """\
import json, os, sys, time
log, gate = sys.argv[1:]
for line in sys.stdin:
    with open(log, "a") as stream:
        stream.write(line)
    with open(log) as stream:
        number = len(stream.readlines())
    while number == 1000 and os.path.exists(gate):
        time.sleep(0.02)
    print(json.dumps(not {"house", "dog"} & set(json.loads(line)["hypothesis"].split())), flush=True)
"""
"""The toy response, which does not answer its 1,000th question as long as there is a gate."""


def test_the_program_is_small():
    assert len(SCRIPT.read_text().splitlines()) <= 22


@pytest.mark.parametrize("run", ENGINES, ids=str)
def test_same_bytes(tmp_path, run):
    check_response(small_data(tmp_path), run, tmp_path)


@pytest.mark.parametrize("run", ENGINES, ids=str)
def test_a_python_object_travels_with_the_job(tmp_path, monkeypatch, run):
    """Its module is in the current folder alone, and it answers as the program does."""
    (tmp_path / "toy_object.py").write_text(OBJECT)
    monkeypatch.chdir(tmp_path)
    config = replace(small_data(tmp_path), algorithm="exec", devtest=(), fold_models=(), epochs=1, run=run)
    response = ResponseConfig(object="toy_object:Without", arguments={"words": ["house", "dog"]})
    train(replace(config, response=response), tmp_path / "object", warn=lambda text: None)
    train(
        replace(config, response=toy_response(), run=RunConfig("inline")), tmp_path / "program", warn=lambda text: None
    )
    weights = [(tmp_path / name / "weights.vec").read_bytes() for name in ("object", "program")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("run", ENGINES, ids=str)
def test_a_crash_ends_the_run_with_the_programs_words(tmp_path, run):
    response = toy_response("", "crash", restarts=0)
    config = replace(small_data(tmp_path), algorithm="exec", response=response, devtest=(), fold_models=(), run=run)
    with pytest.raises(InputError, match=r"exit status 1 on sentence \d+, hypothesis '.*I do not know this sentence"):
        train(config, tmp_path / "run", warn=lambda text: None)


def test_killed_and_resumed_it_is_asked_nothing_twice(tmp_path):
    """Killed in the second epoch, while the program thinks about a question: only this one has no answer."""
    script, log, gate = (tmp_path / name for name in ("script.py", "log", "gate"))
    script.write_text(WAITING)
    gate.touch()
    data = replace(
        small_data(tmp_path),
        algorithm="rebol",
        own=RebolConfig(),
        layout=LayoutConfig("random", shards=2),
        devtest=(),
        fold_models=(),
        epochs=2,
        run=RunConfig("inline"),
    )
    command = (sys.executable, "{script}", str(log), str(gate))
    config = replace(data, response=ResponseConfig(command, files={"script": str(script)}))
    with DriverProcess(config, tmp_path / "run") as driver:
        driver.until(
            lambda: log.exists() and len(log.read_text().splitlines()) == 1000, "the program stops at the gate"
        )
        driver.send(signal.SIGKILL)
        driver.wait()
    gate.unlink()
    train(config, tmp_path / "run", warn=lambda text: None)
    questions = log.read_text().splitlines()
    assert {line: count for line, count in Counter(questions).items() if count > 1} == {questions[999]: 2}
    train(replace(data, response=toy_response()), tmp_path / "undisturbed", warn=lambda text: None)
    weights = [(tmp_path / name / "weights.vec").read_bytes() for name in ("run", "undisturbed")]
    assert weights[0] == weights[1]

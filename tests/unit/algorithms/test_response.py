"""RAMPION, EXEC and REBOL as algorithms: feedback from a program, growing references, resuming, errors."""

import json
import sys
from collections import Counter
from dataclasses import replace

import msgpack
import pytest
from response_cases import toy_response

from engine_cases import small_data, write_shard
from itersel.algorithms import response as response_algorithms
from itersel.algorithms.response import ExecConfig, RampionConfig, RebolConfig
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.mapreduce.job import describe_job, load_job
from itersel.model.features import Weights
from itersel.response.config import ResponseConfig
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    data = small_data(tmp_path_factory.mktemp("data"))
    return replace(data, devtest=(), layout=LayoutConfig("random", shards=2), run=RunConfig("inline"), epochs=2)


def entries(folder):
    lines = [json.loads(line) for line in (folder / "statistics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["shard"] is None]


def questions(log):
    return log.read_text().splitlines() if log.exists() else []


def test_success_grows_with_feedback(data, tmp_path):
    train(replace(data, algorithm="rebol", response=toy_response(), epochs=3), tmp_path, warn=[].append)
    shares = [entry["successes"] / entry["lists"] for entry in entries(tmp_path)]
    assert shares[0] < shares[-1]


def test_nothing_is_asked_twice_over_epochs_resumed_and_repeated_runs(data, tmp_path, monkeypatch):
    log = tmp_path / "log"
    config = replace(data, algorithm="rebol", response=toy_response(log, cache=str(tmp_path / "shared.sqlite")))
    learn, calls = response_algorithms.ResponseJob.feedback, []

    def killed(job, side, item):
        calls.append(item.number)
        if len(calls) == 4:
            raise KeyboardInterrupt  # in the second epoch, after the first shard
        return learn(job, side, item)

    monkeypatch.setattr(response_algorithms.ResponseJob, "feedback", killed)
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "run", warn=[].append)
    before = questions(log)
    train(config, tmp_path / "run", warn=[].append)
    asked = questions(log)
    assert len(before) < len(asked) == len(set(asked))
    train(config, tmp_path / "again", warn=[].append)
    assert questions(log) == asked
    for name in ("weights.txt.gz", "weights.vec"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_the_limit_is_of_a_sentence_in_an_epoch(data, tmp_path):
    most = {}
    for limit in (None, 3):
        log = tmp_path / f"log.{limit}"
        config = replace(data, algorithm="rebol", response=toy_response(log, limit=limit), epochs=1)
        train(config, tmp_path / str(limit), warn=[].append)
        most[limit] = max(Counter(json.loads(line)["sentence"] for line in questions(log)).values())
    assert most[3] == 3 < most[None]


def test_processes_and_reducers_change_nothing(data, tmp_path):
    made = set()
    for number, (processes, reducers) in enumerate([(1, 1), (3, 2)]):
        config = replace(
            data,
            algorithm="rebol",
            response=toy_response(processes=processes),
            run=RunConfig("inline", reducers=reducers),
        )
        train(config, tmp_path / str(number), warn=[].append)
        made.add((tmp_path / str(number) / "weights.vec").read_bytes())
    assert len(made) == 1


def test_accepted_translations_are_the_state_of_a_shard(data, tmp_path):
    train(replace(data, algorithm="rebol", response=toy_response(), epochs=1), tmp_path, warn=[].append)
    states = [msgpack.unpackb(path.read_bytes()) for path in sorted(tmp_path.rglob("*.state"))]
    won = [text for state in states for _, texts in state for text in texts]
    assert won and not any({"house", "dog"} & set(text.split()) for text in won)


@pytest.mark.parametrize("misbehaviour", ["crash", "hang", "nonsense"])
def test_a_misbehaving_program_ends_the_run_with_its_own_words(data, tmp_path, misbehaviour):
    # Who hangs may not even have said its words by then.
    timeout = 0.5 if misbehaviour == "hang" else 600.0
    config = replace(data, algorithm="exec", response=toy_response("", misbehaviour, timeout=timeout, restarts=0))
    words = {"crash": "I do not know this sentence", "hang": "did not answer within 0.5 seconds", "nonsense": '"maybe"'}
    with pytest.raises(InputError, match=words[misbehaviour]) as error:
        train(config, tmp_path, warn=[].append)
    assert "hypothesis '" in str(error.value)


def test_rampion_asks_nobody(data, tmp_path):
    train(replace(data, algorithm="rampion", own=RampionConfig(scale=1)), tmp_path, warn=[].append)
    assert not (tmp_path / ".answers.sqlite").exists()
    assert entries(tmp_path)[0]["questions"] == 0


def test_selection_is_an_option(data, tmp_path):
    for select in (False, True):
        config = replace(data, algorithm="exec", own=ExecConfig(select), response=toy_response())
        train(config, tmp_path / str(select), warn=[].append)
    kept = [
        json.loads((tmp_path / name / "manifest.json").read_text())["epochs"][-1]["weights"]
        for name in ("False", "True")
    ]
    assert kept[0] > kept[1] == data.selection.top


def test_feedback_is_needed(data, tmp_path):
    with pytest.raises(ConfigError, match="rebol needs feedback"):
        train(replace(data, algorithm="rebol", own=RebolConfig()), tmp_path, warn=[].append)


def test_a_cache_needs_a_folder(data, tmp_path):
    """Answers in memory alone would be asked for again by the next run."""
    response = toy_response(cache=str(tmp_path / "nowhere" / "answers.sqlite"))
    with pytest.raises(InputError, match=r"nowhere/answers.sqlite: response.cache: its folder does not exist"):
        train(replace(data, algorithm="exec", response=response), tmp_path / "run", warn=[].append)


def test_ids_must_differ(data, tmp_path):
    """Sentences of two corpora that are both numbered from 0: the response could not tell them apart."""
    shards = tuple(write_shard(tmp_path / name, 3, 0) for name in ("a.itsh", "b.itsh"))
    config = replace(data, shards=shards, layout=LayoutConfig("files"), response=toy_response())
    with pytest.raises(InputError, match=r"(?s)a.itsh and .*b.itsh: two sentences have the id '0'"):
        train(replace(config, algorithm="rebol"), tmp_path / "rebol", warn=[].append)
    train(replace(config, algorithm="rampion"), tmp_path / "rampion", warn=[].append)


def always(answer):
    return ResponseConfig((sys.executable, "-c", f"import sys\nfor line in sys.stdin: print('{answer}', flush=True)"))


def test_where_everything_passes_nothing_is_corrected(data, tmp_path):
    """A training that has come to its aim is no failure."""
    config = replace(data, algorithm="exec", own=ExecConfig(corrections_only=True), response=always("true"))
    warnings = []
    weights = train(config, tmp_path / "corrections", warn=warnings.append)
    assert sum("nothing to correct" in text for text in warnings) == config.epochs
    assert dict(Weights.read(weights)) == dict(Weights.read(data.start))
    with pytest.raises(InputError, match="no sentence of the epoch has both a translation to learn from"):
        train(replace(config, own=ExecConfig()), tmp_path / "all", warn=warnings.append)


def test_a_task_that_says_no_to_everything(data, tmp_path):
    config = replace(data, algorithm="exec", response=always("false"))
    with pytest.raises(InputError, match="no sentence of the epoch has both a translation to learn from"):
        train(config, tmp_path, warn=[].append)


def test_a_job_survives_the_way_to_a_worker():
    job = response_algorithms.ResponseJob(
        rule=RebolConfig(scale=1, references="last").rule(), response=toy_response("x")
    )
    assert load_job(json.loads(json.dumps(describe_job(job)))) == job

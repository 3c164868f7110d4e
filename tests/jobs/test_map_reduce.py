"""The script jobs/map_reduce.py on mrjob's own runners: by hand and from the driver, the same bytes as inline."""

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine_cases import ALGORITHMS, assert_same_run, small_data
from itersel.algorithms.epoch_job import FOLD, MODEL, START, EpochJob, collect
from itersel.algorithms.mert import MertConfig
from itersel.algorithms.pro import ProConfig
from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.base.version import describe_build
from itersel.engines import RunConfig, open_engine
from itersel.engines.hadoop import settings_of
from itersel.learn.learner import LearnConfig
from itersel.lists.source import open_source
from itersel.mapreduce.execution import assemble, map_item, reduce_range, silent
from itersel.mapreduce.failure import FINISHED, Failure
from itersel.mapreduce.job import DRIVER
from itersel.mapreduce.record_file import parse_record_line, record_line
from itersel.mapreduce.shipped_job import read_job, write_job
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import ItemFile, WorkItem
from itersel.model.features import Weights
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from tuner_cases import TUNERS, check_tuner

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "jobs" / "map_reduce.py"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return small_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def inline(data, tmp_path_factory):
    """Runs by the driver's own engine, by algorithm and layout."""
    made = {}

    def run(algorithm, layout=None):
        if (algorithm, layout) not in made:
            folder = tmp_path_factory.mktemp("inline") / "run"
            chosen = layout or (LayoutConfig("random") if algorithm == "sgd" else LayoutConfig())
            config = replace(data, algorithm=algorithm, layout=chosen)
            train(config, folder, warn=lambda text: None)
            made[algorithm, layout] = config, folder
        return made[algorithm, layout]

    return run


def items_of(config, number=0, folds=0):
    return config.layout.items([open_source(path) for path in config.shards], number, folds=folds)


def run_by_hand(*words: object) -> subprocess.CompletedProcess:
    command = [sys.executable, SCRIPT, "--no-conf", *words]
    return subprocess.run(
        list(map(str, command)), capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True
    )


@pytest.mark.parametrize("reducers", [1, 3])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_driver_on_mrjob_inline(tmp_path, inline, algorithm, reducers):
    config, expected = inline(algorithm)
    train(replace(config, run=RunConfig("mrjob-inline", reducers=reducers)), tmp_path / "run", warn=lambda text: None)
    assert_same_run(expected, tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["mix_sgd", "iter_sel_sgd"])
def test_driver_on_mrjob_local(tmp_path, inline, algorithm):
    config, expected = inline(algorithm, LayoutConfig("reshard", shards=3))
    train(replace(config, run=RunConfig("mrjob-local", reducers=3)), tmp_path / "run", warn=lambda text: None)
    assert_same_run(expected, tmp_path / "run")


@pytest.mark.parametrize("name", TUNERS)
@pytest.mark.parametrize(
    "run", [RunConfig("local", jobs=2, reducers=2), RunConfig("mrjob-inline", reducers=3)], ids=repr
)
def test_tuners(data, tmp_path, name, run):
    check_tuner(data, name, run, tmp_path)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("mert", MertConfig(space="forest", starts=1, steps=1)),
        ("pro", ProConfig(k=5, keep=5, gradient="job", iterations=2)),
    ],
    ids=["forest", "gradient"],
)
def test_jobs_that_tuners_do_not_run_by_default(data, tmp_path, name, own):
    check_tuner(data, name, RunConfig("mrjob-inline", reducers=3), tmp_path, own)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mert", "hols"])
def test_a_tuner_on_mrjob_local(data, tmp_path, name):
    """Each of five jobs starts processes of its own. `test_tuners` has the others' jobs in the same script."""
    own = replace(TUNERS["hols"], updates=1) if name == "hols" else None
    check_tuner(data, name, RunConfig("mrjob-local", reducers=2), tmp_path, own)


def test_engines_can_change_within_a_run(tmp_path, inline):
    config, expected = inline("mix_sgd")
    for epochs, runner in ((1, "mrjob-inline"), (2, "inline"), (3, "mrjob-inline")):
        train(replace(config, epochs=epochs, run=RunConfig(runner)), tmp_path / "run", warn=lambda text: None)
    assert_same_run(expected, tmp_path / "run")


@pytest.mark.slow
def test_job_by_hand(tmp_path, inline):
    """The documented command line, its records shuffled."""
    config, folder = inline("iter_sel_sgd")
    items = items_of(config, 1, folds=3)
    lines = [json.dumps(item.absolute().to_json(with_state=True)) + "\n" for item in items]
    (tmp_path / "items.jsonl").write_text("".join(lines))
    job = EpochJob(partitions=2, epoch=config.epoch, number=1, selection=config.selection)
    side = {START: folder / "epoch-001" / "weights.vec", MODEL: config.language_model}
    side |= {f"{FOLD}.{fold}": path for fold, path in enumerate(config.fold_models)}
    write_job(tmp_path / "job.json", job, len(items), side)
    paths = [word for path in side.values() for word in ("--side", path)]
    done = run_by_hand("-r", "local", tmp_path / "items.jsonl", "--job", tmp_path / "job.json", *paths)
    assert done.returncode == 0, done.stderr
    records = [parse_record_line(*line.split("\t")) for line in done.stdout.splitlines()]
    random.Random(1).shuffle(records)
    known = Weights.read(folder / "epoch-001" / "weights.txt.gz")
    made = collect(assemble(job, records, len(items)), config.selection, known)
    assert made.columns.to_bytes() == (folder / "epoch-002" / "norms.vec").read_bytes()
    assert [line["lists"] for line in made.statistics] == [7, 30, 12, 21]


def test_missing_and_doubled_items_are_noticed(inline):
    config, folder = inline("iter_mix_sgd")
    job, side = EpochJob(partitions=2, epoch=config.epoch), Side({START: str(folder / "start.vec")})
    mapped = [list(map_item(job, item, side)) for item in items_of(config)[:3]]

    def of_range(*numbers):
        return [record for number in numbers for record in mapped[number] if record.key == 0]

    for numbers, message in (((0, 1), "1 of 3 work items are missing"), ((0, 1, 2, 1), "work item 1 came 2 times")):
        with pytest.raises(ResourceError, match=f"range 0 are not complete: {message}"):
            list(reduce_range(job, 0, of_range(*numbers), 3, side))
    reduced = list(reduce_range(job, 0, of_range(2, 0, 1), 3, side))
    told = [record for records in mapped for record in records if record.key == DRIVER]
    with pytest.raises(ResourceError, match="the driver are not complete: 1 of 3 work items are missing"):
        assemble(job, [*told[2:], *reduced], 3)
    with pytest.raises(ResourceError, match="range 1 came 0 times"):
        assemble(job, [*told, *reduced], 3)
    with pytest.raises(ResourceError, match="range 0 came 2 times"):
        assemble(job, [*told, *reduced, *reduced], 3)
    with pytest.raises(InputError, match="damaged"):
        parse_record_line("0", "?")
    assert [parse_record_line(*record_line(record)) for record in mapped[0]] == mapped[0]


def test_items_travel_as_json(inline, tmp_path):
    config, _ = inline("mix_sgd", LayoutConfig("tasks"))
    for item in items_of(config):
        sent = WorkItem.from_json(json.loads(json.dumps(item.to_json())))
        assert sent.to_json() == json.loads(json.dumps(item.to_json()))
    (tmp_path / "state").write_bytes(b"\0\xff")
    sent = WorkItem.from_json(WorkItem(0, "a", state=str(tmp_path / "state")).to_json(with_state=True))
    assert (sent.state, sent.read_state()) == (None, b"\0\xff")
    for values in ([], {}, {"number": 1}, sent.to_json() | {"state_content": "?"}):
        with pytest.raises(InputError, match="not a work item"):
            WorkItem.from_json(values)


def test_another_shard_under_the_same_name_is_refused(inline):
    config, _ = inline("iter_mix_sgd")
    item = items_of(config)[0]
    other = replace(item, files=(ItemFile(item.files[0].path, "0000000000000001"),))
    with pytest.raises(InputError, match=r"0\.itsh\): another shard than the driver's"):
        list(map_item(EpochJob(partitions=1), other, Side({})))


@pytest.mark.slow
def test_worker_of_another_build_is_refused(tmp_path):
    write_job(tmp_path / "job.json", EpochJob(partitions=1), 1, [])
    values = json.loads((tmp_path / "job.json").read_text())
    assert values["build"] == describe_build()
    (tmp_path / "job.json").write_text(json.dumps(values | {"build": "0.0.1 (build 0123456789abcdef)"}))
    (tmp_path / "items.jsonl").write_text("{}\n")
    done = run_by_hand("-r", "inline", tmp_path / "items.jsonl", "--job", tmp_path / "job.json")
    assert done.returncode != 0
    assert "the driver runs itersel 0.0.1 (build 0123456789abcdef), but the worker" in done.stderr
    assert f"has {describe_build()} in" in done.stderr
    assert "Build a wheelhouse with the driver's itersel" in done.stderr


def test_descriptions_of_jobs_are_checked(tmp_path):
    job = EpochJob(partitions=3, number=4)
    write_job(tmp_path / "job.json", job, 7, [MODEL])
    shipped = read_job(tmp_path / "job.json", ["lm.bin"])
    assert (shipped.job, shipped.items, shipped.side.paths) == (job, 7, {MODEL: os.path.realpath("lm.bin")})
    with pytest.raises(ConfigError, match="0 side files, but the job has 1"):
        read_job(tmp_path / "job.json", [])
    with pytest.raises(InputError, match="cannot read"):
        read_job(tmp_path / "absent.json", [])
    for text in ("{", "[]", '{"build": "x"}'):
        (tmp_path / "job.json").write_text(text)
        with pytest.raises(InputError, match=r"damaged|not the description of a job"):
            read_job(tmp_path / "job.json", [])


@pytest.mark.slow
def test_what_a_task_leaves_in_its_log(tmp_path, data):
    """The item's name first, so that the log of a killed task says what it had; at the end how it went."""
    write_job(tmp_path / "job.json", EpochJob(partitions=1), 1, [])
    item = items_of(data)[0].absolute()
    for one, last in ((item, FINISHED), (replace(item, files=(ItemFile("absent.itsh", "1"),)), None)):
        task = [sys.executable, SCRIPT, "--step-num=0", "--mapper", "--job", "job.json"]
        done = subprocess.run(
            task,
            input=json.dumps(one.to_json()).encode(),
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        log = done.stderr.decode().strip().splitlines()
        assert log[0] == item.name
        if last is not None:
            assert done.returncode == 0 and log[-1] == last
        else:
            failure = Failure.find("\n".join(log))
            assert done.returncode != 0 and failure is not None
            assert (failure.kind, failure.where) == ("InputError", item.name)


@pytest.mark.parametrize("runner", ["mrjob-inline", pytest.param("mrjob-local", marks=pytest.mark.slow)])
def test_failure_names_the_shard(tmp_path, data, runner, capfd):
    broken = tmp_path / "broken.itsh"
    content = bytearray(Path(data.shards[1]).read_bytes())
    broken.write_bytes(content)
    config = replace(data, shards=(data.shards[0], str(broken)), devtest=(), run=RunConfig("mrjob-inline"))
    train(replace(config, epochs=1), tmp_path / "run", warn=lambda text: None)
    content[len(content) // 2] ^= 1
    broken.write_bytes(content)
    with pytest.raises(UserError, match=r"broken\.itsh") as caught:
        train(replace(config, run=RunConfig(runner)), tmp_path / "run", warn=lambda text: None)
    assert "Traceback" not in str(caught.value) + capfd.readouterr().err


@pytest.mark.slow
def test_other_failures_show_what_the_task_said(tmp_path):
    script = tmp_path / "sitecustomize.py"
    script.write_text("import sys\nif '--mapper' in sys.argv: sys.exit('this node has no such library')\n")
    config = RunConfig("mrjob-local", options=("--cmdenv", f"PYTHONPATH={tmp_path}"))
    engine = open_engine(config, tmp_path)
    with pytest.raises(ResourceError, match=r"a task of the job EpochJob failed:\n  (.|\n)*no such library"):
        list(engine.run(EpochJob(partitions=1), [WorkItem(0, "an item")], {}, silent))


def test_jobs_without_items(tmp_path):
    for runner in ("inline", "mrjob-inline"):
        engine = open_engine(RunConfig(runner), tmp_path)
        assert list(engine.run(EpochJob(), [], {}, silent)) == []


def test_the_script_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("ITERSEL_JOBS", str(tmp_path))
    engine = open_engine(RunConfig("mrjob-inline"), tmp_path)
    with pytest.raises(ConfigError, match="there is no job"):
        list(engine.run(EpochJob(partitions=1), [WorkItem(0, "an item")], {}, silent))


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_map_task_takes_several_shards(inline, tmp_path, tasks):
    config, expected = inline("iter_sel_sgd")
    run = RunConfig("mrjob-inline", reducers=2, tasks=tasks)
    train(replace(config, run=run), tmp_path / "run", warn=lambda text: None)
    assert_same_run(tmp_path / "run", expected)


def test_the_sums_of_adagrad_travel(inline, tmp_path):
    """As the weights do, if they last."""
    config, _ = inline("iter_sel_sgd")
    learn = LearnConfig(eta=0.05, batch=True, schedule="adagrad", account="run")
    config = replace(config, epoch=replace(config.epoch, learn=learn, background=0.9, rates={"R:*": 2.0}))
    for name, run in {"here": RunConfig(), "there": RunConfig("mrjob-inline", reducers=3, tasks=2)}.items():
        train(replace(config, run=run), tmp_path / name, warn=lambda text: None)
    assert_same_run(tmp_path / "there", tmp_path / "here")
    assert (tmp_path / "here" / "epoch-001" / "account.vec").exists()


def test_items_per_task():
    """At most so many tasks, however many items there are; Hadoop divides the lines of its input accordingly."""
    assert [RunConfig(tasks=100).items_per_task(items) for items in (0, 1, 100, 101, 2290)] == [1, 1, 1, 2, 23]
    assert RunConfig().items_per_task(2290) == 1
    assert settings_of(2, 23)["mapreduce.input.lineinputformat.linespermap"] == 23

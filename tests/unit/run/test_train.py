"""Training runs: the four algorithms by hand, and the same bytes however the work is done."""

import contextlib
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import sacrebleu

from engine_cases import GRAMMAR, WORDS
from itersel.algorithms.epoch_job import EpochJob
from itersel.base.config import Settings, read_yaml
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.base.usage import cpu_seconds
from itersel.cli import main
from itersel.decode.shard_decoder import ShardDecoder
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig, run_epoch
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import SelectionConfig, average, iter_sel_sgd
from itersel.learn.pairs import PairConfig
from itersel.model.feature_names import NameTable
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run import devtest
from itersel.run.config import OPEN_KEYS, TrainConfig, flat, identity, load_train_config
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.run.rerank_config import RerankConfig
from itersel.shards.shard import Shard, ShardWriter

# Sentence x: x̄ = a − b; sentence y: x̄ = b − 2a. All translations have one word, so no other feature differs.
PLAIN = b"""\
[X] ||| x ||| good ||| a=1
[X] ||| x ||| bad ||| b=1
[X] ||| y ||| fine ||| b=1
[X] ||| y ||| poor ||| a=2
"""
# The same with c in the better ones: x̄ = a − b + c and b − 2a + c.
BONUS = PLAIN.replace(b"good ||| a=1", b"good ||| a=1 c=1").replace(b"fine ||| b=1", b"fine ||| b=1 c=1")
X, Y = ("x", "good"), ("y", "fine")
STEP = EpochConfig(learn=LearnConfig("perceptron", eta=1.0))


def write_shard(path, sentences, grammar, **options):
    writer = ShardWriter(**options)
    for source, target in sentences:
        writer.add(source, [target], grammar)
    writer.write(path)
    return str(path)


def models(directory):
    return [dict(Weights.read(path)) for path in sorted(Path(directory).glob("epoch-*/weights.txt.gz"))]


@pytest.mark.parametrize(
    ("algorithm", "grammar", "shards", "expected"),
    [
        # x: {a 1, b -1}; y: -3 ≤ 0, {a -1}. Then x: -1, {b -1}; y: -1, {a -2}. Mean of {a -1} and {a -2}.
        ("sgd", PLAIN, [[X, Y]], [{"a": -1.0}, {"a": -1.5}]),
        # The first shard as above; the second stays at {a -2, b 1}.
        ("mix_sgd", PLAIN, [[X, Y], [Y]], [{"a": -1.5, "b": 0.5}, {"a": -1.75, "b": 0.5}]),
        # {a 1, b -1} and {a -2, b 1}; then x: -0.5, {a 0.5, b -1}; y: 1, {a -0.5}.
        ("iter_mix_sgd", PLAIN, [[X], [Y]], [{"a": -0.5}, {"b": -0.5}]),
        # With c both shards are content with {a -0.5, c 1} …
        ("iter_mix_sgd", BONUS, [[X], [Y]], [{"a": -0.5, "c": 1.0}, {"a": -0.5, "c": 1.0}]),
        # … but the largest of √5, √2, √2 is a. Then {a 0.5, b -1, c 1} and {a -0.5}: b before c by name.
        ("iter_sel_sgd", BONUS, [[X], [Y]], [{"a": -0.5}, {"b": -0.5}]),
    ],
)
def test_by_hand(tmp_path, algorithm, grammar, shards, expected):
    paths = [write_shard(tmp_path / f"{k}.shard", shard, grammar) for k, shard in enumerate(shards)]
    config = TrainConfig(tuple(paths), algorithm=algorithm, epochs=2, epoch=STEP, selection=SelectionConfig(top=1))
    final = train(config, tmp_path / "run", warn=lambda text: None)
    assert models(tmp_path / "run") == expected
    assert dict(Weights.read(final)) == expected[-1]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("data"), random.Random(5)
    for name, count in {"0": 7, "1": 30, "2": 12, "3": 21, "dev": 10}.items():
        sentences = []
        for _ in range(count):
            words = draw.choices(list(WORDS), k=draw.randint(3, 8))
            sentences.append((" ".join(words), " ".join(draw.choice(WORDS[word]) for word in words)))
        write_shard(folder / f"{name}.shard", sentences, GRAMMAR, groups=("id", "ng", "shape"))
    Weights({"p": -0.01, "elsewhere": 0.5}).write(folder / "start.txt")
    return folder


def config_of(data, algorithm="iter_sel_sgd", **options):
    shards = ("0",) if algorithm == "sgd" else ("0", "1", "2", "3")
    values = {
        "shards": tuple(str(data / f"{name}.shard") for name in shards),
        "devtest": (str(data / "dev.shard"),),
        "start": str(data / "start.txt"),
        "algorithm": algorithm,
        "epochs": 3,
        "epoch": EpochConfig(k=20, learn=LearnConfig("perceptron", eta=0.01)),
        "selection": SelectionConfig(top=15),
    }
    return TrainConfig(**values | options)


def content(directory):
    """Bytes of all files whose content must not depend on how the work was done."""
    directory = Path(directory)
    free = {"run.json", "statistics.jsonl"}
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and not path.name.startswith(".") and path.name not in free and path.suffix != ".json"
    } | {"manifest.json": (directory / "manifest.json").read_bytes()}


@pytest.mark.parametrize("algorithm", ["sgd", "mix_sgd", "iter_mix_sgd", "iter_sel_sgd"])
def test_same_bytes_by_all_ways(tmp_path, data, algorithm):
    ways = {
        "inline": RunConfig("inline"),
        "one": RunConfig("local", jobs=1),
        "two": RunConfig("local", jobs=2),
        "three reducers": RunConfig("local", jobs=2, reducers=3),
    }
    results = {}
    for name, run in ways.items():
        train(config_of(data, algorithm, run=run), tmp_path / name, warn=lambda text: None)
        results[name] = content(tmp_path / name)
    assert all(result == results["inline"] for result in results.values())
    manifest = json.loads(results["inline"]["manifest.json"])
    scores = [entry["devtest_bleu"] for entry in manifest["epochs"]]
    assert manifest["chosen"] == scores.index(max(scores)) + 1
    assert all(any(name.startswith("R:") for name in model) for model in models(tmp_path / "inline"))


def test_same_bytes_when_shards_finish_in_another_order(tmp_path, data, monkeypatch):
    from itersel.engines import local

    train(config_of(data), tmp_path / "plain", warn=lambda text: None)
    draw, orders = random.Random(1), []

    def shuffled(items):
        items = list(items)
        draw.shuffle(items)
        orders.append([item.number for item in items])
        return items

    monkeypatch.setattr(local, "largest_first", shuffled)
    train(config_of(data), tmp_path / "shuffled", warn=lambda text: None)
    assert len(set(map(tuple, orders))) > 1
    assert content(tmp_path / "shuffled") == content(tmp_path / "plain")


def test_finished_shards_are_not_done_again(tmp_path, data, monkeypatch):
    from itersel.engines import crew

    done, original = [], crew.map_to_file

    def failing(job, item, *rest, **keys):
        if isinstance(job, EpochJob):
            if len(done) == 6:
                raise InterruptedError
            done.append((job.number, item.number))
        original(job, item, *rest, **keys)

    monkeypatch.setattr(crew, "map_to_file", failing)
    with pytest.raises(InterruptedError):
        train(config_of(data), tmp_path / "run", warn=lambda text: None)
    done_before = len(done)
    done.append("interrupted")
    train(config_of(data), tmp_path / "run", warn=lambda text: None)
    done.remove("interrupted")
    assert done_before == 6 and len(done) == len(set(done)) == 12
    lines = [json.loads(line) for line in (tmp_path / "run" / "statistics.jsonl").read_text().splitlines()]
    assert [(line["epoch"], line["shard"]) for line in lines] == [
        (epoch, shard) for epoch in (1, 2, 3) for shard in (0, 1, 2, 3, None)
    ]


def test_time_of_scoring_the_start_is_not_the_first_epochs(tmp_path, data, monkeypatch):
    """Processes stay after a job, and their time counts when they end."""
    translate = devtest.TranslateJob.map

    def busy(self, item, side, tell):
        end = cpu_seconds() + 1
        while cpu_seconds() < end:
            pass
        yield from translate(self, item, side, tell)

    monkeypatch.setattr(devtest, "BLOCK", 2)
    monkeypatch.setattr(devtest.TranslateJob, "map", busy)
    train(config_of(data, epochs=1, run=RunConfig(jobs=2)), tmp_path / "run", warn=lambda text: None)
    lines = [json.loads(line) for line in (tmp_path / "run" / "statistics.jsonl").read_text().splitlines()]
    assert 0 < lines[-1]["made"]["cpu_seconds"] < 1


def test_epochs_record_what_they_took(tmp_path, data, monkeypatch):
    """Also of a run in several goes: no epoch's record changes when later ones are made, by whatever code."""

    def recorded():
        lines = [json.loads(line) for line in (tmp_path / "run" / "statistics.jsonl").read_text().splitlines()]
        return [line["made"] for line in lines if line["shard"] is None]

    monkeypatch.setattr("itersel.base.usage.commit", lambda: "early")
    train(config_of(data, epochs=2), tmp_path / "run", warn=lambda text: None)
    first = recorded()
    monkeypatch.setattr("itersel.base.usage.commit", lambda: "late")
    train(config_of(data, epochs=3, run=RunConfig(jobs=2)), tmp_path / "run", warn=lambda text: None)
    assert recorded()[:2] == first
    assert [(one["jobs"], one["commit"]) for one in recorded()] == [(1, "early"), (1, "early"), (2, "late")]
    assert all(one["wall_seconds"] > 0 and one["peak_megabytes"] > 0 for one in recorded())


def command(data, output, algorithm, jobs):
    shards = [str(data / f"{name}.shard") for name in "0123"]
    return [
        *(sys.executable, "-m", "itersel", "train", "--output", str(output), "--shards", *shards),
        *("--devtest", str(data / "dev.shard"), "--start", str(data / "start.txt"), "--epochs", "12"),
        *("--algorithm", algorithm, "--eta", "1e-2", "--top", "15", "--jobs", str(jobs), "--reducers", "2"),
    ]


def children(process):
    """Process numbers of the driver's mappers."""
    with contextlib.suppress(OSError):
        return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    return []


@pytest.mark.parametrize("victim", ["driver", "mapper"])
@pytest.mark.parametrize("algorithm", ["mix_sgd", "iter_sel_sgd"])
def test_killed_and_resumed_gives_the_same_bytes(tmp_path, data, algorithm, victim):
    """Five times each, twenty in all: SIGKILL at a random moment, then the same command again."""
    whole = subprocess.run(command(data, tmp_path / "whole", algorithm, 1), capture_output=True, check=True)
    assert whole.stdout.decode().strip() == str(tmp_path / "whole" / "weights.txt.gz")
    run, draw, kills, errors = tmp_path / "run", random.Random(3), 0, b""
    while kills < 5:
        before = set(run.rglob("*"))
        process = subprocess.Popen(command(data, run, algorithm, 2), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 600  # it dies at work, not while it starts
        while set(run.rglob("*")) <= before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.3))
        if victim == "driver":
            process.kill()
        else:
            while process.poll() is None and not (found := children(process)):
                time.sleep(0.001)
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(draw.choice(found), signal.SIGKILL)
        errors += process.communicate()[1]
        finished = process.returncode == 0  # a mapper may die when its work is done
        kills += not finished
        if finished:
            shutil.rmtree(run)
    if victim == "mapper":
        assert b"a worker process was killed by SIGKILL" in errors
        assert b"Traceback" not in errors
    process = subprocess.run(command(data, run, algorithm, 2), capture_output=True, check=True)
    assert content(run) == content(tmp_path / "whole")


def test_patience_and_start_weights(tmp_path, data):
    config = config_of(data, epochs=8)
    train(config, tmp_path / "all", warn=lambda text: None)
    scores = [entry["devtest_bleu"] for entry in json.loads((tmp_path / "all/manifest.json").read_text())["epochs"]]
    train(replace(config, patience=2), tmp_path / "patient", warn=lambda text: None)
    manifest = json.loads((tmp_path / "patient" / "manifest.json").read_text())
    done = len(manifest["epochs"])
    assert done < 8, "the data shall make it stop"
    assert max(scores[done - 2 : done]) <= max(scores[: done - 2])
    assert all(max(scores[t - 2 : t]) > max(scores[: t - 2]) for t in range(3, done))
    assert manifest["chosen"] == scores.index(max(scores[:done])) + 1
    shard = Shard(data / "dev.shard")
    weights = Weights.read(data / "start.txt")
    decoder = ShardDecoder(shard, weights)
    lines = [decoder.translate(k) for k in range(len(shard))]
    assert list(read_lines(tmp_path / "all" / "epoch-000" / "devtest.txt.gz")) == lines
    bleu = sacrebleu.corpus_bleu(lines, [[shard.references(k)[0] for k in range(len(shard))]], tokenize="none")
    assert manifest["start"]["devtest_bleu"] == pytest.approx(bleu.score, abs=1e-9)


def test_training_that_does_harm_is_told(tmp_path, data):
    said = []
    harmful = config_of(data, epochs=1, epoch=EpochConfig(k=2, learn=LearnConfig("perceptron", eta=100.0)))
    good = tmp_path / "good.txt"
    train(config_of(data, epochs=8), tmp_path / "good", warn=lambda text: None)
    good.write_bytes(gzip.decompress((tmp_path / "good" / "weights.txt.gz").read_bytes()))
    train(replace(harmful, start=str(good)), tmp_path / "run", warn=said.append)
    assert any("no epoch is as good on devtest as the start weights" in text for text in said)


def test_another_configuration_is_refused_with_the_difference(tmp_path, data):
    train(config_of(data, epochs=1), tmp_path / "run", warn=lambda text: None)
    other = config_of(data, epochs=1, epoch=EpochConfig(k=20, learn=LearnConfig("perceptron", eta=0.5)))
    with pytest.raises(ConfigError, match=r"epoch\.learn\.eta: 0\.01 there, 0\.5 now"):
        train(other, tmp_path / "run")
    with pytest.raises(ConfigError, match=r"shards\.0"):
        train(config_of(data, epochs=1, shards=config_of(data).shards[::-1]), tmp_path / "run")
    train(config_of(data, epochs=3), tmp_path / "run", warn=lambda text: None)  # more epochs are welcome
    train(config_of(data, epochs=3), tmp_path / "whole", warn=lambda text: None)
    assert content(tmp_path / "run") == content(tmp_path / "whole")
    with pytest.raises(ConfigError, match="has 3 epochs already"):
        train(config_of(data, epochs=2), tmp_path / "run")
    weights = tmp_path / "run" / "epoch-002" / "weights.vec"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    with pytest.raises(InputError, match="checksum is wrong"):
        train(config_of(data, epochs=3), tmp_path / "run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(ConfigError, match=r"has thesis\.tex in it, which is not part of a training run"):
        train(config_of(data), tmp_path / "full")


def test_two_runs_do_not_share_a_directory(tmp_path, data):
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys, time\nfrom itersel.base.locks import alone\n"
         "with alone(sys.argv[1]):\n print('locked', flush=True)\n time.sleep(3600)", tmp_path / "run"],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout.readline() == b"locked\n"
        with pytest.raises(ConfigError, match="another run"):
            train(config_of(data), tmp_path / "run")
    finally:
        process.kill()
        process.communicate()


def test_guard_rails(tmp_path, data):
    empty = write_shard(tmp_path / "empty.shard", [], GRAMMAR)
    with pytest.raises(InputError, match=r"empty\.shard: the shard has no sentences"):
        train(config_of(data, shards=(empty,)), tmp_path / "1")
    with pytest.raises(ConfigError, match="sgd trains on one shard, but there are 4"):
        train(TrainConfig(config_of(data).shards, algorithm="sgd"), tmp_path / "2")
    foreign = write_shard(tmp_path / "foreign.shard", [("das haus", "la casa")], GRAMMAR)
    with pytest.raises(InputError, match="nothing can be learned"):
        train(config_of(data, shards=(foreign,)), tmp_path / "3")
    with pytest.raises(ConfigError, match="no shards"):
        train(TrainConfig(), tmp_path / "4")
    with pytest.raises(InputError, match="no such file"):
        train(TrainConfig(("nowhere/*.shard",)), tmp_path / "5")
    said = []
    easy = write_shard(tmp_path / "easy.shard", [X], PLAIN)
    train(TrainConfig((easy,), (easy,), epochs=2, epoch=STEP), tmp_path / "6", warn=said.append)
    assert any("selection.top is 100000, but only 2" in text for text in said)
    assert any(text.startswith("epoch 2: no update") for text in said)
    with pytest.raises(InputError, match="smaller learning rate"):
        train(config_of(data, epoch=EpochConfig(learn=LearnConfig("perceptron", eta=1e308))), tmp_path / "7")


@pytest.mark.parametrize(("name", "kind"), [("train", TrainConfig), ("rerank", RerankConfig)])
def test_the_shipped_configuration_shows_every_key_with_its_default(name, kind):
    root = Path(__file__).resolve().parents[3]
    defaults = dict(flat(asdict(kind())))
    defaults.pop("epoch.decoder.pass_through", None)  # is up to the shards
    defaults.pop("own", None)  # is called like the algorithm
    defaults.pop("keep_start", None)  # is for rerankers
    if defaults.pop("open_choices", "") is None:
        defaults |= {key: None for keys in OPEN_KEYS.values() for key in keys}  # chosen by the data
    assert dict(flat(read_yaml(root / "conf" / f"{name}.yaml"))) == defaults


def test_command_line_and_configuration(tmp_path, data, capsys):
    root = Path(__file__).resolve().parents[3]
    shard = str(data / "0.shard")
    arguments = ["train", str(root / "conf" / "train.yaml"), "--output", str(tmp_path / "run"), "--shards", shard]
    arguments += ["--epochs", "1", "--jobs", "2"]
    assert main(arguments) == 0
    assert main(["train", "--output", str(tmp_path / "run"), "--shards", shard, "--epochs", "1"]) == 0, "other defaults"
    assert json.loads((tmp_path / "run" / "run.json").read_text())["configuration"]["selection"]["top"] == 100_000
    capsys.readouterr()
    for wrong, message in {
        "epoch.k=many": "--set epoch.k=many: epoch.k is 'many'; give a whole number from 2 to 1,000,000",
        "epochs": "--set: not an assignment",
    }.items():
        assert main([*arguments, "--set", wrong]) == 2
        assert message in capsys.readouterr().err


ADAGRAD = LearnConfig(eta=0.05, batch=True, schedule="adagrad")


def test_the_account_of_adagrad_goes_where_the_weights_go(data, tmp_path):
    """The mean over the shards, of kept features, is where all shards start from; on any number of reducers."""
    epoch = EpochConfig(k=20, learn=replace(ADAGRAD, account="run"))
    config = config_of(data, epoch=epoch, start=None, devtest=())
    train(config, tmp_path / "one")
    train(replace(config, run=RunConfig("local", jobs=2, reducers=3)), tmp_path / "three")
    assert content(tmp_path / "one") == content(tmp_path / "three")
    shards, start, squares, names = [Shard(path) for path in config.shards], None, None, set()
    for number in range(config.epochs):
        results = [run_epoch(shard, start, None, epoch, number=number, account=squares) for shard in shards]
        names |= {name for one in results for name in one.names}
        start = iter_sel_sgd([one.weights for one in results], config.selection, names=NameTable(names))
        folder = tmp_path / "one" / f"epoch-{number + 1:03d}"
        assert (folder / "weights.vec").read_bytes() == start.to_bytes()
        squares = Vector.read(folder / "account.vec")
        every = [one.account.values_of(squares.ids) for one in results]
        assert squares.values == pytest.approx(sum(every) / len(shards), rel=1e-12)
        assert set(start.ids.tolist()) <= set(squares.ids.tolist())
    train(replace(config, epoch=EpochConfig(k=20, learn=ADAGRAD)), tmp_path / "forgotten")
    weights = [(tmp_path / name / "epoch-002" / "weights.vec").read_bytes() for name in ("one", "forgotten")]
    assert weights[0] != weights[1] and not list((tmp_path / "forgotten").rglob("account.vec"))


@pytest.mark.parametrize("account", ["epoch", "run"])
def test_the_account_of_adagrad_lasts_within_a_shard_of_several_files(data, tmp_path, account):
    """sgd over two files in a row, each epoch with the sums from before or without them."""
    epoch = EpochConfig(k=20, learn=replace(ADAGRAD, account=account))
    layout = LayoutConfig("sequential", shards=1)
    config = config_of(data, "mix_sgd", epoch=epoch, start=None, devtest=(), layout=layout, epochs=2)
    config = replace(config, shards=config.shards[:2])
    train(config, tmp_path / "run")
    weights, squares, ends = None, None, []
    for number in range(2):
        squares = squares if account == "run" else None
        for path in config.shards:
            before = number * 37 + (0 if path == config.shards[0] else 7)
            options = {"number": number, "lists_before": before, "account": squares}
            result = run_epoch(Shard(path), weights, None, epoch, **options)
            weights, squares = result.weights, result.account
        ends.append(weights)
    assert Vector.read(tmp_path / "run" / "epoch-002" / "weights.vec").to_bytes() == average(ends).to_bytes()


def test_what_rates_and_accounts_need(data, tmp_path):
    plain = LearnConfig(eta=0.05)
    for epoch, message in (
        (EpochConfig(learn=plain, rates={"dense": 0.5}), "rates needs batch: true"),
        (EpochConfig(learn=replace(plain, account="run")), "account is 'run', which needs schedule: adagrad"),
    ):
        with pytest.raises(ConfigError, match=message):
            train(config_of(data, epoch=epoch, start=None), tmp_path / "run")


def test_dense_weights_can_stay_as_they_are(data, tmp_path):
    """p and elsewhere keep their start values, up to the rounding of a mean; sparse weights are learned."""
    epoch = EpochConfig(k=20, learn=ADAGRAD, rates={"dense": 0.0})
    train(config_of(data, epoch=epoch, selection=SelectionConfig()), tmp_path / "run")
    for model in models(tmp_path / "run"):
        dense = {name: value for name, value in model.items() if not name.startswith(("R:", "RBS:", "RBT:", "Shape_"))}
        assert dense == pytest.approx({"p": -0.01, "elsewhere": 0.5}, rel=1e-14) and len(model) > 10


def test_identity_knows_domains_by_either_word():
    old, new = (load_train_config({"layout": {"kind": kind}}) for kind in ("tasks", "domains"))
    assert old == new and new.layout.kind == "domains"
    assert identity(old, [], []) == identity(new, [], [])
    assert identity(new, [], [])["layout.kind"] == "tasks", "runs of 0.1 can be resumed"


@pytest.mark.parametrize(
    ("algorithm", "key", "other"),
    [(name, "sections", "k") for name in ("mert", "avg_mert", "pro", "mira")]
    + [("hols", "line_search.sections", "line_search.k")],
)
def test_runs_from_before_there_were_sections_keep_their_identity(algorithm, key, other):
    made = [
        identity(load_train_config(Settings.of({"algorithm": algorithm}).override([f"{algorithm}.{one}"])), [], [])
        for one in (f"{other}=7", f"{key}=[R:X:ein_NX:a_N1]")
    ]
    assert made[0][f"own.{other}"] == 7 and f"own.{key}" not in made[0]
    assert made[1][f"own.{key}"] == ["R:X:ein_NX:a_N1"]


def test_paths_in_a_file_are_relative_to_the_file(tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "t.yaml").write_text("shards: [../s/*.itsh, /abs]\nrun: {store: hdfs://x/y}\nstart: w.txt\n")
    monkeypatch.chdir(tmp_path)
    made = load_train_config(Settings.read("conf/t.yaml").override(["devtest=[d.itsh]", "language_model=~/lm"]))
    assert made.shards == ("s/*.itsh", "/abs") and made.start == "conf/w.txt"
    assert made.devtest == ("d.itsh",) and made.language_model == os.path.expanduser("~/lm")
    assert made.run.store == "hdfs://x/y"


def test_settings_keep_the_other_defaults_of_their_group():
    settings = Settings.of({"epochs": 2}).override(["selection.norm=l1", "epoch.learn.pairs.kind=all"])
    made = load_train_config(settings)
    assert made == TrainConfig(
        epochs=2,
        selection=SelectionConfig("l1", top=100_000),
        epoch=EpochConfig(learn=LearnConfig(pairs=PairConfig(kind="all"))),
        open_choices=("rate", "metric", "shuffle"),
    )

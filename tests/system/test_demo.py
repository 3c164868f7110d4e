"""`itersel demo` as a user runs it: in full, its table; on a part of the corpus, the same figures however it ran."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sacrebleu
import yaml

from itersel.pipeline.demo import DEV, MODELS, TEST, TRAINED, demo_sources
from small_demo import TINY, write_small_demo

ROOT = Path(__file__).resolve().parents[2]


def command(output: Path, sources: Path = ROOT, jobs: int = 2) -> list[str]:
    options = ["--output", output, "--sources", sources, "--jobs", jobs]
    return [sys.executable, "-m", "itersel", "demo", *map(str, options)]


def run(output: Path, sources: Path = ROOT, jobs: int = 2) -> str:
    done = subprocess.run(command(output, sources, jobs), capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """Sources with a part of the corpus, and fewer epochs."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(ROOT / "conf", folder / "conf")
    write_small_demo(folder / "data" / "demo", **TINY)
    for training in TRAINED:
        path = folder / "conf" / training.configuration
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"epochs": 2}))
    return folder


@pytest.fixture(scope="module")
def once(small, tmp_path_factory) -> Path:
    output = tmp_path_factory.mktemp("once") / "demo"
    run(output, small, jobs=1)
    return output


def figures(output: Path) -> dict[str, bytes]:
    """Everything the demo found out. The report has times in it; its figures come from the evaluation."""
    names = ["evaluation.json", *(f"test/{one.folder}.txt" for one in MODELS)]
    names += [f"runs/{one.folder}/{name}" for one in TRAINED for name in ("weights.vec", "weights.txt.gz")]
    return {name: (output / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> tuple[str, Path]:
    """What the demo says with the whole corpus, and its folder."""
    output = tmp_path_factory.mktemp("full") / "demo"
    return run(output), output


@pytest.mark.slow
def test_the_table(full):
    """IterSelSGD on train beats SGD on dev, both beat hand-set weights, and all beat untuned ones: significantly."""
    said, output = full
    evaluation = json.loads((output / "evaluation.json").read_text())
    references = (output / "text" / "test.reference.0").read_text().splitlines()
    bleu = {}
    for one in MODELS:
        texts = (output / TEST / f"{one.folder}.txt").read_text().splitlines()
        bleu[one.name] = sacrebleu.corpus_bleu(texts, [references], tokenize="none", force=True).score
    assert list(bleu) == ["untuned weights", "hand-set weights", "SGD", "IterSelSGD"]
    assert sorted(bleu, key=lambda name: bleu[name]) == list(bleu)
    lines = {line.split("  ")[0]: line.split() for line in said.splitlines()}
    for name, value in bleu.items():
        assert f"{value:.2f}" in lines[name]
    tests = {(one["first"], one["second"]): one for one in evaluation["comparisons"] if one["metric"] == "bleu"}
    assert len(tests) == 6
    for one in tests.values():
        assert one["difference"] > 0 and one["randomization"]["p"] < 0.05
    report = Path(said.split()[-1])
    assert report == output / "report.html"
    page = report.read_text().partition('id="data">')[2].partition("</script>")[0]
    assert [run["name"] for run in json.loads(page)["runs"]] == [one.name for one in TRAINED], "as in the evaluation"


@pytest.mark.slow
def test_same_figures_with_more_processes(small, once, tmp_path):
    first = figures(once)
    run(tmp_path / "demo", small, jobs=2)
    assert figures(tmp_path / "demo") == first


@pytest.mark.slow
def test_a_second_run_does_nothing_new(small, once, tmp_path):
    before = figures(once)
    shutil.copytree(once, tmp_path / "demo")
    weights = tmp_path / "demo" / "runs" / "select" / "epoch-002" / "weights.vec"
    made = weights.stat().st_mtime_ns
    run(tmp_path / "demo", small)
    assert figures(tmp_path / "demo") == before
    assert weights.stat().st_mtime_ns == made


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["stages/shard.train.json", "runs/select/epoch-001/weights.vec"])
def test_killed_and_started_again(small, once, tmp_path, moment):
    process = subprocess.Popen(command(tmp_path / "demo", small), stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 3600
    while not (tmp_path / "demo" / moment).exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    run(tmp_path / "demo", small)
    assert figures(tmp_path / "demo") == figures(once)


def learn_particles(output: Path, folder: Path) -> list[dict]:
    """The task of docs/response.md, on what a demo has built; returns what each epoch counted."""
    data = {
        "shards": f"[{output}/shards/dev/*.itsh]",
        "language_model": f"{output}/model/lm.arpa.gz",
        "response.files.gold": f"{output}/text/dev.reference.0",
    }
    options = [text for key, value in data.items() for text in ("--set", f"{key}={value}")]
    command = ["train", str(ROOT / "conf" / "demo-response.yaml"), "--output", str(folder), *options]
    done = subprocess.run([sys.executable, "-m", "itersel", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "success" in done.stdout + done.stderr
    lines = [json.loads(line) for line in (folder / "statistics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["shard"] is None]


def test_a_task_of_ones_own(once, tmp_path):
    epochs = learn_particles(once, tmp_path / "run")
    assert len(epochs) == 5
    assert all(line["questions"] > 0 and 0 < line["successes"] < line["lists"] for line in epochs)


@pytest.mark.slow
def test_the_task_is_learned(full, tmp_path):
    """More sentences of the test set keep their particles than with the start weights."""
    _, output = full
    epochs = learn_particles(output, tmp_path / "run")
    assert epochs[0]["successes"] < epochs[-1]["successes"]
    gold = output / "text" / "test.reference.0"
    kept = []
    for name, weights in (("start", ROOT / "conf" / "demo-untuned.txt"), ("learned", tmp_path / "run")):
        options = ["--weights", weights, "--lm", output / "model" / "lm.arpa.gz", "--pop-limit", 30]
        command = ["translate", output / "shards" / "test", *options, "--output", tmp_path / name]
        subprocess.run([sys.executable, "-m", "itersel", *map(str, command)], check=True)
        texts = (tmp_path / name).read_text().splitlines()
        asked = "".join(json.dumps({"sentence": str(i), "hypothesis": text}) + "\n" for i, text in enumerate(texts))
        check = [sys.executable, str(ROOT / "conf" / "keep_particle.py"), str(gold)]
        answers = subprocess.run(check, input=asked, capture_output=True, text=True, check=True).stdout
        kept.append(sum(json.loads(line)["success"] for line in answers.splitlines()))
    assert kept[0] < kept[1], kept


def test_without_sources(tmp_path):
    done = subprocess.run(command(tmp_path / "demo", tmp_path), capture_output=True, text=True)
    assert done.returncode == 2
    assert "no conf/demo.yaml" in done.stderr and "--sources" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "demo").exists()


def test_sources_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert demo_sources() == ROOT


def test_no_processes(tmp_path):
    done = subprocess.run(command(tmp_path / "demo", jobs=0), capture_output=True, text=True)
    assert (done.returncode, "--jobs: 0 is not a number of processes" in done.stderr) == (2, True)


def test_dense_features_only_in_the_dense_run():
    settings = yaml.safe_load((ROOT / "conf" / TRAINED[0].configuration).read_text())
    assert TRAINED[0].data == DEV and set(settings["epoch"]["leave_out"]) == {"R:*", "RBS:*", "RBT:*", "Shape_*"}

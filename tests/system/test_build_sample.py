"""`itersel build` on the sample corpus, as a user runs it: skipping, rerunning, and being killed at any moment."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from inspected import check_every_file
from same_files import assert_same_files, files_of_build

from itersel.shards.folder import check_folder

ROOT = Path(__file__).resolve().parents[2]
# A small effort and few rules: the stages are the same.
FAST = ["align.effort=0.1", "lm.folds=0", "extract.max_samples=10", "extract.max_symbols=3", "shards.features=dense"]
STAGES = ["prepare.train", "prepare.dev", "prepare.test", "align", "lm", "index"]
STAGES += ["shard.train", "shard.devtest", "shard.dev", "shard.test"]


def command(configuration: Path, work: Path, *more: str) -> list[str]:
    overrides = [f"work={work}", *FAST, *more]
    build = [sys.executable, "-m", "itersel", "build", str(configuration)]
    return build + [part for override in overrides for part in ("--set", override)]


def run(configuration: Path, work: Path, *more: str) -> dict[str, str]:
    """Build; what the table says of each stage."""
    done = subprocess.run(command(configuration, work, *more), cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n\n")[0].splitlines()[1:]
    return {line.split()[0]: line.split()[-1] for line in lines}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    work = tmp_path_factory.mktemp("built") / "work"
    assert run(ROOT / "conf" / "sample.yaml", work) == dict.fromkeys(STAGES, "done")
    return work


def test_a_second_run_skips_everything(built):
    before = files_of_build(built)
    assert run(ROOT / "conf" / "sample.yaml", built) == dict.fromkeys(STAGES, "skipped")
    assert_same_files(files_of_build(built), before)
    assert [len(record.sentences) for record in check_folder(built / "shards" / "train")] == [140] * 4
    assert (built / "text" / "dev.source").read_text().islower()


def test_time_stamps_and_content(built, tmp_path):
    """The corpus, configuration and results moved elsewhere are still current; then one file changes."""
    shutil.copytree(ROOT / "data" / "sample", tmp_path / "data" / "sample")
    (tmp_path / "conf").mkdir()
    configuration, work = tmp_path / "conf" / "sample.yaml", tmp_path / "work"
    shutil.copy(ROOT / "conf" / "sample.yaml", configuration)
    shutil.copytree(built, work)
    for path in tmp_path.rglob("*"):
        os.utime(path)
    assert run(configuration, work) == dict.fromkeys(STAGES, "skipped")
    path = tmp_path / "data" / "sample" / "dev.en"
    path.write_text(path.read_text().replace("garden", "park"))
    again = {name for name, state in run(configuration, work).items() if state == "done"}
    assert again == {"prepare.dev", "shard.dev"}
    assert "park" in (work / "text" / "dev.reference.0").read_text()
    again = {name for name, state in run(configuration, work, "lm.order=4").items() if state == "done"}
    assert again == {"lm"}


def test_workers_of_a_killed_run_are_waited_for(built, tmp_path):
    work = tmp_path / "work"
    arguments = command(ROOT / "conf" / "sample.yaml", work, "jobs=2")
    process = subprocess.Popen(arguments, cwd=ROOT, stderr=subprocess.DEVNULL)
    while not in_stage("shard.train")(work) and process.poll() is None:
        time.sleep(0.002)
    time.sleep(0.3)
    process.kill()  # not its workers, which are in the middle of their shards
    process.wait()
    run(ROOT / "conf" / "sample.yaml", work)
    assert_same_files(files_of_build(work), files_of_build(built))


def in_stage(name: str) -> Callable[[Path], bool]:
    """When the stage before this one is complete."""
    before = STAGES[STAGES.index(name) - 1]
    return lambda work: (work / "stages" / f"{before}.json").exists()


@pytest.mark.parametrize(
    "moment",
    [
        lambda work: work.exists(),
        in_stage("align"),
        in_stage("shard.train"),
        lambda work: any(work.glob("shards/train/.shard.*.tmp")) or (work / "shards/train/shard.0000.itsh").exists(),
        lambda work: (work / "shards/train/shard.0002.itsh").exists(),
        in_stage("shard.test"),
    ],
    ids=["start", "align", "shards", "first shard", "third shard", "last stage"],
)
def test_killed_and_started_again(built, tmp_path, moment):
    work = tmp_path / "work"
    arguments = command(ROOT / "conf" / "sample.yaml", work, "jobs=1")
    process = subprocess.Popen(arguments, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 1800
        while not moment(work) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run(ROOT / "conf" / "sample.yaml", work)
    assert_same_files(files_of_build(work), files_of_build(built))
    assert set(run(ROOT / "conf" / "sample.yaml", work).values()) == {"skipped"}


def test_inspect_knows_every_file(built, capsys):
    expected = {
        ".": "folder",
        "*.itersel-folder": "mark of a folder",
        "build.json": "record of a build",
        "stages/*.json": "record of a build's stage",
        "model/alignment": "word alignment",
        "model/index": "index of a bitext",
        "model/lm.arpa.gz": "language model",
        "model/lm.bin": "language model",
        "model/lm.seen": "sentences that a language model has seen",
        "shards/*/manifest.json": "manifest of shards",
        "shards/*/shard.*.itsh": "shard",
        "text/*.source": "text",
        "text/*.reference.0": "text",
        "text/*.tasks": "labels",
        "text/*.lines": "line numbers",
        "*[!.]*": "folder",
    }
    check_every_file(built, expected, capsys)

"""The job `extract_shards` on its runners: the bytes of a single process, and guards against doubled shards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from itersel.base.errors import ConfigError, ResourceError
from itersel.cli import main
from itersel.grammar.extraction import ExtractOptions, build_index
from itersel.shards.compiler import ShardOptions
from itersel.shards.settings import format_settings, open_compiler, single_record

ROOT = Path(__file__).resolve().parents[2]
RULES = ExtractOptions(leave_one_out=True, max_samples=50)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """Lines of the sample corpus, aligned position by position, which is enough to have rules."""
    folder = tmp_path_factory.mktemp("corpus")
    columns = {
        name: (ROOT / "data" / "sample" / f"train.{name}").read_text().splitlines()[:40]
        for name in ("de", "en", "domain")
    }
    for name, lines in columns.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    with open(folder / "align", "w") as stream:
        for source, target in zip(columns["de"], columns["en"], strict=True):
            shorter = min(len(source.split()), len(target.split()))
            stream.write(" ".join(f"{i}-{i}" for i in range(shorter)) + "\n")
    build_index(folder / "de", folder / "en", folder / "align", folder / "index")
    assert shard(folder, "--output", str(folder / "single")) == 0
    return folder


def shard(folder: Path, *options: str) -> int:
    files = {name: str(folder / name) for name in ("de", "en", "domain", "index")}
    arguments = ["--sentences", files["de"], "--references", files["en"], files["de"], "--tasks", files["domain"]]
    arguments += [
        "--index",
        files["index"],
        "--layout",
        "tasks",
        "--size",
        "8",
        "--leave-one-out",
        "--max-samples",
        "50",
    ]
    return main(["shard", *arguments, *options])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run_by_hand(corpus: Path, runner: str, plan: Path, output: Path) -> subprocess.CompletedProcess:
    arguments = [sys.executable, "jobs/extract_shards.py", "-r", runner, "--no-conf", "--index", corpus / "index"]
    arguments += ["--sentences", corpus / "de", "--references", corpus / "en", "--references", corpus / "de"]
    arguments += ["--tasks", corpus / "domain", "--settings", format_settings(RULES, ShardOptions())]
    arguments += ["--output-folder", output, plan]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(list(map(str, arguments)), cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_by_hand(corpus, tmp_path, capsys, runner):
    plan, output = tmp_path / "plan.jsonl", tmp_path / "out"
    assert shard(corpus, "--plan", str(plan)) == 0
    done = run_by_hand(corpus, runner, plan, output)
    assert done.returncode == 0, done.stderr
    records = dict(map(json.loads, line.split("\t")) for line in done.stdout.splitlines())
    single = contents(corpus / "single")
    assert {name: content for name, content in contents(output).items() if not name.endswith(".json")} == {
        name: content for name, content in single.items() if name != "manifest.json"
    }
    manifest = json.loads(single["manifest.json"])
    assert {one["name"]: one["checksum"] for one in manifest["shards"]} == {
        name: record["checksum"] for name, record in records.items()
    }
    # The plain command then finds all shards made and writes the manifest.
    capsys.readouterr()
    assert shard(corpus, "--output", str(output)) == 0
    assert " 0 shards made" in capsys.readouterr().out
    assert contents(output) == single


@pytest.mark.parametrize("runner", ["inline", "local"])
def test_launched(corpus, tmp_path, runner):
    assert shard(corpus, "--output", str(tmp_path / "out"), "--runner", runner) == 0
    assert contents(tmp_path / "out") == contents(corpus / "single")
    (tmp_path / "out" / "shard.0001.itsh").unlink()
    assert shard(corpus, "--output", str(tmp_path / "out"), "--runner", runner) == 0
    assert contents(tmp_path / "out") == contents(corpus / "single")


def test_a_doubled_line_fails(corpus, tmp_path):
    plan = tmp_path / "plan.jsonl"
    assert shard(corpus, "--plan", str(plan)) == 0
    lines = plan.read_text().splitlines()
    plan.write_text("\n".join([*lines, lines[0]]) + "\n")
    done = run_by_hand(corpus, "inline", plan, tmp_path / "out")
    assert done.returncode != 0
    assert "shard.0000.itsh was made 2 times" in done.stderr


def test_other_side_files_fail(corpus, tmp_path):
    plan = tmp_path / "plan.jsonl"
    assert shard(corpus, "--max-span", "7", "--plan", str(plan)) == 0
    done = run_by_hand(corpus, "inline", plan, tmp_path / "out")
    assert done.returncode != 0
    assert "not those the shards were planned with" in done.stderr
    assert not (tmp_path / "out").exists()


def test_needs_an_index(corpus, tmp_path, capsys):
    files = ["--sentences", str(corpus / "de"), "--references", str(corpus / "en"), "--output", str(tmp_path)]
    assert main(["shard", *files, "--runner", "inline"]) == 2
    assert "Give --index" in capsys.readouterr().err


def test_settings(corpus):
    with pytest.raises(ConfigError, match="unknown key 'other'"):
        open_compiler("index", "f", [], None, '{"other": 1}')
    with pytest.raises(ConfigError, match="not settings"):
        open_compiler("index", "f", [], None, '{"rules": {"colour": 1}}')
    assert single_record("a", [{"name": "a"}]) == {"name": "a"}
    with pytest.raises(ResourceError, match="a was made 2 times"):
        single_record("a", [{}, {}])


def test_a_failing_map_task_is_an_error_of_the_command(corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ITERSEL_JOBS", str(tmp_path))
    assert shard(corpus, "--output", str(tmp_path / "out"), "--runner", "inline") == 2
    assert "there is no job" in capsys.readouterr().err
    monkeypatch.delenv("ITERSEL_JOBS")
    (tmp_path / "file").write_text("")
    assert shard(corpus, "--output", str(tmp_path / "file"), "--runner", "inline") != 0
    assert "error: " in capsys.readouterr().err

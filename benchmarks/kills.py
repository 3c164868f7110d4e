"""Kill commands with SIGKILL at random moments, run them again, and compare what they leave with undisturbed runs.

    python benchmarks/kills.py [--kills 100] [--seed 1] [--folder DIR]

`build`, `extract`, `train` and `rerank train` work on the corpus in data/sample with two processes each. The driver or
one of its workers is killed, several times per output folder, at moments that are drawn between the start and the usual
end. Then the same command runs to its end. Prints how many kills there were, how many output files differ from those of
an undisturbed run or were left over, and how many processes outlived their driver.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "ITERSEL_BENCHMARK_KILLS"
KILLS_PER_FOLDER = 5
PATIENCE = 60.0
"""Seconds after which a process counts as one that outlived its driver; a busy machine takes some time to end one."""
# Times, and what belongs to the process that wrote it.
NOT_COMPARED = {"statistics.jsonl", ".lock", "run.json"}


@dataclass(frozen=True)
class Task:
    """A command that can be resumed; `{output}` stands for its folder."""

    name: str
    arguments: tuple[str, ...]

    def command(self, output: Path) -> list[str]:
        return [sys.executable, "-m", "itersel", *(one.replace("{output}", str(output)) for one in self.arguments)]


def tasks(made: Path) -> list[Task]:
    """All commands; the later ones work on what the first made, undisturbed, in `made`."""
    shards, text, model = made / "shards", made / "text", made / "model"
    return [
        Task("build", ("build", str(ROOT / "conf/sample.yaml"), "--set", "work={output}", "--set", "jobs=2")),
        Task(
            "extract",
            (
                "extract",
                "--index",
                str(model / "index"),
                "--sentences",
                str(text / "train.source"),
                "--leave-one-out",
                "--jobs",
                "2",
                "--output",
                "{output}",
            ),
        ),
        Task(
            "train",
            (
                "train",
                str(made / "train.yaml"),
                "--shards",
                str(shards / "dev/*.itsh"),
                "--set",
                "layout.shards=4",
                "--devtest",
                str(shards / "devtest/*.itsh"),
                "--epochs",
                "3",
                "--jobs",
                "2",
                "--output",
                "{output}",
            ),
        ),
        Task(
            "rerank",
            (
                "rerank",
                "train",
                "--lists",
                str(made / "dev.kbest"),
                "--references",
                str(text / "dev.reference.0"),
                "--shards",
                "4",
                "--epochs",
                "8",
                "--jobs",
                "2",
                "--output",
                "{output}",
            ),
        ),
    ]


def start(task: Task, output: Path, token: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {MARK: token}
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(task.command(output), env=environment, start_new_session=True, **quiet)  # type: ignore[call-overload,no-any-return]


def finish(task: Task, output: Path) -> float:
    """Run the command to its end; what it takes, in seconds."""
    begun = time.monotonic()
    process = start(task, output, "finish")
    said = process.communicate()[1]
    if process.returncode:
        sys.exit(f"{' '.join(task.command(output))} ended with {process.returncode}:\n{said.decode()}")
    return time.monotonic() - begun


def processes(token: str) -> Iterator[int]:
    """Living processes that were started with the token; their environment says so."""
    wanted = f"{MARK}={token}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            if state not in "ZX" and wanted in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
        except OSError:
            continue


def disturb(task: Task, output: Path, moment: float, worker: bool, generator: random.Random, token: str) -> str | None:
    """Start the command and kill it, or one of its workers; who was killed, or None if the command had ended."""
    process = start(task, output, token)
    assert process.stderr is not None
    end = time.monotonic() + moment
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.005)
    victim = process.pid
    while worker and process.poll() is None:
        others = sorted(pid for pid in processes(token) if pid != process.pid)
        if others:
            victim = generator.choice(others)
            break
    killed = process.poll() is None
    if killed:
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            killed = False
    process.stderr.read()
    process.wait()
    process.stderr.close()
    return ("worker" if victim != process.pid else "driver") if killed else None


def outlived(token: str) -> int:
    """How many processes are still there when they have had time to end; those are ended now."""
    deadline = time.monotonic() + PATIENCE
    while (left := list(processes(token))) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return len(left)


def content(folder: Path) -> dict[str, str]:
    """Checksums of all files that must not depend on when they were made."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in NOT_COMPARED and path.parent.name != "stages"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep the work here (default: a temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills-") as temporary:
        run(arguments.kills, arguments.seed, Path(arguments.folder or temporary).resolve())


def run(wanted: int, seed: int, folder: Path) -> None:
    generator = random.Random(seed)
    made = folder / "undisturbed-build"
    every = tasks(made)
    usual, expected = {}, {}
    for task in every:
        output = folder / f"undisturbed-{task.name}"
        usual[task.name] = finish(task, output)
        expected[task.name] = content(output)
        if task.name == "build":
            prepare(made)
            print(f"undisturbed {task.name}: {usual[task.name]:.1f} s", flush=True)
    counts: Counter[str] = Counter()
    number = different = orphans = 0
    while sum(counts.values()) < wanted:
        task = every[number % len(every)]
        number += 1
        output = folder / f"disturbed-{number}"
        for attempt in range(KILLS_PER_FOLDER):
            if sum(counts.values()) == wanted:
                break
            token = f"{number}-{attempt}"
            worker = generator.random() < 0.5
            moment = generator.uniform(0.02, 0.9) * usual[task.name]
            fresh, begun = not output.exists(), time.monotonic()
            who = disturb(task, output, moment, worker, generator, token)
            if who is None:  # the machine is less busy than before
                usual[task.name] = time.monotonic() - begun if fresh else usual[task.name]
                shutil.rmtree(output)
            else:
                counts[f"{task.name}, {who}"] += 1
            orphans += outlived(token)
        finish(task, output)
        found = content(output)
        wrong = sorted(
            name
            for name in found.keys() | expected[task.name].keys()
            if found.get(name) != expected[task.name].get(name)
        )
        different += len(wrong)
        print(f"{task.name}: {sum(counts.values())} kills so far, differences: {wrong or 'none'}", flush=True)
        if not wrong:
            shutil.rmtree(output)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    print(f"kills: {sum(counts.values())}\ndifferent: {different}\norphans: {orphans}")


def prepare(made: Path) -> None:
    """The inputs of the other commands: a training configuration and k-best lists, made of the finished build."""
    (made / "train.yaml").write_text(
        f"language_model: {made / 'model/lm.arpa.gz'}\nalgorithm: iter_sel_sgd\nselection: {{top: 5000}}\n"
        "layout: {kind: random}\n"
    )
    (made / "weights").write_text("LanguageModel 1\nWordPenalty -0.5\nEgivenFCoherent -0.5\nPassThrough -5\n")
    grammars = made / "grammars"
    for command in (
        ("extract", "--index", "model/index", "--sentences", "text/dev.source", "--output", str(grammars)),
        (
            "translate",
            "text/dev.source",
            "--grammars",
            str(grammars),
            "--weights",
            "weights",
            "--lm",
            "model/lm.arpa.gz",
            "--kbest",
            "50",
            "--output",
            "dev.kbest",
        ),
    ):
        subprocess.run([sys.executable, "-m", "itersel", *command], cwd=made, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

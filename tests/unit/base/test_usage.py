"""What work took: laps, sums with gaps, memory of processes, and the commit of the code."""

import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import itersel.base.version
from itersel.base import usage
from itersel.base.usage import Stopwatch, Usage, cpu_seconds, peak_megabytes, total


def test_laps_leave_nothing_out(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(usage.time, "monotonic", lambda: now[0])
    watch, laps = Stopwatch(), []
    for later in (103.5, 110.0, 110.0, 200.25):
        now[0] = later
        laps.append(watch.lap(jobs=3))
    assert [one.wall_seconds for one in laps] == [3.5, 6.5, 0.0, 90.25]
    assert {one.jobs for one in laps} == {3}
    assert total(laps).wall_seconds == 200.25 - 100.0


def test_total_of_known_and_unknown():
    known = [Usage(1.5, 200, 1, "a", 2.0), Usage(2.25, 100, 4, "b", 0.5), Usage(0.0, 150, 1, "a", 0.0)]
    assert total(known) == Usage(3.75, 200, 4, "a, b", 2.5)
    assert total([*known, Usage.of({})]) == Usage(None, None, None, "a, b, unknown")
    assert total([*known, Usage.of({"wall_seconds": 1.0, "commit": None})]) == Usage(4.75, None, None, "a, b, unknown")


def hold(megabytes):
    memory = bytearray(megabytes << 20)
    memory[:: 1 << 12] = b"x" * len(memory[:: 1 << 12])


def test_peak_is_that_of_the_largest_process():
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    before = peak_megabytes()
    assert before >= own // 1024 - 1
    child = multiprocessing.get_context("fork").Process(target=hold, args=(before + 100,))
    child.start()
    child.join()
    assert peak_megabytes() >= before + 100


def work(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_processor_time_of_this_process_and_of_those_that_ended():
    watch, before = Stopwatch(), cpu_seconds()
    work(0.1)
    child = multiprocessing.get_context("fork").Process(target=work, args=(0.2,))
    child.start()
    child.join()
    assert cpu_seconds() - before >= 0.29 and watch.lap(jobs=1).cpu_seconds >= 0.29  # rounded to milliseconds


@pytest.fixture
def tree(tmp_path):
    """A copy of the module in a folder below a tree of its own, and a way to ask it."""
    (tmp_path / "base").mkdir()
    module = Path(shutil.copy(itersel.base.version.__file__, tmp_path / "base" / "version.py"))

    def ask():
        command = [sys.executable, "-B", "-c", "import version; print(version.commit())"]  # -B: the tree stays as it is
        return subprocess.run(command, cwd=module.parent, check=True, capture_output=True, text=True).stdout.strip()

    return module, ask


def git(folder, *arguments):
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_commit_is_that_of_the_source_tree(tree):
    module, ask = tree
    folder = module.parents[1]
    assert ask() == "None"
    git(folder, "init")
    (folder / "other").write_text("x")
    git(folder, "add", "other")
    git(folder, "commit", "-m", "x")
    assert ask() == "None"  # as of a package installed inside another project's tree
    git(folder, "add", "base")
    git(folder, "commit", "-m", "y")
    assert ask() == git(folder, "rev-parse", "HEAD")
    os.utime(module, ns=(1, 1))  # an index that `git status` would write anew
    index = (folder / ".git" / "index").read_bytes()
    assert ask() == git(folder, "rev-parse", "HEAD")
    assert (folder / ".git" / "index").read_bytes() == index  # nothing is locked or written
    module.write_text(module.read_text() + "\n")
    assert ask() == git(folder, "rev-parse", "HEAD") + "+"

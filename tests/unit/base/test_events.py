"""What goes to standard error: plain lines, or nothing but JSON lines; and exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from itersel.base import events
from itersel.base.errors import InputError
from itersel.base.progress import Progress, track
from itersel.base.version import __version__
from itersel.cli import build_parser, main


@pytest.fixture(autouse=True)
def plain_again():
    yield
    events.configure()


def lines_of(capsys):
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def run(*arguments, **options):
    command = [sys.executable, "-m", "itersel", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=1200, **options)


def test_plain_text_is_for_people(capsys):
    events.configure(verb="train")
    events.warn("it smells")
    events.note("all is well")
    events.fail(InputError("no number", where="file:3", hint="Give one."))
    assert capsys.readouterr().err == (
        "itersel train: warning: it smells\nall is well\nitersel train: error: file:3: no number\n  Give one.\n"
    )


def test_events_are_json_lines(capsys):
    events.configure(json=True, verb="train")
    events.warn("it smells")
    events.note("two\nlines")
    events.fail(InputError("no number", where="file:3", hint="Give one."))
    found = lines_of(capsys)
    for one in found:
        assert one.pop("verb") == "train"
        assert one.pop("time").endswith("Z")
    assert found == [
        {"event": "warning", "message": "it smells"},
        {"event": "note", "message": "two\nlines"},
        {"event": "error", "message": "no number", "where": "file:3", "hint": "Give one."},
    ]


def test_progress_is_an_event(capsys, monkeypatch):
    events.configure(json=True, verb="lm")
    monkeypatch.setattr("itersel.base.progress.EVENT_INTERVAL", 0.0)
    assert list(track(range(3), "reading", 3)) == [0, 1, 2]
    found = lines_of(capsys)
    assert [(one["event"], one["stage"], one["done"], one["total"], one["finished"]) for one in found] == [
        ("progress", "reading", 1, 3, False),
        ("progress", "reading", 2, 3, False),
        ("progress", "reading", 3, 3, False),
        ("progress", "reading", 3, 3, True),
    ]
    with pytest.raises(KeyError), Progress("broken"):
        raise KeyError
    assert lines_of(capsys) == []


def test_a_whole_command_speaks_json_only(tmp_path):
    (tmp_path / "text").write_text("a b\na c\n")
    for arguments in (("--log-json", "lm"), ("lm", "--log-json")):
        done = run(*arguments, "--text", tmp_path / "text", "--order", "2", "--output", tmp_path / "lm.arpa")
        assert done.returncode == 0
        found = [json.loads(line) for line in done.stderr.splitlines()]
        assert [found[0]["event"], found[0]["version"], found[-1]["event"], found[-1]["code"]] == [
            "start",
            __version__,
            "end",
            0,
        ]
        assert {"progress", "warning", "note"} <= {one["event"] for one in found} <= set(events.EVENTS)
        assert all(one["verb"] == "lm" for one in found)


def test_the_option_may_stand_anywhere():
    words = ["rerank", "apply", "--weights", "w"]
    for place in range(len(words) + 1):
        if place != 3:  # not between an option and its value
            given = [*words[:place], "--log-json", *words[place:]]
            assert build_parser().parse_args(given).log_json is True
    assert build_parser().parse_args(words).log_json is False


def test_wrong_usage_and_bad_input_are_events_with_code_2(tmp_path):
    done = run("--log-json", "lm", "--order", "three")
    assert done.returncode == 2
    first, last = map(json.loads, done.stderr.splitlines())
    assert (first["event"], last["event"], last["code"]) == ("error", "end", 2)
    assert "required" in first["message"] or "invalid" in first["message"]
    done = run("--log-json", "lm", "--text", tmp_path / "absent", "--output", tmp_path / "lm")
    assert done.returncode == 2
    found = [json.loads(line) for line in done.stderr.splitlines()]
    error = next(one for one in found if one["event"] == "error")
    assert error["where"] == str(tmp_path / "absent")
    assert found[-1]["code"] == 2


def test_a_defect_is_an_event_with_code_1(capsys, monkeypatch):
    monkeypatch.setattr("itersel.cli.completion.script", lambda *_: 1 / 0)
    assert main(["--log-json", "completion", "bash"]) == 1
    error, end = lines_of(capsys)[1:]
    assert "ZeroDivisionError" in error["message"] and end["code"] == 1


def test_exit_codes(tmp_path):
    assert run("--version").returncode == 0
    assert run("--help").returncode == 0
    assert run().returncode == 2
    assert run("sing").returncode == 2
    assert run("lm", "--text", tmp_path / "absent", "--output", tmp_path / "lm").returncode == 2
    unwritable = run("lm", "--text", __file__, "--output", "/proc/absent/lm")
    assert unwritable.returncode == 2
    assert "cannot write" in unwritable.stderr


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("log", [[], ["--log-json"]])
def test_exit_codes_of_signals(tmp_path, sent, code, log):
    fifo = tmp_path / "text"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "itersel", *log, "lm", "--text", str(fifo), "--output", str(tmp_path / "lm")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        with open(fifo, "w") as stream:  # opens when the command reads
            stream.write("a b\n")
            stream.flush()
            time.sleep(0.2)
            process.send_signal(sent)
            assert process.wait(600) == code
        error = process.stderr.read()
    assert "Traceback" not in error
    if log:
        assert json.loads(error.splitlines()[-1])["code"] == code
    assert not (tmp_path / "lm").exists() and list(tmp_path.iterdir()) == [fifo]


def test_a_dead_worker_is_code_1(tmp_path):
    """One of two translating processes is killed before the input has come to its end."""
    (tmp_path / "grammar").write_text("[X] ||| a ||| b ||| f=1\n")
    (tmp_path / "weights").write_text("f 1\n")
    os.mkfifo(tmp_path / "input")
    command = [sys.executable, "-m", "itersel", "translate", str(tmp_path / "input"), "--jobs", "2"]
    command += ["--grammar", str(tmp_path / "grammar"), "--weights", str(tmp_path / "weights")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        with open(tmp_path / "input", "w") as stream:  # opens when the command reads
            stream.write("a\n")
            stream.flush()
            children = []
            while len(children) < 2:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.05)
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(int(children[0]), signal.SIGKILL)
            assert process.wait(600) == 1
        assert "a worker process was killed by SIGKILL" in process.stderr.read()


def test_a_pipe_is_read_once(tmp_path):
    """Nothing of it is lost by looking at what kind of file it is."""
    (tmp_path / "grammar").write_text("[X] ||| a ||| b ||| f=1\n")
    (tmp_path / "weights").write_text("f 1\n")
    (tmp_path / "input").write_text("a\na a\n" * 3000)
    shell = f"{sys.executable} -m itersel translate <(cat input) --grammar grammar --weights weights"
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "b\nb b\n" * 3000


def test_version_tells_how_the_kernel_was_built():
    text = run("--version").stdout
    assert text.startswith(f"itersel {__version__} (build ")
    for word in (
        "\nkernel: ",
        "-std=c++17",
        "KenLM",
        "n-grams up to 6",
        f"Python {sys.version.split()[0]}",
        "numpy",
        "sacrebleu",
    ):
        assert word in text


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["train", "--help"], ["completion", "bash"]])
def test_a_reader_that_left_is_no_failure(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "itersel", *arguments]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, b"")

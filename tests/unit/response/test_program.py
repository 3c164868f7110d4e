"""External responses: questions and answers, side by side, and programs that crash, hang or answer nonsense."""

import os
import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from itersel.base.config import build
from itersel.base.errors import ConfigError, InputError
from itersel.response import opening
from itersel.response.config import ResponseConfig
from itersel.response.opening import open_response
from itersel.response.program import ProgramResponse
from itersel.response.protocol import Outcome, outcomes

SCRIPT = Path(__file__).parents[2] / "jobs" / "toy_response.py"


def program(code, **options):
    return ProgramResponse([sys.executable, "-c", f"import sys, json, time, os\n{code}"], "c", **options)


ECHO = "for line in sys.stdin: print(json.dumps('yes' in line), flush=True)"


@pytest.mark.parametrize("processes", [1, 3])
def test_answers_come_in_the_order_of_the_questions(processes):
    response = program(ECHO, processes=processes)
    assert response("1", ["yes", "no", "no", "yes\u2028", "no"]) == [True, False, False, True, False]
    assert response("1", ["yes"]) == [True]
    assert len(response.copies) == processes
    response.close()


def test_a_record_says_more_than_a_truth_value():
    code = 'for line in sys.stdin: print(\'{"success": false, "attempted": false, "detail": "no parse"}\', flush=True)'
    response = program(code)
    assert outcomes(response, "1", ["x"]) == [Outcome(False, False, "no parse")]
    response.close()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("sys.exit('gone fishing')", ["ended with exit status 1", "gone fishing"]),
        ("sys.stderr.write('thinking'); sys.stderr.flush(); time.sleep(60)", ["did not answer within", "thinking"]),
        ("os.kill(os.getpid(), 11)", ["ended with signal 11"]),
        ("input(); print('maybe', flush=True); input()", ["'maybe'", "not JSON"]),
        ("input(); print('1', flush=True); input()", ["'1'", "neither true, false"]),
        ("input(); print('{\"success\": 1}', flush=True); input()", ["neither true, false"]),
        ("input(); print('true\\ntrue', flush=True); input()", ["more than one line"]),
        ('input(); print(\'{"success": true, "attempted": false}\', flush=True); input()', ["neither"]),
        ("input(); print('[' * 100_000, flush=True); input()", ["not JSON"]),
        ("input(); print('x' * (2 << 20), flush=True); input()", ["an endless line"]),
        ("input(); os.close(1); time.sleep(60)", ["closed its output"]),
    ],
)
def test_no_answer_is_never_a_no(code, words):
    timeout = 5.0 if "sleep" in code else 600.0
    response = program(code, timeout=timeout, restarts=0)
    with pytest.raises(InputError) as error:
        response("42", ["a bad translation"])
    for part in (*words, "sentence 42", "'a bad translation'"):
        assert part in str(error.value)
    assert response.copies == []


def test_a_program_that_crashes_once_is_started_again(tmp_path):
    mark = tmp_path / "crashed"
    code = (
        f"mark = {str(mark)!r}\nfor line in sys.stdin:\n  if not os.path.exists(mark): open(mark, 'w'); sys.exit(3)\n"
        "  print('true', flush=True)"
    )
    response = program(code, restarts=1)
    assert response("1", ["x"]) == [True]
    response.close()


def test_a_program_that_hangs_once_is_started_again(tmp_path):
    mark = tmp_path / "hung"
    code = (
        f"mark = {str(mark)!r}\nfor line in sys.stdin:\n"
        "  if not os.path.exists(mark): open(mark, 'w'); time.sleep(1000)\n  print('true', flush=True)"
    )
    response = program(code, timeout=20.0, restarts=1)
    assert response("1", ["x"]) == [True]
    response.close()


def test_it_is_started_again_as_often_as_allowed(tmp_path):
    log = tmp_path / "log"
    response = program(f"open({str(log)!r}, 'a').write('x'); sys.exit('gone')", restarts=2)
    with pytest.raises(InputError, match=r"exit status 1 \(3 times\) on sentence 1.*; it said: gone"):
        response("1", ["x"])
    assert log.read_text() == "xxx"


def test_a_command_in_one_string_is_told_how_to_write_it():
    with pytest.raises(InputError, match="cannot be started") as error:
        ProgramResponse(["python3 check.py"], "c")("1", ["x"])
    assert "Give command and arguments as a list: [python3, check.py]." in error.value.hint


def test_an_answer_too_many_is_not_that_of_the_next_question(tmp_path):
    gate, mark = tmp_path / "gate", tmp_path / "said more"
    code = f"input(); print('false', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)\n"
    code += f"print('true', flush=True); open({str(mark)!r}, 'w')"
    response = program(f"{code}\nfor line in sys.stdin: print('false', flush=True)")
    assert response("1", ["first"]) == [False]
    gate.touch()
    until(mark.exists)
    with pytest.raises(InputError, match=r"wrote 'true.*' before it was asked on sentence 1, hypothesis 'second'"):
        response("1", ["second"])


def test_an_interrupted_question_is_asked_again():
    """Its answer, which comes later, is not that of the next question."""
    code = "for line in sys.stdin:\n  if 'yes' in line: time.sleep(1)\n"
    response = program(f"{code}  print(json.dumps('yes' in line), flush=True)")

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        assert response("1", ["no"]) == [False]
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            response("1", ["yes"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert response.copies == []
    assert response("1", ["no", "yes"]) == [False, True]
    response.close()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, a hanging program outlives a killed worker")
def test_a_hanging_program_ends_with_the_process_that_asks(tmp_path):
    mark = tmp_path / "pid"
    hang = f"import os, time; open({str(mark)!r} + '.new', 'w').write(str(os.getpid()))\n"
    hang += f"os.rename({str(mark)!r} + '.new', {str(mark)!r}); time.sleep(1000)"
    ask = "import sys; from itersel.response.program import ProgramResponse as P"
    ask += f"; P([sys.executable, '-c', {hang!r}], 'c')('1', ['x'])"
    environment = os.environ | {"PYTHONPATH": os.fspath(Path(__file__).parents[3])}
    asking = subprocess.Popen([sys.executable, "-c", ask], env=environment)
    try:
        until(mark.exists)
    finally:
        asking.kill()
        asking.wait()
    process = Path("/proc") / mark.read_text()
    until(lambda: not process.exists() or process.joinpath("stat").read_text().split(") ")[1][0] == "Z")


def until(condition):
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_program_that_is_not_there():
    with pytest.raises(InputError, match="cannot be started"):
        ProgramResponse(["/nowhere/program"], "c")("1", ["x"])


def test_the_checksum_is_of_the_files_content(tmp_path):
    def checksum(text, **more):
        (tmp_path / "check.py").write_text(text)
        config = ResponseConfig(("python3", "{script}"), files={"script": str(tmp_path / "check.py")}, **more)
        return open_response(config).checksum

    assert checksum("a") == checksum("a", timeout=3.0) != checksum("b")
    assert checksum("a") != checksum("a", version="2")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "neither program nor object"),
        ({"program": ["x"], "object": "a:b"}, "both given"),
        ({"program": ["{script}"]}, "placeholder"),
        ({"program": ["x"], "arguments": {"a": 1}}, "arguments are for a Python object"),
        ({"object": "a:b", "arguments": {"a": 1}, "files": {"a": "x"}}, "files.a"),
        ({"program": ["x"], "limit": 0}, "limit"),
    ],
)
def test_a_configuration_that_cannot_be(values, message):
    with pytest.raises(ConfigError, match=message):
        build(ResponseConfig, values)


class Even:
    """A response in Python."""

    def __init__(self, by=2):
        self.by, self.checksum = by, f"even {by}"

    def __call__(self, sentence_id, hypotheses):
        return [len(text) % self.by == 0 for text in hypotheses]


def test_an_entry_point_registers_an_object(monkeypatch):
    group = opening.GROUP
    points = EntryPoints([EntryPoint("even", f"{__name__}:Even", group), EntryPoint("geoquery", "x:Y", group)])
    monkeypatch.setattr(opening, "entry_points", lambda group: points.select(group=group))
    opening.registered.cache_clear()
    try:
        assert open_response(ResponseConfig(object="even"))("1", ["ab", "abc"]) == [True, False]
        assert opening.object_name(ResponseConfig(object="geoquery")) == opening.BUILT_IN["geoquery"]
        with pytest.raises(ConfigError, match=r"unknown response 'odd'\n.*even, geoquery"):
            open_response(ResponseConfig(object="odd"))
    finally:
        opening.registered.cache_clear()


def test_a_python_object():
    name = f"{__name__}:Even"
    assert open_response(ResponseConfig(object=name))("1", ["ab", "abc"]) == [True, False]
    response = open_response(ResponseConfig(object=name, arguments={"by": 3}, version="x"))
    assert response("1", ["ab", "abc"]) == [False, True] and response.checksum != "even 3"
    with pytest.raises(ConfigError, match="cannot be made of these arguments"):
        open_response(ResponseConfig(object=name, arguments={"of": 3}))
    with pytest.raises(ConfigError, match="does not make a response"):
        open_response(ResponseConfig(object="builtins:dict"))
    with pytest.raises(ConfigError, match="unknown response"):
        open_response(ResponseConfig(object="nothing"))

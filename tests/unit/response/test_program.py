"""External responses: questions and answers, side by side, and programs that crash, hang or answer nonsense."""

import sys
from pathlib import Path

import pytest

from itersel.base.config import build
from itersel.base.errors import ConfigError, InputError
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

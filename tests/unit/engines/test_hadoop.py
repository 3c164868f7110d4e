"""The Hadoop engine's parts that need no Hadoop: finding it, commands by a stand-in, logs, errors in tasks' words."""

from __future__ import annotations

import contextlib
import logging
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine_contract import run_on, toy_data
from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.engines import RunConfig, open_engine
from itersel.engines.hadoop import HadoopEngine, stored_name
from itersel.engines.hadoop_client import HadoopClient
from itersel.engines.mrjob_log import MrjobLog
from itersel.engines.task_errors import describe
from itersel.mapreduce.failure import Failure
from toy_job import ToyJob

TRACE = """shard 2 (hdfs:///files/ab-2.itsh)
Traceback (most recent call last):
  File "map_reduce.py", line 92, in <module>
    sys.exit(MapReduce.run())
"""
ITEM = "shard 2 (x)"


def words_of(error: UserError) -> str:
    """What a task writes that fails with an error of ours."""
    return f"{ITEM}\n{Failure.of(error).line()}\n{TRACE}itersel.base.errors.{type(error).__name__}: {error}"


LOGS = """Container: container_1_0002_01_000004 on node_1
LogType:stderr
LogLength:0
LogContents:

End of LogType:stderr
***
Container: container_1_0002_01_000005 on node_2
LogType:stderr
LogContents:
shard 1 (a.itsh)
Killed
End of LogType:stderr
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Hadoop whose commands do what the test writes into them."""
    (tmp_path / "bin").mkdir()
    for name in ("hadoop", "yarn"):
        write_command(tmp_path, name, "exit 0")
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    return tmp_path


def write_command(home: Path, name: str, script: str) -> None:
    place = home / "bin" / name
    place.write_text(f'#!/bin/sh\necho "$@" >> {home}/calls\n{script}\n')
    place.chmod(0o755)


def calls(home: Path) -> list[str]:
    return (home / "calls").read_text().splitlines()


def test_where_hadoop_is(home, tmp_path, monkeypatch):
    assert HadoopClient.find().hadoop == str(home / "bin" / "hadoop")
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="HADOOP_HOME has no bin/hadoop"):
        HadoopClient.find()
    monkeypatch.delenv("HADOOP_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("ITERSEL_HADOOP", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match=r"Hadoop was not found(.|\n)*cluster\.py start"):
        HadoopClient.find()
    monkeypatch.setenv("ITERSEL_HADOOP", str(home))
    assert HadoopClient.find().yarn == str(home / "bin" / "yarn")
    monkeypatch.setenv("PATH", str(home / "bin"))
    assert HadoopClient.find().hadoop == str(home / "bin" / "hadoop")


def test_listing(home):
    there = "printf 'hdfs:///s/files/a\\nhdfs:///s/files/b c\\n'"
    write_command(home, "hadoop", f"{there}; echo 'ls: s/runs: No such file or directory' >&2; exit 1")
    assert HadoopClient.find().listing("hdfs:///s/files", "hdfs:///s/runs") == [["a", "b c"], None]
    write_command(home, "hadoop", there)
    assert HadoopClient.find().listing("hdfs:///s/files", "hdfs:///s/runs") == [["a", "b c"], []]
    write_command(home, "hadoop", 'echo "ls: Call From a to b failed on connection exception" >&2; exit 1')
    with pytest.raises(ResourceError, match="cannot list hdfs:///s: ls: Call From a to b failed"):
        HadoopClient.find().listing("hdfs:///s")


def test_files_are_put_by_one_command(home, tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
    seen = tmp_path / "seen"
    write_command(home, "hadoop", f'for file in "$@"; do [ -f "$file" ] && basename "$file" >> {seen}; done; exit 0')
    HadoopClient.find().put({"one": str(tmp_path / "a"), "two": str(tmp_path / "b")}, "hdfs:///there")
    assert seen.read_text().split() == ["one", "two"]
    assert len(calls(home)) == 1 and calls(home)[0].endswith(" hdfs:///there")


def test_failing_commands(home):
    write_command(home, "hadoop", 'echo "26/11/16 INFO ipc.Client: trying" >&2; echo "put: No space" >&2; exit 1')
    with pytest.raises(ResourceError, match="`hadoop fs -put` failed: put: No space"):
        HadoopClient.find().fs("-put", "a", "b")
    with pytest.raises(ResourceError, match=r"cannot read x: put: No space"):
        list(HadoopClient.find().cat("x"))
    write_command(home, "hadoop", "printf abc")
    assert b"".join(HadoopClient.find().cat("x")) == b"abc"


def test_names_in_hdfs(tmp_path):
    places = [tmp_path / "a" / "x y,[1]#.itsh", tmp_path / "b" / "z.itsh"]
    for place in places:
        place.parent.mkdir()
        place.write_bytes(b"abc")
    assert [stored_name(str(place)) for place in places] == [
        "ba7816bf8f01cfea-x_y__1__.itsh",
        "ba7816bf8f01cfea-z.itsh",
    ]


def test_only_tagged_applications_are_ended(home):
    listing = "Total:2\\n  Application-Id\\tName\\napplication_17_0003\\tstream\\napplication_17_0010\\tstream\\n"
    write_command(home, "yarn", f"case \"$2\" in -list) printf '{listing}';; esac")
    HadoopClient.find().kill("itersel-x")
    assert calls(home)[0].startswith("application -list -appTags itersel-x -appStates NEW,")
    assert calls(home)[1:] == [f"application -kill application_17_{number}" for number in ("0003", "0010")]


def test_words_of_tasks(home):
    (home / "logs").write_text(LOGS)
    write_command(home, "yarn", f"cat {home}/logs")
    assert HadoopClient.find().task_errors("application_1_2") == ["shard 1 (a.itsh)\nKilled"]
    write_command(home, "yarn", "echo 'Log aggregation is not enabled' >&2; exit 255")
    assert HadoopClient.find().task_errors("application_1_2") == []


@pytest.mark.parametrize(
    ("report", "complete"),
    [
        ("echo '  Log Aggregation Status : RUNNING'", False),  # one node of several is late
        ("echo '  Log Aggregation Status : SUCCEEDED'", True),
        ("echo '  Log Aggregation Status : DISABLED'", True),
        ("echo '  Final-State : FAILED'", True),  # a Hadoop that does not tell
        ("echo 'Connection refused' >&2; exit 255", False),
    ],
)
def test_whether_logs_are_complete(home, report, complete):
    write_command(home, "yarn", report)
    assert HadoopClient.find().has_all_logs("application_1_2") is complete
    assert calls(home) == ["application -status application_1_2"]


def test_words_of_a_late_node_are_waited_for(home, tmp_path, monkeypatch):
    """One node's logs are there at once, without a word of the failure; the other's come much later."""
    early, late = "log4j:WARN No appenders", words_of(InputError("altered", where=ITEM))
    looks = iter([[early]] * 9 + [[early, late]])
    monkeypatch.setattr("itersel.engines.hadoop.time.sleep", lambda seconds: None)
    monkeypatch.setattr(HadoopClient, "task_errors", lambda self, application: next(looks))
    monkeypatch.setattr(HadoopClient, "has_all_logs", lambda self, application: False)
    engine = object.__new__(HadoopEngine)
    engine.client, engine.folder = HadoopClient.find(), tmp_path
    error = engine.explain("EpochJob", SimpleNamespace(application="application_1_2", failures=[]))
    assert isinstance(error, InputError) and str(error).startswith("shard 2 (x): altered")


def test_logs_without_an_error_are_read_until_they_are_complete(home, tmp_path, monkeypatch):
    """A killed task says nothing of its end: when all nodes have handed in their logs, there is no more to wait for."""
    answers, looks = iter([False, False, True]), list[str]()
    monkeypatch.setattr("itersel.engines.hadoop.time.sleep", lambda seconds: None)
    monkeypatch.setattr(HadoopClient, "task_errors", lambda self, application: looks.append(application) or ["shard 1"])
    monkeypatch.setattr(HadoopClient, "has_all_logs", lambda self, application: next(answers))
    engine = object.__new__(HadoopEngine)
    engine.client, engine.folder = HadoopClient.find(), tmp_path
    error = engine.explain("EpochJob", SimpleNamespace(application="application_1_2", failures=[]))
    assert isinstance(error, ResourceError) and "shard 1" in str(error)
    assert looks == ["application_1_2"] * 4  # at once, and after each answer


def test_an_error_of_ours_is_all_that_is_said():
    text = words_of(InputError("hdfs:///ab-2.itsh: altered", where=ITEM, hint="Copy it again."))
    error = describe(["shard 0 (x)\nfinished", text], "See the log.", "EpochJob", ["attempt_1: java.lang.Error"])
    assert isinstance(error, InputError)
    assert str(error) == "shard 2 (x): hdfs:///ab-2.itsh: altered\n  Copy it again.\n  See the log."
    error = describe([words_of(ConfigError("the driver runs itersel 2"))], "", "TranslateJob")
    assert isinstance(error, ConfigError) and str(error) == "the driver runs itersel 2"


def test_other_failures_show_the_last_lines():
    error = describe(["shard 1 (x)", TRACE + "MemoryError"], "See the log.", "EpochJob", ["attempt_1: code 1"])
    assert isinstance(error, ResourceError)
    assert error.message.startswith("a task of the job EpochJob failed:\n  shard 2 (hdfs:")
    assert error.message.endswith("MemoryError\n  attempt_1: code 1")
    assert "shard 1" not in error.message


def test_a_killed_task_has_said_which_shard_it_had():
    error = describe(["shard 0 (x)\nfinished", "shard 1 (y)"], "", "EpochJob", ["attempt_1: code 137"])
    assert error.message == "a task of the job EpochJob failed:\n  shard 1 (y)\n  attempt_1: code 137"


def commands_of_jobs(home: Path, folder: Path, *options: str) -> list[str]:
    """The commands of an engine that runs two jobs by a stand-in: they succeed, but leave no records."""
    write_command(home, "hadoop", '[ "$1" = version ] && echo "Hadoop 3.4.2"; exit 0')
    (home / "hadoop-streaming-3.4.2.jar").touch()
    items, side = toy_data(folder)
    config = RunConfig("hadoop", store="hdfs:///s", options=options)
    with contextlib.closing(open_engine(config, folder)) as engine:
        for _ in range(2):
            with pytest.raises(ResourceError, match="not complete"):
                run_on(engine, ToyJob(partitions=2), items, side)
    return [" ".join(call.split()[: 1 if call.startswith("jar") else 2]) for call in calls(home)]


def test_a_job_takes_three_commands(home, tmp_path):
    """Each command starts a Java machine. The engine's first one uploads the items' files; mrjob asks for the version
    once."""
    commands = commands_of_jobs(home, tmp_path)
    job = ["fs -put", "jar", "fs -cat"]
    assert commands == ["fs -ls", "fs -put", "fs -put", "version", "jar", "fs -cat", *job, "fs -rm"]
    jobs = [call for call in calls(home) if call.startswith("jar")]
    for number, call in enumerate(jobs):
        folder = rf"hdfs:///s/runs/itersel-[0-9a-f]{{16}}-{number}-ToyJob"
        assert re.search(rf"-files \S*{folder}/job\.json#job\.json,{folder}/map_reduce\.py#map_reduce\.py,", call)
        assert re.search(rf"-input {folder}/items\.jsonl -output {folder}/output ", call)


def test_files_of_the_users_options_are_uploaded(home, tmp_path):
    (tmp_path / "mine.txt").touch()
    commands_of_jobs(home, tmp_path, "--file", f"{tmp_path}/mine.txt")
    [uploaded] = {call.split()[-1] for call in calls(home) if f"fs -put {tmp_path}/mine.txt " in call and "-0-" in call}
    assert sum(f"{uploaded}#mine.txt" in call for call in calls(home)) == 1


def test_log_of_mrjob(tmp_path, capsys):
    shares, log = [], logging.getLogger("mrjob.hadoop")
    with MrjobLog(tmp_path / "log", shares.append) as found:
        log.info("  Submitted application application_17_0003")
        log.info("   map 25% reduce 0%")
        log.info(
            "  Task Id : attempt_17_0003_m_01_0, Status : FAILED\nError: java.lang.RuntimeException: code 137\n\tat x"
        )
        log.error("Probable cause of failure")
    assert found.application == "application_17_0003"
    assert shares == [0.25]
    assert found.failures == ["attempt_17_0003_m_01_0: Error: java.lang.RuntimeException: code 137"]
    assert "Probable cause" in (tmp_path / "log").read_text()
    assert capsys.readouterr().err == ""
    log.error("afterwards")
    assert "afterwards" not in (tmp_path / "log").read_text()

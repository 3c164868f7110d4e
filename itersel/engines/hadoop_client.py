"""The commands of Hadoop that the engine needs: files in HDFS, applications of YARN and their logs.

Every command starts a Java machine, about a second of processor time: ask for many things at once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from itersel.base.errors import ConfigError, ResourceError

CHUNK = 1 << 20
COLLECTING = {"NOT_START", "RUNNING", "RUNNING_WITH_FAILURE"}
"""States of YARN's log aggregation in which more is to come."""
LIVE = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING"
HINT = "Set HADOOP_HOME, or start a Hadoop on this machine: python3 tools/hadoop/cluster.py start"


class HadoopClient:
    """The commands `hadoop` and `yarn` of one installation."""

    def __init__(self, hadoop: str):
        self.hadoop = hadoop
        beside = Path(hadoop).with_name("yarn")
        self.yarn = os.fspath(beside) if os.access(beside, os.X_OK) else shutil.which("yarn") or os.fspath(beside)

    @classmethod
    def find(cls) -> HadoopClient:
        """That of HADOOP_HOME, of the path, or the one that tools/hadoop/cluster.py started."""
        home = os.environ.get("HADOOP_HOME")
        if home:
            hadoop = shutil.which("hadoop", path=os.path.join(home, "bin"))
            if hadoop is None:
                raise ConfigError("HADOOP_HOME has no bin/hadoop", where=home, hint=HINT)
            return cls(hadoop)
        hadoop = shutil.which("hadoop") or shutil.which("hadoop", path=os.fspath(local_cluster() / "bin"))
        if hadoop is None:
            raise ConfigError("Hadoop was not found: no `hadoop` command and no HADOOP_HOME", hint=HINT)
        return cls(hadoop)

    def fs(self, *arguments: str) -> str:
        """What `hadoop fs` printed."""
        return _run([self.hadoop, "fs", *arguments])

    def listing(self, *folders: str) -> list[list[str] | None]:
        """The names in each of the folders; none for one that does not exist (or, beside such a one, is empty)."""
        done = subprocess.run([self.hadoop, "fs", "-ls", "-C", *folders], capture_output=True, text=True, check=False)  # noqa: S603
        trouble = [line for line in done.stderr.splitlines() if "No such file or directory" not in line]
        if done.returncode != 0 and trouble:
            raise ResourceError(f"Hadoop cannot list {folders[0]}: {_essence(done.stderr)}", hint=HINT)
        lines = done.stdout.splitlines()
        starts = [f"{folder}/" for folder in folders]
        found = [[line.removeprefix(start) for line in lines if line.startswith(start)] for start in starts]
        return [names or (None if done.returncode else []) for names in found]

    def put(self, files: Mapping[str, str], folder: str, *, new: bool = False) -> None:
        """Copy local files under these names into a folder, a `new` one or not; each appears when it is complete."""
        with tempfile.TemporaryDirectory(prefix="itersel-put-") as temporary:
            for name, path in files.items():
                (Path(temporary) / name).symlink_to(os.path.abspath(path))
            if new:
                self.fs("-put", temporary, folder)
                return
            links = [os.path.join(temporary, name) for name in files]
            for first in range(0, len(links), 500):  # the system limits the length of a command
                self.fs("-put", "-f", *links[first : first + 500], folder)

    def cat(self, pattern: str) -> Iterator[bytes]:
        """The content of all files that match."""
        process = subprocess.Popen([self.hadoop, "fs", "-cat", pattern], stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603
        assert process.stdout is not None and process.stderr is not None
        with process:
            while chunk := process.stdout.read(CHUNK):
                yield chunk
            message = process.stderr.read().decode(errors="replace")
        if process.returncode != 0:
            raise ResourceError(f"Hadoop cannot read {pattern}: {_essence(message)}")

    def remove(self, *paths: str) -> None:
        self.fs("-rm", "-r", "-f", "-skipTrash", *paths)

    def kill(self, tag: str) -> None:
        """End the applications with this tag."""
        text = _run([self.yarn, "application", "-list", "-appTags", tag, "-appStates", LIVE])
        for one in re.findall(r"^(application_\d+_\d+)\s", text, re.MULTILINE):
            _run([self.yarn, "application", "-kill", one])

    def has_all_logs(self, application: str) -> bool:
        """Whether every node has handed in its logs of a finished application, or YARN does not collect them."""
        command = [self.yarn, "application", "-status", application]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
        status = re.search(r"Log Aggregation Status : (\w+)", done.stdout)
        return done.returncode == 0 and (status is None or status[1] not in COLLECTING)

    def task_errors(self, application: str) -> list[str]:
        """What each task of a finished application wrote to stderr; nothing where YARN does not keep logs."""
        command = [self.yarn, "logs", "-applicationId", application, "-log_files", "stderr"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
        found = re.findall(r"^LogContents:\n(.*?)^End of LogType:stderr", done.stdout, re.MULTILINE | re.DOTALL)
        return [text.strip() for text in found if text.strip()]


def local_cluster() -> Path:
    """Where tools/hadoop/cluster.py puts the Hadoop of this machine."""
    cache = Path(os.environ.get("ITERSEL_CACHE") or Path.home() / ".cache" / "itersel")
    return Path(os.environ.get("ITERSEL_HADOOP") or cache / "hadoop-cluster")


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    except OSError as error:
        raise ConfigError(f"cannot run {command[0]}: {error.strerror}", hint=HINT) from None
    if done.returncode != 0:
        words = " ".join(command[1:3])
        raise ResourceError(f"`{os.path.basename(command[0])} {words}` failed: {_essence(done.stderr)}", hint=HINT)
    return done.stdout


def _essence(message: str) -> str:
    """The line of Hadoop's output that says most."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("at ") and " INFO " not in line]
    return (told or lines or ["no message"])[-1]

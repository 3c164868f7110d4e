#!/usr/bin/env python3
"""A real Hadoop on this machine: HDFS (NameNode, DataNode), YARN (ResourceManager, two NodeManagers) and MapReduce.

    python3 tools/hadoop/cluster.py start     # fetches the jars once, starts what does not run, waits until it is ready
    python3 tools/hadoop/cluster.py status    # one line for each daemon
    python3 tools/hadoop/cluster.py stop      # --remove also deletes HDFS and logs

Needs Java 11 or newer and, the first time, Maven. Everything lies below ${ITERSEL_CACHE:-~/.cache/itersel}; ports are
free ones of 127.0.0.1. `start` prints `export HADOOP_HOME=…` for other programs; `itersel train -r hadoop` finds the
cluster without it. With HADOOP_HOME set to a Hadoop of your own, `start` leaves that as it is and starts nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from class_archive import class_path, make_archive, sharing_options
from cluster_settings import QUICK_START, write_settings

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("ITERSEL_CACHE") or Path.home() / ".cache" / "itersel").absolute()
HOME = Path(os.environ.get("ITERSEL_HADOOP") or CACHE / "hadoop-cluster").absolute()
"""HADOOP_HOME of the local cluster: bin, etc/hadoop, jars, data, logs, run."""
PORTS = ("hdfs", "hdfs_web", "yarn", "scheduler", "tracker", "admin", "yarn_web")
OPENED = ("lang", "lang.reflect", "io", "net", "nio", "text", "util", "util.concurrent")
JAVA = ["-Djava.net.preferIPv4Stack=true"]
JAVA += [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in OPENED]
DAEMONS = {  # name: main class, heap in MB
    "namenode": ("org.apache.hadoop.hdfs.server.namenode.NameNode", 160),
    "datanode": ("org.apache.hadoop.hdfs.server.datanode.DataNode", 128),
    "resourcemanager": ("org.apache.hadoop.yarn.server.resourcemanager.ResourceManager", 256),
    "nodemanager-1": ("org.apache.hadoop.yarn.server.nodemanager.NodeManager", 160),
    "nodemanager-2": ("org.apache.hadoop.yarn.server.nodemanager.NodeManager", 160),
}
NODES = sum(name.startswith("nodemanager") for name in DAEMONS)
PATIENCE = 900.0
"""Seconds until a start counts as failed."""


class ClusterError(Exception):
    """What went wrong, for people."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("install", "start", "stop", "status"))
    parser.add_argument("--remove", action="store_true", help="stop: delete HDFS, logs and settings as well")
    args = parser.parse_args()
    try:
        given = os.environ.get("HADOOP_HOME")
        if given and Path(given).resolve() != HOME.resolve():
            say(f"HADOOP_HOME is {given}: that Hadoop is used as it is")
            return 0
        with lock():
            if args.action in ("install", "start"):
                install()
            if args.action == "start":
                start()
                print(f"export HADOOP_HOME={HOME}")
            if args.action == "stop":
                stop(args.remove)
            if args.action == "status":
                for name in DAEMONS:
                    print(f"{name}: {running(name) or 'not running'}")
    except ClusterError as error:
        say(f"error: {error}")
        return 1
    return 0


def say(text: str) -> None:
    print(f"hadoop cluster: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """One at a time, for the cache folder."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / ".hadoop.lock", "w") as stream:
        fcntl.lockf(stream, fcntl.LOCK_EX)
        yield


# Installing


def java_home() -> Path:
    given = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{given}/bin" if given else None)
    if java is None:
        raise ClusterError("there is no Java. Install a JDK, for example `apt-get install openjdk-17-jre-headless`")
    return Path(java).resolve().parent.parent


def install() -> None:
    """The jars into the cache, once; the commands into the cluster's bin."""
    java_home()
    if re.search(r"[\s,]", str(HOME)):
        raise ClusterError(f"Hadoop cannot live in a folder with blanks or commas in its name: {HOME}")
    version = re.search(r"<hadoop.version>(.*)</hadoop.version>", (HERE / "pom.xml").read_text())
    assert version is not None
    jars = CACHE / f"hadoop-{version[1]}-jars"
    if not jars.is_dir():
        fetch(jars)
    make_archive(jars, java_home(), QUICK_START)
    # The jars of HDFS lack its web pages; its daemons want the folders all the same.
    pages = ("etc/hadoop/webapps/hdfs", "etc/hadoop/webapps/datanode")
    for folder in ("bin", "etc/hadoop", "run", "logs/userlogs", *pages):
        (HOME / folder).mkdir(parents=True, exist_ok=True)
    for name in ("hadoop", "yarn"):
        shutil.copy(HERE / "hadoop", HOME / "bin" / name)
    if not (HOME / "jars").exists():
        (HOME / "jars").symlink_to(jars)
    # Options of every Java machine here, as its `@file`. The settings come last: see class_archive.class_path.
    places = ":".join([*class_path(jars), f"{HOME}/etc/hadoop"])
    words = [*QUICK_START, *sharing_options(jars, java_home()), "-cp", places]
    quoted = [f'"{word}"' for word in (word.replace("\\", "\\\\") for word in words)]
    (HOME / "etc" / "java.args").write_text("\n".join(quoted) + "\n")


def fetch(jars: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise ClusterError("there is no Maven to fetch Hadoop with. Install it, for example `apt-get install maven`")
    say("fetching Hadoop from Maven Central (92 MB)")
    with tempfile.TemporaryDirectory(prefix=".hadoop-", dir=CACHE) as temporary:
        shutil.copy(HERE / "pom.xml", temporary)
        command = [maven, "--quiet", "--batch-mode", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        command += [f"-DoutputDirectory={temporary}/jars"]
        done = subprocess.run(command, cwd=temporary, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise ClusterError(f"Maven could not fetch the jars:\n{done.stdout.strip()}")
        (Path(temporary) / "jars").rename(jars)


# Ports


def free_ports() -> dict[str, int]:
    """Those of the last start if they are free, or others."""
    place = HOME / "run" / "ports.json"
    for known in (json.loads(place.read_text()) if place.exists() else {}, {}):
        with contextlib.ExitStack() as stack:
            try:
                for name in PORTS:
                    one = stack.enter_context(socket.socket())
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    one.bind(("127.0.0.1", known.get(name, 0)))
                    known[name] = one.getsockname()[1]
            except OSError:
                continue
            place.write_text(json.dumps(known))
            return known
    raise ClusterError("no free ports on 127.0.0.1")


def ports() -> dict[str, int]:
    return json.loads((HOME / "run" / "ports.json").read_text())


# Daemons


def running(name: str) -> int | None:
    """The daemon's process id, if it is alive and still that daemon."""
    try:
        pid = int((HOME / "run" / f"{name}.pid").read_text())
        for _ in range(5):  # a process that is just starting has no words yet, and one that is ending has none any more
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if words:
                break
            time.sleep(0.1)
    except (OSError, ValueError):
        return None
    return pid if DAEMONS[name][0].encode() in words.split(b"\0") else None


def java(arguments: list[str]) -> list[str]:
    return [f"{java_home()}/bin/java", f"@{HOME}/etc/java.args", *JAVA, *arguments]


def environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HADOOP_", "YARN_", "HDFS_"))}
    mine = {"JAVA_HOME": java_home(), "HADOOP_HOME": HOME, "ITERSEL_NODE_CACHE": HOME / "data" / "shards"}
    return kept | {name: str(value) for name, value in mine.items()}


def start() -> None:
    missing = [name for name in DAEMONS if running(name) is None]
    if len(missing) == len(DAEMONS):
        write_settings(HOME, free_ports())
    if not (HOME / "data" / "name" / "current").is_dir():
        format_hdfs()
    for name in missing:
        launch(name)
    began = time.monotonic()
    wait("HDFS", hdfs_ready, began)
    wait("YARN", yarn_ready, began)
    if missing:
        say(f"{', '.join(missing)} started in {HOME}")


def format_hdfs() -> None:
    command = java(["-Xmx128m", DAEMONS["namenode"][0], "-format", "-nonInteractive", "-force"])
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise ClusterError(f"HDFS could not be formatted:\n{done.stdout[-3000:]}")


def launch(name: str) -> None:
    main_class, heap = DAEMONS[name]
    arguments = [f"-Xmx{heap}m", f"-Dhadoop.home.dir={HOME}", main_class]
    if name.startswith("nodemanager"):
        # Each its own: a node that has handed in an application's logs deletes the application's folder.
        folders = {"local-dirs": HOME / "data" / name, "log-dirs": HOME / "logs" / "userlogs" / name}
        arguments += [f"-Dyarn.nodemanager.{key}={folder}" for key, folder in folders.items()]
    with open(HOME / "logs" / f"{name}.log", "ab") as log:
        process = subprocess.Popen(
            java(arguments), cwd=HOME, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    (HOME / "run" / f"{name}.pid").write_text(f"{process.pid}\n")


def wait(what: str, ready: Callable[[], bool], began: float) -> None:
    while not ready():
        for name in DAEMONS:
            if running(name) is None:
                log = HOME / "logs" / f"{name}.log"
                last = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-15:])
                raise ClusterError(f"{name} ended; see {log}:\n{last}")
        if time.monotonic() - began > PATIENCE:
            raise ClusterError(f"{what} is not ready after {PATIENCE:.0f} seconds; see {HOME / 'logs'}")
        time.sleep(0.3)


def hdfs_ready() -> bool:
    """Out of safe mode, with a DataNode."""
    place = f"http://127.0.0.1:{ports()['hdfs_web']}/jmx?qry="
    state = ask(place + urllib.parse.quote("Hadoop:service=NameNode,name=FSNamesystemState"))
    info = ask(place + urllib.parse.quote("Hadoop:service=NameNode,name=NameNodeInfo"))
    return any(bean["NumLiveDataNodes"] for bean in state.get("beans", ())) and any(
        bean["Safemode"] == "" for bean in info.get("beans", ())
    )


def yarn_ready() -> bool:
    """All nodes report."""
    metrics = ask(f"http://127.0.0.1:{ports()['yarn_web']}/ws/v1/cluster/metrics")
    return metrics.get("clusterMetrics", {}).get("activeNodes", 0) >= NODES


def ask(address: str) -> dict:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never by way of a proxy
    try:
        with opener.open(address, timeout=10) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return {}


def stop(remove: bool) -> None:
    """End the daemons, and task processes that outlived a killed NodeManager."""
    pids = [pid for name in reversed(DAEMONS) if (pid := running(name)) is not None]
    for pid in pids:
        send(pid, signal.SIGTERM)
    began = time.monotonic()
    while any(running(name) for name in DAEMONS) and time.monotonic() - began < 15:
        time.sleep(0.2)
    for name in DAEMONS:
        if (pid := running(name)) is not None:
            send(pid, signal.SIGKILL)
    for pid in orphans():
        send(pid, signal.SIGKILL)
    say(f"stopped {len(pids)} daemons in {HOME}")
    if remove:
        shutil.rmtree(HOME, ignore_errors=True)


def orphans() -> list[int]:
    """Processes of this user at work in a node's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if Path(os.readlink(entry / "cwd")).is_relative_to(HOME / "data"):
                found.append(int(entry.name))
    return found


def send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(main())

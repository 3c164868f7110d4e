"""A shared archive of the classes that Hadoop's programs load (Java's "class data sharing").

With it a job takes about half the processor time: its Java machines are many and short-lived. `classes.txt.gz` names
the classes; an archive is made from it once for each Java and each version of the jars. To make the list anew:

    export ITERSEL_HADOOP_RECORD=/tmp/classes           # every Java machine writes down what it loads
    python3 tools/hadoop/cluster.py start               # then run jobs of all kinds, and stop the cluster
    python3 tools/hadoop/class_archive.py /tmp/classes
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CLASSES = Path(__file__).with_name("classes.txt.gz")
RECORD = "ITERSEL_HADOOP_RECORD"


def class_path(jars: Path) -> list[str]:
    """All jars, as Java is told of them: the archive holds for a class path that begins with just these words."""
    return [str(path) for path in sorted(jars.resolve().glob("*.jar"))]


def archive_path(jars: Path, java_home: Path) -> Path:
    """The archive's place beside the jars, by the version of Java and the list of classes."""
    release = java_home / "release"
    version = release.read_bytes() if release.is_file() else str(java_home).encode()
    key = hashlib.sha256(version + CLASSES.read_bytes()).hexdigest()[:12]
    return jars.with_name(f"{jars.name}.{key}.jsa")


def make_archive(jars: Path, java_home: Path, options: list[str]) -> None:
    """Once; a Java that cannot do it does without."""
    place = archive_path(jars, java_home)
    if place.exists():
        return
    with tempfile.TemporaryDirectory(prefix=".classes-", dir=place.parent) as temporary:
        names, made = Path(temporary) / "classes.txt", Path(temporary) / "archive"
        names.write_bytes(gzip.decompress(CLASSES.read_bytes()))
        command = [f"{java_home}/bin/java", *options, "-Xshare:dump", f"-XX:SharedClassListFile={names}"]
        command += [f"-XX:SharedArchiveFile={made}", "-cp", os.pathsep.join(class_path(jars))]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode == 0 and made.exists():
            made.rename(place)


def sharing_options(jars: Path, java_home: Path) -> list[str]:
    """What makes Java use the archive, if there is one, or record what it loads; silent, as output is read."""
    record, place = os.environ.get(RECORD), archive_path(jars, java_home)
    if record:
        Path(record).mkdir(parents=True, exist_ok=True)
        return [f"-XX:DumpLoadedClassList={Path(record).absolute()}/%p.list"]
    return [f"-XX:SharedArchiveFile={place}", "-Xlog:disable", "-Xlog:all=error:stderr"] if place.exists() else []


def merge(folder: Path) -> int:
    """Write classes.txt.gz: the names in all lists of a folder, without those that are made at run time."""
    names = {
        line
        for path in folder.glob("*.list")
        for line in path.read_text().splitlines()
        if "/" in line and not line.startswith(("#", "@")) and "source:" not in line
    }
    if not names:
        sys.exit(f"{folder}: there are no lists of classes; set {RECORD}, run jobs, and stop the cluster first")
    CLASSES.write_bytes(gzip.compress("".join(f"{name}\n" for name in sorted(names)).encode(), mtime=0))
    return len(names)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER (see the top of this file)")
    print(f"{merge(Path(sys.argv[1]))} classes in {CLASSES}")

"""The wheelhouse: complete, checked by every side that uses it, and the same code as here."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from itersel.base import version
from itersel.base.errors import ConfigError, InputError
from itersel.cli import main
from itersel.engines.wheelhouse import build_wheelhouse, check_wheelhouse

ROOT = Path(__file__).resolve().parents[3]
EPOCH = """
import sys
sys.path[:0] = sys.argv[3:]
from itersel.learn.epoch import EpochConfig, run_epoch
from itersel.shards.shard import Shard
run_epoch(Shard(sys.argv[1]), config=EpochConfig(k=5)).weights.write(sys.argv[2])
import itersel.mapreduce.shipped_job, mrjob.job, yaml
"""


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def install(folder: Path, *arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, folder / "install.py", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


@pytest.fixture
def sketch(tmp_path) -> Path:
    """A wheelhouse with a manifest and nothing to install, for what is checked before."""
    folder = tmp_path / "sketch"
    folder.mkdir()
    shutil.copy(ROOT / "conf" / "wheelhouse" / "install.py", folder)
    (folder / "one.whl").write_bytes(b"wheel")
    manifest = {
        "format": 1,
        "version": version.__version__,
        "build": version.build_id(),
        "python": ".".join(map(str, sys.version_info[:2])),
        "machine": os.uname().machine,
        "glibc": "2.17",
        "files": [{"name": "one.whl", "bytes": 5, "sha256": sha256(folder / "one.whl")}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def change(folder: Path, **values: object) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | values))


@pytest.mark.slow
def test_all_files_are_pinned(wheelhouse):
    manifest = json.loads((wheelhouse / "manifest.json").read_text())
    listed = {entry["name"]: entry["sha256"] for entry in manifest["files"]}
    present = {path.name: sha256(path) for path in wheelhouse.iterdir() if path.name != "manifest.json"}
    assert listed == present
    assert {"install.py", "requirements.txt", "site.tar.gz"} < set(listed)
    pinned = set(re.findall(r"--hash=sha256:([0-9a-f]{64})", (wheelhouse / "requirements.txt").read_text()))
    assert pinned == {sha256(wheel) for wheel in wheelhouse.glob("*.whl")}
    assert check_wheelhouse(wheelhouse) == manifest
    assert not any(path.name.startswith(".") for path in wheelhouse.parent.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("way", ["installed", "shipped"])
def test_runs_elsewhere_with_the_same_bytes(wheelhouse, tmp_path, way):
    """Both ways to a node, without this environment's packages: an epoch gives the same weights as here."""
    from itersel.learn.epoch import EpochConfig, run_epoch
    from itersel.shards.shard import Shard, ShardWriter

    writer = ShardWriter(groups=("id",))
    writer.add("das haus", ["the house"], b"[X] ||| das ||| the ||| p=1\n[X] ||| haus ||| house ||| p=2\n")
    writer.add("haus das", ["house that"], b"[X] ||| das ||| that ||| p=1\n[X] ||| haus ||| home ||| p=2\n")
    writer.write(tmp_path / "shard")
    run_epoch(Shard(tmp_path / "shard"), config=EpochConfig(k=5)).weights.write(tmp_path / "here.vec")
    if way == "installed":
        done = install(wheelhouse, tmp_path / "node")
        assert done.returncode == 0, done.stderr
        command = [tmp_path / "node" / "bin" / "python", "-I"]
        before = (tmp_path / "node" / "itersel-build").stat().st_mtime_ns
        assert version.build_id() in install(wheelhouse, tmp_path / "node").stdout
        assert (tmp_path / "node" / "itersel-build").stat().st_mtime_ns == before  # nothing done again
        path = []
    else:
        with tarfile.open(wheelhouse / "site.tar.gz") as archive:
            archive.extractall(tmp_path / "node", filter="data")
        command, path = [sys.executable, "-I", "-S"], [tmp_path / "node"]
    command += ["-c", EPOCH, tmp_path / "shard", tmp_path / "there.vec", *path]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there.vec").read_bytes() == (tmp_path / "here.vec").read_bytes()


def test_the_build_stands_for_the_code(tmp_path):
    """A copy of the package elsewhere is the same build; one changed character makes it another."""
    shutil.copytree(ROOT / "itersel", tmp_path / "itersel", ignore=shutil.ignore_patterns("__pycache__", "kernel"))

    def build() -> str:
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); from itersel.base.version import build_id; print(build_id())"
        )
        command = [sys.executable, "-I", "-S", "-c", code, str(tmp_path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    assert build() == version.build_id()
    with open(tmp_path / "itersel" / "plan.py", "a") as stream:
        stream.write("#")
    assert build() != version.build_id()


def test_other_content_is_not_replaced(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "mine.txt").write_text("dear")
    with pytest.raises(ConfigError, match=r"has mine\.txt in it, which is not part of a wheelhouse"):
        build_wheelhouse(tmp_path / "letters")
    assert (tmp_path / "letters" / "mine.txt").exists()
    with pytest.raises(ConfigError, match="no sources"):
        build_wheelhouse(tmp_path / "new", source=tmp_path)
    assert not (tmp_path / "new").exists()


def test_a_failing_pip_is_quoted(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "setup.py").write_text("raise SystemExit('no compiler, say')")
    assert main(["wheelhouse", str(tmp_path / "new"), "--source", str(tmp_path / "source")]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source"]


def test_the_driver_checks_what_it_ships(sketch):
    assert check_wheelhouse(sketch)["version"] == version.__version__
    change(sketch, build="0123456789abcdef")
    with pytest.raises(ConfigError, match=r"0123456789abcdef.*" + version.build_id()):
        check_wheelhouse(sketch)
    (sketch / "one.whl").write_bytes(b"whee!")
    with pytest.raises(InputError, match=r"one\.whl.*checksum"):
        check_wheelhouse(sketch)
    with pytest.raises(InputError, match="cannot read"):
        check_wheelhouse(sketch.parent)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"python": "3.6"}, r"for Python 3\.6, this is 3\.\d+"),
        ({"machine": "pdp11"}, "for pdp11 processors"),
        ({"glibc": "99.1"}, r"needs glibc 99\.1, this system has \d"),
    ],
)
def test_a_node_of_another_kind(sketch, tmp_path, values, said):
    change(sketch, **values)
    done = install(sketch, tmp_path / "node")
    assert done.returncode == 1
    assert re.search(said, done.stderr)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "node").exists()


def test_a_damaged_copy_on_a_node(sketch, tmp_path):
    (sketch / "one.whl").write_bytes(b"whee!")
    done = install(sketch, tmp_path / "node")
    assert done.returncode == 1
    assert "one.whl is damaged" in done.stderr


def test_a_node_with_something_else_in_the_folder(sketch, tmp_path):
    (tmp_path / "node").mkdir()
    (tmp_path / "node" / "mine.txt").write_text("dear")
    done = install(sketch, tmp_path / "node")
    assert done.returncode == 1
    assert "something else than an installed wheelhouse" in done.stderr
    assert (tmp_path / "node" / "mine.txt").exists()

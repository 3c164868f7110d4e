"""What worker nodes need, in one folder: our wheel with the kernel, the packages of tasks, and how to install them.

    *.whl             itersel as it runs here, and its tasks' packages in the versions that are installed here
    requirements.txt  all of them, pinned by version and hash
    manifest.json     version and build, the platform they are for, size and SHA-256 of every file
    install.py        checks all that and makes a virtual environment of it (for nodes one may install on)
    site.tar.gz       the same, unpacked and packed again, to be put on PYTHONPATH (for engines that ship archives)

Tasks import little: aligning, scoring and statistics stay with the driver, so their packages do not travel.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.files import GZIP_LEVEL, cannot_write, file_checksum
from itersel.base.folders import MARK, WHEELHOUSE, check_folder_kind, claim_folder
from itersel.base.json_files import find_json, read_json, write_json
from itersel.base.resources import is_installed, resource, resource_root
from itersel.base.temporary import temporary_folder
from itersel.base.version import __version__, build_id, describe_build
from itersel.engines.repack import repack

FORMAT = 1
MANIFEST, REQUIREMENTS, INSTALLER, SITE = "manifest.json", "requirements.txt", "install.py", "site.tar.gz"


def task_packages() -> list[str]:
    """The packages besides itersel that map and reduce tasks import."""
    names = ["mrjob", "msgpack", "numpy", "PyYAML"]
    if sys.version_info >= (3, 12):  # what mrjob misses in newer Pythons
        names.append("setuptools")
    if sys.version_info >= (3, 13):
        names.append("standard-pipes")
    return names


def build_wheelhouse(folder: str | os.PathLike[str], source: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Make the folder from the sources or the installation that this itersel runs from; returns its manifest.

    An earlier wheelhouse in the folder is replaced as a whole; any other content is refused.
    """
    folder, installed = Path(folder), source is None and is_installed()
    source = resource_root() if source is None else Path(source)
    if not installed and not (source / "setup.py").is_file():
        raise ConfigError(
            "no sources to build a wheel from",
            where=source,
            hint="Name the repository: itersel wheelhouse DIR --source REPOSITORY.",
        )
    with _replaced(folder) as made:
        if installed:
            repack(made)
        else:
            _build_wheel(source, made)
        pins = [f"{name}=={importlib.metadata.version(name)}" for name in task_packages()]
        _pip("wheel", "--no-deps", "--wheel-dir", made, *pins)
        wheels = sorted(made.glob("*.whl"))
        requirements = "".join(f"{_pin(wheel)} --hash=sha256:{file_checksum(wheel)}\n" for wheel in wheels)
        (made / REQUIREMENTS).write_text(requirements)
        shutil.copy(resource(f"conf/wheelhouse/{INSTALLER}"), made / INSTALLER)
        with temporary_folder("site") as site:
            _pip("install", "--no-index", "--no-deps", "--no-compile", "--target", site, *wheels)
            _check_build(site, source)
            shutil.rmtree(site / "bin", ignore_errors=True)  # scripts with this machine's paths in them
            pack(site, made / SITE)
        manifest = {
            "format": FORMAT,
            "version": __version__,
            "build": build_id(),
            "python": ".".join(map(str, sys.version_info[:2])),
            "machine": platform.machine(),
            "glibc": _newest_glibc(next(made.glob("itersel-*.whl"))),
            "files": [
                {"name": path.name, "bytes": path.stat().st_size, "sha256": file_checksum(path)}
                for path in sorted(made.iterdir())
            ],
        }
        write_json(made / MANIFEST, manifest)
    return manifest


def check_wheelhouse(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The manifest of a wheelhouse; an error if a file is not the one listed, or the code is not this."""
    folder = Path(folder)
    manifest = read_json(folder / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise InputError("not the manifest of a wheelhouse of this format", where=folder / MANIFEST)
    again = f"Build it again: itersel wheelhouse {folder}"
    for entry in manifest["files"]:
        if file_checksum(folder / entry["name"]) != entry["sha256"]:
            raise InputError("the checksum differs from that in the manifest", where=folder / entry["name"], hint=again)
    if manifest["build"] != build_id():
        raise ConfigError(
            f"the wheelhouse has itersel {manifest['version']} (build {manifest['build']}),"
            f" but this is {describe_build()}",
            where=folder,
            hint=again,
        )
    return manifest


@contextlib.contextmanager
def _replaced(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of `folder` when all went well."""
    check_folder_kind(folder, WHEELHOUSE)
    _refuse_other_files(folder)
    with temporary_folder("wheelhouse", beside=folder) as scratch:
        made, earlier = scratch / "new", scratch / "old"
        try:
            claim_folder(made, WHEELHOUSE)
            yield made
            if folder.exists():
                folder.rename(earlier)
            made.rename(folder)
        except OSError as error:
            raise cannot_write(error, folder) from None


def _refuse_other_files(folder: Path) -> None:
    """An earlier wheelhouse is removed as a whole, so the folder must contain nothing else."""
    manifest = find_json(folder / MANIFEST) or {}
    listed = {entry.get("name") for entry in manifest.get("files", [])}
    others = sorted({path.name for path in folder.glob("*")} - listed - {MANIFEST, MARK})
    if others:
        raise ConfigError(
            f"the wheelhouse in this folder would be replaced, but {others[0]} is not part of it",
            where=folder,
            hint="Move that file away, or name another folder.",
        )


def _build_wheel(source: Path, folder: Path) -> None:
    """Our wheel. It is built in a scratch folder: the usual one may hold modules that no longer exist."""
    with temporary_folder("build") as scratch:
        settings = scratch / "extra.cfg"
        settings.write_text(f"[build]\nbuild_base = {scratch}/build\n[egg_info]\negg_base = {scratch}\n")
        environment = os.environ | {"DIST_EXTRA_CONFIG": os.fspath(settings)}
        _pip("wheel", "--no-deps", "--wheel-dir", folder, source, environment=environment)


def _pip(*arguments: str | os.PathLike[str], environment: dict[str, str] | None = None) -> None:
    command: Sequence[str | os.PathLike[str]] = [sys.executable, "-m", "pip", "--quiet", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603
    if done.returncode != 0:
        said = "\n".join(f"  {line}" for line in (done.stderr or done.stdout).strip().splitlines()[-15:])
        raise ResourceError(f"pip {arguments[0]} failed:\n{said}")


def _pin(wheel: Path) -> str:
    name, version = wheel.name.split("-")[:2]
    return f"{name}=={version}"


def _check_build(site: Path, source: Path) -> None:
    """The wheel must be the code that runs here, or workers would run other code than the driver."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); from itersel.base.version import build_id; print(build_id())"
    command = [sys.executable, "-I", "-S", "-c", code, os.fspath(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.stdout.strip() != build_id():
        raise ConfigError(
            f"the wheel of {source} is build {done.stdout.strip() or done.stderr.strip()},"
            f" but this is {describe_build()}",
            hint=f"Install the sources as they are now: {sys.executable} -m pip install -e {source}",
        )


def pack(folder: Path, archive: Path) -> None:
    """All of the folder as a gzipped tar file whose bytes depend on the content alone."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    with (
        open(archive, "wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=GZIP_LEVEL, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(folder.iterdir()):
            tar.add(path, path.name, filter=plain)


def _newest_glibc(wheel: Path) -> str | None:
    """The newest version of the C library that the wheel's kernel asks for; none where there is no such library."""
    found: set[tuple[int, ...]] = set()
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.endswith(".so"):
                wanted = re.findall(rb"\0GLIBC_(\d+(?:\.\d+)+)(?=\0)", files.read(name))
                found.update(tuple(map(int, version.split(b"."))) for version in wanted)
    return ".".join(map(str, max(found))) if found else None


def describe(manifest: dict[str, Any]) -> str:
    """A manifest for people."""
    size = sum(entry["bytes"] for entry in manifest["files"])
    lines = [f"itersel {manifest['version']} (build {manifest['build']}), {size:,} bytes"]
    lines.append(f"for Python {manifest['python']} on {manifest['machine']}, C library from {manifest['glibc']} on")
    return "\n".join([*lines, *(f"  {entry['name']}" for entry in manifest["files"])])

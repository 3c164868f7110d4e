"""Code that travels with a job: an algorithm from outside this package, which workers do not have installed.

The module of a job that is not this package's (or the package around it) is packed into an archive, a side file of the
job; a worker puts the archive on its path before it looks for the job's class. Only Python sources travel.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from itersel.base.errors import ConfigError
from itersel.base.temporary import temporary_folder
from itersel.mapreduce.job import Job
from itersel.mapreduce.side import Side, SideFile

SIDE_NAME = "code"
OURS = "itersel"
EPOCH = (1980, 1, 1, 0, 0, 0)


def foreign_modules(job: Job) -> list[str]:
    """The top-level modules that workers need for the job besides this package."""
    found = dict.fromkeys(name.partition(".")[0] for name in job.modules())
    if "__main__" in found:
        raise ConfigError(
            f"the job {type(job).__qualname__} is defined in a script",
            hint="Put it into a module that can be imported.",
        )
    return [name for name in found if name != OURS]


def pack(*modules: str) -> bytes:
    """The sources of top-level modules or packages as an archive with the same bytes for the same sources."""
    sources: dict[str, Path] = {}
    for module in modules:
        sources |= _sources(module)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(sources.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), path.read_bytes())
    return packed.getvalue()


def _sources(module: str) -> dict[str, Path]:
    place = getattr(importlib.import_module(module), "__file__", None)
    if place is None:
        raise ConfigError(f"the sources of {module} cannot be found", hint="Is it a regular Python module?")
    file = Path(place)
    if file.name != "__init__.py":
        return {f"{module}.py": file}
    return {f"{module}/{path.relative_to(file.parent).as_posix()}": path for path in file.parent.rglob("*.py")}


@contextlib.contextmanager
def with_code(job: Job, side: Mapping[str, SideFile]) -> Iterator[dict[str, SideFile]]:
    """The side files, and the sources of a job that workers may not have, in an archive while the context lasts."""
    modules = foreign_modules(job)
    if not modules:
        yield dict(side)
        return
    with temporary_folder("code") as folder:
        archive = folder / "code.zip"
        archive.write_bytes(pack(*modules))
        yield {**side, SIDE_NAME: SideFile(str(archive))}


def unpack(side: Side) -> None:
    """Let this process find the modules that travelled with the job."""
    if SIDE_NAME in side and (path := side.path(SIDE_NAME)) not in sys.path:
        sys.path.insert(0, path)
        importlib.invalidate_caches()

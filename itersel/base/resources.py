"""Files that come with the package but are no modules: job scripts, batch scripts, configurations, the demo corpus.

A checkout has them in its top-level folders `jobs/`, `conf/` and `data/`; the build of a wheel copies these folders to
`itersel/_installed/` (setup.py), with the same names. Callers name a file as in a checkout and get its path.
"""

from __future__ import annotations

from pathlib import Path

from itersel.base.errors import ResourceError

_PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = "_installed"
"""Folder of the package that holds the copies; absent in a checkout."""


def is_installed() -> bool:
    """Whether this package was installed from a wheel, so that there is no checkout around it."""
    return (_PACKAGE / INSTALLED).is_dir()


def resource_root() -> Path:
    """The folder that has `jobs/`, `conf/` and `data/`."""
    return _PACKAGE / INSTALLED if is_installed() else _PACKAGE.parent


def resource(name: str) -> Path:
    """The path of a file or folder that comes with the package, such as `conf/train.yaml` or `jobs`."""
    path = resource_root() / name
    if not path.exists():
        raise ResourceError(
            f"this installation of itersel lacks {name}",
            where=path,
            hint="Install itersel again.",
        )
    return path

"""The package's version, in one place, and what tells one build of it from another."""

from __future__ import annotations

import functools
import hashlib
import subprocess
from pathlib import Path

from itersel.base.resources import INSTALLED

__version__ = "0.2.0.dev0"


@functools.cache
def build_id() -> str:
    """Hexadecimal digits that stand for the code itself: the package's modules and the kernel's sources.

    Equal on two machines if they run the same code, wherever and whenever the kernel was compiled. The version
    alone does not tell: code under development changes more often than its number.
    """
    from itersel import _kernel  # here, because the build of the package reads the version before there is a kernel

    made = hashlib.sha256(_kernel.build_id.encode())
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(f"{INSTALLED}/"):  # copies of files that a checkout has outside of the package
            content = path.read_bytes()
            made.update(f"\n{name} {len(content)}\n".encode() + content)
    return made.hexdigest()[:16]


@functools.cache
def commit() -> str | None:
    """The commit of the source tree this runs from, with `+` if files differ from it; None outside of one.

    Looked up once: what a process has loaded stays, whatever becomes of the tree.
    """
    file = Path(__file__).resolve()
    folder = file.parents[1]

    def git(*arguments: str) -> str:
        # All arguments are written here. Without locks, the user's own git at the same time is not disturbed.
        command = ["git", "--no-optional-locks", *arguments]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603
        return run.stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "--", str(file))  # or an installed package would get a stranger's commit
        changed = git("status", "--porcelain", "--untracked-files=no", "--", str(folder))
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def describe_build() -> str:
    """Version and build for people, and to compare: `0.2.0 (build 0123456789abcdef)`."""
    return f"{__version__} (build {build_id()})"


def version_details() -> str:
    """For people and bug reports: versions of the package, the kernel's build and what it runs on."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from itersel import _kernel  # here, because the build reads the version before there is a kernel

    build = _kernel.build_details()
    packages = []
    for name in ("numpy", "scipy", "msgpack", "sacrebleu", "mrjob", "eflomal"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"{name} absent")
    return "\n".join(
        (
            f"itersel {describe_build()}",
            f"kernel: {build['compiler']}, {build['flags']}, pybind11 {build['pybind11']}",
            f"language models: KenLM {build['kenlm']}, n-grams up to {build['max_order']}",
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
            f"packages: {', '.join(packages)}",
        )
    )

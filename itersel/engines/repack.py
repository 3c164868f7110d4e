"""The wheel of an installed itersel, made again from its files: `itersel wheelhouse` where there is no checkout.

pip records which files of a wheel it installed, with their hashes. Those files go into a new wheel; what pip added
(scripts, bytecode, its own notes) does not. The bytes of the wheel depend on the content alone.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import zipfile
from pathlib import Path, PurePosixPath

from itersel.base.errors import ResourceError
from itersel.base.version import __version__

ADDED_BY_PIP = frozenset({"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"})
HINT = "Name the repository: itersel wheelhouse DIR --source REPOSITORY."
OLDEST = (1980, 1, 1, 0, 0, 0)


def repack(folder: Path) -> Path:
    """Write the wheel of the itersel that runs here to the folder; returns its path."""
    installed = _distribution()
    names = sorted(path.as_posix() for path in installed.files or () if _belongs(path))
    notes = f"itersel-{installed.version}.dist-info"
    tag = _tag(installed)
    if not names or tag is None or installed.version != __version__:
        raise ResourceError("pip has no complete record of this installation of itersel", hint=HINT)
    wheel, record = folder / f"itersel-{installed.version}-{tag}.whl", io.StringIO()
    lines = csv.writer(record, lineterminator="\n")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            content = _read(Path(str(installed.locate_file(name))))
            _add(archive, name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.writerow([name, f"sha256={digest}", len(content)])
        lines.writerow([f"{notes}/RECORD", "", ""])
        _add(archive, f"{notes}/RECORD", record.getvalue().encode())
    return wheel


def _distribution() -> importlib.metadata.Distribution:
    """What pip knows of the package that is running: not of another one that is installed, too."""
    package = Path(__file__).resolve().parents[1]
    for found in importlib.metadata.distributions(name="itersel"):
        if Path(str(found.locate_file("itersel"))).resolve() == package:
            return found
    raise ResourceError("pip does not know this installation of itersel", where=package, hint=HINT)


def _belongs(path: PurePosixPath) -> bool:
    """Whether a wheel has the file: one of the package, or one about it that is not pip's."""
    top = path.parts[0]
    if top.endswith(".dist-info"):
        return path.parts[-1] not in ADDED_BY_PIP or len(path.parts) > 2
    return top == "itersel" and "__pycache__" not in path.parts


def _tag(installed: importlib.metadata.Distribution) -> str | None:
    """Python, ABI and platform that the wheel was for."""
    tags = [line[5:] for line in (installed.read_text("WHEEL") or "").splitlines() if line.startswith("Tag: ")]
    return tags[0] if tags else None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ResourceError(f"an installed file cannot be read: {error.strerror}", where=path, hint=HINT) from None


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, OLDEST)
    entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)

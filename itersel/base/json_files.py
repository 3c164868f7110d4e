"""JSON objects in files, written atomically; what cannot be read is an error that names the file."""

from __future__ import annotations

import json
import os
from typing import Any

from itersel.base.errors import InputError
from itersel.base.files import atomic_write


def parse_json(content: str | bytes) -> Any:
    """The value; ValueError says what is wrong with it.

    JSON can spell half a surrogate pair (`\\ud800`), which is no character and could not be written again.
    """
    try:
        values = json.loads(content)
        if (b"\\u" if isinstance(content, bytes) else "\\u") in content:  # type: ignore[operator]
            json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ValueError(f"\\u{ord(half):04x} is half a surrogate pair, not a character") from None
    except RecursionError:
        raise ValueError("too many levels of brackets") from None
    return values


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in the file."""
    try:
        with open(path, "rb") as stream:
            values = parse_json(stream.read())
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", where=path) from None
    except ValueError as error:
        raise InputError(f"damaged: {error}", where=path) from None
    if not isinstance(values, dict):
        raise InputError("damaged: not a JSON object", where=path)
    return values


def find_json(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The object in the file; None if there is no such file, or none that can be read."""
    try:
        return read_json(path)
    except InputError:
        return None


def write_json(path: str | os.PathLike[str], values: dict[str, Any]) -> None:
    """Write the object, one value per line, so that people can read it."""
    with atomic_write(path) as stream:
        stream.write((json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode())

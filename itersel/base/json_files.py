"""JSON objects in files, written atomically; what cannot be read is an error that names the file."""

from __future__ import annotations

import json
import os
from typing import Any

from itersel.base.errors import InputError
from itersel.base.files import atomic_write


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in the file."""
    try:
        with open(path, "rb") as stream:
            values = json.load(stream)
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", where=path) from None
    except ValueError as error:
        raise InputError(f"damaged: {error}", where=path) from None
    if not isinstance(values, dict):
        raise InputError("damaged: not a JSON object", where=path)
    return values


def write_json(path: str | os.PathLike[str], values: dict[str, Any]) -> None:
    """Write the object, one value per line, so that people can read it."""
    with atomic_write(path) as stream:
        stream.write((json.dumps(values, indent=1, ensure_ascii=False) + "\n").encode())

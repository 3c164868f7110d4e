"""Python objects by name: `module:name`, from installed packages or the current folder."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from itersel.base.errors import ConfigError


def find(name: str) -> Any:
    """The object `module:name`; ConfigError if there is none."""
    module, colon, attribute = name.partition(":")
    if not colon or not attribute:
        raise ConfigError(f"{name!r} does not name an object", hint="Write module:name, such as my_trainer:Median.")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"cannot find {name}: {error}", hint="Is the module installed, or in the current folder?"
        ) from None
    return found


def let_modules_here_be_found() -> None:
    """Put the current folder at the end of the path, where it hides nothing."""
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)

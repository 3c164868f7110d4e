"""Arguments that several verbs have."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from itersel.base.errors import ConfigError
from itersel.base.settings import Settings

JOBS_HELP = "processes; the result does not depend on it (default: %(default)s)"


def add_jobs(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, default: int | None = 1, text: str = JOBS_HELP
) -> None:
    """--jobs; without a default, the configuration's number holds."""
    parser.add_argument("--jobs", type=process_number, default=default, metavar="N", help=text)


def put_options(settings: Settings, values: Mapping[str, Any], keys: Mapping[str, str]) -> Settings:
    """The settings with the command line's options, under the common keys or the algorithm's own."""
    from itersel.algorithms.registry import algorithm_class  # here, because most verbs need no algorithm

    named = settings.put_flags(values, {"algorithm": "algorithm"}).find("algorithm")
    if named is None or not isinstance(named.value, str):
        return settings.put_flags(values, keys)
    try:
        kind = algorithm_class(named.value)
    except ConfigError:  # whoever reads the configuration says where the name is from
        return settings.put_flags(values, keys)
    for option, own in kind.options.items():
        if own is None and values.get(option) is not None:
            raise ConfigError(
                f"{kind.name} has no use for it", where=f"--{option}", hint=f"Leave it out, or set keys of {kind.name}."
            )
    placed = {option: f"{kind.name}.{own}" for option, own in kind.options.items() if own and option in keys}
    return settings.put_flags(values, {**keys, **placed})


def process_number(text: str) -> int:
    """A number of processes: at least one."""
    number = int(text) if text.strip().lstrip("+-").isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of processes; give at least 1")
    return number

"""Arguments that several verbs have."""

from __future__ import annotations

import argparse

JOBS_HELP = "processes; the result does not depend on it (default: %(default)s)"


def add_jobs(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, default: int | None = 1, text: str = JOBS_HELP
) -> None:
    """--jobs; without a default, the configuration's number holds."""
    parser.add_argument("--jobs", type=process_number, default=default, metavar="N", help=text)


def process_number(text: str) -> int:
    """A number of processes: at least one."""
    number = int(text) if text.strip().lstrip("+-").isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of processes; give at least 1")
    return number

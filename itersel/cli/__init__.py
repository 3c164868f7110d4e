"""The command line: `itersel <verb>`. Each verb is a module here with SUMMARY, EXAMPLE, add_arguments and run.

Exit codes: 0 success, 1 an internal failure, 2 wrong usage or bad input, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from itersel.base import events
from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.files import MACHINE_ERRORS, cannot_write
from itersel.base.version import __version__, version_details

VERBS: tuple[str, ...] = (
    "prepare",
    "split",
    "align",
    "lm",
    "extract",
    "shard",
    "build",
    "train",
    "translate",
    "rerank",
    "evaluate",
    "report",
    "inspect",
    "convert",
    "demo",
    "experiment",
    "geoquery",
    "wheelhouse",
    "completion",
)
USAGE, INTERRUPTED, TERMINATED = 2, 130, 143
"""Exit codes, besides those of errors (itersel.base.errors)."""


class Parser(argparse.ArgumentParser):
    """Reports wrong arguments as a JSON event with --log-json. The parsers of verbs have the same class."""

    def error(self, message: str) -> NoReturn:
        if events.as_json():
            events.emit("error", message=message, where=None, hint=self.format_usage().strip())
            events.emit("end", code=USAGE)
            sys.exit(USAGE)
        super().error(message)


class ShowVersion(argparse.Action):
    """Looks the details up only when they are asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        print(version_details(), flush=True)
        parser.exit()


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all verbs; or one that knows the options of a single verb, and imports what that verb needs."""
    parser = Parser(
        prog="itersel",
        description="Distributed discriminative training for hierarchical machine translation.",
        epilog="`itersel VERB --help` shows options and examples. Exit codes: 0 done, 1 the program or the machine"
        " failed, 2 wrong usage or bad input, 130 interrupted, 143 terminated.",
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show the versions and how the kernel was built")
    _add_log_option(parser, False)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in VERBS:
        if only not in (None, name):
            verbs.add_parser(name)
            continue
        module = importlib.import_module(f"itersel.cli.{name}")
        verb = verbs.add_parser(
            name,
            help=module.SUMMARY,
            description=module.__doc__,
            epilog=f"example:\n{module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(verb)
        actions = [one for one in verb._actions if isinstance(one, argparse._SubParsersAction)]
        for below in [verb, *(parser for one in actions for parser in one.choices.values())]:
            _add_log_option(below, argparse.SUPPRESS)  # also after the verb, or its action
        verb.set_defaults(run=module.run)
    return parser


def _add_log_option(parser: argparse.ArgumentParser, default: Any) -> None:
    parser.add_argument(
        "--log-json",
        action="store_true",
        default=default,
        help="write progress, warnings and errors as JSON lines to standard error",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    events.configure(json="--log-json" in given)  # also for messages about wrong arguments
    if sys.stderr is None:  # closed; what is meant for it must not go to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        events.fail(ConfigError("standard output is closed", hint="Redirect it to a file, or to /dev/null."))
        return USAGE
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the locale is, as all files are
    for word in given:
        if not word.isprintable() and any("\ud800" <= character <= "\udfff" for character in word):
            events.fail(ConfigError(f"the argument {word!r} is not UTF-8", hint="Rename the file."))
            return USAGE
    try:
        args = build_parser(_verb_of(given)).parse_args(given)
    except KeyboardInterrupt:
        events.note("itersel: interrupted")
        return INTERRUPTED
    except SystemExit as end:
        code = _flush_output()  # of --help and --version
        if code is not None:
            return code
        raise end from None
    except OSError as error:
        return _cannot_print(error)
    events.configure(json=args.log_json, verb=args.verb)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # unwinds: temporary files and children go
    if not args.log_json:
        return _run(args)
    began, code = time.monotonic(), 1
    events.emit("start", version=__version__, arguments=list(given))
    try:
        code = _run(args)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
        raise
    except Exception:
        import traceback

        events.emit("error", message=traceback.format_exc(), where=None, hint="This is a defect; please report it.")
    finally:
        events.emit("end", code=code, seconds=round(time.monotonic() - began, 3))
    return code


def _verb_of(given: Sequence[str]) -> str | None:
    """The verb if the command line has one in its place; without one, the help or the error is about all of them."""
    first = next((word for word in given if not word.startswith("-")), None)
    return first if first in VERBS else None


def _run(args: argparse.Namespace) -> int:
    try:
        args.run(args)
    except UserError as error:
        events.fail(error)
        return error.exit_code
    except KeyboardInterrupt:
        events.note(f"itersel {args.verb}: interrupted")
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:
            return _cannot_print(error)
        named = cannot_write(error, os.fsdecode(error.filename))
        events.fail(type(named)(error.strerror or str(error), where=named.where))
        return named.exit_code
    return _flush_output() or 0


def _flush_output() -> int | None:
    """Write what is left for standard output; an exit code if that is impossible."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return _cannot_print(error)
    return None


def _cannot_print(error: OSError) -> int:
    """Standard output cannot be written. If its reader stopped reading (`| head`), that is no failure."""
    if not isinstance(error, BrokenPipeError) and error.errno not in (*MACHINE_ERRORS, errno.EBADF):
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter tries again at its end
    if isinstance(error, BrokenPipeError):
        return 0
    events.fail(ResourceError(f"cannot write to standard output: {error.strerror}"))
    return ResourceError.exit_code

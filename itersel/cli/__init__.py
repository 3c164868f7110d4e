"""The command line: `itersel <verb>`. Each verb is a module here with SUMMARY, EXAMPLE, add_arguments and run.

Exit codes: 0 success, 1 an internal failure, 2 wrong usage or bad input, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from itersel.errors import UserError
from itersel.version import __version__

VERBS: tuple[str, ...] = ("prepare", "align", "lm", "extract", "shard", "build", "train", "translate", "rerank")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="itersel", description="Distributed discriminative training for hierarchical machine translation."
    )
    parser.add_argument("--version", action="version", version=f"itersel {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name in VERBS:
        module = importlib.import_module(f"itersel.cli.{name}")
        verb = verbs.add_parser(
            name,
            help=module.SUMMARY,
            description=module.__doc__,
            epilog=f"example:\n{module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(verb)
        verb.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, so that temporary files and children go
    try:
        args.run(args)
    except UserError as error:
        print(f"itersel {args.verb}: error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"itersel {args.verb}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader went away (`| head`): not a failure. Keep the interpreter from flushing into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0

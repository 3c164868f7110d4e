"""Build what worker nodes need: our wheel with the kernel, the packages of tasks, an installer, and an archive to ship.

On each node, `python3.11 DIR/install.py /opt/itersel` makes an environment of it without any network; engines that ship
archives to their tasks take DIR/site.tar.gz instead. A driver refuses workers that run another build than its own.
"""

from __future__ import annotations

import argparse

from itersel.engines.wheelhouse import build_wheelhouse, describe

SUMMARY = "build what worker nodes need to run tasks"
EXAMPLE = """\
  itersel wheelhouse work/wheelhouse
  scp -r work/wheelhouse node1: && ssh node1 python3.11 wheelhouse/install.py /opt/itersel"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="to make, or to replace if it is a wheelhouse")
    parser.add_argument("--source", metavar="REPOSITORY", help="build from these sources (default: as installed here)")


def run(args: argparse.Namespace) -> None:
    print(describe(build_wheelhouse(args.folder, args.source)))

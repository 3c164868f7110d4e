"""Build what worker nodes need: the wheel of itersel, the packages it needs there, an installer, an archive to ship.

On each node, `python3.11 DIR/install.py /opt/itersel` makes an environment without any network. Engines that ship
archives to their workers use DIR/site.tar.gz instead. A worker refuses to run another build than the driver's.
"""

from __future__ import annotations

import argparse

from itersel.engines.wheelhouse import build_wheelhouse, describe

SUMMARY = "build the packages that worker nodes need"
EXAMPLE = """\
  itersel wheelhouse work/wheelhouse
  scp -r work/wheelhouse node1: && ssh node1 python3.11 wheelhouse/install.py /opt/itersel"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="folder to make, or to replace if it is a wheelhouse")
    parser.add_argument("--source", metavar="REPOSITORY", help="build from these sources (default: as installed here)")


def run(args: argparse.Namespace) -> None:
    print(describe(build_wheelhouse(args.folder, args.source)))

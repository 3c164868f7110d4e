#!/usr/bin/env python3
"""Prints what setup.cfg requires, one package per line: `python tools/requirements.py [EXTRA …]`.

With it, packages can be installed while the kernel is compiled; `pip install .[EXTRA]` does one after the other.
"""

import sys
from configparser import ConfigParser
from pathlib import Path


def requirements(extras: list[str]) -> list[str]:
    settings = ConfigParser(interpolation=None)
    settings.read(Path(__file__).resolve().parents[1] / "setup.cfg")
    known = settings["options.extras_require"]
    if unknown := set(extras) - set(known):
        sys.exit(f"requirements.py: no extra {', '.join(sorted(unknown))} in setup.cfg; it has {', '.join(known)}")
    groups = [settings["options"]["install_requires"], *(known[name] for name in extras)]
    return [line for group in groups for line in group.split("\n") if line]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))

"""Build everything that training needs from parallel text: clean text, alignment, language model, index and shards.

All options are in one YAML file; conf/sample.yaml explains them. Run the same command again to resume: it skips every
stage whose inputs and options have not changed.
"""

from __future__ import annotations

import argparse

from itersel.pipeline.build import build
from itersel.pipeline.build_config import load_config
from itersel.pipeline.build_paths import language_model_path, shards_path
from itersel.pipeline.stages import table

SUMMARY = "go from parallel text to shards with one configuration file"
EXAMPLE = """\
  itersel build conf/sample.yaml
  itersel build conf/sample.yaml --set jobs=4 --set work=work/dense --set shards.features=dense"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("configuration", metavar="CONFIG.yaml")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="override an option; paths are relative to the current folder (may be given several times)",
    )


def run(args: argparse.Namespace) -> None:
    config = load_config(args.configuration, args.set)
    results = list(build(config))
    print(table(results))
    print(f"\nlanguage model: {language_model_path(config)}")
    for name in config.set_names:
        print(f"shards of {name}: {shards_path(config, name)}")

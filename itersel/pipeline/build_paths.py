"""Where a build keeps what it makes: the files of its work folder, by name.

In: a `BuildConfig`, and where it matters the name of a set or a fold. Out: paths; nothing is read or written.
"""

from __future__ import annotations

from pathlib import Path

from itersel.lm.binary import binary_path, is_binary
from itersel.lm.corpus import Fold
from itersel.pipeline.build_config import BuildConfig


def source_path(config: BuildConfig, name: str) -> Path:
    return config.work / "text" / f"{name}.source"


def prepared_path(config: BuildConfig, name: str) -> Path:
    """The clean source side; where compounds are split, as it is before that."""
    return config.work / "text" / f"{name}.unsplit" if config.text.split_source else source_path(config, name)


def splitter_path(config: BuildConfig) -> Path:
    return config.work / "model" / "splitter.gz"


def reference_path(config: BuildConfig, name: str, number: int = 0) -> Path:
    return config.work / "text" / f"{name}.reference.{number}"


def tasks_path(config: BuildConfig, name: str) -> Path:
    return config.work / "text" / f"{name}.tasks"


def kept_path(config: BuildConfig, name: str) -> Path:
    """Line numbers, from 1, that a set made of the training files has there."""
    return config.work / "text" / f"{name}.lines"


def alignment_path(config: BuildConfig) -> Path:
    return config.work / "model" / "alignment"


def arpa_path(config: BuildConfig, without: Fold | None = None, *, unseen: bool = False) -> Path:
    """The model of the whole training text, or the one that has not seen a fold or the training shards of it."""
    if unseen:
        return config.work / "model" / "lm.unseen.arpa.gz"
    if without is not None:
        return config.work / "model" / f"lm.without-fold.{without.number:03d}.arpa.gz"
    return config.work / "model" / "lm.arpa.gz"


def language_model_path(config: BuildConfig, without: Fold | None = None, *, unseen: bool = False) -> Path:
    """The same model in KenLM's binary form, to decode with: the given one if it is binary, or one beside the ARPA."""
    if without is None and not unseen and config.lm.given is not None and is_binary(config.lm.given):
        return config.lm.given
    return binary_path(arpa_path(config, without, unseen=unseen))


def folds(config: BuildConfig) -> list[Fold]:
    return [Fold(config.lm_folds, number) for number in range(config.lm_folds)]


def fold_model_paths(config: BuildConfig) -> list[Path]:
    """The models that have not seen a fold, in the order of the folds."""
    return [language_model_path(config, fold) for fold in folds(config)]


def index_path(config: BuildConfig) -> Path:
    return config.work / "model" / "index"


def shards_path(config: BuildConfig, name: str) -> Path:
    return config.work / "shards" / name

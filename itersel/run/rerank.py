"""Rerankers: the algorithms of ACL 2012 §4 on fixed n-best lists of any system, without a decoder.

    lists + references  →  table, compiled once (itersel.lists.compiler)  →  training on its lists (itersel.run.driver)

The tables lie in the run's directory under the hash of what they are made of, so a run that is resumed, or asked
for more epochs, finds them. All else is as with `itersel train`: engines, layouts, resuming, devtest, files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from itersel.algorithms.registry import algorithm_class
from itersel.base.files import file_checksum
from itersel.base.folders import RUN, check_folder_kind
from itersel.base.json_files import write_json
from itersel.lists.compiler import Part, compile_lists
from itersel.lists.merging import read_merged_lists
from itersel.lists.reader import SYSTEM_SCORE, FieldsConfig, read_lists
from itersel.lists.table import VERSION
from itersel.model.features import Weights
from itersel.run.driver import train
from itersel.run.rerank_config import RerankConfig

TABLES, START = ".tables", ".start.weights"


def train_reranker(
    config: RerankConfig, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None
) -> Path:
    """Run or resume the training in the directory; returns the chosen epoch's weights as a text file."""
    config.check()
    check_folder_kind(directory, RUN)
    if algorithm_class(config.algorithm).choice_without_devtest is not None:
        # A tuner searches from a start of its own, and knows how good its result is on the lists.
        config = replace(config, own_score=False, held_out=0)
    if config.merge:  # scores of several iterations cannot be compared
        config = replace(config, own_score=False)
    parts: tuple[Part | None, Part | None] = (None, None)
    if config.held_out and config.references and not config.devtest and _count(config) >= max(config.held_out, 2):
        parts = Part(config.held_out, False), Part(config.held_out, True)
        config = replace(config, devtest=config.lists, devtest_references=config.references)
    lists = compiled(config, directory, config.lists, config.references, parts[0])
    devtest = None
    if config.devtest:
        devtest = compiled(config, directory, config.devtest, config.devtest_references, parts[1])
    if config.own_score and config.start is None:
        place = Path(directory) / START
        if not place.exists():
            Weights({SYSTEM_SCORE: 1.0}).write(place)
        config = replace(config, start=os.fspath(place))
    return train(config.train_config(lists, devtest), directory, warn=warn)


def _count(config: RerankConfig) -> int:
    """The number of lists."""
    read = read_merged_lists if config.merge else read_lists
    return sum(1 for _ in read(config.lists, config.fields))


def compiled(
    config: RerankConfig,
    directory: str | os.PathLike[str],
    lists: Sequence[str],
    references: Sequence[str],
    part: Part | None = None,
) -> str:
    """The table of the lists, or of a part of them.

    If it does not exist yet, it is made, together with a description of its sources.
    """
    fields, objective = config.fields, config.objective
    if references and fields.objective is not None:  # devtest lists, for which BLEU decides
        fields = FieldsConfig(fields.form, fields.features, fields.score)
    made_of: dict[str, Any] = {
        "version": VERSION,
        "lists": [file_checksum(path) for path in lists],
        "references": [file_checksum(path) for path in references],
        "references_by": config.references_by,
        "fields": asdict(fields),
        "objective": asdict(objective),
    }
    made_of |= {"own_score": True} if config.own_score else {}
    made_of |= {} if part is None else {"part": asdict(part)}
    made_of |= {"merge": True} if config.merge else {}
    key = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:16]
    place = Path(directory) / TABLES / f"{key}.table"
    if not place.exists():
        description = {"paths": {"lists": list(lists), "references": list(references)}} | made_of
        write_json(place.with_suffix(".json"), description)
        compile_lists(
            lists,
            references,
            place,
            fields=fields,
            objective=objective,
            references_by=config.references_by,
            own_score=config.own_score,
            part=part,
            merge=config.merge,
            jobs=config.run.processes,
        )
    return os.fspath(place)

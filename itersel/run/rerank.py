"""Rerankers: the algorithms of ACL 2012 §4 on fixed n-best lists of any system, without a decoder.

    lists + references  →  table, compiled once (list_compile)  →  drive.train over its lists, as over shards' sentences

The tables lie in the run's directory under the hash of what they are made of, so a run that is taken up again, or asked
for more epochs, finds them. All else is as with `itersel train`: engines, layouts, resuming, devtest, files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from itersel.base.files import file_checksum
from itersel.base.json_files import write_json
from itersel.lists.compiler import compile_lists
from itersel.lists.reader import Fields
from itersel.lists.table import VERSION
from itersel.run.driver import train
from itersel.run.rerank_config import RerankConfig

TABLES = ".tables"


def train_reranker(
    config: RerankConfig, directory: str | os.PathLike[str], *, warn: Callable[[str], None] | None = None
) -> Path:
    """Run or resume the training in the directory; returns the chosen epoch's weights as a text file."""
    config.check()
    lists = compiled(config, directory, config.lists, config.references)
    devtest = compiled(config, directory, config.devtest, config.devtest_references) if config.devtest else None
    return train(config.train_config(lists, devtest), directory, warn=warn)


def compiled(
    config: RerankConfig, directory: str | os.PathLike[str], lists: Sequence[str], references: Sequence[str]
) -> str:
    """The table of the lists; made if it is not there yet, with a description of what it is made of beside it."""
    fields, objective = config.fields, config.objective
    if references and fields.objective is not None:  # devtest lists, for which BLEU decides
        fields = Fields(fields.form, fields.features, fields.score)
    made_of: dict[str, Any] = {
        "version": VERSION,
        "lists": [file_checksum(path) for path in lists],
        "references": [file_checksum(path) for path in references],
        "references_by": config.references_by,
        "fields": asdict(fields),
        "objective": asdict(objective),
    }
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
            jobs=config.run.processes,
        )
    return os.fspath(place)

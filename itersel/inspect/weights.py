"""Weights, as text or as a vector: how many of each group, norms, the largest.

A vector has only ids; the names come from the text file beside it, as in the directory of a run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from itersel.base.files import read_head
from itersel.base.tables import text_table
from itersel.inspect.options import ViewOptions
from itersel.model.feature_names import NameTable
from itersel.model.features import PREFIXES, Weights
from itersel.model.vectors import MAGIC, Vector

TEMPLATES = {"R:": "rule identity", "RBS:": "source bigrams", "RBT:": "target bigrams", "Shape_": "rule shapes"}
GROUPS = {prefix: f"{TEMPLATES[prefix]} ({group})" for group, several in PREFIXES.items() for prefix in several}
"""The template and its group as shown to people, by the prefix of the feature names."""


def read(path: Path) -> Weights | Vector:
    """Weights in either form, recognised by content."""
    return Vector.read(path) if read_head(path, len(MAGIC)) == MAGIC else Weights.read(path)


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    found = read(path)
    named = _named(found, path) if isinstance(found, Vector) else dict(found)
    used = {name: value for name, value in named.items() if value}
    yield f"{'vector' if isinstance(found, Vector) else 'weights'} {path}"
    yield f"{len(used):,} weights that are not 0; ℓ1 norm {sum(map(abs, used.values())):.6g}, ℓ2 norm {_norm(used):.6g}"
    yield from ("", text_table(_group_rows(used)))
    chosen = [name for name in used if options.matches(name)]
    ranked = sorted(chosen, key=lambda name: (-abs(used[name]), name))[: options.top]
    if ranked:
        table = [["weight", "feature"], *([f"{used[name]:+.6g}", name] for name in ranked)]
        yield from ("", text_table(table, left=(1,)))
    if len(chosen) > len(ranked):
        yield f"… and {len(chosen) - len(ranked):,} more"
    elif not chosen:
        yield "no feature matches"


def group_of(name: str) -> str:
    """Which template a feature comes from, by its name; a feature of no template is dense."""
    return next((group for prefix, group in GROUPS.items() if name.startswith(prefix)), "dense")


def _norm(values: Mapping[str, float]) -> float:
    return math.sqrt(math.fsum(value * value for value in values.values()))


def _group_rows(used: Mapping[str, float]) -> list[list[str]]:
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for name, value in used.items():
        groups[group_of(name)].append(value)
    rows = [["group", "weights", "positive", "mean size", "largest size"]]
    for group in ("dense", *GROUPS.values()):
        values = groups[group]
        if values:
            sizes = [abs(value) for value in values]
            mean = math.fsum(sizes) / len(sizes)
            positive = sum(value > 0 for value in values)
            rows.append([group, f"{len(values):,}", f"{positive:,}", f"{mean:.4g}", f"{max(sizes):.4g}"])
    return rows


def _named(vector: Vector, path: Path) -> dict[str, float]:
    """Names from `weights.txt.gz` beside `weights.vec`; a feature it does not have keeps its id."""
    beside = path.with_suffix(".txt.gz")
    table = NameTable(Weights.read(beside)) if beside.is_file() else NameTable([])
    known = dict(zip(table.ids.tolist(), table.names, strict=True))
    return {
        known.get(id, f"{id:#018x}"): value
        for id, value in zip(vector.ids.tolist(), vector.values.tolist(), strict=True)
    }

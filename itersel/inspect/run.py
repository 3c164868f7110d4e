"""A training run: what was asked for, what each epoch came to, which one was chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.base.json_files import read_json
from itersel.base.tables import text_table
from itersel.inspect import weights
from itersel.inspect.options import ViewOptions


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    described = read_json(path / "run.json")
    settings = dict(_flat(described.get("configuration", {})))
    versions = described.get("versions", {})
    yield f"run {path}, made by " + ", ".join(f"{name} {version}" for name, version in versions.items())
    shown = [[key, value] for key, value in settings.items() if options.matches(key)]
    if shown:
        yield from ("", text_table([["setting", "value"], *shown], left=(0, 1)))
    if (path / "manifest.json").is_file() and (path / "statistics.jsonl").is_file():
        yield from ("", epoch_table(path))
    else:
        yield "no epoch is finished"
    chosen = path / "weights.txt.gz"
    if chosen.is_file() and options.top:
        yield from ("", *weights.lines(chosen, options))


def epoch_table(directory: Path) -> str:
    """What each finished epoch of a run came to; the chosen one is marked."""
    chosen = read_json(directory / "manifest.json").get("chosen")
    rows = [("epoch", "features", "updates", "pair errors", "1-best metric", "devtest BLEU")]
    for one in _statistics(directory / "statistics.jsonl"):
        if one["shard"] is not None:
            continue
        bleu = one.get("devtest_bleu")
        rows.append(
            (
                f"{one['epoch']}{' *' if one['epoch'] == chosen else '  '}",
                f"{one['weights']:,}",
                f"{one['updates']:,}",
                f"{one['rank_errors'] / max(one['pairs'], 1):.1%}",
                f"{one['best_metric'] / max(one['lists'], 1):.4f}",
                "–" if bleu is None else f"{bleu:.2f}",
            )
        )
    note = f"* chosen; its weights are the run's, and those of every epoch are in {directory}"
    return f"{text_table(rows, left=())}\n{note}"


def _statistics(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(read_lines(path), 1):
        try:
            yield json.loads(line)
        except ValueError as error:
            raise InputError(f"damaged: {error}", where=f"{path}:{number}") from None


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Keys as `--set` takes them, with their values."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)

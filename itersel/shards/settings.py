"""What a map task that compiles shards needs besides `write_shard`: its compiler from side files, and its guard.

Settings travel as JSON: {"rules": {ExtractOptions}, "shards": {ShardOptions}}, each key optional.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from itersel.base.errors import ConfigError, ResourceError
from itersel.grammar.extraction import ExtractOptions
from itersel.shards.compiler import Corpus, IndexGrammars, ShardCompiler, ShardOptions


def format_settings(rules: ExtractOptions, options: ShardOptions) -> str:
    return json.dumps({"rules": asdict(rules), "shards": asdict(options)}, sort_keys=True)


def open_compiler(
    index: str | os.PathLike[str],
    sentences: str | os.PathLike[str],
    references: Sequence[str | os.PathLike[str]],
    tasks: str | os.PathLike[str] | None,
    settings: str,
) -> ShardCompiler:
    """The compiler of a map task's side files and settings."""
    try:
        parsed = json.loads(settings)
        rules = ExtractOptions(**parsed.pop("rules", {}))
        options = ShardOptions(**parsed.pop("shards", {}))
        if parsed:
            raise TypeError(f"unknown key {next(iter(parsed))!r}")
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"not settings: {error}", hint='Give {"rules": {…}, "shards": {…}} with ExtractOptions and ShardOptions.'
        ) from None
    return ShardCompiler(Corpus.read(sentences, references, tasks), IndexGrammars(index, rules), options)


def single_record(name: str, records: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The one record of a shard; a second one means that its input line was doubled."""
    first, *others = records
    if others:
        raise ResourceError(f"{name} was made {1 + len(others)} times", hint="Was the plan doubled?")
    return first

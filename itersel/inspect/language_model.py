"""A language model: order and counts; with grep, n-grams of an ARPA file with their log10 probabilities."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from itersel.base.errors import ConfigError
from itersel.base.files import read_lines
from itersel.base.tables import text_table
from itersel.inspect.options import ViewOptions
from itersel.lm.binary import is_binary
from itersel.lm.model import LanguageModel

COUNT = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    model = LanguageModel(path)  # checks the whole file, with errors of its own
    counts = list(_counts(path))
    yield f"language model {path}"
    yield f"order {model.order}, " + ("KenLM's binary format" if not counts else "ARPA")
    if counts:
        yield text_table([["order", "n-grams"], *([order, f"{int(count):,}"] for order, count in counts)])
    if options.grep is not None:
        if not counts:
            raise ConfigError("a binary model has no text to search", hint="Give the ARPA file.")
        yield from ("", *_matching(path, options))


def _counts(path: Path) -> Iterator[tuple[str, str]]:
    """The header's counts; none if the file is binary."""
    if is_binary(path):
        return
    for line in read_lines(path):
        if line.startswith("\\1-grams:"):
            return
        found = COUNT.match(line)
        if found:
            yield found[1], found[2]


def _matching(path: Path, options: ViewOptions) -> Iterator[str]:
    rows = [["log10 p", "backoff", "n-gram"]]
    more = 0
    for line in read_lines(path):
        fields = line.rstrip("\r").split("\t")
        if len(fields) not in (2, 3) or not options.matches(fields[1]):
            continue
        if len(rows) <= options.top:
            rows.append([fields[0], fields[2] if len(fields) == 3 else "–", fields[1]])
        else:
            more += 1
    yield text_table(rows, left=(2,)) if len(rows) > 1 else "no n-gram matches"
    if more:
        yield f"… and {more:,} more that match"

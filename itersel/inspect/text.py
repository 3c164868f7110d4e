"""Text files: sentences, word alignments, labels, line numbers, n-best lists, sentences with grammars, pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from itersel.base.files import read_lines, read_utf8
from itersel.base.tables import text_table
from itersel.inspect.options import ViewOptions
from itersel.lists.reader import read_lists
from itersel.text.bitext import words

SHOWN_WIDTH = 100
"""Characters of a line that are shown."""
TITLE = re.compile(r"<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)


def text_lines(path: Path, options: ViewOptions, name: str = "text") -> Iterator[str]:
    """Size, vocabulary, and the first lines."""
    seen: set[str] = set()
    lengths, shown = [], _Listed(options)
    for line in read_lines(path):
        found = words(line)
        seen.update(found)
        lengths.append(len(found))
        shown.add(line)
    yield f"{name} {path}"
    yield f"{len(lengths):,} lines, {sum(lengths):,} words, {len(seen):,} of them distinct"
    if lengths:
        yield f"words in a line: {min(lengths)} to {max(lengths)}, mean {sum(lengths) / len(lengths):.1f}"
    yield from shown.lines()


def segment_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """Sentences with their grammars, as `itersel extract` writes them for a decoder."""
    return text_lines(path, options, "sentences with grammars")


def alignment_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """How many links there are; a line per sentence pair."""
    pairs = links = without = 0
    shown = _Listed(options)
    for line in read_lines(path):
        count = len(words(line))
        pairs, links, without = pairs + 1, links + count, without + (count == 0)
        shown.add(line)
    yield f"word alignment {path}"
    yield f"{pairs:,} sentence pairs, {links:,} links, {without:,} pairs without a link"
    yield from shown.lines()


def label_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """Which labels there are, by frequency; one label per line."""
    counts = Counter(line.strip() for line in read_lines(path))
    ranked = sorted((one for one in counts.items() if options.matches(one[0])), key=lambda one: (-one[1], one[0]))
    yield f"labels {path}"
    yield f"{counts.total():,} lines, {len(counts):,} different labels"
    if ranked[: options.top]:
        rows = [["label", "lines"], *([label, f"{count:,}"] for label, count in ranked[: options.top])]
        yield from ("", text_table(rows))
    yield from _more(len(ranked) - options.top)


def number_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """Numbers of lines, e.g. which lines of the raw text a build kept."""
    lines = [line for line in read_lines(path) if line.strip()]
    numbers = [int(line) for line in lines]
    yield f"line numbers {path}"
    yield f"{len(numbers):,} numbers from {min(numbers):,} to {max(numbers):,}"
    shown = _Listed(options)
    for line in lines:
        shown.add(line)
    yield from shown.lines()


def nbest_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """How many lists and hypotheses; which features the first list has."""
    sizes, names = list[int](), list[str]()
    shown = _Listed(options)
    for found in read_lists([path], ordered=False):
        if not sizes:
            names = sorted({name for entry in found.parse() for name in entry.features})
        sizes.append(len(found.lines))
        for line in found.lines:
            shown.add(line)
    yield f"n-best lists {path}"
    yield f"{len(sizes):,} lists, {sum(sizes):,} hypotheses, {min(sizes):,} to {max(sizes):,} in a list"
    yield f"features of the first list: {len(names):,}" + (f" ({', '.join(names[:8])} …)" if names else "")
    yield from shown.lines()


def page_lines(path: Path, options: ViewOptions) -> Iterator[str]:  # noqa: ARG001
    """The title of a page, such as a report."""
    content = read_utf8(path).decode()
    title = TITLE.search(content)
    yield f"page {path}"
    yield f"{title[1].strip() if title else 'no title'}; {len(content.encode()):,} bytes. Open it in a browser."


def empty_lines(path: Path, options: ViewOptions) -> Iterator[str]:  # noqa: ARG001
    yield f"empty file {path}"


class _Listed:
    """The first lines that match, and how many more there are."""

    def __init__(self, options: ViewOptions):
        self._options, self._kept, self._matching = options, list[str](), 0

    def add(self, line: str) -> None:
        if self._options.matches(line):
            self._matching += 1
            if len(self._kept) < self._options.top:
                self._kept.append(line if len(line) <= SHOWN_WIDTH else f"{line[: SHOWN_WIDTH - 1]}…")

    def lines(self) -> Iterator[str]:
        if self._kept:
            yield from ("", *self._kept)
        yield from _more(self._matching - len(self._kept))
        if not self._matching and self._options.grep is not None:
            yield "no line matches"


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"… and {count:,} more"


View = Callable[[Path, ViewOptions], Iterator[str]]
VIEWS: dict[str, View] = {
    "text": text_lines,
    "segments": segment_lines,
    "alignment": alignment_lines,
    "labels": label_lines,
    "numbers": number_lines,
    "lists": nbest_lines,
    "page": page_lines,
    "empty": empty_lines,
}

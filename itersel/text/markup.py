"""Files of other systems that are not plain text: NIST's SGML and word lattices. Read as words, they would give wrong
translations and wrong scores without a word of warning; here they are refused with `path:line`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from itersel.base.errors import InputError

SGML = re.compile(r"\s*<(?:\?xml|!doctype|/?(?:mteval|srcset|refset|tstset|doc|seg))(?=[\s>/]|$)", re.IGNORECASE)
LATTICE = re.compile(r"""\s*\(\s*\(\s*\(\s*['"]""")


def refuse_markup(line: str, where: str, *, seg: bool = False) -> None:
    """InputError if the line is SGML or a lattice. With `seg`, a line of `<seg>` is left to the caller."""
    found = SGML.match(line)
    if found and not (seg and found[0].strip().lower() == "<seg"):
        raise InputError(
            f"this is SGML, not a plain sentence: {line.strip()[:40]!r}",
            where=where,
            hint="Take the sentences out of it, one per line, e.g. with"
            r" sed -n 's:.*<seg[^>]*> *\(.*\)</seg>.*:\1:p'.",
        )
    if LATTICE.match(line):
        raise InputError(
            "this is a word lattice (PLF), not a sentence",
            where=where,
            hint="Lattices cannot be decoded here; give the words of one path.",
        )


def plain_lines(lines: Iterable[str], path: str) -> Iterator[str]:
    """The lines of a file, each checked by `refuse_markup`."""
    for number, line in enumerate(lines, 1):
        refuse_markup(line, f"{path}:{number}")
        yield line

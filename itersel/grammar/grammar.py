"""Synchronous grammars in cdec's text form, read and written: `[X] ||| source ||| target ||| name=value … ||| i-j …`.

Non-terminals are `[X,1]` with any labels, on the source side also `[X]`, on the target side also `[1]`; values without
a name are called `PhraseModel_0`, `PhraseModel_1` …; the last two fields may be missing. The decoder adds glue and
pass-through rules. Feature values are kept in single precision.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from itersel import _kernel
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write, check_utf8, read_bytes
from itersel.model.features import templates

PASS_THROUGH = ("unknown", "all")
"""Which words the decoder may copy: those without a translation (others as a last resort), or all (as in cdec)."""


def check_pass_through(name: str) -> None:
    """ConfigError unless the name is one of PASS_THROUGH."""
    if name not in PASS_THROUGH:
        raise ConfigError(f"pass_through is {name!r}", hint=f"Choose one of {', '.join(PASS_THROUGH)}.")


class Grammar:
    """The rules for one sentence, or for all. `groups` names the sparse feature groups each rule gets."""

    def __init__(
        self,
        text: str | bytes,
        *,
        path: str = "grammar",
        groups: Iterable[str] = (),
        goal: str = "S",
        nonterminal: str = "X",
    ):
        """Parse `text`; errors name `path` and the line.

        `goal` is the label of a whole sentence, `nonterminal` the label that the glue rules join to it.
        """
        content = text.encode() if isinstance(text, str) else text
        check_utf8(content, path)
        self.path = path
        self.native = _kernel.Grammar.parse(content, path, templates(groups), goal, nonterminal)

    @classmethod
    def of_kernel(cls, native: _kernel.Grammar, path: str) -> Grammar:
        """A grammar that the kernel made; `path` is what it is called."""
        grammar = cls.__new__(cls)
        grammar.path, grammar.native = path, native
        return grammar

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], *, groups: Iterable[str] = (), goal: str = "S", nonterminal: str = "X"
    ) -> Grammar:
        """Read a plain or gzip file."""
        return cls(read_bytes(path), path=os.fspath(path), groups=groups, goal=goal, nonterminal=nonterminal)

    def text(self) -> bytes:
        """The text form, rules in the order in which they were read."""
        return self.native.text()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the text form; a name ending in `.gz` is compressed."""
        with atomic_write(path) as stream:
            stream.write(self.text())

    def __len__(self) -> int:
        return len(self.native)

    def __repr__(self) -> str:
        return f"<Grammar {self.path}: {len(self):,} rules>"

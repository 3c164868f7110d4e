"""Shards: the compiled unit of work. Sentences with references, domain and grammar in one compressed file.

Everything that does not depend on the weights (tokens, rule tables, feature ids, template features) is computed when
the shard is made, not in every epoch. Each sentence has a block of its own, decompressed when it is read. A shard has a
format version and checksums; a truncated or altered one is an error. Within a shard, what rules of sentences share is
stored once, and equal rules of a sentence are merged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from itersel import _kernel
from itersel.base.files import atomic_write
from itersel.grammar.grammar import Grammar, check_pass_through
from itersel.model.features import GROUPS, TEMPLATE_BITS, templates

if TYPE_CHECKING:  # numpy takes 15 MB, and decoding needs none of it
    import numpy as np
    import numpy.typing as npt


class ShardWriter:
    """Collects sentences and writes them as one shard file."""

    def __init__(
        self,
        *,
        groups: Iterable[str] = (),
        pass_through: str = "unknown",
        goal: str = "S",
        nonterminal: str = "X",
    ):
        self.goal, self.nonterminal = goal, nonterminal
        check_pass_through(pass_through)
        self.native = _kernel.ShardBuilder(templates(groups), goal, nonterminal, pass_through == "all")
        self.count = 0

    def add(
        self,
        source: str,
        references: Sequence[str],
        grammar: str | bytes | Grammar,
        *,
        id: str = "",
        domain: str = "",
        path: str = "grammar",
    ) -> None:
        """Add one sentence of blank-separated words with its grammar.

        A text form is parsed: errors name `path` and line. A `Grammar` must have the same goal and nonterminal.
        """
        parsed = grammar
        if not isinstance(parsed, Grammar):
            parsed = Grammar(parsed, path=path, goal=self.goal, nonterminal=self.nonterminal)
        self.native.add(id or str(self.count), domain, source, list(references), parsed.native)
        self.count += 1

    def to_bytes(self) -> bytes:
        """The content of the file. Do not use the writer afterwards."""
        return self.native.finish()

    def write(self, path: str | os.PathLike[str]) -> None:
        with atomic_write(path, compress=False) as stream:
            stream.write(self.to_bytes())


class Shard:
    """A shard file. What its sentences share is in memory; a sentence's rules are read when they are needed."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self.native = _kernel.Shard.open(self.path)

    def __len__(self) -> int:
        return len(self.native)

    @property
    def groups(self) -> frozenset[str]:
        """The sparse feature groups it was compiled with."""
        return frozenset(group for group in GROUPS if self.native.templates & TEMPLATE_BITS[group])

    @property
    def checksum(self) -> int:
        return self.native.checksum

    @property
    def rule_count(self) -> int:
        """Distinct rules, with the decoder's own."""
        return self.native.rule_count

    def id(self, sentence: int) -> str:
        return self.native.id(sentence)

    def domain(self, sentence: int) -> str:
        """The sentence's domain; empty without one."""
        return self.native.domain(sentence)

    def source(self, sentence: int) -> str:
        return self.native.source(sentence)

    def references(self, sentence: int) -> list[str]:
        return self.native.references(sentence)

    def grammar(self, sentence: int) -> bytes:
        """The sentence's rules in text form, ordered by source side."""
        return self.native.grammar(sentence)

    def feature_names(self) -> list[str]:
        """Names by the shard's feature number."""
        return self.native.feature_names()

    def feature_names_of(self, features: npt.NDArray[np.uint32]) -> list[str]:
        """The names of the features with these numbers."""
        return self.native.feature_names_of(features)

    def features_matching(self, patterns: Sequence[str]) -> npt.NDArray[np.bool_]:
        """By feature number: whether a pattern is the feature's name, or its beginning with `*` after it."""
        return self.native.features_matching(list(patterns))

    def feature_hashes(self) -> npt.NDArray[np.uint64]:
        """64-bit ids (itersel.model.vectors) by the shard's feature number."""
        return self.native.feature_hashes()

    def __repr__(self) -> str:
        groups = "+".join(["dense", *sorted(self.groups)])
        return f"<Shard {self.path}: {len(self):,} sentences, {self.rule_count:,} rules, {groups} features>"

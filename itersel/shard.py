"""Shards: the compiled unit of work. Sentences with references, task label and grammar in one memory-mapped file.

What does not depend on the weights (tokens, rule tables, feature ids, template features) is computed when the shard is
made, not every epoch. A shard carries a format version and a checksum; a truncated or altered one is refused by name.
Within a shard, rules that sentences share are stored once, and equal rules of a sentence are merged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.decode import DecoderOptions, Hypothesis
from itersel.derivation import Derivation
from itersel.errors import InputError
from itersel.features import GROUPS, Weights, templates
from itersel.files import atomic_write
from itersel.grammar import Grammar
from itersel.language_model import LanguageModel
from itersel.vectors import Vector

TEMPLATE_BITS = {"id": 1, "ng": 2 | 4, "shape": 8}


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
        DecoderOptions(pass_through=pass_through)  # checks the name
        self.native = _kernel.ShardBuilder(templates(groups), goal, nonterminal, pass_through == "all")
        self.count = 0

    def add(
        self,
        source: str,
        references: Sequence[str],
        grammar: bytes,
        *,
        id: str = "",
        task: str = "",
        path: str = "grammar",
    ) -> None:
        """Add one sentence of blank-separated words with the text form of its grammar; errors name `path` and line."""
        parsed = Grammar(grammar, path=path, goal=self.goal, nonterminal=self.nonterminal)
        self.native.add(id or str(self.count), task, source, list(references), parsed.native)
        self.count += 1

    def to_bytes(self) -> bytes:
        """The file's content; the writer cannot be used afterwards."""
        return self.native.finish()

    def write(self, path: str | os.PathLike[str]) -> None:
        with atomic_write(path, compress=False) as stream:
            stream.write(self.to_bytes())


class Shard:
    """A shard file, mapped into memory."""

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

    def task(self, sentence: int) -> str:
        return self.native.task(sentence)

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

    def feature_hashes(self) -> npt.NDArray[np.uint64]:
        """64-bit ids (itersel.vectors) by the shard's feature number."""
        return self.native.feature_hashes()


class ShardDecoder:
    """Decodes the sentences of one shard; for one thread. Pass-through is fixed when the shard is made."""

    def __init__(
        self,
        shard: Shard,
        weights: Weights | Vector,
        language_model: LanguageModel | None = None,
        options: DecoderOptions | None = None,
    ):
        options = options or DecoderOptions()
        self.shard = shard
        self.native = _kernel.ShardDecoder(
            shard.native,
            None if language_model is None else language_model.native,
            span_limit=options.span_limit,
            pop_limit=options.pop_limit,
        )
        if isinstance(weights, Weights):
            self.native.set_weights(weights.native)
        else:
            self.native.set_dense_weights(weights.values_of(shard.feature_hashes()))

    def translate(self, sentence: int) -> str:
        """The best translation of the shard's sentence with that number."""
        return self.native.translate(sentence)

    def kbest(self, sentence: int, k: int = 100, *, unique: bool = True) -> list[Hypothesis]:
        """Up to k derivations, best first; with `unique`, only the best one of each target string."""
        found = self.native.kbest(sentence, k, unique)
        return [Hypothesis(one.text, one.score, one.features) for one in found]

    def derivation(self, sentence: int, rank: int = 0, *, unique: bool = True) -> Derivation:
        """The tree of a hypothesis of `kbest`, 0 for the best; an InputError if there are not so many."""
        try:
            found, nodes = self.native.derivation(sentence, rank, unique)
        except IndexError as error:
            raise InputError(str(error), where=self.shard.path) from None
        return Derivation.of(found.text, found.score, nodes)

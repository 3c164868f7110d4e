"""Hiero rules for given sentences, extracted on demand from a word-aligned bitext (Chiang 2007, Lopez 2007).

In: source, target and Pharaoh alignment files, once, for the index (a suffix array with everything
extraction reads, one memory-mapped file); then sentences. Out: one text grammar per sentence in cdec's
format. docs/extraction.md says what a rule, a sample and each feature is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Annotated

from itersel import _kernel
from itersel.base.config import Range, validate
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, read_bytes
from itersel.base.workers import ordered_map, process_count
from itersel.grammar.grammar import Grammar

FEATURES = (
    "EgivenFCoherent",
    "SampleCountF",
    "CountEF",
    "MaxLexFgivenE",
    "MaxLexEgivenF",
    "IsSingletonF",
    "IsSingletonFE",
)
PHRASE_FEATURES = ("FgivenECoherent", "PhrasePenalty")
"""Features that rules have only with `phrase_features`."""
CACHE_BYTES = 256 << 20
FILES_CACHE_BYTES = 40 << 20
"""For grammar files, whose text and compression take most of the time: more would save little of it."""
ONE_SENTENCE = 0xFFFFFFFF  # the kernel's modulus for leaving out exactly one sentence
BATCH = 8  # sentences a worker process takes at a time


@dataclass(frozen=True)
class ExtractConfig:
    """What to extract. A grammar is a function of the index, these options, the sentence and its number."""

    max_span: Annotated[int, Range(1, 255)] = 15
    """Words a rule may cover on either side of a training pair, and its words in the input sentence."""
    max_symbols: Annotated[int, Range(1, 255)] = 5
    """Words and non-terminals of a source side."""
    max_nonterminals: Annotated[int, Range(0, 2)] = 2
    max_samples: Annotated[int, Range(0, 2**31 - 1)] = 300
    """Occurrences of a source pattern to look at, evenly spaced over all of them; 0 looks at all."""
    tight: bool = True
    """Phrases begin and end with aligned words; loose ones may also take in unaligned neighbours."""
    max_rules_per_source: Annotated[int, Range(0, 2**31 - 1)] = 0
    """Keep the rules with the highest p(e|f) of each source side, ties to the earlier one; 0 keeps all."""
    phrase_features: bool = False
    """Two more features: p(f|e), with the occurrences of the target side as its denominator, and a phrase penalty."""
    leave_one_out: bool = False
    """Input sentence i is training sentence i: its own pair supports no rule and no count."""
    folds: Annotated[int, Range(0, 2**31 - 1)] = 0
    """Sentence i gets nothing from training sentences j with j mod folds = i mod folds; 0: no folds."""

    def __post_init__(self) -> None:
        validate(self)
        if self.folds == 1:
            raise ConfigError("folds is 1, which leaves no training sentence; give 0, or at least 2")
        if self.folds and self.leave_one_out:
            raise ConfigError("leave_one_out and folds exclude each other")

    def sentence_filter(self, number: int) -> tuple[int, int]:
        """(modulus, remainder) of the training sentences that input sentence `number` must not see."""
        if self.leave_one_out:
            return ONE_SENTENCE, number
        return (self.folds, number % self.folds) if self.folds else (0, 0)


def build_index(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    alignment: str | os.PathLike[str],
    index: str | os.PathLike[str],
) -> None:
    """Write the index of a bitext (plain or gzip, one sentence per line). Equal input gives equal bytes."""
    content = _kernel.build_bitext_index(
        read_bytes(source),
        read_bytes(target),
        read_bytes(alignment),
        os.fspath(source),
        os.fspath(target),
        os.fspath(alignment),
    )
    with atomic_write(index, compress=False) as stream:
        stream.write(content)


class Extractor:
    """An open index with options. It caches what it finds: use one for many sentences, in one thread."""

    def __init__(
        self,
        index: str | os.PathLike[str],
        options: ExtractConfig | None = None,
        *,
        cache_bytes: int = CACHE_BYTES,
    ):
        self.options = options or ExtractConfig()
        self.index = open_index(index)
        wanted = {k: v for k, v in asdict(self.options).items() if k not in ("leave_one_out", "folds")}
        self._extractor = _kernel.GrammarExtractor(self.index, **wanted, cache_bytes=cache_bytes)

    def extract(self, sentence: str, number: int = 0, *, where: str | None = None) -> bytes:
        """The text grammar of a tokenised sentence.

        `number` counts from 0 and matters for leave-one-out and folds; `where` names the sentence in
        error messages.
        """
        return self._extractor.extract_text(*self._filtered(sentence, number, where))

    def extract_gzip(self, sentence: str, number: int = 0, *, where: str | None = None) -> bytes:
        """The same as a gzip file without a time stamp; the text stays in the kernel."""
        return self._extractor.extract_gzip(*self._filtered(sentence, number, where))

    def grammar(
        self, sentence: str, number: int = 0, *, where: str | None = None, goal: str = "S", nonterminal: str = "X"
    ) -> Grammar:
        """The same grammar, as if it were read from its text form, which is not made."""
        found = self._filtered(sentence, number, where)
        return Grammar.of_kernel(self._extractor.extract(*found, goal, nonterminal), f"grammar of {found[-1]}")

    def _filtered(self, sentence: str, number: int, where: str | None) -> tuple[str, int, int, str]:
        """What the kernel needs to know of a sentence: itself, modulus and remainder of the others, its name."""
        where = f"sentence {number + 1}" if where is None else where
        modulus, remainder = self.options.sentence_filter(number)
        if self.options.leave_one_out and not self.index.is_training_sentence(number, sentence):
            raise InputError(
                f"is not the source side of training sentence {number + 1}",
                where=where,
                hint="With leave-one-out, the input must be the source sentences of the index, in the same order.",
            )
        return sentence, modulus, remainder, where


def open_index(index: str | os.PathLike[str]) -> _kernel.BitextIndex:
    """Map an index after verifying its checksum. `fingerprint` identifies its content."""
    return _kernel.BitextIndex(os.fspath(index))


def extract_grammars(
    index: str | os.PathLike[str],
    sentences: Iterable[tuple[int, str]],
    options: ExtractConfig | None = None,
    *,
    jobs: int = 1,
    name: str | os.PathLike[str] = "sentence",
    compress: bool = False,
) -> Iterator[tuple[int, bytes]]:
    """Yield (number, grammar) for every (number, sentence), in the given order, whatever `jobs` is.

    With several jobs, worker processes share the mapped index. With `compress`, grammars are gzip files. Messages call
    sentence i `name:i+1`.
    """
    name, extractor = os.fspath(name), Extractor(index, options, cache_bytes=FILES_CACHE_BYTES)
    extract_one = extractor.extract_gzip if compress else extractor.extract
    jobs = process_count(jobs, len(sentences) if isinstance(sentences, Sized) else None)

    def extract(batch: Sequence[tuple[int, str]]) -> list[tuple[int, bytes]]:
        return [(number, extract_one(sentence, number, where=f"{name}:{number + 1}")) for number, sentence in batch]

    remaining = iter(sentences)
    batches = iter(lambda: list(islice(remaining, BATCH if jobs > 1 else 1)), [])
    results = ordered_map(extract, batches, jobs, describe=lambda batch: f"{name}:{batch[0][0] + 1}")
    with contextlib.closing(results):
        for several in results:
            yield from several

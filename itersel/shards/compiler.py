"""Compilation: sentences, references, domains and grammars become the bytes of shards.

In: a `Corpus` and a source of grammars: files, or the extraction index, which needs no grammar files. Out: one shard
for a list of sentence numbers. The bytes and the content key, which stands for everything they are made from, do not
depend on other shards: this process, a mapper or a resumed run makes the same ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import check_utf8, parallel_lines, read_bytes
from itersel.grammar.extraction import CACHE_BYTES, ExtractConfig, Extractor
from itersel.grammar.grammar import Grammar
from itersel.model.features import parse_groups
from itersel.shards.shard import ShardWriter
from itersel.text.bitext import SEPARATOR, words
from itersel.text.markup import refuse_markup
from itersel.text.sentences import GrammarPlaces, Sentence, read_sentences

FORMAT = 4
LABEL_FORBIDDEN = "[],|"


@dataclass(frozen=True)
class ShardOptions:
    """What is compiled into a shard besides the sentences."""

    features: str = "all"
    """`dense`, `all`, or sparse groups joined by commas (itersel.model.features)."""
    pass_through: str = "unknown"
    goal: str = "S"
    nonterminal: str = "X"

    def __post_init__(self) -> None:
        for name in ("goal", "nonterminal"):
            label = getattr(self, name)
            if not label or any(letter.isspace() or letter in LABEL_FORBIDDEN for letter in label):
                raise ConfigError(f"{name} is {label!r}", hint="Give a label such as S or X, without brackets.")
        self.writer()  # checks the features and pass_through

    def writer(self) -> ShardWriter:
        return ShardWriter(
            groups=parse_groups(self.features),
            pass_through=self.pass_through,
            goal=self.goal,
            nonterminal=self.nonterminal,
        )


@dataclass(frozen=True)
class Corpus:
    """Sentences, each with its references and its domain (empty without labels)."""

    sentences: list[Sentence]
    references: list[tuple[str, ...]]
    domains: list[str]

    def __len__(self) -> int:
        return len(self.sentences)

    @classmethod
    def read(
        cls,
        sentences: str | os.PathLike[str],
        references: Sequence[str | os.PathLike[str]],
        domains: str | os.PathLike[str] | None = None,
        *,
        places: GrammarPlaces | None = None,
    ) -> Corpus:
        """Read parallel files, plain or gzip. A missing line, an empty one and `|||` in a token are `path:line` errors.

        `places` says where the sentences' grammars are; without it they come from an index.
        """
        read = list(read_sentences(sentences, places or GrammarPlaces(for_all=True)))
        if not read:
            raise InputError("the file is empty", where=sentences, hint="Write one sentence per line.")
        for sentence in read:
            _check_line(sentence.text, sentence.where or "")
            if places is None and sentence.grammar is not None:
                raise InputError(
                    "the line names a grammar, but the rules come from an index",
                    where=sentence.where,
                    hint="Give plain sentences, or leave the index out.",
                )
        columns = [list(_parallel(path, len(read), sentences)) for path in references]
        labels = (
            [""] * len(read) if domains is None else [line.strip() for line in _parallel(domains, len(read), sentences)]
        )
        return cls(read, list(zip(*columns, strict=True)) if columns else [()] * len(read), labels)


def _parallel(path: str | os.PathLike[str], count: int, other: str | os.PathLike[str]) -> Iterator[str]:
    for number, line in enumerate(parallel_lines(path, count, other), 1):
        _check_line(line, f"{os.fspath(path)}:{number}")
        yield line


def _check_line(line: str, where: str) -> None:
    refuse_markup(line, where)
    if not words(line):
        raise InputError("the line is empty", where=where, hint="Remove the sentence from all files.")
    if SEPARATOR in line:
        raise InputError(
            f"a token contains {SEPARATOR}, which separates the fields of grammars",
            where=where,
            hint="Escape or remove it (itersel prepare does either).",
        )


class GrammarSource(Protocol):
    """Where the grammars of a corpus come from."""

    def identity(self) -> dict[str, object]:
        """What all grammars depend on, for the manifest and for content keys."""

    def key(self, sentence: Sentence) -> str:
        """What one grammar depends on beyond `identity`, the sentence and its number."""

    def grammar(self, number: int, sentence: Sentence, options: ShardOptions) -> tuple[bytes | Grammar, str]:
        """The grammar, perhaps as text, and its name for messages."""


class IndexGrammars:
    """Grammars that are extracted on demand: neither files nor text are made."""

    def __init__(
        self,
        index: str | os.PathLike[str],
        options: ExtractConfig | None = None,
        *,
        cache_bytes: int = CACHE_BYTES,
    ):
        self.extractor = Extractor(index, options, cache_bytes=cache_bytes)

    def identity(self) -> dict[str, object]:
        return {"index": f"{self.extractor.index.fingerprint:016x}", "extract": asdict(self.extractor.options)}

    def key(self, sentence: Sentence) -> str:  # noqa: ARG002
        return ""

    def grammar(self, number: int, sentence: Sentence, options: ShardOptions) -> tuple[Grammar, str]:
        made = self.extractor.grammar(
            sentence.text, number, where=sentence.where, goal=options.goal, nonterminal=options.nonterminal
        )
        return made, made.path


class FileGrammars:
    """Grammars from the files that the sentences name, plain or gzip."""

    def identity(self) -> dict[str, object]:
        return {"grammars": "files"}

    def key(self, sentence: Sentence) -> str:
        path = _grammar_path(sentence)
        try:
            return hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise InputError(f"cannot read: {error.strerror} [grammar of {sentence}]", where=path) from None

    def grammar(self, number: int, sentence: Sentence, options: ShardOptions) -> tuple[bytes, str]:  # noqa: ARG002
        path = _grammar_path(sentence)
        content = read_bytes(path)
        check_utf8(content, path)
        return content, os.fspath(path)


def _grammar_path(sentence: Sentence) -> Path:
    if sentence.grammar is None:
        raise InputError("the line names no grammar", where=sentence.where)
    return sentence.grammar


class ShardCompiler:
    """Makes shards of one corpus; for one thread."""

    def __init__(self, corpus: Corpus, grammars: GrammarSource, options: ShardOptions | None = None):
        self.corpus, self.grammars, self.options = corpus, grammars, options or ShardOptions()

    def identity(self) -> dict[str, object]:
        """What all shards depend on, as JSON."""
        return {"format": FORMAT, **asdict(self.options), **self.grammars.identity()}

    def key(self, numbers: Sequence[int]) -> str:
        """SHA-256 of everything the shard of these sentences is made from."""
        digest = hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode())
        for number in numbers:
            sentence = self._sentence(number)
            content = [number, sentence.id, sentence.text, self.corpus.references[number], self.corpus.domains[number]]
            digest.update(b"\n" + json.dumps([*content, self.grammars.key(sentence)]).encode())
        return digest.hexdigest()

    def compile(self, numbers: Sequence[int], tell: Callable[[int], None] | None = None) -> bytes:
        """The shard of the sentences with these numbers, in this order; `tell` hears how many are compiled so far."""
        writer = self.options.writer()
        for done, number in enumerate(numbers, 1):
            sentence = self._sentence(number)
            grammar, name = self.grammars.grammar(number, sentence, self.options)
            references, domain = self.corpus.references[number], self.corpus.domains[number]
            writer.add(sentence.text, references, grammar, id=sentence.id, domain=domain, path=name)
            if tell is not None:
                tell(done)
        return writer.to_bytes()

    def _sentence(self, number: int) -> Sentence:
        if not 0 <= number < len(self.corpus):
            raise InputError(f"there is no sentence {number}: the corpus has {len(self.corpus)}, counting from 0")
        return self.corpus.sentences[number]

"""Translate a stream of sentences, each with its own grammar or with one for all, in one or more processes.

In: sentences (`itersel.text.sentences`). Out: translations in the same order, with the same content for any number of
processes. A mapper can call `Translator` on its own sentences."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.base.workers import ordered_map
from itersel.decode.decoder import Decoder, Hypothesis
from itersel.grammar.grammar import Grammar
from itersel.text.sentences import Sentence

Result = TypeVar("Result")


@dataclass(frozen=True)
class GrammarOptions:
    """How grammars are read: sparse feature groups, the label of a sentence, the label that glue rules join to it."""

    groups: frozenset[str] = frozenset()
    goal: str = "S"
    nonterminal: str = "X"

    def __post_init__(self) -> None:
        for name in ("goal", "nonterminal"):
            label = getattr(self, name)
            if not label or any(letter.isspace() or letter in "[],|" for letter in label):
                raise ConfigError(f"{name} is {label!r}", hint="Give a label such as S or X, without brackets.")

    def read(self, path: Path | str) -> Grammar:
        return Grammar.read(path, groups=self.groups, goal=self.goal, nonterminal=self.nonterminal)


@dataclass(frozen=True)
class Translation:
    """The best translation of a sentence and, if a list is requested, its hypotheses, best first."""

    id: str
    text: str
    hypotheses: list[Hypothesis] = field(default_factory=list)

    def best_line(self) -> str:
        return self.text + "\n"


def check_kbest(kbest: int | None) -> None:
    """ConfigError unless it is the length of a list, or None."""
    if kbest is not None and not 1 <= kbest <= 100_000_000:
        raise ConfigError(f"kbest is {kbest}", hint="Give the number of hypotheses, at least 1.")


class Translator:
    """Translates one sentence per call. With `kbest`, a translation has a list of up to that many hypotheses."""

    def __init__(
        self,
        decoder: Decoder,
        grammar: Grammar | None = None,
        *,
        options: GrammarOptions | None = None,
        kbest: int | None = None,
        unique: bool = True,
    ):
        """`grammar` is for sentences that name none; `options` say how the others' grammars are read."""
        check_kbest(kbest)
        self.decoder, self.grammar, self.options = decoder, grammar, options or GrammarOptions()
        self.kbest, self.unique = kbest, unique
        self._latest: tuple[Path, Grammar] | None = None

    def __call__(self, sentence: Sentence) -> Translation:
        """Translate; an InputError names the sentence or, if the grammar is wrong, its `path:line`."""
        if not sentence.text.split():
            return Translation(sentence.id, "", [] if self.kbest is None else [Hypothesis("", 0.0, {})])
        try:
            grammar = self._grammar_of(sentence)
            if self.kbest is None:
                return Translation(sentence.id, self.decoder.translate(sentence.text, grammar))
            found = self.decoder.kbest(sentence.text, grammar, self.kbest, unique=self.unique)
            return Translation(sentence.id, found[0].text if found else "", found)
        except InputError as error:
            if error.where is None:
                raise InputError(
                    f"sentence {sentence.id}: {error.message}", where=sentence.where, hint=error.hint
                ) from None
            raise InputError(f"{error.message} [grammar of {sentence}]", where=error.where, hint=error.hint) from None
        except MemoryError:
            raise ResourceError(
                f"memory ran out at {sentence}", hint="Use a smaller pop or span limit, a shorter list, or fewer jobs."
            ) from None

    def _grammar_of(self, sentence: Sentence) -> Grammar:
        if sentence.grammar is None:
            if self.grammar is None:
                raise InputError("there is no grammar", hint="Give the sentence a grammar, or one for all sentences.")
            return self.grammar
        if self._latest is None or self._latest[0] != sentence.grammar:
            self._latest = None  # frees the memory of the last grammar first
            self._latest = (sentence.grammar, self.options.read(sentence.grammar))
        return self._latest[1]


def translate(
    sentences: Iterable[Sentence], work: Callable[[Sentence], Result], jobs: int = 1
) -> Generator[Result, None, None]:
    """Yield `work(sentence)` in order, in `jobs` processes. `work` is a Translator, or a function that calls one.

    Close the generator to stop early; sentences are read only as far as they are needed.
    """
    return ordered_map(work, sentences, jobs, describe=str)

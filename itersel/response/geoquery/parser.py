"""A semantic parser made of our own parts (Andreas et al. 2013): questions are translated into linearised FunQL.

An index of aligned questions and forms, a language model of forms and weights come in, as `itersel build` and `itersel
train` make them (itersel.pipeline.geoquery_parser). A question becomes a tree: that of the first hypothesis of the
decoder's list that is well-formed and makes sense on the database.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from itersel.base.errors import InputError
from itersel.decode.decoder import Decoder, DecoderConfig, Hypothesis
from itersel.grammar.extraction import ExtractConfig, Extractor
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from itersel.response.geoquery.data import normalized
from itersel.response.geoquery.database import Database
from itersel.response.geoquery.funql import ROOT, Call, Tree, from_tokens, to_tokens
from itersel.response.geoquery.plausible import Plausibility

EXTRACTION = ExtractConfig(max_samples=0, max_symbols=7, tight=False, phrase_features=True)
"""All occurrences count: there are few. Words without a link may go with their neighbours."""
DECODER = DecoderConfig(span_limit=0, pop_limit=50)
WEIGHTS: Mapping[str, float] = {
    "EgivenFCoherent": -0.84,
    "FgivenECoherent": -0.64,
    "MaxLexEgivenF": 0.01,
    "MaxLexFgivenE": -0.22,
    "LanguageModel": 1.0,
    "LanguageModel_OOV": -5.0,
    "PassThrough": -10.0,
    "CountEF": 0.07,
    "PhrasePenalty": -0.64,
    "Glue": -3.24,
    "WordPenalty": -0.11,
}
"""Tuned on lists of the 600 training questions (benchmarks/geoquery_parser.py)."""
LIST = 20
"""Hypotheses among which a plausible form is looked for."""

LONGEST = 60
"""Words of a question at most: longer ones have no parse, since the time grows faster than their length, squared. The
longest of the 880 has 23."""


@dataclass(frozen=True)
class Parse:
    """What a question means, and how far down the list the form was."""

    tree: Tree
    rank: int
    score: float = 0.0

    @property
    def tokens(self) -> str:
        """The linearised form."""
        return " ".join(to_tokens(self.tree))


class QuestionParser:
    """Parses questions; for one thread."""

    def __init__(
        self,
        index: str | os.PathLike[str],
        language_model: str | os.PathLike[str],
        database: Database,
        weights: Mapping[str, float] | None = None,
        *,
        extraction: ExtractConfig = EXTRACTION,
        decoder: DecoderConfig = DECODER,
        k: int = LIST,
        leave_out: bool = True,
    ):
        """`leave_out`: whether one word may be left out of a question that has no parse otherwise."""
        self.extractor = Extractor(index, extraction)
        self.decoder = Decoder(Weights(dict(weights or WEIGHTS)), LanguageModel(language_model), decoder)
        self.plausible = Plausibility(database)
        self.k, self.leave_out = k, leave_out

    def parse(self, question: str) -> Parse | None:
        """The parse of a tokenised question; None if no hypothesis is plausible, or the question is too long.

        Without one, these are tried, in this order: the question without the words that the decoder can only copy, both
        without any one of their words, and both again with hypotheses that lack only the root.
        """
        words = tuple(normalized(question).split())
        if not 0 < len(words) <= LONGEST:
            return None
        lists = _Lists(self)
        copied = set(lists.best(words))
        rest = tuple(word for word in words if word not in copied)
        whole = [[words], [rest]] if rest != words else [[words]]
        parts = [_one_less(some) for (some,) in whole] if self.leave_out else []
        for root, stages in ((ROOT, [*whole, *parts]), (None, whole)):
            for stage in stages:
                parses = [parse for some in stage if (parse := lists.parse(some, root)) is not None]
                if parses:
                    return max(parses, key=lambda parse: parse.score)
        return None


class _Lists:
    """The decoder's lists of a question and of parts of it, each made once, and the first plausible form of each."""

    def __init__(self, parser: QuestionParser):
        self.parser = parser
        self.lists: dict[tuple[str, ...], list[Hypothesis]] = {}
        self.grammars: dict[tuple[str, ...], Grammar] = {}

    def best(self, words: tuple[str, ...]) -> list[str]:
        """The tokens of the best hypothesis."""
        first = self._list(words, 1)
        return first[0].text.split() if first else []

    def parse(self, words: tuple[str, ...], root: str | None) -> Parse | None:
        """The first plausible form; with no root demanded, `answer` is put above those that lack it."""
        # The best one is nearly always plausible, and a long list takes three times as long.
        return self._first(self._list(words, 1), root) or self._first(self._list(words, self.parser.k), root)

    def _first(self, hypotheses: Sequence[Hypothesis], root: str | None) -> Parse | None:
        for rank, hypothesis in enumerate(hypotheses):
            try:
                tree = from_tokens(hypothesis.text.split(), root=root)
            except InputError:
                continue
            if root is None and not (isinstance(tree, Call) and tree.symbol == ROOT):
                tree = Call(ROOT, (tree,))
            if self.parser.plausible(tree):
                return Parse(tree, rank, hypothesis.score)
        return None

    def _list(self, words: tuple[str, ...], k: int) -> list[Hypothesis]:
        """At least one hypothesis, or k; none of no words."""
        known = self.lists.get(words)
        if not words or (known is not None and (k == 1 or len(known) != 1)):
            return known or []
        text = " ".join(words)
        if words not in self.grammars:
            self.grammars[words] = Grammar(self.parser.extractor.extract(text, where=f"question {text!r}"))
        self.lists[words] = self.parser.decoder.kbest(text, self.grammars[words], k)
        return self.lists[words]


def _one_less(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The question without each of its words."""
    return [words[:place] + words[place + 1 :] for place in range(len(words))] if len(words) > 1 else []

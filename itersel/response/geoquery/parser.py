"""A semantic parser made of our own parts (Andreas et al. 2013): questions are translated into linearised FunQL.

An index of aligned questions and forms, a language model of forms and weights come in, as `itersel build` and `itersel
train` make them (itersel.pipeline.geoquery_parser). A question becomes a tree: that of the first well-formed hypothesis
of the decoder's list, one that FunQL's types allow if there is any.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from itersel.decode.decoder import Decoder, DecoderConfig
from itersel.grammar.extraction import ExtractConfig, Extractor
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from itersel.response.geoquery.data import normalized
from itersel.response.geoquery.funql import Tree, first_well_formed, to_tokens

EXTRACTION = ExtractConfig(max_samples=0, max_symbols=7, tight=False)
"""All occurrences count: there are few. Words without a link may go with their neighbours. Seven symbols instead of
five raise F1 on the ten folds of the 600 training questions from 80.57 to 81.24 (benchmarks/geoquery_parser.py, with
the pop limit and list that are named below)."""
DECODER = DecoderConfig(span_limit=0, pop_limit=50)
"""With a pop limit of 200 and a list of 300, F1 on the folds is 81.24 instead of 81.08, in twice the time."""
WEIGHTS: Mapping[str, float] = {
    "EgivenFCoherent": -1.0,
    "MaxLexEgivenF": -0.3,
    "MaxLexFgivenE": -0.3,
    "LanguageModel": 1.0,
    "LanguageModel_OOV": -5.0,
    "PassThrough": -10.0,
    "CountEF": 0.1,
    "Glue": -0.3,
    "WordPenalty": -2.0,
}
"""Set by hand, looking at the folds of the 600 training questions."""
LIST = 100
"""Hypotheses among which a well-formed one is looked for."""


@dataclass(frozen=True)
class Parse:
    """What a question means, and how far down the list the form was."""

    tree: Tree
    rank: int

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
        weights: Mapping[str, float] | None = None,
        *,
        extraction: ExtractConfig = EXTRACTION,
        decoder: DecoderConfig = DECODER,
        k: int = LIST,
    ):
        self.extractor = Extractor(index, extraction)
        self.decoder = Decoder(Weights(dict(weights or WEIGHTS)), LanguageModel(language_model), decoder)
        self.k = k

    def parse(self, question: str) -> Parse | None:
        """The parse of a tokenised question; None if no hypothesis is well-formed.

        Words that the decoder can only copy are left out then, and the rest is tried once more.
        """
        words = normalized(question).split()
        parse, copied = self._parse(words)
        rest = [word for word in words if word not in copied]
        return self._parse(rest)[0] if parse is None and len(rest) < len(words) else parse

    def _parse(self, words: Sequence[str]) -> tuple[Parse | None, set[str]]:
        """The parse, and the words of the question that the best hypothesis has."""
        if not words:
            return None, set()
        text = " ".join(words)
        grammar = Grammar(self.extractor.extract(text, where=f"question {text!r}"))
        best = self.decoder.kbest(text, grammar, 1)
        # The best one is nearly always well-formed, and a long list takes three times as long.
        found = first_well_formed((one.text.split() for one in best), typed=True)
        if found is None:
            hypotheses = [one.text.split() for one in self.decoder.kbest(text, grammar, self.k)]
            found = first_well_formed(hypotheses, typed=True) or first_well_formed(hypotheses)
        copied = {word for one in best for word in one.text.split()} & set(words)
        return None if found is None else Parse(found[1], found[0]), copied

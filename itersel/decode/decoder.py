"""Decoding: chart parsing with cube pruning, k-best derivations with feature vectors (Chiang 2007, Huang &
Chiang 2005). In: a sentence and its grammar. Out: translations. The work runs without Python's lock.

    decoder = Decoder(Weights.read("weights.txt"), LanguageModel("lm.arpa.gz"))
    print(decoder.translate("ein mann mit einem hut", Grammar.read("grammar.0.gz")))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from itersel import _kernel
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import ConfigError
from itersel.grammar.grammar import PASS_THROUGH, Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights

MAX_WORDS = 32_000


@dataclass(frozen=True)
class DecoderConfig:
    """How to search. `pass_through` says which words may be copied: those without translation, or all (as in cdec)."""

    span_limit: Annotated[int, Range(0, 1_000_000_000)] = 15  # words a rule may span, glue exempt; 0 for no limit
    pop_limit: Annotated[int, Range(0, 1_000_000_000)] = 100  # combinations per span and label; 0 for no limit
    pass_through: Annotated[str, OneOf(*PASS_THROUGH)] = "unknown"

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Hypothesis:
    """One derivation: its target words, its score ⟨w, features⟩, and its non-zero features by name."""

    text: str
    score: float
    features: dict[str, float]


class Decoder:
    """Decodes with fixed weights, model and options; may be used from several threads at once."""

    def __init__(
        self, weights: Weights, language_model: LanguageModel | None = None, options: DecoderConfig | None = None
    ):
        self.weights = weights
        self.language_model = language_model
        self.options = options or DecoderConfig()
        self.native = _kernel.Decoder(
            None if language_model is None else language_model.native,
            weights.native,
            _kernel.DecoderOptions(
                span_limit=self.options.span_limit,
                pop_limit=self.options.pop_limit,
                pass_through_all=self.options.pass_through == "all",
            ),
        )

    def translate(self, sentence: str, grammar: Grammar) -> str:
        """The best translation of blank-separated words; an empty sentence gives an empty one.

        More than 32,000 words are an InputError.
        """
        return self.native.translate(grammar.native, sentence)

    def kbest(self, sentence: str, grammar: Grammar, k: int = 100, *, unique: bool = True) -> list[Hypothesis]:
        """Up to k derivations, best first; with `unique`, only the best one of each target string."""
        if not 1 <= k <= 100_000_000:
            raise ConfigError(f"k is {k}", hint="Give the number of hypotheses, at least 1.")
        found = self.native.kbest(grammar.native, sentence, k, unique)
        return [Hypothesis(one.text, one.score, one.features) for one in found]

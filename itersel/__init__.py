"""Distributed discriminative training for hierarchical machine translation, as map-reduce.

The classes to begin with: Grammar, LanguageModel, Weights, Decoder (with DecoderOptions) and Hypothesis.
"""

from itersel.base.version import __version__
from itersel.decode.decoder import Decoder, DecoderOptions, Hypothesis
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights

__all__ = ["Decoder", "DecoderOptions", "Grammar", "Hypothesis", "LanguageModel", "Weights", "__version__"]

"""Distributed discriminative training for hierarchical machine translation, as map-reduce.

The classes to begin with: Grammar, LanguageModel, Weights, Decoder (with DecoderOptions) and Hypothesis.
"""

from itersel.decode import Decoder, DecoderOptions, Hypothesis
from itersel.features import Weights
from itersel.grammar import Grammar
from itersel.language_model import LanguageModel
from itersel.version import __version__

__all__ = ["Decoder", "DecoderOptions", "Grammar", "Hypothesis", "LanguageModel", "Weights", "__version__"]

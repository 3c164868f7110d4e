"""Decode the sentences of a compiled shard. No text is parsed; weights are by name or by feature id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from itersel import _kernel
from itersel.base.errors import InputError
from itersel.decode.decoder import DecoderConfig, Hypothesis
from itersel.decode.derivation import Derivation
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from itersel.shards.shard import Shard

if TYPE_CHECKING:
    from itersel.model.vectors import Vector


class ShardDecoder:
    """Decodes the sentences of one shard; for one thread. Pass-through is fixed when the shard is made."""

    def __init__(
        self,
        shard: Shard,
        weights: Weights | Vector,
        language_model: LanguageModel | None = None,
        options: DecoderConfig | None = None,
    ):
        options = options or DecoderConfig()
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
        """The tree of a hypothesis of `kbest`, 0 for the best; an InputError if there are fewer."""
        try:
            found, nodes = self.native.derivation(sentence, rank, unique)
        except IndexError as error:
            raise InputError(str(error), where=self.shard.path) from None
        return Derivation.of(found.text, found.score, nodes)

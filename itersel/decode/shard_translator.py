"""Translate the sentences of compiled shards in several processes: translations or lists, in order.

All sentences have the same weights, or each those of its domain.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from itersel.base.spare_processes import borrowed
from itersel.base.workers import ordered_map
from itersel.decode.decoder import DecoderConfig, Hypothesis
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lm.model import LanguageModel
from itersel.model.domain_weights import DomainWeights
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard

Result = TypeVar("Result")
BLOCK = 20
"""Sentences that a process takes at a time."""


@dataclass(frozen=True, eq=False)
class ShardTranslator:
    """Decodes shards in several processes, in order."""

    shards: Sequence[Shard]
    weights: Weights | Vector | DomainWeights
    model: LanguageModel | None = None
    options: DecoderConfig = field(default_factory=DecoderConfig)

    def __post_init__(self) -> None:
        if isinstance(self.weights, DomainWeights):
            self.weights.check(shard.domain(number) for shard in self.shards for number in range(len(shard)))

    def __len__(self) -> int:
        """The number of sentences."""
        return sum(map(len, self.shards))

    def best(self, jobs: int = 1) -> Generator[str, None, None]:
        """The translation of each sentence."""
        return self.map(lambda _, decoder, number: decoder.translate(number), jobs)

    def lists(
        self, k: int, form: Callable[[str, list[Hypothesis]], Result], jobs: int = 1, *, unique: bool = True
    ) -> Generator[Result, None, None]:
        """What `form` makes of a sentence's id and up to k hypotheses, best first; it is called in the processes."""
        return self.map(lambda id, decoder, number: form(id, decoder.kbest(number, k, unique=unique)), jobs)

    def map(self, work: Callable[[str, ShardDecoder, int], Result], jobs: int = 1) -> Generator[Result, None, None]:
        """`work` of each sentence, given by its id, the decoder of its shard and its number there."""
        decoders: dict[tuple[int, str], ShardDecoder] = {}  # filled in each process as needed

        def decoder_of(at: int, number: int) -> ShardDecoder:
            shard, weights = self.shards[at], self.weights
            domain = shard.domain(number) if isinstance(weights, DomainWeights) else ""
            if (at, domain) not in decoders:
                own = weights.of(domain) if isinstance(weights, DomainWeights) else weights
                decoders[at, domain] = ShardDecoder(shard, own, self.model, self.options)
            return decoders[at, domain]

        def translate(block: tuple[int, range]) -> list[Result]:
            at, sentences = block
            return [work(self.shards[at].id(number), decoder_of(at, number), number) for number in sentences]

        def blocks() -> Iterator[tuple[int, range]]:
            for at, shard in enumerate(self.shards):
                for first in range(0, len(shard), BLOCK):
                    yield at, range(first, min(first + BLOCK, len(shard)))

        waiting = list(blocks())
        with contextlib.ExitStack() as stack:
            spare = stack.enter_context(borrowed(len(waiting) - jobs))
            for results in stack.enter_context(contextlib.closing(ordered_map(translate, waiting, jobs + spare))):
                yield from results

"""Devtest: shards translated with an epoch's model and scored by sacrebleu's corpus BLEU (tokenize none)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from itersel.base.figures import Figure
from itersel.base.workers import ordered_map
from itersel.decode.decoder import DecoderOptions
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lists.source import Source
from itersel.lm.model import LanguageModel
from itersel.metrics.corpus import CorpusMetric, bleu_length_ratio
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard

BLOCK = 50
"""Sentences a process translates at a time."""
FIGURES = (
    Figure(
        "devtest_bleu",
        "devtest BLEU",
        "devtest_bleu",
        form="score",
        about="Corpus BLEU of the devtest translations.",
        shown=("table", "curve"),
    ),
    Figure(
        "devtest_length_ratio",
        "length ratio",
        "devtest_length_ratio",
        form="ratio",
        about="Length of the devtest translations divided by that of the references.",
        shown=("curve",),
    ),
)
"""What people see of devtest, for any algorithm."""
SHORT, LONG, EMPTY = 0.5, 2.0, 0.1
"""Limits beyond which output is called degenerate: length ratios to the references, share of empty lines."""


@dataclass(frozen=True)
class Score:
    """Corpus BLEU (0 to 100), length of the output over that of the closest references, and what looks wrong."""

    bleu: float
    length_ratio: float
    warnings: tuple[str, ...]


def translate_shards(
    shards: Sequence[Shard],
    weights: Weights | Vector,
    model: LanguageModel | None,
    options: DecoderOptions,
    jobs: int = 1,
) -> list[str]:
    """Translations of all sentences, in order."""
    decoders: dict[int, ShardDecoder] = {}  # filled in each process as needed

    def translate(block: tuple[int, range]) -> list[str]:
        number, sentences = block
        if number not in decoders:
            decoders[number] = ShardDecoder(shards[number], weights, model, options)
        return [decoders[number].translate(sentence) for sentence in sentences]

    def blocks() -> Iterator[tuple[int, range]]:
        for number, shard in enumerate(shards):
            for first in range(0, len(shard), BLOCK):
                yield number, range(first, min(first + BLOCK, len(shard)))

    return [line for lines in ordered_map(translate, blocks(), jobs) for line in lines]


def score(shards: Sequence[Source], translations: Sequence[str]) -> Score:
    """BLEU of the translations against the shards' references."""
    references = [shard.references(sentence) for shard in shards for sentence in range(len(shard))]
    bleu = CorpusMetric("bleu", references)
    statistics = bleu.statistics(translations)
    ratio = bleu_length_ratio(statistics)
    return Score(bleu.score(statistics), ratio, tuple(_degenerate(translations, ratio)))


def _degenerate(translations: Sequence[str], ratio: float) -> Iterator[str]:
    empty = sum(not line for line in translations)
    if empty > EMPTY * len(translations):
        yield f"{empty} of {len(translations)} devtest translations are empty"
    if not SHORT <= ratio <= LONG:
        yield f"the devtest translations have {ratio:.2f} times the length of their references"
    if len(translations) > 10 and len(set(translations)) == 1:
        yield "all devtest translations are the same"

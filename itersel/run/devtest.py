"""Devtest: sources translated with a round's model and scored by sacrebleu's corpus BLEU (tokenize none).

Decoding is a job, with blocks of sentences as work items; lists that exist already are ranked on the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from itersel.algorithms.epoch_job import language_models
from itersel.base.errors import InputError
from itersel.base.figures import Figure
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_translator import ShardTranslator
from itersel.lists.source import AnySource, ListOptions
from itersel.lm.model import LanguageModel
from itersel.mapreduce.job import DRIVER, Job, Record, Tell
from itersel.mapreduce.shard_item import Part, open_parts, shard_item
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import ItemFile, WorkItem
from itersel.metrics.corpus import CorpusMetric, bleu_brevity_penalty, bleu_length_ratio
from itersel.model.domain_weights import DomainWeights
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run.layout import sentences_of
from itersel.shards.shard import Shard

BLOCK = 100
"""Sentences of a work item."""
WEIGHTS = "weights"
SHORT, LONG, EMPTY = 0.5, 2.0, 0.1
"""Limits beyond which output is called degenerate: length ratios to the references, share of empty lines."""
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
        about="Length of the devtest translations over that of their closest references.",
        shown=("curve",),
    ),
    Figure(
        "devtest_brevity_penalty",
        "brevity penalty",
        "devtest_brevity_penalty",
        form="ratio",
        about="BLEU's factor for devtest translations that are shorter than their references.",
        shown=("table",),
    ),
)


@dataclass(frozen=True)
class TranslateJob(Job):
    """Translates blocks of sentences: nothing to reduce."""

    decoder: DecoderConfig = field(default_factory=DecoderConfig)

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        weights = Vector.read(side.path(WEIGHTS), mapped=True)
        options = ListOptions(decoder=self.decoder, model=language_models(side).open())
        for source, parts in open_parts(item):
            for part in parts:
                lines = source.translate(weights, part.sentences or (), options)
                yield DRIVER, "".join(f"{line}\n" for line in lines).encode()
        tell(item.size, {})

    def warm(self, side: Side) -> None:
        language_models(side).open()


RunJob = Callable[[Job, Sequence[WorkItem], Mapping[str, SideFile]], list[Record]]


def translate_sources(
    sources: Sequence[AnySource],
    weights: Vector,
    side: Mapping[str, SideFile],
    decoder: DecoderConfig,
    run: RunJob,
    domain: str | None = None,
) -> list[str]:
    """Translations of all sentences of all sources, or of one domain's, in order.

    `side` has the weights, and the language model.
    """
    items: list[WorkItem] = []
    blocks: list[list[int]] = []  # by source: its items
    for source in sources:
        file, mine = ItemFile(source.path, source.checksum), list[int]()
        chosen = sentences_of(source, domain) if source.decodes else ()
        for first in range(0, len(chosen), BLOCK):
            sentences = tuple(chosen[first : first + BLOCK])
            mine.append(len(items))
            items.append(shard_item(len(items), [Part(file, sentences)], len(sentences)))
        blocks.append(mine)
    found: dict[int, list[str]] = {}
    for record in run(TranslateJob(decoder=decoder), items, side) if items else []:
        found[record.item] = bytes(record.value).decode().split("\n")[:-1]
    lines: list[str] = []
    for source, mine in zip(sources, blocks, strict=True):
        if source.decodes:
            lines += [line for number in mine for line in found[number]]
        else:  # quicker done than sent to an engine
            lines += source.translate(weights, sentences_of(source, domain), ListOptions())
    return lines


def translate_shards(
    shards: Sequence[Shard],
    weights: Weights | Vector | DomainWeights,
    model: LanguageModel | None,
    options: DecoderConfig,
    jobs: int = 1,
) -> list[str]:
    """Translations of all sentences, in order, by processes of this machine and without a run."""
    return list(ShardTranslator(shards, weights, model, options).best(jobs))


@dataclass(frozen=True)
class Score:
    """Corpus BLEU (0 to 100), length of the output over that of the closest references, and what looks wrong."""

    bleu: float
    length_ratio: float
    brevity_penalty: float
    warnings: tuple[str, ...]

    @property
    def facts(self) -> dict[str, float]:
        """The numbers that go into the manifest; FIGURES describes them."""
        return {
            "devtest_bleu": self.bleu,
            "devtest_length_ratio": self.length_ratio,
            "devtest_brevity_penalty": self.brevity_penalty,
        }


def domain_in(sources: Sequence[AnySource], domain: str | None) -> str | None:
    """The domain, if any sentence of the sources has it; None if they have no labels; otherwise an InputError."""
    if domain is None or any(sentences_of(source, domain) for source in sources):
        return domain
    if all(not source.domain(number) for source in sources for number in range(len(source))):
        return None
    raise InputError(
        f"no sentence of devtest has the domain {domain!r}",
        where=sources[0].path,
        hint="Give devtest shards with sentences of this domain, or without labels.",
    )


def score(sources: Sequence[AnySource | Shard], translations: Sequence[str], domain: str | None = None) -> Score:
    """BLEU of the translations against the references of the sources, or of one domain's sentences of them."""
    references = [
        source.references(sentence)
        for source in sources
        for sentence in (range(len(source)) if isinstance(source, Shard) else sentences_of(source, domain))
    ]
    bleu = CorpusMetric("bleu", references)
    statistics = bleu.statistics(translations)
    ratio = bleu_length_ratio(statistics)
    penalty = bleu_brevity_penalty(statistics)
    return Score(bleu.score(statistics), ratio, penalty, tuple(_degenerate(translations, ratio)))


def _degenerate(translations: Sequence[str], ratio: float) -> Iterator[str]:
    empty = sum(not line for line in translations)
    if empty > EMPTY * len(translations):
        yield f"{empty} of {len(translations)} devtest translations are empty"
    if not SHORT <= ratio <= LONG:
        yield f"the devtest translations have {ratio:.2f} times the length of their references"
    if len(translations) > 10 and len(set(translations)) == 1:
        yield "all devtest translations are the same"

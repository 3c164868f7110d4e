"""Held-out line search, HOLS (NAACL 2013): a gradient for sparse features, and a line search on other sentences.

A round is one update. A gradient job differentiates the soft ramp loss of the training sentences by the sparse
features; then MERT searches the dense weights together with the weights of two sums, on sentences that neither the
gradient nor their own grammar and language model have seen:

    f1 = ⟨sparse weights, features⟩ with weight β,  f2 = ⟨gradient, features⟩ with weight α

The sparse weights become β · weights + α · gradient. The last search runs on a development set, if one is given. With
`search: seen` (HILS, the paper's control) the search runs on sentences of the gradient.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from itersel.algorithms.base import Algorithm, ItemsContext, Model, Round, RunContext
from itersel.algorithms.epoch_job import FOLD, START
from itersel.algorithms.gradient_job import CONDITIONINGS, Gradient, GradientJob
from itersel.algorithms.gradient_job import collect as collect_gradient
from itersel.algorithms.kbest_job import KBestJob, is_left_out
from itersel.algorithms.mert import Mert, MertConfig
from itersel.algorithms.section_job import without_section
from itersel.algorithms.tuner import named
from itersel.base.config import OneOf, PathStr, Range, validate
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import CrossSections, Figure, Listing, Statistic
from itersel.base.temporary import temporary_folder
from itersel.learn.learner import LearnConfig
from itersel.lists.accumulated import NewList
from itersel.lists.source import ShardSource, open_source
from itersel.mapreduce.fetch import open_item_source
from itersel.mapreduce.shard_item import Part, domain_of, fold_of, parts_of, shard_item
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import ItemFile, WorkItem
from itersel.metrics.sentence import METRICS
from itersel.model.feature_names import NameTable
from itersel.model.features import PREFIXES, parse_groups, template_of
from itersel.model.vectors import Vector
from itersel.shards.assignment import shuffled
from itersel.tune.projection import projected

SPARSE, GRADIENT = "SparseModel", "SparseGradient"
"""Names of the sums f1 and f2, as features of the lists that are searched."""
FOLDS = 5
LARGEST = "gradient.tsv"
"""The file in a round's folder with the largest components: feature, component, lists, and of the sentence with the
largest part in it this part, the id, source and reference."""
SHOWN = 100
DRAWN = 4
"""Frequent features and rare ones of which cross-sections are drawn (figure 2 of the paper)."""
COMMON, RARE = 20, 200
"""How many of the most and least frequent features of the gradient they are taken from."""


@dataclass(frozen=True)
class HolsConfig:
    """How gradients are taken, and where their length is searched."""

    passes: Annotated[int, Range(1)] = 2
    """How often every training sentence is used for a gradient."""
    updates: Annotated[int, Range(1)] = 2
    """Updates in a pass: each takes the gradient of a part of the sentences."""
    search: Annotated[str, OneOf("held_out", "seen")] = "held_out"
    """held_out: on sentences of the held-out fold; seen: on sentences of the gradient (HILS)."""
    folds: Annotated[int, Range(2)] | None = None
    """Sentence i is in fold i mod folds. Default: as many as there are fold models, or 5 without any."""
    held_out: Annotated[int, Range(0)] = 0
    """The fold that gives no gradient."""
    sample: Annotated[int, Range(1)] = 10_000
    """Most sentences of a search."""
    dev: tuple[PathStr, ...] = ()
    """Shards of a development set, for the last search."""
    k: Annotated[int, Range(2, 1_000_000)] = 1000
    """Length of the lists that give the gradient."""
    metric: Annotated[str, OneOf(*METRICS)] = "fixed_stupid_bleu"
    cost_scale: Annotated[float, Range(above=0)] = 20.0
    """A hypothesis costs this times (1 − metric)."""
    score_scale: Annotated[float, Range(above=0)] = 1.0
    """Model scores, with dense weights at an absolute sum of 1, are multiplied by this before they meet costs."""
    groups: str = "id"
    """The sparse features to learn: id, ng, shape, joined by commas, or all."""
    conditioning: Annotated[str, OneOf(*CONDITIONINGS)] = "lists"
    """lists: divide a feature's component by the number of lists that have it; extraction: by the number of times that
    its rule was extracted."""
    top: Annotated[int, Range(1)] | None = None
    """Keep this many of the largest components; null: all."""
    fixed_beta: bool = False
    """Keep the sparse weights in proportion to the dense ones; only the gradient's weight is searched."""
    iterations: Annotated[int, Range(1)] = 3
    """Most rounds of MERT, each with a decoding, in a search."""
    line_search: MertConfig = field(default_factory=lambda: MertConfig(starts=5))
    seed: Annotated[int, Range(0, 2**63 - 1)] = 1
    """Of the sample; it is added to the seed of the line search, so that repeats search from other random points."""

    def __post_init__(self) -> None:
        validate(self)
        if not parse_groups(self.groups):
            raise ConfigError("groups names no sparse features", hint="Choose id, ng, shape or all.")
        if self.conditioning == "extraction" and parse_groups(self.groups) != {"id"}:
            raise ConfigError(
                f"conditioning is 'extraction', which needs groups: id, but groups is {self.groups!r}",
                hint="Only rules are extracted. Condition other features by lists.",
            )
        if self.line_search.space != "list":
            raise ConfigError("line_search.space is forest, but held-out line search needs lists")


@dataclass(frozen=True)
class ProjectedKBestJob(KBestJob):
    """Decodes with all features, and collects lists of dense ones and the two sums."""

    watched: tuple[str, ...] = ()
    """Sparse features that are collected, too."""

    def listed(self, found: NewList, side: Side) -> NewList:
        sums = {name: side.cached(f"vector {name}", (name,), Vector.read) for name in (SPARSE, GRADIENT)}
        return projected(found, sums, is_sparse, frozenset((*self.watched, *self.only_drawn)))


class CombinedSearch(Mert):
    """MERT over the dense weights, α and β."""

    sections = CrossSections(
        "sections.json",
        "search score",
        about="On the sentences of the line search, as a function of one weight: SparseGradient is α, SparseModel β. "
        f"Of rules, {DRAWN} that are in many lists of the gradient and {DRAWN} that are in few, with the change of"
        " their weight.",
    )

    def __init__(
        self,
        settings: Any,
        sparse: Mapping[str, float],
        gradient: Mapping[str, float],
        frequent: Sequence[str] = (),
        rare: Sequence[str] = (),
    ):
        super().__init__(settings)
        self.sparse, self.gradient = sparse, gradient
        self.frequent, self.rare = frequent, rare

    def kbest_job(self, **values: Any) -> KBestJob:  # type: ignore[override]
        return ProjectedKBestJob(**values, watched=(*self.frequent, *self.rare))

    def only_drawn(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Named sparse features that are not watched anyway."""
        known = {*self.frequent, *self.rare}
        never = self.left_out(weights)
        several = [name for name in self.config.sections if is_sparse(name) and name not in known]
        return tuple(name for name in several if not is_left_out(name, never))

    def drawn_besides(self, spread: Mapping[str, float]) -> Sequence[str]:
        """The first frequent and the first rare features that make a difference in some list, and those named."""
        chosen = [
            name
            for several in (self.frequent, self.rare)
            for name in [name for name in several if spread.get(name, 0.0) > 0][:DRAWN]
        ]
        return [*chosen, *super().drawn_besides(spread)]

    def decoding_files(self, number: int, weights: Mapping[str, float], folder: Path) -> dict[str, SideFile]:
        files = super().decoding_files(number, self.combined(weights), folder)
        for name, part in ((SPARSE, self.sparse), (GRADIENT, self.gradient)):
            Vector.of_names(part).write(folder / f"{name}.vec")
            files[name] = SideFile(str(folder / f"{name}.vec"))
        return files

    def combined(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The weights of all features that stand for dense weights, β and α."""
        made = {name: value for name, value in weights.items() if name not in (SPARSE, GRADIENT)}
        beta, alpha = weights.get(SPARSE, 0.0), weights.get(GRADIENT, 0.0)
        for name in sorted({*self.sparse, *self.gradient}):
            value = beta * self.sparse.get(name, 0.0) + alpha * self.gradient.get(name, 0.0)
            if value:
                made[name] = value
        return made


@dataclass(frozen=True)
class Found:
    """What a line search came to."""

    weights: Mapping[str, float]
    """Dense weights, α and β."""
    score: float
    before: float
    iterations: int
    sections: bytes
    """The score as a function of single weights."""


class Hols(Algorithm):
    """Held-out line search."""

    name, label = "hols", "HOLS"
    config_class: ClassVar[type] = HolsConfig
    options: ClassVar[Mapping[str, str | None]] = {"k": "k", "metric": "metric", "eta": None, "top": "top"}
    sections = CombinedSearch.sections
    listing = Listing(
        LARGEST,
        "largest gradients",
        (
            ("feature", "text"),
            ("component", "number"),
            ("lists", "count"),
            ("largest part", "number"),
            ("sentence", "text"),
            ("source", "text"),
            ("reference", "text"),
        ),
        about="The components of the gradient, divided by counts if it is conditioned. Beside each, the sentence whose"
        " list adds most to it.",
    )
    statistics = (Statistic("lists"), Statistic("hypotheses"), Statistic("loss"))
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure("loss", "soft ramp loss", "loss", "lists", about="Per training sentence, before the update."),
        Figure("tune_score", "search score", "tune_score", form="score", about="On the sentences of the line search."),
        Figure(
            "score_before", "before the search", "score_before", form="score", shown=("curve",), beside="tune_score"
        ),
        Figure("gradient_norm", "gradient norm", "gradient_norm"),
        Figure("alpha", "gradient's weight α", "alpha", about="Of the gradient with a largest component of 1."),
        Figure("beta", "sparse weights' factor β", "beta", about="What the sparse weights so far were multiplied by."),
        Figure("sparse", "sparse weights", "sparse", form="count"),
    )

    @property
    def config(self) -> HolsConfig:
        return HolsConfig() if self.settings.own is None else self.settings.own

    @property
    def wanted(self) -> int:
        """How many updates a run has."""
        return self.config.passes * self.config.updates

    def finished(self, history: Sequence[Mapping[str, Any]]) -> bool:
        return len(history) >= self.wanted

    def remarks(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> Sequence[str]:
        del chosen
        wanted = self.wanted
        if len(history) >= wanted:
            return ()
        return [f"the run ended after {len(history)} of {wanted} updates, before the last search: raise epochs"]

    def round(self, number: int, model: Model, run: RunContext) -> Round:
        with temporary_folder("hols") as folder:
            return self.update(number, model, run, folder)

    def update(self, number: int, model: Model, run: RunContext, folder: Path) -> Round:
        config, weights = self.config, named(model.weights, model.names)
        dense = {name: value for name, value in weights.items() if not is_sparse(name)}
        scale = math.fsum(map(abs, dense.values()))
        if not scale:
            raise InputError(
                "hols needs dense weights to start from",
                hint="Tune them first (algorithm: mert, on a part of a held-out fold), and name them as start.",
            )
        dense = {name: value / scale for name, value in dense.items()}
        sparse = {name: value / scale for name, value in weights.items() if is_sparse(name)}
        items = list(run.items(number))
        places = list(places_of(items, self.folds(run)))
        # If the only search is on dev, or on sentences of the gradient, no fold needs to be held out.
        every = config.search == "seen" or (bool(config.dev) and self.wanted == 1)
        learned = [place for place, fold in places if every or fold != config.held_out]
        learned = learned[number % config.updates :: config.updates]
        gradient = self.gradient(number, dense | sparse, restricted(items, learned), run, folder)
        norm = math.sqrt(math.fsum(value * value for value in gradient.components.values()))
        direction = scaled([(name, gradient.components[name]) for name in gradient.largest(config.top or 2**62)])
        if not direction:
            raise InputError(
                "the gradient is 0", hint="Do the lists have different hypotheses? Is hols.k large enough?"
            )
        searched = self.searched(number, items, places, learned)
        search = self.line_search(sparse, direction, gradient)
        found = self.search(search, dense, ItemsContext(run, searched), folder)
        vector = Vector.of_names(search.combined(found.weights))
        warnings = list[str]()
        if found.weights.get(GRADIENT, 0.0) == 0:
            warnings.append("the line search found no use for the gradient")
        warnings += without_section(config.line_search.sections, json.loads(found.sections))
        names = {*weights, *direction, *(name for name in found.weights if name not in (SPARSE, GRADIENT))}
        shares = spread_over(items, learned, gradient.statistics)
        return Round(
            vector,
            NameTable(names | model.names),
            shares,
            facts={
                "weights": len(vector),
                "tune_score": found.score,
                "score_before": found.before,
                "gradient_norm": norm,
                "alpha": found.weights.get(GRADIENT, 0.0),
                "beta": found.weights.get(SPARSE, 0.0) if sparse else 1.0,
                "sparse": sum(is_sparse(name) for name in search.combined(found.weights)),
                "search_sentences": sum(item.size for item in searched),
                "search_iterations": found.iterations,
            },
            files={
                LARGEST: table_of(gradient, restricted(items, learned)),
                CombinedSearch.sections.file: found.sections,
            },
            warnings=tuple(warnings),
        )

    def folds(self, run: RunContext) -> int:
        """How many folds the sentences are in."""
        models = sum(name.startswith(f"{FOLD}.") for name in run.models)
        if models and self.config.folds not in (None, models):
            raise ConfigError(f"hols.folds is {self.config.folds}, but there are {models} fold models")
        folds = models or self.config.folds or FOLDS
        if self.config.held_out >= folds:
            raise ConfigError(f"hols.held_out is {self.config.held_out}, but folds are numbered 0 to {folds - 1}")
        return folds

    def other_files(self) -> Sequence[str]:
        return self.config.dev

    def check(self, items: Sequence[WorkItem]) -> None:
        """The gradient's shards and the development set have features of the groups."""
        groups = parse_groups(self.config.groups)
        patterns = [f"{prefix}*" for group in groups for prefix in PREFIXES[group]]
        training = (open_item_source(part.file) for item in items for part in parts_of(item))
        dev = [open_source(path) for path in self.config.dev]  # all of them: a run would miss one at its end
        for label, sources in (("shards", training), ("hols.dev", dev)):
            known = list[str]()
            for source in sources:
                if not isinstance(source, ShardSource) or source.data.features_matching(patterns).any():
                    break
                known.append(str(source.path))
            else:
                if known:
                    raise InputError(
                        f"no sentence of {label} has a feature of hols.groups: {self.config.groups}",
                        where=known[0],
                        hint="Compile the shards with these features: itersel shard --features, or shards.features of"
                        " a build.",
                    )

    def gradient(
        self, number: int, weights: Mapping[str, float], items: Sequence[WorkItem], run: RunContext, folder: Path
    ) -> Gradient:
        config = self.config
        Vector.of_names(weights).write(folder / "start.vec")
        job = GradientJob(
            run.reducers,
            number,
            replace(self.settings.epoch, k=config.k, unique=True, metric=config.metric, learn=LearnConfig()),
            cost_scale=config.cost_scale,
            score_scale=config.score_scale,
            groups=tuple(sorted(parse_groups(config.groups))),
            conditioning=config.conditioning,
        )
        return collect_gradient(run.run(job, items, {START: SideFile(str(folder / "start.vec")), **run.models}))

    def searched(
        self, number: int, items: Sequence[WorkItem], places: Sequence[tuple[Place, int]], learned: Sequence[Place]
    ) -> list[WorkItem]:
        """The sentences of a round's search."""
        config = self.config
        if config.dev and number + 1 == self.wanted:
            sources = [open_source(path) for path in config.dev]
            files = [ItemFile(source.path, source.checksum) for source in sources]
            return [shard_item(k, [Part(files[k])], len(source)) for k, source in enumerate(sources)]
        several = learned if config.search == "seen" else [place for place, fold in places if fold == config.held_out]
        chosen = sorted(shuffled(len(several), config.seed)[: config.sample])
        return restricted(items, [several[k] for k in chosen])

    def line_search(
        self, sparse: Mapping[str, float], direction: Mapping[str, float], gradient: Gradient
    ) -> CombinedSearch:
        """What searches: dense weights, the sparse weights' factor, and how far to go along the gradient."""
        own = self.config.line_search
        own = replace(own, seed=(own.seed + self.config.seed) % 2**63)
        if self.config.fixed_beta and sparse:
            own = replace(own, fixed=(*own.fixed, SPARSE))
        by_frequency = sorted(gradient.lists, key=lambda name: (-gradient.lists[name], name))
        frequent = [by_frequency[k] for k in shuffled(min(COMMON, len(by_frequency)), self.config.seed)]
        rare = [name for name in by_frequency[-RARE:] if name not in frequent]
        return CombinedSearch(replace(self.settings, own=own), sparse, direction, frequent, rare)  # type: ignore[type-var]

    def search(self, tuner: CombinedSearch, dense: Mapping[str, float], run: RunContext, folder: Path) -> Found:
        """MERT from the weights so far (β = 1, α = 0); the best of its rounds by what the decoder reaches."""
        start = {**dense, SPARSE: 1.0} if tuner.sparse else dict(dense)
        model = Model(Vector.of_names(start), frozenset({*start, GRADIENT}))
        best, iterations = None, 0
        for number in range(self.config.iterations):
            made = tuner.round(number, model, run)
            iterations += 1
            sections = made.files[tuner.sections.file]
            best = best or Found(start, made.facts["start_score"], made.facts["start_score"], 0, sections)
            if made.facts["tune_score"] > best.score:
                weights = named(made.weights, made.names.names)
                best = replace(best, weights=weights, score=made.facts["tune_score"], sections=sections)
            if tuner.finished([made.facts]):
                break
            model = stored(made, folder / f"search-{number}")
        assert best is not None
        return replace(best, iterations=iterations)


Place = tuple[int, int, int]
"""A sentence of a round: the number of its item, of its part there, and its own in the part's file."""


def is_sparse(name: str) -> bool:
    """Whether a template made the feature."""
    return template_of(name) is not None


def places_of(items: Sequence[WorkItem], folds: int) -> Iterator[tuple[Place, int]]:
    """All sentences of the items, each with its fold."""
    for number, item in enumerate(items):
        for at, part in enumerate(parts_of(item)):
            source = open_item_source(part.file)
            for sentence in range(len(source)) if part.sentences is None else part.sentences:
                fold = fold_of(source, sentence, folds) if part.fold is None else part.fold
                yield (number, at, sentence), fold


def restricted(items: Sequence[WorkItem], places: Sequence[Place]) -> list[WorkItem]:
    """The items with these sentences only, numbered from 0; an item without any is left out."""
    if not places:
        raise InputError("no sentence is left", hint="Are there sentences in every fold? See hols.folds.")
    chosen: dict[int, dict[int, list[int]]] = {}
    for item, part, sentence in places:
        chosen.setdefault(item, {}).setdefault(part, []).append(sentence)
    made = list[WorkItem]()
    for number, by_part in chosen.items():
        parts = parts_of(items[number])
        several = [replace(parts[at], sentences=tuple(sentences)) for at, sentences in by_part.items()]
        size = sum(map(len, by_part.values()))
        made.append(shard_item(len(made), several, size, domain_of(items[number])))
    return made


def spread_over(
    items: Sequence[WorkItem], places: Sequence[Place], statistics: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The statistics of the restricted items by item; those without sentences have nothing to count."""
    made: list[Mapping[str, Any]] = [{"lists": 0, "hypotheses": 0, "loss": 0.0, "seconds": {}} for _ in items]
    for item, values in zip(dict.fromkeys(item for item, _, _ in places), statistics, strict=True):
        made[item] = values
    return made


def scaled(components: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The components over the largest of them, by name: a line search then moves in numbers of a usual size."""
    largest = max((abs(value) for _, value in components), default=0.0)
    return {name: value / largest for name, value in sorted(components)} if largest else {}


def table_of(gradient: Gradient, items: Sequence[WorkItem]) -> bytes:
    """The largest components as text, each with the sentence that has the largest part in it: source and reference."""
    rows = []
    for name in gradient.largest(SHOWN):
        example = gradient.examples[name]
        source, sentence = sentence_of(items[example.item], example.sentence)
        references = source.references(sentence)
        shown = (source.id(sentence), source.data.source(sentence), references[0] if references else "")
        numbers = (f"{gradient.components[name]:.6g}", str(gradient.lists[name]), f"{example.part:.6g}")
        rows.append("\t".join((name, *numbers, *(text.replace("\t", " ") for text in shown))))
    return "".join(f"{row}\n" for row in rows).encode()


def sentence_of(item: WorkItem, number: int) -> tuple[ShardSource, int]:
    """The file and the number there of a sentence that has this number among those of an item."""
    for part in parts_of(item):
        source = open_item_source(part.file)
        assert isinstance(source, ShardSource), "a gradient is of shards"
        sentences = range(len(source)) if part.sentences is None else part.sentences
        if number < len(sentences):
            return source, sentences[number]
        number -= len(sentences)
    raise IndexError(number)


def stored(made: Round, folder: Path) -> Model:
    """A round's result as the next one's start, with files in the folder."""
    folder.mkdir()
    made.weights.write(folder / "weights.vec")
    for name, content in made.files.items():
        (folder / name).write_bytes(content)
    states = []
    for number, state in enumerate(made.states):
        states.append(folder / f"{number}.state")
        states[-1].write_bytes(state)
    return Model(made.weights, frozenset(made.names.names), folder / "weights.vec", tuple(states))

"""The stages of a build that learn from the training text: word alignment, language models, the index for extraction.

In: the clean text of the stages before (itersel.pipeline.text_stages), or the files given in their place. Out: `model/`
of the work folder.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from itersel.align.aligner import AlignedPair, AlignerConfig, eflomal_links, eflomal_version, symmetrize
from itersel.align.links import check_links, format_links, read_links
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, count_lines, read_lines
from itersel.base.progress import track
from itersel.grammar.extraction import build_index, open_index
from itersel.lm.arpa import write_arpa
from itersel.lm.binary import write_binary
from itersel.lm.corpus import Fold
from itersel.lm.estimate import Settings, estimate
from itersel.lm.model import LanguageModel
from itersel.lm.seen import SeenWriter, seen_path
from itersel.pipeline.build_config import TRAIN, BuildConfig
from itersel.pipeline.build_paths import (
    alignment_path,
    arpa_path,
    index_path,
    kept_path,
    language_model_path,
    reference_path,
    source_path,
    tasks_path,
)
from itersel.pipeline.stages import Stage
from itersel.pipeline.text_stages import cleanings
from itersel.text.bitext import Bitext, clean_side, words


def align(config: BuildConfig) -> Stage:
    section, output = config.align, alignment_path(config)
    source, target = source_path(config, TRAIN), reference_path(config, TRAIN)
    inputs = {"source": source, "target": target}
    options: dict[str, object] = {"given": True}
    aligner = AlignerConfig(config.seed, section.samplers, section.effort, section.null_prior)
    if section.given is None:
        options = {"aligner": f"eflomal {eflomal_version()}", "method": section.method, **asdict(aligner)}
    else:
        inputs |= {"given": section.given, "lines": kept_path(config, TRAIN)}

    def make() -> str:
        bitext = Bitext(source, target)
        if section.given is not None:
            pairs = _select_links(bitext, section.given, config)
        else:
            pairs = aligned_pairs(bitext, aligner, section.method)
        with atomic_write(output) as stream, contextlib.closing(pairs):
            links = 0
            for pair in pairs:
                stream.write(format_links(pair.links).encode() + b"\n")
                links += len(pair.links)
        return f"{links:,} links" + (" given" if section.given else "")

    return Stage("align", inputs, options, [output], make)


def aligned_pairs(bitext: Bitext, aligner: AlignerConfig, method: str) -> Generator[AlignedPair]:
    """The pairs with the links of both directions, combined by a method of SYMMETRIZATIONS."""
    with eflomal_links(bitext, aligner) as directed:
        if not directed.deterministic:
            events.warn("align: this eflomal cannot be seeded; a second run will differ")
        yield from symmetrize(bitext, directed.forward, directed.reverse, method)


def _select_links(bitext: Bitext, given: Path, config: BuildConfig) -> Generator[AlignedPair]:
    """The given links of the pairs that were kept, checked; messages name the given file's lines."""
    links = list(read_links(given))
    sources = [part.source for part in config.train.files().values()]
    count = sum(map(count_lines, sources))
    if len(links) != count:
        raise InputError(
            f"the alignment has {len(links)} lines, but {', '.join(map(str, sources))} has {count}",
            where=f"{given}:{min(len(links), count) + 1}",
            hint="It needs one line for each line of the training files; an empty one where there are no links.",
        )
    for pair, line in zip(bitext, map(int, read_lines(kept_path(config, TRAIN))), strict=True):
        source, target = words(pair.source), words(pair.target)
        check_links(links[line - 1], len(source), len(target), f"{given}:{line}")
        yield AlignedPair(pair.number, source, target, links[line - 1])


def language_model(config: BuildConfig, without: Fold | None = None, *, unseen: bool = False) -> Stage:
    section, output = config.lm, arpa_path(config, without, unseen=unseen)
    binary = language_model_path(config, without, unseen=unseen)
    name = "lm.unseen" if unseen else "lm" if without is None else f"lm.without-fold.{without.number}"
    if section.given is not None:
        return _given_model(section.given, binary, section.binary)
    texts: Sequence[Path] = section.text or [reference_path(config, TRAIN)]
    settings = Settings(section.order, section.prune, section.vocabulary, section.discount_fallback)
    cleaning = cleanings(config)[1]

    def lines() -> Iterable[str]:
        if unseen:
            yield from _outside_shards(config)
            return
        for path in texts:
            yield from clean_side(path, cleaning) if section.text else read_lines(path)

    def make() -> str:
        with atomic_write(output) as stream:
            seen = SeenWriter(without)
            total = None if unseen else sum(map(count_lines, texts))
            model = estimate(seen.watch(track(lines(), name, total)), settings, source=texts[0], without=without)
            seen.result().write(seen_path(output))
            for reason in model.fallbacks:
                events.warn(f"{name}: {reason}; using 0.5, 1 and 1.5")
            write_arpa(model, stream)
        write_binary(output, binary, section.binary)
        return f"order {section.order}, {sum(map(len, model.tables)):,} n-grams of {model.tokens:,} words"

    options = {**asdict(settings), "cleaning": asdict(cleaning) if section.text else None, "binary": section.binary}
    if without is not None:
        options["without"] = asdict(without)
    inputs = {f"text.{i}": path for i, path in enumerate(texts)}
    if unseen:
        options["unseen"] = asdict(config.shards.train_layout(config.seed))
        inputs |= {"tasks": tasks_path(config, TRAIN)} if config.train.labelled else {}
    return Stage(name, inputs, options, [output, binary, seen_path(output)], make)


def _given_model(given: Path, binary: Path, kind: str) -> Stage:
    """Convert a given ARPA file; a binary one stays where it is."""

    def make() -> str:
        if binary != given:
            write_binary(given, binary, kind)
        return f"order {LanguageModel(binary).order}, given"

    converted = [] if binary == given else [binary]
    return Stage("lm", {"given": given}, {"binary": kind} if converted else {}, converted, make)


def _outside_shards(config: BuildConfig) -> Iterator[str]:
    """The training targets that no training shard has."""
    targets = list(read_lines(reference_path(config, TRAIN)))
    tasks = list(read_lines(tasks_path(config, TRAIN))) if config.train.labelled else []
    layout = config.shards.train_layout(config.seed)
    taken = {number for one in layout.assign(len(targets), tasks) for number in one.sentences}
    if len(taken) == len(targets):
        raise ConfigError(
            "lm.unseen leaves no text: the training shards have all sentences", hint="Make shards.first smaller."
        )
    return (line for number, line in enumerate(targets) if number not in taken)


def index_pairs(config: BuildConfig) -> Stage:
    output = index_path(config)
    bitext = (source_path(config, TRAIN), reference_path(config, TRAIN), alignment_path(config))

    def make() -> str:
        build_index(*bitext, output)
        index = open_index(output)
        return f"{index.sentences:,} pairs, {index.source_words:,} source words"

    return Stage("index", dict(zip(("source", "target", "alignment"), bitext, strict=True)), {}, [output], make)

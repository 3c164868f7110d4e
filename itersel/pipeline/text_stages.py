"""The stages of a build that make clean text: prepare the training pairs and the sets, split compounds.

In: the files that a `BuildConfig` names. Out, in `text/` of its work folder: sources, references, labels of domains and
the numbers of the lines that were kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, count_lines, read_lines
from itersel.base.outputs import atomic_group
from itersel.base.progress import Progress, track
from itersel.pipeline.build_config import TRAIN, BuildConfig, SetConfig
from itersel.pipeline.build_paths import (
    kept_path,
    prepared_path,
    reference_path,
    source_path,
    splitter_path,
    tasks_path,
)
from itersel.pipeline.stages import Stage
from itersel.shards.assignment import shuffled
from itersel.text.bitext import Bitext, Cleaning, Limits, Pair, Summary, clean_side, prepare, words
from itersel.text.compounds import CompoundSplitter, SplitConfig


def cleanings(config: BuildConfig) -> tuple[Cleaning, Cleaning]:
    text = config.text
    source, target = (
        Cleaning(text.normalization, language, text.punctuation, text.escape, text.lowercase)
        for language in (text.tokenize_source, text.tokenize_target)
    )
    return source, target


def prepare_train(config: BuildConfig) -> Stage:
    train = config.train
    source, target = cleanings(config)
    limits = Limits(config.text.max_length, config.text.max_ratio, config.text.drop_separator)
    names = [TRAIN, *train.held_out]
    per_set = [prepared_path, reference_path, kept_path] + ([tasks_path] if train.domains is not None else [])
    outputs = [path(config, name) for name in names for path in per_set]

    def make() -> str:
        summary = Summary()
        bitext = Bitext(train.source, train.target)
        pairs = []
        with Progress("prepare", count_lines(train.source)) as progress:
            for pair in prepare(bitext, source, target, limits, summary):
                pairs.append(pair)
                progress.update(summary.read)
            progress.update(summary.read)
        labels = None if train.domains is None else _labels(train.domains, summary.read)
        wanted = sum(train.held_out.values())
        if wanted >= len(pairs):
            raise ConfigError(f"{wanted} of {len(pairs)} training pairs are to be held out", hint="Hold out fewer.")
        parts = _deal(pairs, list(train.held_out.values()), config.seed)
        with atomic_group(outputs) as streams:
            for number, part in enumerate(parts):
                mine = streams[number * len(per_set) : (number + 1) * len(per_set)]
                for pair in part:
                    line = [pair.source, pair.target, str(pair.number)]
                    line += [] if labels is None else [labels[pair.number - 1]]
                    for stream, content in zip(mine, line, strict=True):
                        stream.write(content.encode() + b"\n")
        sizes = ", ".join(f"{name} {len(part):,}" for name, part in zip(names, parts, strict=True))
        return f"{sizes} pairs, {summary.read - summary.kept:,} dropped"

    options = {
        "source": asdict(source),
        "target": asdict(target),
        "limits": asdict(limits),
        "held_out": train.held_out,
        "seed": config.seed if train.held_out else None,
    }
    inputs = {"source": train.source, "target": train.target} | ({"tasks": train.domains} if train.domains else {})
    return Stage("prepare.train", inputs, options, outputs, make)


def _deal(pairs: Sequence[Pair], sizes: Sequence[int], seed: int) -> list[list[Pair]]:
    """The training pairs that remain, then those held out, each in input order; a seeded choice."""
    order = shuffled(len(pairs), seed)
    parts, start = [], 0
    for size in sizes:
        parts.append(sorted(order[start : start + size]))
        start += size
    return [[pairs[number] for number in part] for part in [sorted(order[start:]), *parts]]


def _labels(path: Path, count: int) -> list[str]:
    labels = [line.strip() for line in read_lines(path)]
    if len(labels) != count:
        place = f"{path}:{min(len(labels), count) + 1}"
        raise InputError(f"has {len(labels)} labels, but the text has {count} lines", where=place)
    for number, label in enumerate(labels, 1):
        if not label:
            raise InputError("the label is empty", where=f"{path}:{number}", hint="Give every sentence a label.")
    return labels


def prepare_set(config: BuildConfig, name: str, one: SetConfig) -> Stage:
    if not one.references:
        raise ConfigError(f"sets.{name} has no references", hint="Give at least one file.")
    source, target = cleanings(config)
    sides = [(one.source, source), *((path, target) for path in one.references)]
    outputs = [prepared_path(config, name), *(reference_path(config, name, i) for i in range(len(one.references)))]
    inputs = {"source": one.source} | {f"reference.{i}": path for i, path in enumerate(one.references)}
    if one.domains is not None:
        outputs.append(tasks_path(config, name))
        inputs["tasks"] = one.domains

    def make() -> str:
        counts = []
        with atomic_group(outputs) as streams:
            for stream, (path, cleaning) in zip(streams, sides, strict=False):
                count = 0
                for count, line in enumerate(clean_side(path, cleaning), 1):
                    if not line:
                        raise InputError("the line is empty", where=f"{path}:{count}", hint="Remove the sentence.")
                    stream.write(line.encode() + b"\n")
                counts.append(count)
                if count != counts[0]:
                    place = f"{path}:{min(count, counts[0]) + 1}"
                    raise InputError(f"has {count} lines, but {one.source} has {counts[0]}", where=place)
            if one.domains is not None:
                streams[-1].writelines(label.encode() + b"\n" for label in _labels(one.domains, counts[0]))
        return f"{counts[0]:,} sentences, {len(one.references)} references"

    return Stage(f"prepare.{name}", inputs, {"source": asdict(source), "target": asdict(target)}, outputs, make)


def learn_splitter(config: BuildConfig) -> Stage:
    text, output = prepared_path(config, TRAIN), splitter_path(config)

    def make() -> str:
        splitter = CompoundSplitter.train(track(read_lines(text), "splitter", count_lines(text)))
        with atomic_write(output) as stream:
            splitter.write(stream)
        return f"{len(splitter.counts):,} words that parts are looked for in"

    return Stage("splitter", {"text": text}, asdict(SplitConfig()), [output], make)


def split_source(config: BuildConfig, name: str) -> Stage:
    text, model, output = prepared_path(config, name), splitter_path(config), source_path(config, name)

    def make() -> str:
        splitter, before, after = CompoundSplitter.read(model), 0, 0
        with atomic_write(output) as stream:
            for line in track(read_lines(text), f"split.{name}", count_lines(text)):
                split = splitter(line)
                stream.write(split.encode() + b"\n")
                before, after = before + len(words(line)), after + len(words(split))
        return f"{before:,} words became {after:,}"

    return Stage(f"split.{name}", {"text": text, "splitter": model}, {}, [output], make)

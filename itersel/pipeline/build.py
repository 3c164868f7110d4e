"""From parallel text to shards: prepare, align, lm, index, shard, each a stage, skipped if current.

In: a `BuildConfig`. Out, in its work folder: `text/` (clean text of all sets), `model/` (alignment, language model,
index), `shards/NAME/` for the training set and every other set, `stages/` (records).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from itersel.align.aligner import AlignedPair, AlignerConfig, eflomal_links, eflomal_version, symmetrize
from itersel.align.links import check_links, format_links, read_links
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, count_lines, read_lines
from itersel.base.folders import BUILD, FolderKind, check_folder_kind, claim_folder
from itersel.base.locks import exclusive
from itersel.base.outputs import atomic_group
from itersel.base.progress import Progress, track
from itersel.base.workers import ordered_map
from itersel.grammar.extraction import ExtractConfig, build_index, open_index
from itersel.lm.arpa import write_arpa
from itersel.lm.binary import binary_path, is_binary, write_binary
from itersel.lm.corpus import Fold
from itersel.lm.estimate import Settings, estimate
from itersel.lm.model import LanguageModel
from itersel.lm.seen import SeenWriter, seen_path
from itersel.pipeline.build_config import TRAIN, BuildConfig, SetConfig
from itersel.pipeline.stages import FOLDER, Stage, StageResult, recorded, run_stage
from itersel.run.build_folder import BuildFolder, forget_build
from itersel.shards.assignment import Layout, shuffled
from itersel.shards.compiler import Corpus, IndexGrammars, ShardCompiler
from itersel.shards.folder import MANIFEST, check_folder, describe_inputs, read_manifest, write_shards
from itersel.text.bitext import Bitext, Cleaning, Limits, Pair, Summary, clean_side, prepare, words
from itersel.text.compounds import CompoundSplitter, SplitConfig


def build(config: BuildConfig, kind: FolderKind = BUILD) -> Iterator[StageResult]:
    """Run all stages, yielding each one's result in order; those of a wave side by side, in up to `jobs` processes.

    `kind` is what the work folder is marked as.
    """
    check_folder_kind(config.work, kind)
    with exclusive(config.work):
        claim_folder(config.work, kind)
        forget_build(config.work)
        _forget_other_folds(config)
        for wave in waves(config):
            yield from _run_wave(wave, config)
        build_folder(config).write()


def build_folder(config: BuildConfig) -> BuildFolder:
    """What the build leaves for training and testing."""
    names = ([TRAIN] if config.train.shards else []) + [*config.train.held_out, *config.sets]
    return BuildFolder(
        config.work,
        {name: shards_path(config, name) for name in names},
        language_model_path(config),
        fold_model_paths(config),
        language_model_path(config, unseen=True) if config.lm.unseen else None,
        index_path(config),
        asdict(_rules_of_sets(config)),
    )


def _rules_of_sets(config: BuildConfig) -> ExtractConfig:
    """How rules are extracted for sentences that are not in the training text."""
    return replace(config.extract, leave_one_out=False, folds=0)


def _run_wave(wave: Sequence[Stage], config: BuildConfig) -> Iterator[StageResult]:
    jobs = min(config.jobs, max(len(wave), 1))
    numbers = range(len(wave))  # stages themselves cannot be sent to a process, but it has them
    results = ordered_map(
        lambda number: run_stage(wave[number], config.work), numbers, jobs, describe=lambda number: wave[number].name
    )
    with contextlib.closing(results):
        yield from results


def _forget_other_folds(config: BuildConfig) -> None:
    """Remove the models, and their records, that an earlier build made for more folds.

    Otherwise they would be taken for folds of this build.
    """
    arpas = [arpa_path(config, fold) for fold in _folds(config)]
    models = fold_model_paths(config)
    records = [config.work / FOLDER / f"lm.without-fold.{number}.json" for number in range(config.lm_folds)]
    model = config.work / "model"
    for folder, kept, pattern in (
        (model, [*arpas, *models, *map(seen_path, models)], "lm.without-fold.*"),
        (config.work / FOLDER, records, "lm.without-fold.*.json"),
    ):
        for path in folder.glob(pattern) if models else ():
            if path not in kept:
                path.unlink()


def built(config: BuildConfig) -> list[StageResult]:
    """The records of the stages if all are complete, otherwise nothing. Runs no stage and checks no file."""
    found = [recorded(stage, config.work) for stage in stages(config)]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else []


def stages(config: BuildConfig) -> Iterator[Stage]:
    """The stages of a configuration; an input that an earlier stage makes need not be there yet."""
    return (stage for wave in waves(config) for stage in wave)


def waves(config: BuildConfig) -> Iterator[list[Stage]]:
    """The stages in groups that depend on earlier groups only. Where several are in one, each works in one process."""
    yield [_prepare_train(config)]
    yield [_prepare_set(config, name, one) for name, one in config.sets.items()]
    if config.text.split_source:
        yield [_splitter(config)]
        yield [_split(config, name) for name in (TRAIN, *config.train.held_out, *config.sets)]
    models = [_language_model(config)]
    # The models to learn with must not know the targets of a fold, or of the shards.
    models += [_language_model(config, fold) for fold in _folds(config)]
    models += [_language_model(config, unseen=True)] if config.lm.unseen else []
    yield [_align(config), *models]
    yield [_index(config)]
    if config.train.shards:
        layout = config.shards.train_layout(config.seed)
        yield [_shard(config, TRAIN, 1, config.train.domains is not None, layout, config.extract)]
    rules = _rules_of_sets(config)
    layout = config.shards.set_layout(config.seed)
    alone = replace(config, jobs=1)
    yield [
        *(_shard(alone, name, 1, config.train.domains is not None, layout, rules) for name in config.train.held_out),
        *(
            _shard(alone, name, len(one.references), one.domains is not None, layout, rules)
            for name, one in config.sets.items()
        ),
    ]


def source_path(config: BuildConfig, name: str) -> Path:
    return config.work / "text" / f"{name}.source"


def prepared_path(config: BuildConfig, name: str) -> Path:
    """The clean source side; where compounds are split, as it is before that."""
    return config.work / "text" / f"{name}.unsplit" if config.text.split_source else source_path(config, name)


def splitter_path(config: BuildConfig) -> Path:
    return config.work / "model" / "splitter.gz"


def reference_path(config: BuildConfig, name: str, number: int = 0) -> Path:
    return config.work / "text" / f"{name}.reference.{number}"


def tasks_path(config: BuildConfig, name: str) -> Path:
    return config.work / "text" / f"{name}.tasks"


def kept_path(config: BuildConfig, name: str) -> Path:
    """Line numbers, from 1, that a set made of the training files has there."""
    return config.work / "text" / f"{name}.lines"


def alignment_path(config: BuildConfig) -> Path:
    return config.work / "model" / "alignment"


def arpa_path(config: BuildConfig, without: Fold | None = None, *, unseen: bool = False) -> Path:
    """The model of the whole training text, or the one that has not seen a fold or the training shards of it."""
    if unseen:
        return config.work / "model" / "lm.unseen.arpa.gz"
    if without is not None:
        return config.work / "model" / f"lm.without-fold.{without.number:03d}.arpa.gz"
    return config.work / "model" / "lm.arpa.gz"


def language_model_path(config: BuildConfig, without: Fold | None = None, *, unseen: bool = False) -> Path:
    """The same model in KenLM's binary form, to decode with: the given one if it is binary, or one beside the ARPA."""
    if without is None and not unseen and config.lm.given is not None and is_binary(config.lm.given):
        return config.lm.given
    return binary_path(arpa_path(config, without, unseen=unseen))


def _folds(config: BuildConfig) -> list[Fold]:
    return [Fold(config.lm_folds, number) for number in range(config.lm_folds)]


def fold_model_paths(config: BuildConfig) -> list[Path]:
    """The models that have not seen a fold, in the order of the folds."""
    return [language_model_path(config, fold) for fold in _folds(config)]


def index_path(config: BuildConfig) -> Path:
    return config.work / "model" / "index"


def shards_path(config: BuildConfig, name: str) -> Path:
    return config.work / "shards" / name


def _cleanings(config: BuildConfig) -> tuple[Cleaning, Cleaning]:
    text = config.text
    source, target = (
        Cleaning(text.normalization, language, text.punctuation, text.escape, text.lowercase)
        for language in (text.tokenize_source, text.tokenize_target)
    )
    return source, target


def _prepare_train(config: BuildConfig) -> Stage:
    train = config.train
    source, target = _cleanings(config)
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


def _prepare_set(config: BuildConfig, name: str, one: SetConfig) -> Stage:
    if not one.references:
        raise ConfigError(f"sets.{name} has no references", hint="Give at least one file.")
    source, target = _cleanings(config)
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


def _splitter(config: BuildConfig) -> Stage:
    text, output = prepared_path(config, TRAIN), splitter_path(config)

    def make() -> str:
        splitter = CompoundSplitter.train(track(read_lines(text), "splitter", count_lines(text)))
        with atomic_write(output) as stream:
            splitter.write(stream)
        return f"{len(splitter.counts):,} words that parts are looked for in"

    return Stage("splitter", {"text": text}, asdict(SplitConfig()), [output], make)


def _split(config: BuildConfig, name: str) -> Stage:
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


def _align(config: BuildConfig) -> Stage:
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
        with atomic_write(output) as stream, contextlib.ExitStack() as stack:
            if section.given is not None:
                pairs = _select_links(bitext, section.given, config)
            else:
                directed = stack.enter_context(eflomal_links(bitext, aligner))
                if not directed.deterministic:
                    events.warn("align: this eflomal cannot be seeded; a second run will differ")
                pairs = symmetrize(bitext, directed.forward, directed.reverse, section.method)
            links = 0
            for pair in pairs:
                stream.write(format_links(pair.links).encode() + b"\n")
                links += len(pair.links)
        return f"{links:,} links" + (" given" if section.given else "")

    return Stage("align", inputs, options, [output], make)


def _select_links(bitext: Bitext, given: Path, config: BuildConfig) -> Iterator[AlignedPair]:
    """The given links of the pairs that were kept, checked; messages name the given file's lines."""
    links = list(read_links(given))
    count = count_lines(config.train.source)
    if len(links) != count:
        raise InputError(
            f"the alignment has {len(links)} lines, but {config.train.source} has {count}",
            where=f"{given}:{min(len(links), count) + 1}",
            hint="It needs one line for each line of the training files; an empty one where there are no links.",
        )
    for pair, line in zip(bitext, map(int, read_lines(kept_path(config, TRAIN))), strict=True):
        source, target = words(pair.source), words(pair.target)
        check_links(links[line - 1], len(source), len(target), f"{given}:{line}")
        yield AlignedPair(pair.number, source, target, links[line - 1])


def _language_model(config: BuildConfig, without: Fold | None = None, *, unseen: bool = False) -> Stage:
    section, output = config.lm, arpa_path(config, without, unseen=unseen)
    binary = language_model_path(config, without, unseen=unseen)
    name = "lm.unseen" if unseen else "lm" if without is None else f"lm.without-fold.{without.number}"
    if section.given is not None:
        return _given_model(section.given, binary, section.binary)
    texts: Sequence[Path] = section.text or [reference_path(config, TRAIN)]
    settings = Settings(section.order, section.prune, section.vocabulary, section.discount_fallback)
    cleaning = _cleanings(config)[1]

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
        inputs |= {"tasks": tasks_path(config, TRAIN)} if config.train.domains is not None else {}
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
    tasks = list(read_lines(tasks_path(config, TRAIN))) if config.train.domains is not None else []
    layout = config.shards.train_layout(config.seed)
    taken = {number for one in layout.assign(len(targets), tasks) for number in one.sentences}
    if len(taken) == len(targets):
        raise ConfigError(
            "lm.unseen leaves no text: the training shards have all sentences", hint="Make shards.first smaller."
        )
    return (line for number, line in enumerate(targets) if number not in taken)


def _index(config: BuildConfig) -> Stage:
    output = index_path(config)
    bitext = (source_path(config, TRAIN), reference_path(config, TRAIN), alignment_path(config))

    def make() -> str:
        build_index(*bitext, output)
        index = open_index(output)
        return f"{index.sentences:,} pairs, {index.source_words:,} source words"

    return Stage("index", dict(zip(("source", "target", "alignment"), bitext, strict=True)), {}, [output], make)


def _shard(
    config: BuildConfig, name: str, references: int, labelled: bool, layout: Layout, rules: ExtractConfig
) -> Stage:
    folder, options = shards_path(config, name), config.shards.options()
    sentences, index = source_path(config, name), index_path(config)
    targets = [reference_path(config, name, number) for number in range(references)]
    tasks = tasks_path(config, name) if labelled else None
    inputs = {"sentences": sentences, "index": index}
    inputs |= {f"reference.{number}": path for number, path in enumerate(targets)}
    if tasks is not None:
        inputs["tasks"] = tasks

    def make() -> str:
        corpus = Corpus.read(sentences, targets, tasks)
        compiler = ShardCompiler(corpus, IndexGrammars(index, rules, cache_bytes=config.cache << 20), options)
        described = describe_inputs(
            {"sentences": [sentences], "references": targets, "tasks": [] if tasks is None else [tasks]}
        )
        made = count = count_rules = 0
        total = sum(len(one.sentences) for one in layout.assign(len(corpus), corpus.domains))
        with Progress(f"shard.{name}", total) as progress:
            for outcome in write_shards(
                compiler, layout, folder, jobs=config.jobs, inputs=described, advance=progress.advance
            ):
                if outcome.trouble is not None:
                    events.warn(f"shard.{name}: {folder / outcome.record.name}: {outcome.trouble}; it was made again")
                made, count = made + outcome.made, count + 1
                count_rules += outcome.record.rules
                progress.skip(0 if outcome.made else len(outcome.record.sentences), note=f"{count:,} shards")
        kept = f", {count - made:,} kept" if made < count else ""
        return f"{total:,} sentences in {count:,} shards, {count_rules:,} rules{kept}"

    def size() -> int:
        return sum(record["bytes"] for record in read_manifest(folder)["shards"])

    return Stage(
        f"shard.{name}",
        inputs,
        {"layout": asdict(layout), "rules": asdict(rules), "shards": asdict(options)},
        [folder / MANIFEST],
        make,
        check=lambda: check_folder(folder),
        bytes_of=size,
    )

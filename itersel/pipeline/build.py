"""From parallel text to shards: prepare, align, lm, index, shard, each a stage, skipped if current.

In: a `BuildConfig`. Out, in its work folder: `text/` (clean text of all sets), `model/` (alignment, language model,
index), `shards/NAME/` for the training set and every other set, `stages/` (records).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from itersel.base import events
from itersel.base.folders import BUILD, FolderKind, check_folder_kind, claim_folder
from itersel.base.locks import exclusive
from itersel.base.progress import Progress
from itersel.base.workers import ordered_map
from itersel.grammar.extraction import ExtractConfig
from itersel.lm.seen import seen_path
from itersel.pipeline.build_config import TRAIN, BuildConfig
from itersel.pipeline.build_paths import (
    arpa_path,
    fold_model_paths,
    folds,
    index_path,
    language_model_path,
    reference_path,
    shards_path,
    source_path,
    tasks_path,
)
from itersel.pipeline.model_stages import align, index_pairs, language_model
from itersel.pipeline.stages import FOLDER, Stage, StageResult, recorded, run_stage
from itersel.pipeline.text_stages import choose_set, learn_splitter, prepare_set, prepare_train, split_source
from itersel.run.build_folder import BuildFolder, forget_build
from itersel.shards.compiler import Corpus, IndexGrammars, ShardCompiler
from itersel.shards.folder import MANIFEST, check_folder, describe_inputs, read_manifest, write_shards


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
    return BuildFolder(
        config.work,
        {name: shards_path(config, name) for name in config.set_names},
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
    arpas = [arpa_path(config, fold) for fold in folds(config)]
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
    yield [prepare_train(config)]
    yield [prepare_set(config, name, one) for name, one in config.sets.items() if one.of is None]
    yield [choose_set(config, name, one) for name, one in config.sets.items() if one.of is not None]
    if config.text.split_source:
        yield [learn_splitter(config)]
        yield [split_source(config, name) for name in (TRAIN, *config.other_sets)]
    models = [language_model(config)]
    # The models to learn with must not know the targets of a fold, or of the shards.
    models += [language_model(config, fold) for fold in folds(config)]
    models += [language_model(config, unseen=True)] if config.lm.unseen else []
    yield [align(config), *models]
    yield [index_pairs(config)]
    if config.train.shards:
        yield [_shard(config, TRAIN, config.extract)]
    rules, alone = _rules_of_sets(config), replace(config, jobs=1)
    yield [_shard(alone, name, rules) for name in config.other_sets]


def _shard(config: BuildConfig, name: str, rules: ExtractConfig) -> Stage:
    folder, options = shards_path(config, name), config.shards.options()
    layout, sentences, index = config.layout(name), source_path(config, name), index_path(config)
    targets = [reference_path(config, name, number) for number in range(config.references(name))]
    tasks = tasks_path(config, name) if config.labelled(name) else None
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

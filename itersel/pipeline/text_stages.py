"""The stages of a build that make clean text: prepare the training pairs and the sets, split compounds.

In: the files that a `BuildConfig` names. Out, in `text/` of its work folder: sources, references, labels of domains and
the numbers of the lines that were kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.files import atomic_write, count_lines, read_lines
from itersel.base.outputs import atomic_group
from itersel.base.progress import Progress, track
from itersel.pipeline.build_config import TRAIN, BuildConfig
from itersel.pipeline.build_paths import (
    kept_path,
    prepared_path,
    reference_path,
    source_path,
    splitter_path,
    tasks_path,
)
from itersel.pipeline.set_choice import chosen_sentences, hold_out
from itersel.pipeline.set_config import BitextPart, HeldOut, SetConfig, SetPart, kept_out
from itersel.pipeline.stages import Stage
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
    train, parts = config.train, config.train.files()
    source, target = cleanings(config)
    limits = Limits(config.text.max_length, config.text.max_ratio, config.text.drop_separator)
    names = [TRAIN, *train.held_out]
    per_set = [prepared_path, reference_path, kept_path] + ([tasks_path] if train.labelled else [])
    outputs = [path(config, name) for name in names for path in per_set]

    def make() -> str:
        summary, repeated = Summary(), 0
        pairs, domains, groups = list[Pair](), list[str](), list[str]()
        known = set[tuple[str, str]]()
        with Progress("prepare", sum(count_lines(part.source) for part in parts.values())) as progress:
            for name, part in parts.items():
                before, kept = summary.read, list[Pair]()
                for pair in prepare(Bitext(part.source, part.target), source, target, limits, summary):
                    kept.append(pair)
                    progress.update(summary.read)
                progress.update(summary.read)
                count = summary.read - before
                labels = _domains(name, part.domains, count)
                grouped = _groups(part, count)
                for number, left, right in kept:
                    if train.unique and (left, right) in known:
                        repeated += 1
                        continue
                    known |= {(left, right)} if train.unique else set()
                    pairs.append(Pair(before + number, left, right))
                    domains.append(labels[number - 1])
                    groups.append(grouped[number - 1])
        divided = hold_out(domains, groups, kept_out(train.held_out), config.seed)
        with atomic_group(outputs) as streams:
            for at, numbers in enumerate(divided):
                mine = streams[at * len(per_set) : (at + 1) * len(per_set)]
                for number in numbers:
                    line = [pairs[number].source, pairs[number].target, str(pairs[number].number)]
                    line += [domains[number]] if train.labelled else []
                    for stream, content in zip(mine, line, strict=True):
                        stream.write(content.encode() + b"\n")
        sizes = ", ".join(f"{name} {len(numbers):,}" for name, numbers in zip(names, divided, strict=True))
        unused = len(pairs) - sum(map(len, divided))
        remarks = [f"{repeated:,} repeated"] * train.unique + [f"{unused:,} unused of held-out groups"] * bool(unused)
        return ", ".join([f"{sizes} pairs", f"{summary.read - summary.kept:,} dropped", *remarks])

    options = {
        "source": asdict(source),
        "target": asdict(target),
        "limits": asdict(limits),
        "held_out": _described(train.held_out),
        "seed": config.seed if train.held_out else None,
    } | ({"unique": True} if train.unique else {})
    return Stage("prepare.train", _inputs(parts), options, outputs, make)


def _described(held_out: HeldOut) -> dict[str, object]:
    return {name: one if isinstance(one, int) else asdict(one) for name, one in held_out.items()}


def _role(role: str, part: str) -> str:
    return f"{role} of {part}" if part else role


def _inputs(parts: Mapping[str, BitextPart] | Mapping[str, SetPart]) -> dict[str, Path]:
    """Files that are read, by what they are."""
    found = {}
    for name, part in parts.items():
        found[_role("source", name)] = part.source
        if isinstance(part, BitextPart):
            found[_role("target", name)] = part.target
        else:
            found |= {_role(f"reference.{i}", name): path for i, path in enumerate(part.references)}
        if part.domains is not None:
            found[_role("tasks", name)] = part.domains
        if part.groups is not None:
            found[_role("groups", name)] = part.groups
    return found


def _domains(name: str, path: Path | None, count: int) -> list[str]:
    """The domain of each line of a part: that of a file, or the part's name."""
    return [name] * count if path is None else _labels(path, count)


def _groups(part: BitextPart | SetPart, count: int) -> list[str]:
    """The group of each line of a part, "" where it has none."""
    return [""] * count if part.groups is None else _labels(part.groups, count, column=True)


def _labels(path: Path, count: int, *, column: bool = False) -> list[str]:
    """A label for each line; with `column`, what comes before a tab."""
    labels = [(line.partition("\t")[0] if column else line).strip() for line in read_lines(path)]
    if len(labels) != count:
        place = f"{path}:{min(len(labels), count) + 1}"
        raise InputError(f"has {len(labels)} labels, but the text has {count} lines", where=place)
    for number, label in enumerate(labels, 1):
        if not label:
            raise InputError("the label is empty", where=f"{path}:{number}", hint="Give every sentence a label.")
    return labels


def prepare_set(config: BuildConfig, name: str, one: SetConfig) -> Stage:
    """Clean the files of a set and join its parts; then take out what is held out of it."""
    source, target = cleanings(config)
    parts, references = one.files(), config.references(name)
    names = [name, *one.held_out]

    def make() -> str:
        sides: list[list[str]] = [[] for _ in range(1 + references)]
        domains, groups = list[str](), list[str]()
        for label, part in parts.items():
            before = len(sides[0])
            for lines, path, cleaning in zip(
                sides, (part.source, *part.references), (source, *[target] * references), strict=True
            ):
                lines += _clean_lines(path, cleaning)
                count, wanted = len(lines) - before, len(sides[0]) - before
                if count != wanted:
                    place = f"{path}:{min(count, wanted) + 1}"
                    raise InputError(f"has {count} lines, but {part.source} has {wanted}", where=place)
            domains += _domains(label, part.domains, len(sides[0]) - before)
            groups += _groups(part, len(sides[0]) - before)
        if not one.held_out:
            return _write_set(config, name, one, sides, domains)
        apart, key = kept_out(one.held_out), f"sets.{name}"
        divided = hold_out(domains, groups, apart, config.seed, key, f"sentences of {name}")
        for part_name, numbers in zip(names, divided, strict=True):
            _write_lines(config, part_name, _set_files(config, part_name, one), sides, domains, numbers)
        sizes = [f"{part_name} {len(numbers):,}" for part_name, numbers in zip(names, divided, strict=True)]
        unused = len(domains) - sum(map(len, divided))
        remarks = [f"{unused:,} unused of held-out groups"] * bool(unused)
        return ", ".join([*sizes, f"{references} references", *remarks])

    options = {"source": asdict(source), "target": asdict(target)} | _choice(config, one)
    outputs = [file for part_name in names for file in _set_files(config, part_name, one)]
    return Stage(f"prepare.{name}", _inputs(parts), options, outputs, make)


def choose_set(config: BuildConfig, name: str, one: SetConfig) -> Stage:
    """Some sentences of another set."""
    other, count = one.of or "", config.references(name)
    texts = [prepared_path(config, other), *(reference_path(config, other, number) for number in range(count))]
    labels = [tasks_path(config, other)] if config.labelled(other) else []
    inputs = {path.name.removeprefix(f"{other}."): path for path in (*texts, *labels)}

    def make() -> str:
        sides = [list(read_lines(path)) for path in texts]
        domains = [label for path in labels for label in read_lines(path)] or [""] * len(sides[0])
        return _write_set(config, name, one, sides, domains)

    return Stage(f"prepare.{name}", inputs, _choice(config, one), _set_files(config, name, one), make)


def _clean_lines(path: Path, cleaning: Cleaning) -> Iterator[str]:
    for number, line in enumerate(clean_side(path, cleaning), 1):
        if not line:
            raise InputError("the line is empty", where=f"{path}:{number}", hint="Remove the sentence.")
        yield line


def _choice(config: BuildConfig, one: SetConfig) -> dict[str, object]:
    wanted = {key: value for key, value in (("each", one.each), ("pairs", one.pairs)) if value is not None}
    made: dict[str, object] = {**wanted, "seed": config.seed} if wanted else {}
    return made | ({"held_out": _described(one.held_out), "seed": config.seed} if one.held_out else {})


def _set_files(config: BuildConfig, name: str, one: SetConfig) -> list[Path]:
    """Sentences, references, labels if there are any, line numbers if not all lines are in it."""
    files = [prepared_path(config, name), *(reference_path(config, name, i) for i in range(config.references(name)))]
    files += [tasks_path(config, name)] if config.labelled(name) else []
    return files + ([kept_path(config, name)] if one.chooses or one.held_out else [])


def _write_set(
    config: BuildConfig, name: str, one: SetConfig, sides: Sequence[Sequence[str]], domains: Sequence[str]
) -> str:
    """Write all sentences, or those that the set chooses."""
    numbers: Sequence[int] = range(len(domains))
    if one.chooses:
        numbers = chosen_sentences(domains, one, config.seed, f"sets.{name}")
    _write_lines(config, name, _set_files(config, name, one), sides, domains, numbers)
    return f"{len(numbers):,} sentences, {len(sides) - 1} references"


def _write_lines(
    config: BuildConfig,
    name: str,
    files: Sequence[Path],
    sides: Sequence[Sequence[str]],
    domains: Sequence[str],
    numbers: Sequence[int],
) -> None:
    """Write some of the sentences into the files of a set; a file that is left has their line numbers, from 1."""
    columns = [*sides, domains] if config.labelled(name) else [*sides]
    if len(files) > len(columns):
        columns.append([str(number) for number in range(1, len(domains) + 1)])
    with atomic_group(files) as streams:
        for stream, column in zip(streams, columns, strict=True):
            stream.writelines(column[number].encode() + b"\n" for number in numbers)


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

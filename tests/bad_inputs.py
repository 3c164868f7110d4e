"""A small world of good inputs for every verb, and ways to damage each of them."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

from itersel.cli import main

SOURCE = ["ein haus", "das haus ist klein", "ein mann", "der mann geht", "das ist ein haus", "der hund ist klein"]
TARGET = ["a house", "the house is small", "a man", "the man walks", "this is a house", "the dog is small"]
LINKS = ["0-0 1-1", "0-0 1-1 2-2 3-3", "0-0 1-1", "0-0 1-1 2-2", "0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3"]
DOMAINS = ["a", "b", "a", "b", "a", "b"]
LISTS = "".join(
    f"{number} ||| {target} ||| f=1 g={number} ||| -1\n{number} ||| a {target} ||| f=2 g=0.5 ||| -2\n"
    for number, target in enumerate(TARGET)
)
JSON_LISTS = "".join(
    json.dumps({"id": number, "text": text, "features": {"f": value}, "score": -1.0}) + "\n"
    for number, target in enumerate(TARGET)
    for value, text in ((1.0, target), (2.0, f"a {target}"))
)
BUILD = """\
work: new.build
train: {source: train.de, target: train.en, domains: train.domain}
sets:
  dev: {source: train.de, references: [train.en], domains: train.domain}
align: {given: train.align}
lm: {order: 2}
shards: {layout: sequential, size: 3}
"""
TRAIN = """\
shards: [shards/shard.0000.itsh]
devtest: [shards/shard.0001.itsh]
language_model: lm.arpa
start: weights
epochs: 1
algorithm: sgd
"""
RERANK = "lists: [lists]\nreferences: [train.en]\nepochs: 1\n"
EXPERIMENT = """\
build: build.yaml
devtest: dev
tests: [dev]
train: {epochs: 1}
grid:
  - {algorithm: given, weights: weights}
"""
COMMANDS = {
    "prepare": "prepare --source train.de --target train.en --output-source out.1 --output-target out.2",
    "prepare joint": "prepare --joint joint --output-source out.1 --output-target out.2",
    "split train": "split train --text train.de --output out.1",
    "split apply": "split apply train.de --model splitter --output out.1",
    "align": "align --source train.de --target train.en --given train.align --output out.1 --lexicon out.2",
    "symmetrise": "align --source train.de --target train.en --forward train.align --reverse train.align2"
    " --output out.1",
    "lm": "lm --text train.en --order 2 --vocabulary-file train.de --output new.arpa",
    "index": "extract --source train.de --target train.en --alignment train.align --index new.index",
    "extract": "extract --index index --sentences train.de --output new.grammars",
    "shard": "shard --sentences train.de --references train.en --domains train.domain --layout domains --index index"
    " --output new.shards",
    "shard grammars": "shard --sentences train.de --references train.en --grammars grammars --output new.shards",
    "shard sgml": "shard --sentences input.sgm --references train.en --output new.shards",
    "build": "build build.yaml",
    "train": "train train.yaml --output new.run",
    "train options": "train --shards shards/shard.0000.itsh --devtest shards/shard.0001.itsh --lm lm.bin"
    " --start weights --epochs 1 --output new.run",
    "translate": "translate train.de --grammar grammar --weights weights --lm lm.arpa --output out.1",
    "translate sgml": "translate input.sgm --weights weights --lm lm.bin --kbest 2 --output out.1",
    "rerank train": "rerank train rerank.yaml --output new.run",
    "rerank options": "rerank train --lists lists --references train.en --start weights --epochs 1 --output new.run",
    "rerank apply": "rerank apply lists --weights weights --output out.1",
    "rerank json": "rerank apply lists.jsonl --weights weights --output out.1",
    "evaluate": "evaluate train.de --reference train.en --trials 10 --metrics bleu",
    "oracle": "evaluate --kbest lists --reference train.en --trials 10 --metrics bleu",
    "report": "report run --evaluation evaluation.json --output out.1",
    "inspect grammar": "inspect grammar",
    "inspect shard": "inspect shards/shard.0000.itsh --sentence 0 --weights weights --lm lm.arpa",
    "inspect weights": "inspect weights",
    "inspect arpa": "inspect lm.arpa",
    "inspect binary": "inspect lm.bin",
    "experiment": "experiment experiment.yaml --output new.results",
}
"""Commands that work in the world, by name. Outputs are out.1 and out.2, which exist, and what begins with new."""


NAMED_INSIDE = {
    "build": ("train.de", "train.en", "train.align", "train.domain"),
    "train": ("shards/shard.0000.itsh", "shards/shard.0001.itsh", "lm.arpa", "weights"),
    "rerank train": ("lists", "train.en"),
    "experiment": ("build.yaml", "weights", "train.de"),
    "shard grammars": ("grammars/grammar.0.gz", "grammars/grammar.5.gz"),
    "shard sgml": ("grammars/grammar.1.gz",),
    "translate sgml": ("grammars/grammar.2.gz",),
    "report": ("run/run.json", "run/manifest.json", "run/statistics.jsonl"),
}
"""Files that a command reads because its configuration or another input names them."""


def inputs(name: str) -> list[str]:
    """The files of the world that a command reads."""
    words = COMMANDS[name].split()
    named = [word for word in words if word in FILES or word.startswith("shards/")]
    return list(dict.fromkeys([*named, *NAMED_INSIDE.get(name, ())]))


_NAMES = """
    train.de train.en train.align train.align2 train.domain joint grammar weights lists lists.jsonl build.yaml
    train.yaml rerank.yaml experiment.yaml splitter lm.arpa lm.bin index input.sgm evaluation.json
"""
FILES = frozenset(_NAMES.split())


def make_world(folder: Path) -> None:
    """Write every input of COMMANDS into the folder, which is the current one."""
    assert Path.cwd() == folder
    for name, lines in (
        ("train.de", SOURCE),
        ("train.en", TARGET),
        ("more.en", ["a dog is here", "the man is a dog", "this house is small", "a man is here", "the dog walks"]),
        ("train.align", LINKS),
        ("train.align2", LINKS),
        ("train.domain", DOMAINS),
        ("joint", [f"{left} ||| {right}" for left, right in zip(SOURCE, TARGET, strict=True)]),
        ("grammar", ["[X] ||| ein ||| a ||| f=1 ||| 0-0", "[X] ||| haus ||| house ||| f=2 g=1 ||| 0-0"]),
        ("weights", ["f -1", "g 0.5", "LanguageModel 1", "WordPenalty -0.5"]),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    for name, text in (
        ("lists", LISTS),
        ("lists.jsonl", JSON_LISTS),
        ("build.yaml", BUILD),
        ("train.yaml", TRAIN),
        ("rerank.yaml", RERANK),
        ("experiment.yaml", EXPERIMENT),
        ("out.1", "before 1\n"),
        ("out.2", "before 2\n"),
    ):
        (folder / name).write_text(text)
    for command in (
        "split train --text train.de --output splitter --min-count 1",
        "lm --text more.en --order 2 --output lm.arpa",
        "extract --source train.de --target train.en --alignment train.align --index index"
        " --sentences train.de --output grammars",
        "shard --sentences train.de --references train.en --index index --layout sequential --size 3 --output shards",
        "train train.yaml --output run",
    ):
        assert main(command.split()) == 0, command
    from itersel.lm.binary import write_binary

    write_binary("lm.arpa", "lm.bin")
    lines = (folder / "grammars" / "input.sgm").read_text()
    (folder / "input.sgm").write_text(lines.replace('grammar="', 'grammar="grammars/'))
    with open("evaluation.json", "w") as stream, contextlib.redirect_stdout(stream):
        assert main([*COMMANDS["evaluate"].split(), "--json"]) == 0


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """All files with their content; folders without."""
    found: dict[str, bytes | None] = {}
    for place, folders, files in os.walk(folder):
        found |= {os.path.join(place, name): None for name in folders}
        for name in files:
            path = os.path.join(place, name)
            with open(path, "rb") as stream:
                found[path] = stream.read()
    return found


def _missing(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _latin1(path: Path) -> None:
    path.write_bytes(b"gr\xfc\xdfe 1\n" + path.read_bytes())


def _torn_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(path.read_bytes() * 20, mtime=0)[:-9])


def _noise(path: Path) -> None:
    path.write_bytes(bytes(range(255, 0, -1)) * 3)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (_missing, "No such file|no such file|there is no"),
    "folder": (_folder, "directory|folder|not a shard file|not a regular file|no such file"),
    "latin1": (_latin1, "invalid UTF-8|not an? |not JSON|damaged|begin|expected"),
    "torn gzip": (_torn_gzip, "damaged gzip|gzip|not an? |truncated|cut off|damaged"),
    "noise": (_noise, "invalid UTF-8|not an? |damaged|begin|cannot|expected"),
    "empty": (_empty, "."),
}
"""How a file is damaged, and what the message then has in it."""

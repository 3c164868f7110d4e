"""A small corpus and an experiment on it."""

from __future__ import annotations

from pathlib import Path

from itersel.model.features import Weights

WORDS = {"der": "the", "hund": "dog", "sieht": "sees", "das": "that", "haus": "house", "und": "and", "katze": "cat"}
OTHERS = {"hund": "hound", "sieht": "saw", "das": "the", "haus": "home"}
BUILD = """\
work: work
train: {source: t.de, target: t.en, held_out: {devtest: 8}}
sets:
  dev: {source: d.de, references: [d.en]}
  test: {source: d.de, references: [d.en]}
align: {given: t.align}
lm: {order: 2}
shards: {size: 15}
"""
GRID = """\
build: build.yaml
devtest: devtest
tests: [test]
train:
  epochs: 2
  allow_seen_references: true  # so few words make up the same sentences again and again
  epoch: {k: 10, metric: stupid_bleu, shuffle: false, learn: {rule: margin_perceptron, eta: 0.01}}
grid:
  - {algorithm: given, weights: given.weights, features: dense}
  - {algorithm: sgd, tuning: dev, features: [dense, "id,shape"]}
  - {algorithm: iter_sel_sgd, tuning: "train:2", vary: {selection.top: [20, 5]}}
significance: {trials: 100}
"""


def text(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines))


def write_experiment(folder: Path) -> None:
    """Sixty pairs in which some words have two translations, and the configurations build.yaml and grid.yaml."""
    names = list(WORDS)
    sources = [[names[(i * j + i // 7) % 7] for j in range(1, 4 + i % 4)] for i in range(1, 61)]
    targets = [
        [OTHERS.get(word, WORDS[word]) if (i + j) % 3 == 0 else WORDS[word] for j, word in enumerate(words)]
        for i, words in enumerate(sources)
    ]
    for name, part in (("t", slice(None)), ("d", slice(3, 60, 4))):
        text(folder / f"{name}.de", [" ".join(words) for words in sources[part]])
        text(folder / f"{name}.en", [" ".join(words) for words in targets[part]])
    text(folder / "t.align", [" ".join(f"{i}-{i}" for i in range(len(words))) for words in sources])
    (folder / "build.yaml").write_text(BUILD)
    (folder / "grid.yaml").write_text(GRID)
    Weights({"LanguageModel": 0.1, "EgivenFCoherent": -0.1}).write(folder / "given.weights")

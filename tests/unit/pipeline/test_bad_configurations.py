"""Configurations that cannot be meant, of all four kinds of files: what is wrong, where it was given, what to do."""

import re
from pathlib import Path

import pytest

from itersel.base.config import Settings
from itersel.base.errors import ConfigError
from itersel.pipeline.build_config import load_config
from itersel.pipeline.experiment.config import load_experiment
from itersel.pipeline.experiment.suite import load_suite
from itersel.pipeline.geoquery_experiment import load_experiment as load_geoquery
from itersel.run.config import load_train_config, load_with_algorithm
from itersel.run.rerank_config import RerankConfig

BUILD = """\
work: work
train:
  source: t.de
  target: t.en
  held_out: {devtest: 4}
sets:
  dev:
    source: d.de
    references: [d.en]
lm: {order: 3}
shards:
  layout: random
  size: 5
"""
TRAIN = """\
shards: [a.itsh]
epochs: 3
epoch:
  k: 10
  learn:
    eta: 1e-3
layout:
  kind: random
"""
RERANK = """\
lists: [a.kbest]
references: [a.en]
fields:
  score: 4
"""
EXPERIMENT = """\
build: build.yaml
devtest: devtest
tests: [dev]
train:
  epochs: 2
grid:
  - {algorithm: given, weights: w.txt}
  - algorithm: [sgd, iter_sel_sgd]
    tuning: train
    vary:
      selection.top: [20, 5]
"""


def load_train(path, overrides):
    return load_train_config(Settings.read(path).override(overrides))


def load_rerank(path, overrides):
    return load_with_algorithm(RerankConfig, Settings.read(path).override(overrides))


KINDS = {
    "build": (BUILD, load_config),
    "train": (TRAIN, load_train),
    "rerank": (RERANK, load_rerank),
    "experiment": (EXPERIMENT, load_experiment),
}

# kind of file; old and new text of it, or a --set; message; where; hint
CASES = [
    ("build", "order: 3", "order: 9", "lm.order is 9; give a whole number from 2 to 6", ":10", None),
    (
        "build",
        "order: 3",
        "odrer: 3",
        "unknown key 'lm.odrer'; did you mean 'lm.order'?",
        ":10",
        "Valid keys of lm: given",
    ),
    ("build", "work: work", "", "the key 'work' is missing", "", "Valid keys: work, train, sets, text, align, lm,"),
    ("build", "  target: t.en\n", "", "train.target is missing", ":2", "Give source and target, or `parts`"),
    ("build", "  target: t.en\n", "  target:\n", "train.target is missing", ":4", "Give source and target, or `parts`"),
    ("build", "sets:", "sets: 3\nset:", "unknown key 'set'; did you mean 'sets'?", ":7", "Valid keys: "),
    (
        "build",
        "sets:\n",
        "lm: {}\nsets:\n",
        "the key 'lm' is given twice; the first time in line 6",
        ":11",
        "Remove one",
    ),
    (
        "build",
        "layout: random",
        "layout: circle",
        "shards.layout is 'circle'; choose one of random, sequential, domains",
        ":12",
        None,
    ),
    (
        "build",
        "layout: random",
        "layout: domain",
        "shards.layout is 'domain'; choose one of",
        ":12",
        "Did you mean 'domains'?",
    ),
    (
        "build",
        "layout: random",
        "layout: random\n  shards: 2",
        "size and shards exclude each other",
        None,
        "Give one of them.",
    ),
    ("build", "devtest: 4", "dev: 4", "sets.dev: another set has the same name", ":7", "Rename"),
    ("build", "devtest: 4", "a/b: 4", "a name in train.held_out is 'a/b'; give letters, digits", ":5", None),
    ("build", "devtest: 4", "devtest: 0", "train.held_out.devtest is 0; give a whole number of at least 1", ":5", None),
    ("build", "held_out: {devtest: 4}", "held_out: 3", "train.held_out is 3; give names with values", ":5", None),
    ("build", None, "train=3", "train is 3; give a group of keys", "--set train=3", "Valid keys of train: source"),
    (
        "build",
        None,
        "train.source.x=3",
        "train.source is 't.de', so there is no train.source.x",
        "--set train.source.x=3",
        "Leave one out.",
    ),
    ("build", None, "lm.order=true", "lm.order is true; give a whole number from 2 to 6", "--set lm.order=true", None),
    ("build", None, "text.lowercase=1", "text.lowercase is 1; give true or false", "--set text.lowercase=1", None),
    (
        "build",
        None,
        "align.effort=-1",
        "align.effort is -1; give a number greater than 0",
        "--set align.effort=-1",
        None,
    ),
    (
        "build",
        None,
        "align.null_prior=1",
        "align.null_prior is 1; give a number greater than 0 and less than 1",
        "--set",
        None,
    ),
    (
        "build",
        None,
        "align.method=grow",
        "align.method is 'grow'; choose one of grow-diag-final-and, grow-diag",
        "--set",
        "Did you mean 'grow-diag'?",
    ),
    (
        "build",
        None,
        "shards.features=colour",
        "shards.features is 'colour'; choose dense, all, or some of id, ng, shape",
        "--set shards.features=colour",
        None,
    ),
    (
        "build",
        None,
        "extract.folds=1",
        "extract.folds is 1, which leaves no training sentence",
        "--set extract.folds=1",
        None,
    ),
    ("build", None, "jobs=0", "jobs is 0; give a whole number from 1 to 100,000", "--set jobs=0", None),
    ("build", None, "seed=1e30", "seed is 1e+30; give a whole number from -2^63 to 2^63 - 1", "--set seed=1e30", None),
    (
        "build",
        None,
        "lm.unseen=true",
        "lm.unseen needs training shards of a part of the corpus",
        "--set",
        "Give shards.first.",
    ),
    ("build", None, "lm.order", "not an assignment: 'lm.order'", "--set", "Write key=value"),
    ("build", None, ".=3", "not an assignment: '.=3'", "--set", "Write key=value"),
    ("build", None, "lm.order=[", "not YAML", "--set lm.order=[", "bracket"),
    (
        "build",
        None,
        "sets.dev.tasks=x\0sets.dev.domains=y",
        "sets.dev.domains is given twice, also by its former name",
        "--set",
        "Remove one of them.",
    ),
    ("build", BUILD, "- 1", "not a list of keys", ":1", "Write lines such as `key: value`."),
    ("build", BUILD, "a: 1\n b: 2", "not YAML", ":2", "indented"),
    ("build", BUILD, "a: [", "not YAML", ":1", "bracket"),
    ("train", "epochs: 3", "epochs: 0", "epochs is 0; give a whole number from 1 to 999", ":2", None),
    ("train", "epochs: 3", "epochs: 1.5", "epochs is 1.5; give a whole number from 1 to 999", ":2", None),
    ("train", "epochs: 3", "epochs: many", "epochs is 'many'; give a whole number from 1 to 999", ":2", None),
    (
        "train",
        "epochs: 3",
        "epochs: 3\nepochs: 4",
        "the key 'epochs' is given twice; the first time in line 2",
        ":3",
        "Remove",
    ),
    (
        "train",
        "    eta",
        "    eat",
        "unknown key 'epoch.learn.eat'; did you mean 'epoch.learn.eta'?",
        ":6",
        "of epoch.learn: rule, margin, eta",
    ),
    (
        "train",
        "epochs: 3",
        "eta: 3",
        "unknown key 'eta'; did you mean 'epoch.learn.eta'?",
        ":2",
        "Valid keys: shards, devtest",
    ),
    ("train", "epochs: 3", "own: 3", "unknown key 'own'", ":2", "Valid keys: shards, devtest"),
    ("train", "eta: 1e-3", "eta: -1e-3", "epoch.learn.eta is -0.001; give a number greater than 0", ":6", None),
    ("train", "eta: 1e-3", "eta: .inf", "epoch.learn.eta is inf; give a number greater than 0", ":6", None),
    (
        "train",
        "eta: 1e-3",
        "pairs: {keep: -1}",
        "epoch.learn.pairs.keep is -1; give a whole number from 1 to 2^32 - 1",
        ":6",
        None,
    ),
    (
        "train",
        "eta: 1e-3",
        "pairs: {share: 0.6}",
        "epoch.learn.pairs.share is 0.6; give a number greater than 0 and at most 0.5",
        ":6",
        None,
    ),
    (
        "train",
        "eta: 1e-3",
        "schedule: adagrad",
        "epoch.learn.schedule is 'adagrad', which needs batch: true",
        ":6",
        "gradient",
    ),
    ("train", "k: 10", "k: 1", "epoch.k is 1; give a whole number from 2 to 1,000,000", ":4", None),
    (
        "train",
        "k: 10",
        "metric: blue",
        "epoch.metric is 'blue'; choose one of bleu, stupid_bleu",
        ":4",
        "Did you mean 'bleu'?",
    ),
    ("train", "k: 10", "leave_out: ['']", "epoch.leave_out has an empty name", ":4", "Give features"),
    ("train", "k: 10", "leave_out: [{a: 1}]", "epoch.leave_out is {a: 1}; give a text", ":4", None),
    (
        "train",
        "k: 10",
        "decoder: {pass_through: all}",
        "epoch.decoder.pass_through has no effect here",
        ":4",
        "up to the shards",
    ),
    (
        "train",
        "kind: random",
        "kind: odd",
        "layout.kind is 'odd'; choose one of files, random, reshard, sequential, domains",
        ":8",
        None,
    ),
    (
        "train",
        "kind: random",
        "shards: 2",
        "layout.shards has no effect here: the layout `files`",
        ":8",
        "set the kind",
    ),
    ("train", "kind: random", "seed: -1", "layout.seed is -1; give a whole number from 0 to 2^64 - 1", ":8", None),
    ("train", "shards: [a.itsh]", "shards: {a: b}", "shards is {a: 'b'}; give a text", ":1", None),
    ("train", "epochs: 3", "patience: 2", "patience is 2, but there is no devtest", ":2", "Give devtest shards"),
    ("train", "epochs: 3", "fold_models: [a, b]", "fold_models is given without language_model", ":2", "whole text"),
    ("train", "epochs: 3", "algorithm: sgdd", "unknown algorithm 'sgdd'", ":2", "sgd, mix_sgd"),
    ("train", None, "epoch=3", "epoch is 3; give a group of keys", "--set epoch=3", "Valid keys of epoch: decoder, k"),
    (
        "train",
        None,
        "run.runner=abacus",
        "run.runner is 'abacus'; choose one of inline, local",
        "--set run.runner=abacus",
        None,
    ),
    (
        "train",
        None,
        "selection.norm=l3",
        "selection.norm is 'l3'; choose one of l2, l1, linf, l0",
        "--set selection.norm=l3",
        None,
    ),
    ("train", "shards: [a.itsh]", "shards: &a [*a]", "the value in line 1 is part of itself", "", None),
    ("train", "shards: [a.itsh]", "? [a]\n: b", "a key is a list or a group", ":1", "quote"),
    (
        "train",
        "epochs: 3",
        "epochs: !!python/none x",
        "the tag tag:yaml.org,2002:python/none is not known here",
        ":2",
        None,
    ),
    (
        "rerank",
        "score: 4",
        "form: jsn",
        "fields.form is 'jsn'; choose one of auto, moses, json",
        ":4",
        "Did you mean 'json'?",
    ),
    (
        "rerank",
        "score: 4",
        "scores: 4",
        "unknown key 'fields.scores'; did you mean 'fields.score'?",
        ":4",
        "Valid keys of fields: form",
    ),
    (
        "rerank",
        "lists: [a.kbest]",
        "references_by: line",
        "references_by is 'line'; choose one of id, list",
        ":1",
        None,
    ),
    (
        "rerank",
        "lists: [a.kbest]",
        "layout: {kind: domains}",
        "layout.kind is 'domains'; for lists, choose one of random",
        ":1",
        None,
    ),
    (
        "rerank",
        "lists: [a.kbest]",
        "layout: {kind: files}",
        "layout.kind is 'files'; for lists, choose one of random",
        ":1",
        None,
    ),
    (
        "rerank",
        "lists: [a.kbest]",
        "objective: {order: 10}",
        "objective.order is 10; give a whole number from 1 to 9",
        ":1",
        None,
    ),
    ("rerank", "lists: [a.kbest]", "patience: 1", "patience is 1, but there is no devtest", ":1", "Give devtest lists"),
    (
        "rerank",
        "references:",
        "lists: x\nreferences:",
        "the key 'lists' is given twice; the first time in line 1",
        ":2",
        "Remove",
    ),
    ("rerank", None, "learn.eta=0", "learn.eta is 0; give a number greater than 0", "--set learn.eta=0", None),
    ("rerank", None, "algorithm=sgdd", "unknown algorithm 'sgdd'", "--set algorithm=sgdd", "sgd, mix_sgd"),
    ("rerank", None, "epochs=0", "epochs is 0; give a whole number from 1 to 999", "--set epochs=0", None),
    (
        "rerank",
        None,
        "metrik=bleu",
        "unknown key 'metrik'",
        "--set metrik=bleu",
        "Valid keys: lists, merge, references",
    ),
    (
        "experiment",
        "devtest: devtest",
        "devtest: no",
        "devtest is 'no', but the build has no such set",
        ":2",
        "It has train, devtest, dev.",
    ),
    ("experiment", "tests: [dev]", "tests: [dev, no]", "tests is 'no', but the build has no such set", ":3", "It has"),
    ("experiment", "tests: [dev]\n", "", "the key 'tests' is missing", "", "Valid keys: build, devtest, tests, grid"),
    ("experiment", "tests: [dev]", "tests: []", "tests is []; give at least one", ":3", None),
    (
        "experiment",
        "tests:",
        "significant: {}\ntests:",
        "unknown key 'significant'; did you mean 'significance'?",
        ":3",
        "Valid keys",
    ),
    (
        "experiment",
        "tests:",
        "significance: {level: 2}\ntests:",
        "significance.level is 2; give a number greater than 0 and less than 1",
        ":3",
        None,
    ),
    (
        "experiment",
        "tests:",
        "decoder: {pop_limit: -1}\ntests:",
        "decoder.pop_limit is -1; give a whole number from 0",
        ":3",
        None,
    ),
    (
        "experiment",
        "tests:",
        "decoder: 200\ntests:",
        "decoder is 200; give a group of keys",
        ":3",
        "Valid keys of decoder: span_limit",
    ),
    (
        "experiment",
        "tests:",
        "decoder: {pass_through: all}\ntests:",
        "decoder.pass_through has no effect here",
        ":3",
        "up to the shards",
    ),
    ("experiment", "tests:", "name: a b\ntests:", "name is 'a b'; give letters, digits", ":3", None),
    (
        "experiment",
        "tests:",
        "build_set: {lm.odrer: 3}\ntests:",
        "unknown key 'lm.odrer'; did you mean 'lm.order'?",
        ":3",
        "of lm",
    ),
    (
        "experiment",
        "tests:",
        "tests: [dev]\ntests:",
        "the key 'tests' is given twice; the first time in line 3",
        ":4",
        "Remove",
    ),
    ("experiment", "epochs: 2", "epochs: 0", "epochs is 0; give a whole number from 1 to 999", ":5", None),
    ("experiment", "epochs: 2", "devtest: x", "devtest is filled in by the experiment", ":5", "Leave it out."),
    (
        "experiment",
        "epochs: 2",
        "fold_models: [x]",
        "fold_models is filled in by the experiment",
        ":5",
        "Leave it out.",
    ),
    (
        "experiment",
        "tuning: train",
        "tune: train",
        "unknown key 'grid[2].tune'; did you mean 'grid[2].tuning'?",
        ":9",
        "Valid keys of grid[2]",
    ),
    (
        "experiment",
        "tuning: train",
        "tuning: train:none",
        "grid[2].tuning is 'train:none'; give a set, train:8",
        ":9",
        None,
    ),
    (
        "experiment",
        "tuning: train",
        "tuning: no:2",
        "grid[2].tuning is 'no', but the build has no such set",
        ":8",
        "It has",
    ),
    ("experiment", "tuning: train", "name: x", "grid[2].tuning is missing: the set to train on", ":8", None),
    (
        "experiment",
        "tuning: train",
        "tuning: train\n    repeats: 2",
        "repeats is 2, but all runs would be the same",
        ":8",
        "epoch.shuffle",
    ),
    (
        "experiment",
        "tuning: train",
        "tuning: train\n    repeats: true",
        "grid[2].repeats is true; give a whole number of at least 1",
        ":10",
        None,
    ),
    (
        "experiment",
        "tuning: train",
        "tuning: train\n    features: [idd]",
        "grid[2].features is 'idd'; choose dense, all, or some of id, ng, shape, joined by commas",
        ":10",
        None,
    ),
    (
        "experiment",
        "algorithm: [sgd, iter_sel_sgd]",
        "algorithm: mort",
        "unknown algorithm 'mort'",
        ":8",
        "sgd, mix_sgd",
    ),
    (
        "experiment",
        "weights: w.txt",
        "tuning: dev",
        "grid[1].algorithm is 'given', which needs `weights`",
        ":7",
        "Give a weight file.",
    ),
    (
        "experiment",
        "weights: w.txt",
        "weights: w.txt, set: {epochs: 1}",
        "grid[1].algorithm is 'given', which needs",
        ":7",
        "Give a weight file.",
    ),
    (
        "experiment",
        "top: [20, 5]",
        "top: [5, 5]",
        "two cells of the grid are sgd-train-all-top=5",
        "",
        "Give one of the blocks a name.",
    ),
    (
        "experiment",
        "top: [20, 5]",
        "top:\n        - 20\n        - 0",
        "selection.top is 0; give a whole number of at least 1",
        ":13",
        None,
    ),
    (
        "experiment",
        "selection.top",
        "selection.topmost",
        "unknown key 'selection.topmost'; did you mean 'selection.top'?",
        ":11",
        "of selection",
    ),
    ("experiment", "grid:", "grid: all\nrest:", "unknown key 'rest'", ":7", "Valid keys"),
    ("experiment", None, "lm.order=9", "lm.order is 9; give a whole number from 2 to 6", "--set lm.order=9", None),
]


@pytest.mark.parametrize(("kind", "old", "new", "message", "where", "hint"), CASES)
def test_what_is_wrong_and_where(tmp_path, kind, old, new, message, where, hint):
    for name, (content, _) in KINDS.items():
        (tmp_path / f"{name}.yaml").write_text(content)
    content, load = KINDS[kind]
    overrides = new.split("\0") if old is None else []
    path = tmp_path / f"{kind}.yaml"
    if old is not None:
        assert old in content
        path.write_text(content.replace(old, new, 1))
    with pytest.raises(ConfigError, match=re.escape(message)) as raised:
        load(path, overrides)
    error = raised.value
    if where is not None:
        found = error.where if error.where.startswith("--set") else error.where.removeprefix(str(path))
        assert found.startswith(where) if where.startswith("--set") else found == where
    assert error.hint is None if hint is None else hint in error.hint


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_of_the_table_are_good(tmp_path, kind):
    for name, (content, _) in KINDS.items():
        (tmp_path / f"{name}.yaml").write_text(content)
    assert KINDS[kind][1](tmp_path / f"{kind}.yaml", [])


def test_a_missing_file_is_named(tmp_path):
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    with pytest.raises(Exception, match=r"build\.yaml"):
        load_experiment(tmp_path / "experiment.yaml")


@pytest.mark.parametrize("path", sorted((Path(__file__).resolve().parents[3] / "conf").glob("**/*.yaml")), ids=str)
def test_shipped_files_are_good(path):
    keys = Settings.read(path).plain()
    if "corpora" in keys or "experiments" in keys:
        assert load_geoquery(path) if "corpora" in keys else load_suite(path)
        return
    kind = "experiment" if "grid" in keys else "build" if "work" in keys else "rerank" if "fields" in keys else "train"
    KINDS[kind][1](path, [])

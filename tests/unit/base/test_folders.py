"""Folders say their kind; no kind takes the folder of another, or one with files that it would replace."""

import itertools
import json

import pytest

from itersel.base.errors import ConfigError, InputError
from itersel.base.folders import (
    BUILD,
    DEMO,
    EXPERIMENT,
    GRAMMARS,
    KINDS,
    MARK,
    PARSER,
    RUN,
    SHARDS,
    WHEELHOUSE,
    check_folder_kind,
    claim_folder,
)

# What itersel 0.1 wrote, without a mark.
OLD = {
    GRAMMARS: ("manifest.jsonl", '{"format": 1, "index": "00", "options": {}}\n{"file": "grammar.0.gz"}\n'),
    SHARDS: ("manifest.json", '{"format": 1, "layout": {}, "content": {}, "inputs": {}, "sentences": 0, "shards": []}'),
    RUN: ("run.json", '{"format": 1, "identity": {}, "configuration": {}}'),
    WHEELHOUSE: ("manifest.json", '{"format": 1, "version": "0.1", "build": "x", "python": "3.11", "files": []}'),
    BUILD: ("stages/index.json", '{"format": 1, "stage": "index", "key": "00"}'),
    DEMO: ("runs/select/run.json", '{"format": 1, "identity": {}}'),
    PARSER: ("work/stages/index.json", '{"format": 1, "stage": "index", "key": "00"}'),
    EXPERIMENT: ("results.json", '{"experiment": "sample", "cells": []}'),
}


def old_folder(tmp_path, kind):
    name, content = OLD[kind]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(content)
    return tmp_path


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_new_folder_is_marked_and_can_be_claimed_again(tmp_path, kind):
    for _ in range(2):
        claim_folder(tmp_path / "new", kind)
    assert (tmp_path / "new" / MARK).read_text() == f"{kind.name}\n"
    assert [path.name for path in (tmp_path / "new").iterdir()] == [MARK]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_an_old_folder_is_recognised_by_its_records(tmp_path, kind):
    claim_folder(old_folder(tmp_path, kind), kind)
    assert (tmp_path / MARK).read_text() == f"{kind.name}\n"


def test_what_a_killed_claim_left_is_removed(tmp_path):
    for name in (f".{MARK}.abc.tmp", ".other.abc.tmp", f".{MARK}"):
        (tmp_path / name).touch()
    claim_folder(tmp_path, BUILD)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{MARK}", MARK, ".other.abc.tmp"]


def test_what_cannot_be_removed_is_named(tmp_path):
    (tmp_path / f".{MARK}.abc.tmp").mkdir()
    with pytest.raises(InputError, match=r"itersel-folder\.abc\.tmp: cannot write: .*\n +Remove it"):
        claim_folder(tmp_path, BUILD)


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(("there", "wanted"), list(itertools.permutations(KINDS, 2)), ids=lambda kind: kind.name)
def test_a_folder_of_another_kind_is_refused(tmp_path, there, wanted, marked):
    old_folder(tmp_path, there)
    if marked:
        claim_folder(tmp_path, there)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match=f"this folder has {there.holds} in it, not {wanted.holds}"):
        claim_folder(tmp_path, wanted)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (GRAMMARS, "grammar.7.gz"),
        (GRAMMARS, "input.sgm"),
        (SHARDS, "shard.0000.itsh"),
        (SHARDS, "manifest.json"),
        (RUN, "thesis.tex"),
        (WHEELHOUSE, ".secret"),
        (BUILD, "text"),
        (DEMO, "report.html"),
        (EXPERIMENT, "table.md"),
        (PARSER, "forms"),
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_files_that_would_be_replaced_are_named(tmp_path, kind, name):
    (tmp_path / name).write_text("mine")
    with pytest.raises(ConfigError, match=f"this folder has {name} in it, which is not part of {kind.holds}"):
        claim_folder(tmp_path, kind)
    assert (tmp_path / name).read_text() == "mine" and not (tmp_path / MARK).exists()


@pytest.mark.parametrize("kind", [GRAMMARS, SHARDS, BUILD, EXPERIMENT], ids=lambda kind: kind.name)
def test_other_files_do_not_matter(tmp_path, kind):
    (tmp_path / "notes.txt").write_text("mine")
    claim_folder(tmp_path, kind)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_an_empty_folder_is_free_whatever_its_mark(tmp_path):
    claim_folder(tmp_path, RUN)
    (tmp_path / ".lock").touch()
    claim_folder(tmp_path, SHARDS)
    assert (tmp_path / MARK).read_text() == "shards\n"


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="this is a file, not a folder"):
        check_folder_kind(tmp_path / "file", RUN)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="the link leads nowhere"):
        check_folder_kind(tmp_path / "link", RUN)
    with pytest.raises(InputError, match="a file is where a folder should be"):
        claim_folder(tmp_path / "file" / "below", RUN)
    (tmp_path / MARK).write_text("cupboard\n")
    (tmp_path / "run.json").write_text(json.dumps({"identity": {}}))
    with pytest.raises(InputError, match="names no kind of folder"):
        claim_folder(tmp_path, RUN)

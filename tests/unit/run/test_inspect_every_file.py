"""`itersel inspect` knows every file that training, reranking, extraction and evaluation write."""

import json
from pathlib import Path

import pytest
from inspected import check_every_file

import itersel
from itersel.base.folders import EXPERIMENT, WHEELHOUSE, claim_folder
from itersel.cli import main

RUN = {
    ".": "run",
    ".lock": "empty file",
    ".itersel-folder": "mark of a folder",
    "run.json": "record of a run",
    "manifest.json": "manifest of a run",
    "statistics.jsonl": "statistics of a run",
    "*weights.txt.gz": "weights",
    "*weights.vec": "vector",
    "start.vec": "vector",
    "*/norms.vec": "columns of features",
    "*/devtest.txt.gz": "text",
    "*[!.]*": "folder",
}


@pytest.fixture(scope="module")
def outputs(small_build: itersel.Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the output of each verb."""
    folder = tmp_path_factory.mktemp("outputs")
    work, text = small_build.directory, small_build.directory / "text"
    commands = [
        f"train --build {work} --output {folder}/run --epochs 1",
        f"translate {work}/shards/dev --weights {folder}/run --kbest 3 --output {folder}/dev.kbest",
        f"rerank train --lists {folder}/dev.kbest --references {text}/dev.reference.0 --epochs 1 --output {folder}/rr",
        f"extract --build {work} --sentences {text}/dev.source --output {folder}/grammars",
        f"report {folder}/run --output {folder}/report.html",
    ]
    for command in commands:
        assert main(command.split()) == 0, command
    return folder


def test_a_run(outputs: Path, capsys) -> None:
    check_every_file(outputs / "run", RUN, capsys)


def test_a_reranker(outputs: Path, capsys) -> None:
    tables = {".tables/*.table": "compiled lists", ".tables/*.json": "record of compiled lists"}
    check_every_file(outputs / "rr", {".start.weights": "weights"} | tables | RUN, capsys)


def test_grammars(outputs: Path, capsys) -> None:
    expected = {
        ".": "folder",
        ".itersel-folder": "mark of a folder",
        "manifest.jsonl": "manifest of grammars",
        "input.sgm": "sentences with grammars",
        "grammar.*.gz": "grammar",
    }
    check_every_file(outputs / "grammars", expected, capsys)


@pytest.mark.parametrize(("name", "title"), [("dev.kbest", "n-best lists"), ("report.html", "page")])
def test_single_files(outputs: Path, name: str, title: str, capsys) -> None:
    assert main(["inspect", str(outputs / name)]) == 0
    assert capsys.readouterr().out.startswith(f"{title} {outputs / name}\n")


def test_wheelhouse_and_experiment(tmp_path: Path, capsys) -> None:
    """Folders with the records that these verbs write: their keys are those of itersel.base.folders."""
    documents = {
        WHEELHOUSE: ("manifest.json", {"files": [{"name": "itersel.whl", "bytes": 5}]}, "manifest of a wheelhouse"),
        EXPERIMENT: ("results.json", {"cells": [{"name": "sgd-dev"}]}, "results of an experiment"),
    }
    for kind, (name, values, title) in documents.items():
        folder = tmp_path / kind.name
        claim_folder(folder, kind)
        keys = dict.fromkeys(kind.records[0][1], 1)
        (folder / name).write_text(json.dumps(keys | values))
        expected = {".": "folder", ".itersel-folder": "mark of a folder", name: title}
        check_every_file(folder, expected, capsys)


def test_a_text_is_not_taken_for_weights(tmp_path: Path, capsys) -> None:
    (tmp_path / "text").write_text("chapter 5\nthe house is old .\nit was sold in 1905 .\n")
    assert main(["inspect", str(tmp_path / "text"), "--grep", "house"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:3] == [
        f"text {tmp_path / 'text'}",
        "3 lines, 13 words, 12 of them distinct",
        "words in a line: 2 to 6, mean 4.3",
    ]
    assert shown[3:] == ["", "the house is old ."]

"""Layouts, compilation and folders of shards."""

import gzip
import json
import multiprocessing
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.cli import main
from itersel.grammar.extraction import ExtractConfig, Extractor, build_index
from itersel.grammar.grammar import Grammar
from itersel.shards.assignment import Layout, random_bits, shuffled
from itersel.shards.compiler import Corpus, FileGrammars, IndexGrammars, ShardCompiler, ShardOptions
from itersel.shards.folder import (
    PlannedShard,
    check_folder,
    plan_shards,
    read_manifest,
    write_shard,
    write_shards,
)
from itersel.shards.shard import Shard
from itersel.text.sentences import GrammarPlaces

COUNT = 23


@pytest.fixture
def corpus_files(tmp_path) -> Path:
    """A bitext of random words, 1:1 aligned, with its index, labels, and a second reference."""
    draw = random.Random(3)
    source = [[draw.choice("abcdef") for _ in range(draw.randint(2, 7))] for _ in range(COUNT)]
    (tmp_path / "f").write_text("".join(" ".join(line) + "\n" for line in source))
    (tmp_path / "e").write_text("".join(" ".join(line).upper() + "\n" for line in source))
    (tmp_path / "e2").write_text("".join(" ".join(reversed(line)).upper() + "\n" for line in source))
    (tmp_path / "t").write_text("".join(draw.choice(["west", "east", "north"]) + "\n" for _ in source))
    (tmp_path / "a").write_text("".join(" ".join(f"{i}-{i}" for i in range(len(line))) + "\n" for line in source))
    build_index(tmp_path / "f", tmp_path / "e", tmp_path / "a", tmp_path / "index")
    return tmp_path


def compiler(folder: Path, options: ExtractConfig | None = None, features: str = "all") -> ShardCompiler:
    corpus = Corpus.read(folder / "f", [folder / "e", folder / "e2"], folder / "t")
    return ShardCompiler(corpus, IndexGrammars(folder / "index", options), ShardOptions(features))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def rules(grammar: bytes) -> Counter[bytes]:
    """A grammar's rules as the compiled form spells them, in any order."""
    return Counter(Grammar(grammar, path="g").native.text().splitlines())


# layout


def test_generator_is_splitmix64():
    # The published first outputs of SplitMix64 for seed 1234567.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [random_bits(1234567, k) for k in range(4)] == expected


def test_shuffle_is_fixed():
    assert shuffled(10, 1) == shuffled(10, 1) != shuffled(10, 2)
    assert sorted(shuffled(1000, -5)) == list(range(1000))
    assert shuffled(8, 1) == sorted(range(8), key=lambda k: random_bits(1, k))


@pytest.mark.parametrize("kind", ["random", "sequential"])
@pytest.mark.parametrize(("size", "shards", "number"), [(5, None, 5), (None, 4, 4), (None, None, 1), (23, None, 1)])
def test_sizes_differ_by_one(kind, size, shards, number):
    made = Layout(kind, size, shards).assign(COUNT)
    lengths = [len(one.sentences) for one in made]
    assert len(made) == number and max(lengths) - min(lengths) <= 1
    assert size is None or max(lengths) <= size
    numbers = [number for one in made for number in one.sentences]
    assert sorted(numbers) == list(range(COUNT))
    assert (numbers == sorted(numbers)) == (kind == "sequential")
    assert [one.name for one in made[:2]] == ["shard.0000.itsh", "shard.0001.itsh"][: len(made)]


def test_the_first_shards_are_those_of_the_whole():
    whole = Layout("random", size=5, seed=3).assign(COUNT)
    assert Layout("random", size=5, seed=3, first=2).assign(COUNT) == whole[:2]
    assert Layout("random", size=5, seed=3, first=99).assign(COUNT) == whole


def test_tasks_in_order_of_their_labels():
    labels = ["b", "a", "b", "c", "b", "a"]
    assert [(one.domain, one.sentences) for one in Layout("tasks").assign(6, labels)] == [
        ("a", (1, 5)),
        ("b", (0, 2, 4)),
        ("c", (3,)),
    ]
    assert [one.sentences for one in Layout("domains", size=2).assign(6, labels)] == [(1, 5), (0, 2), (4,), (3,)]


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "other"},
        {"size": 0},
        {"shards": 0},
        {"first": 0},
        {"size": 2, "shards": 2},
        {"kind": "tasks", "shards": 2},
    ],
)
def test_impossible_layouts(arguments):
    with pytest.raises(ConfigError):
        Layout(**arguments)


def test_layouts_that_do_not_fit():
    with pytest.raises(ConfigError, match="23 sentences do not fill 30 shards"):
        Layout(shards=30).assign(COUNT)
    with pytest.raises(ConfigError, match="needs a label for every sentence"):
        Layout("domains").assign(2, ["a", ""])
    with pytest.raises(ConfigError, match="no sentences"):
        Layout().assign(0)


# compilation


@pytest.mark.parametrize(
    "options",
    [ExtractConfig(), ExtractConfig(leave_one_out=True), ExtractConfig(folds=3), ExtractConfig(max_samples=2)],
)
def test_rules_are_those_of_the_extractor(corpus_files, options):
    folder = corpus_files / "out"
    outcomes = list(write_shards(compiler(corpus_files, options, "dense"), Layout(shards=4), folder))
    extractor = Extractor(corpus_files / "index", options)
    source = (corpus_files / "f").read_text().splitlines()
    references = [(corpus_files / name).read_text().splitlines() for name in ("e", "e2")]
    tasks = (corpus_files / "t").read_text().splitlines()
    seen = []
    for outcome in outcomes:
        shard = Shard(folder / outcome.record.name)
        for position, number in enumerate(outcome.record.sentences):
            assert shard.id(position) == str(number)
            assert shard.source(position) == source[number]
            assert shard.references(position) == [lines[number] for lines in references]
            assert shard.domain(position) == tasks[number]
            extracted = extractor.extract(source[number], number)
            assert Counter(shard.grammar(position).splitlines()) == rules(extracted)
            seen.append(number)
    assert sorted(seen) == list(range(COUNT))


def test_leaving_out_changes_the_rules(corpus_files):
    keys = {
        compiler(corpus_files, options).key([0, 1])
        for options in (ExtractConfig(), ExtractConfig(leave_one_out=True), ExtractConfig(folds=3))
    }
    assert len(keys) == 3


@pytest.mark.parametrize("form", ["folder", "seg"])
def test_grammar_files_give_the_shards_of_the_index(corpus_files, form):
    grammars = corpus_files / "grammars"
    arguments = ["--index", str(corpus_files / "index"), "--sentences", str(corpus_files / "f")]
    assert main(["extract", *arguments, "--output", str(grammars)]) == 0
    if form == "folder":
        corpus = Corpus.read(corpus_files / "f", [corpus_files / "e"], places=GrammarPlaces(folder=grammars))
    else:
        corpus = Corpus.read(grammars / "input.sgm", [corpus_files / "e"], places=GrammarPlaces())
    from_files = ShardCompiler(corpus, FileGrammars())
    from_index = ShardCompiler(
        Corpus.read(corpus_files / "f", [corpus_files / "e"]), IndexGrammars(corpus_files / "index")
    )
    assert from_files.compile([3, 1, 4]) == from_index.compile([3, 1, 4])
    before = from_files.key([3])
    (grammars / "grammar.3.gz").write_bytes(gzip.compress(b"", mtime=0))
    assert from_files.key([3]) != before
    (grammars / "grammar.3.gz").write_bytes(gzip.compress(b"[X] ||| a\n", mtime=0))
    with pytest.raises(InputError, match=r"grammar\.3\.gz:1"):
        from_files.compile([3])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e", b"A\n" * 22, "e:23: ends after 22 lines, but .*f has 23"),
        ("e", b"A\n" * 24, "e:24: continues"),
        ("e", b"A\n" * 5 + b"\xff\n" + b"A\n" * 17, "e:6: invalid UTF-8"),
        ("e", b"A\n" * 5 + b" \n" + b"A\n" * 17, "e:6: the line is empty"),
        ("f", b"a\n" * 5 + b"\n" + b"a\n" * 17, "f:6: the line is empty"),
        ("e", b"A\n" * 5 + b"x|||y\n" + b"A\n" * 17, r"e:6: a token contains \|\|\|"),
        ("f", b"a\n" * 5 + b"x|||y\n" + b"a\n" * 17, r"f:6: a token contains \|\|\|"),
        ("f", b"", "f: the file is empty"),
        ("t", b"x\n", "t:2: ends after 1 lines"),
        ("f", b'<seg grammar="g"> a </seg>\n' * 23, "f:1: the line names a grammar"),
    ],
)
def test_bad_files_are_named_with_their_line(corpus_files, capsys, name, content, message):
    (corpus_files / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        compiler(corpus_files)
    assert command(corpus_files, "--leave-one-out") == 2
    assert "error: " in capsys.readouterr().err
    assert not (corpus_files / "out").exists()


def test_leave_one_out_needs_the_training_sentences(corpus_files, capsys):
    lines = (corpus_files / "f").read_text().splitlines()
    (corpus_files / "f").write_text("\n".join(["a b c d e f a b", *lines[1:]]) + "\n")
    assert command(corpus_files, "--leave-one-out") == 2
    assert "f:1: is not the source side of training sentence 1" in capsys.readouterr().err
    assert [path.name for path in (corpus_files / "out").glob("manifest*")] == []


def command(folder: Path, *options: str, output: str = "out") -> int:
    paths = [str(folder / name) for name in ("f", "e", "e2", "t", "index", output)]
    files = ["--sentences", paths[0], "--references", paths[1], paths[2], "--tasks", paths[3], "--index", paths[4]]
    return main(["shard", *files, "--output", paths[5], "--size", "6", *options])


# folders


def test_same_bytes_for_any_number_of_jobs(corpus_files):
    for jobs in ("1", "2", "3"):
        assert command(corpus_files, "--jobs", jobs, "--leave-one-out", output=f"out{jobs}") == 0
    first = contents(corpus_files / "out1")
    assert sorted(first) == [".itersel-folder", "manifest.json", *(f"shard.000{k}.itsh" for k in range(4))]
    assert contents(corpus_files / "out2") == contents(corpus_files / "out3") == first


def test_manifest(corpus_files):
    assert command(corpus_files, "--seed", "7", "--folds", "4", "--layout", "domains") == 0
    manifest = read_manifest(corpus_files / "out")
    assert manifest["layout"] == {"kind": "domains", "size": 6, "shards": None, "seed": 7, "first": None}
    assert manifest["content"]["extract"]["folds"] == 4
    assert manifest["sentences"] == COUNT
    assert [one["name"] for one in manifest["inputs"]["references"]] == ["e", "e2"]
    labels = (corpus_files / "t").read_text().splitlines()
    for entry in manifest["shards"]:
        path = corpus_files / "out" / entry["name"]
        assert entry["bytes"] == path.stat().st_size
        assert entry["checksum"] == f"{Shard(path).checksum:016x}"
        assert {labels[number] for number in entry["sentences"]} == {entry["task"]}
    assert [entry["task"] for entry in manifest["shards"]] == sorted(entry["task"] for entry in manifest["shards"])
    assert len(check_folder(corpus_files / "out")) == len(manifest["shards"])


@pytest.mark.parametrize("damage", ["truncate", "alter", "remove", "other"])
def test_damaged_shards_are_named_and_made_again(corpus_files, capsys, damage):
    assert command(corpus_files) == 0
    before = contents(corpus_files / "out")
    path = corpus_files / "out" / "shard.0002.itsh"
    if damage == "truncate":
        os.truncate(path, 100)
    elif damage == "alter":
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif damage == "remove":
        path.unlink()
    else:  # a whole shard, but another one
        path.write_bytes((corpus_files / "out" / "shard.0001.itsh").read_bytes())
    with pytest.raises(InputError, match=r"shard\.0002\.itsh"):
        check_folder(corpus_files / "out")
    capsys.readouterr()
    assert command(corpus_files) == 0
    said = capsys.readouterr()
    assert "1 shards made, 3 kept" in said.out
    assert "shard.0002.itsh: " in said.err
    assert contents(corpus_files / "out") == before


def test_an_interrupted_run_goes_on(corpus_files):
    whole = corpus_files / "whole"
    list(write_shards(compiler(corpus_files), Layout(size=6), whole))
    folder = corpus_files / "out"
    started = write_shards(compiler(corpus_files), Layout(size=6), folder)
    next(started), next(started)
    started.close()
    assert not (folder / "manifest.json").exists()
    (folder / ".shard.0002.itsh.x1y2.tmp").write_bytes(b"torn")
    (folder / "shard.0003.itsh.json").write_bytes(b'{"name": "shard.00')
    outcomes = list(write_shards(compiler(corpus_files), Layout(size=6), folder))
    assert [outcome.made for outcome in outcomes] == [False, False, True, True]
    assert contents(folder) == contents(whole)


def test_progress_within_a_shard_leaves_out_kept_ones(corpus_files):
    folder, told = corpus_files / "out", []
    outcomes = write_shards(compiler(corpus_files), Layout("sequential", size=6), folder, advance=told.append)
    next(outcomes)
    assert [count for count in told if count] == [1] * 6, "each sentence, before the shard is finished"
    outcomes.close()
    told.clear()
    list(write_shards(compiler(corpus_files), Layout("sequential", size=6), folder, jobs=2, advance=told.append))
    assert sum(told) == COUNT - 6


def test_progress_within_a_shard_of_several_processes(corpus_files):
    """Each shard's last sentence waits until progress was told of an earlier one: only then can a shard be finished."""
    made, heard = compiler(corpus_files), multiprocessing.get_context("fork").Event()
    grammar, last = made.grammars.grammar, (11, 22)

    def waiting(number, *others):
        assert number not in last or heard.wait(60), "no progress before the end of the first shards"
        return grammar(number, *others)

    made.grammars.grammar = waiting
    layout, folder = Layout("sequential", shards=2), corpus_files / "out"
    list(write_shards(made, layout, folder, jobs=2, advance=lambda count: heard.set() if count else None))
    assert [one.sentences[-1] for one in check_folder(folder)] == list(last)


@pytest.mark.parametrize("runner", ["none", "inline", "local"])
def test_the_command_shows_progress_within_a_shard(corpus_files, monkeypatch, capsys, runner):
    monkeypatch.setattr("itersel.base.progress.EVENT_INTERVAL", 0.0)
    options = ["--sentences", "f", "--references", "e", "--index", "index", "--output", runner, "--jobs", "1"]
    monkeypatch.chdir(corpus_files)
    assert main(["--log-json", "shard", *options, "--runner", runner]) == 0
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    counts = [one["done"] for one in found if one["event"] == "progress" and not one["finished"]]
    assert set(range(1, COUNT + 1)) <= set(counts), "one shard, yet every sentence is told"
    assert counts == sorted(counts)


def test_other_input_remakes_what_depends_on_it(corpus_files):
    folder = corpus_files / "out"
    layout = Layout("sequential", size=6)
    list(write_shards(compiler(corpus_files), layout, folder))
    lines = (corpus_files / "e").read_text().splitlines()
    (corpus_files / "e").write_text("\n".join([*lines[:-1], "NEW WORDS"]) + "\n")
    assert [one.made for one in write_shards(compiler(corpus_files), layout, folder)] == [False, False, False, True]
    assert Shard(folder / "shard.0003.itsh").references(4)[0] == "NEW WORDS"
    fewer = list(write_shards(compiler(corpus_files), Layout(shards=2), folder))
    assert [one.made for one in fewer] == [True, True]
    assert sorted(contents(folder)) == [".itersel-folder", "manifest.json", "shard.0000.itsh", "shard.0001.itsh"]


def test_foreign_files_stay(corpus_files):
    folder = corpus_files / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    list(write_shards(compiler(corpus_files), Layout(), folder))
    assert (folder / "notes.txt").read_text() == "mine"


def test_plans_travel_as_lines_and_are_checked(corpus_files):
    made = compiler(corpus_files)
    planned = plan_shards(made, Layout(size=6))[1]
    assert PlannedShard.from_line(planned.to_line()) == planned
    for line in ("", "{}", "[1]", '{"name": "../x", "sentences": [], "task": "", "key": ""}'):
        with pytest.raises(InputError, match="not the plan of a shard"):
            PlannedShard.from_line(line)
    with pytest.raises(InputError, match=r"shard\.0001\.itsh: .*have changed since the shards were planned"):
        write_shard(compiler(corpus_files, ExtractConfig(folds=2)), corpus_files / "out", planned)
    with pytest.raises(InputError, match="no sentence 99"):
        made.key([99])


@pytest.mark.parametrize(
    ("keep", "message"), [([0, 0, 1, 2, 3], "0000.itsh twice"), ([0, 2, 3], "not make shard.0001")]
)
def test_doubled_and_missing_shards_of_a_job(corpus_files, keep, message):
    made = compiler(corpus_files)
    folder = corpus_files / "out"

    def runner(missing, _):
        return [write_shard(made, folder, missing[number]) for number in keep]

    with pytest.raises(ResourceError, match=message):
        list(write_shards(made, Layout(size=6), folder, runner=runner))
    assert not (folder / "manifest.json").exists()
    # What the job did make is kept.
    again = [one.made for one in write_shards(made, Layout(size=6), folder)]
    assert again.count(True) == 4 - len(set(keep))


def test_options_are_checked(corpus_files, capsys):
    for options in (
        {"features": "none"},
        {"goal": "[S]"},
        {"nonterminal": ""},
        {"pass_through": "some"},
    ):
        with pytest.raises(ConfigError):
            ShardOptions(**options)
    assert command(corpus_files, "--features", "colour") == 2
    assert "unknown feature group 'colour'" in capsys.readouterr().err
    assert command(corpus_files, "--tasks", "-") == 2
    assert command(corpus_files, "--plan", str(corpus_files / "plan")) == 2


def test_a_manifest_that_is_none(tmp_path):
    for content in (b"{", b"[]", b'{"format": 99}'):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(InputError, match=r"manifest\.json: not a manifest"):
            read_manifest(tmp_path)
    for content in (b'{"format": 1}', b'{"format": 1, "shards": [{}]}'):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(InputError, match=r"manifest\.json: not a manifest"):
            check_folder(tmp_path)


def test_manifest_is_json_with_a_line_for_each_shard(corpus_files):
    assert command(corpus_files) == 0
    text = (corpus_files / "out" / "manifest.json").read_text()
    assert sum('"name": "shard.' in line for line in text.splitlines()) == 4
    assert len(json.loads(text)["shards"]) == 4

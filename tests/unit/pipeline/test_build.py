"""`itersel build`: its configuration, its stages, and bad input."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from same_files import assert_same_files, files_of_build

from itersel.base.errors import ConfigError
from itersel.base.folders import MARK
from itersel.cli import main
from itersel.grammar.extraction import ExtractConfig, Extractor, build_index
from itersel.lists.source import ShardSource
from itersel.lm.binary import write_binary
from itersel.mapreduce.shard_item import fold_of
from itersel.pipeline.build import build, built, stages
from itersel.pipeline.build_config import load_config
from itersel.pipeline.build_paths import alignment_path, language_model_path, source_path
from itersel.pipeline.stages import Stage, StageResult, recorded, run_stage, table
from itersel.shards.folder import check_folder
from itersel.shards.shard import Shard
from itersel.text.detokenizer import Detokenizer

ROOT = Path(__file__).resolve().parents[3]
WORDS = ["der", "hund", "sieht", "das", "haus", "und", "die", "katze"]
CONFIG = """\
work: work
seed: 3
train: {source: t.de, target: t.en, tasks: t.task, held_out: {devtest: 4, extra: 2}}
sets:
  dev: {source: d.de, references: [d.en, d.en2]}
align: {given: t.align}
lm: {order: 2, folds: 0}
extract: {leave_one_out: true}
shards: {size: 10, features: "id,shape"}
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """Forty training pairs with links, four development sentences with two references, and their configuration."""
    lines = [" ".join(WORDS[(i * j) % 8] for j in range(1, 3 + i % 5)) for i in range(1, 41)]
    write(tmp_path / "t.de", lines)
    write(tmp_path / "t.en", [line.upper() for line in lines])
    write(tmp_path / "t.task", [f"task{len(line) % 3}" for line in lines])
    write(tmp_path / "t.align", [" ".join(f"{i}-{i}" for i in range(len(line.split()))) for line in lines])
    write(tmp_path / "d.de", lines[:4])
    write(tmp_path / "d.en", lines[4:8])
    write(tmp_path / "d.en2", lines[8:12])
    (tmp_path / "c.yaml").write_text(CONFIG)
    return tmp_path


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines))


def run(folder: Path, *overrides: str) -> dict[str, bool]:
    """Build; which stages were skipped."""
    return {one.name: one.skipped for one in build(load_config(folder / "c.yaml", overrides))}


# configuration


def test_paths_are_relative_to_the_file_or_to_here(folder, monkeypatch):
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    config = load_config("../c.yaml", ["train.source=x.de", "sets.dev.references=[a, b]"])
    assert config.work == folder / "work"
    assert config.train.target == folder / "t.en"
    assert config.train.source == folder / "here" / "x.de"
    assert config.sets["dev"].references == (folder / "here" / "a", folder / "here" / "b")
    assert load_config("../c.yaml", ["sets.dev.references=a"]).sets["dev"].references == (folder / "here" / "a",)


def test_overrides(folder):
    overrides = ["lm.order=4", "text.lowercase=true", "shards.size=", "extract.max_samples=7", "align.effort=2"]
    config = load_config(folder / "c.yaml", overrides)
    assert (config.lm.order, config.text.lowercase, config.shards.size) == (4, True, None)
    assert config.extract == ExtractConfig(leave_one_out=True, max_samples=7)
    assert config.align.effort == 2.0


def test_a_bad_option_leaves_no_trace(folder, capsys):
    assert main(["build", str(folder / "c.yaml"), "--set", "lm.order=many"]) == 2
    assert "error: --set lm.order=many: lm.order is 'many'; give a whole number from 2 to 6" in capsys.readouterr().err
    assert not (folder / "work").exists()


def test_the_former_word_for_domains(folder):
    old, new = (load_config(folder / "c.yaml", [f"sets.dev.{key}=x"]) for key in ("tasks", "domains"))
    assert old == new and old.train.domains == folder / "t.task"
    old, new = (load_config(folder / "c.yaml", [f"shards.layout={kind}"]) for kind in ("tasks", "domains"))
    assert old == new and new.shards.layout == "domains"


@pytest.mark.parametrize("name", ["sample", "multi30k"])
def test_shipped_configurations_are_valid(name):
    config = load_config(ROOT / "conf" / f"{name}.yaml")
    assert config.extract.leave_one_out and "devtest" in config.train.held_out
    assert config.lm_folds == 10  # models to train with: one per fold
    assert len(list(stages(config))) == 6 + config.lm_folds + 2 * len(config.sets)
    if name == "sample":
        assert config.train.source.is_file()


# the build


def test_everything_is_made_and_then_skipped(folder, capsys):
    assert main(["build", str(folder / "c.yaml")]) == 0
    said = capsys.readouterr().out
    names = ["prepare.train", "prepare.dev", "align", "lm", "index", "shard.train", "shard.devtest", "shard.extra"]
    assert [line.split()[0] for line in said.splitlines()[1:10]] == [*names, "shard.dev"]
    assert said.count(" done") == 9 and "train 34, devtest 4, extra 2 pairs, 0 dropped" in said
    before = files_of_build(folder / "work")
    assert main(["build", str(folder / "c.yaml"), "--set", "jobs=2"]) == 0
    assert capsys.readouterr().out.count(" skipped") == 9
    assert_same_files(files_of_build(folder / "work"), before)
    assert run(folder, f"work={folder / 'other'}", "jobs=2") == dict.fromkeys([*names, "shard.dev"], False)
    assert_same_files(files_of_build(folder / "other"), before)


def test_stages_side_by_side(folder, capsys):
    """The same bytes with models by fold, and an error in one of several processes is told of like any other."""
    run(folder, "lm.folds=3")
    run(folder, "lm.folds=3", "jobs=3", f"work={folder / 'other'}")
    assert_same_files(files_of_build(folder / "other"), files_of_build(folder / "work"))
    write(folder / "d.en2", ["a b c"] * 3)
    assert main(["build", str(folder / "c.yaml"), "--set", "jobs=3", "--set", f"work={folder / 'third'}"]) == 2
    error = capsys.readouterr().err
    assert "d.en2:4: has 3 lines" in error and "Traceback" not in error
    write(folder / "d.en2", ["a b c"] * 4)
    assert run(folder, "jobs=3", f"work={folder / 'third'}")["prepare.train"]


def test_held_out_pairs_are_a_choice_by_the_seed(folder):
    run(folder)
    text = folder / "work" / "text"
    lines = {
        name: list(map(int, (text / f"{name}.lines").read_text().split())) for name in ("train", "devtest", "extra")
    }
    assert sorted(number for numbers in lines.values() for number in numbers) == list(range(1, 41))
    given = {suffix: (folder / f"t.{suffix}").read_text().splitlines() for suffix in ("de", "en", "task", "align")}
    for name, numbers in lines.items():
        assert numbers == sorted(numbers)
        for file, suffix in (("source", "de"), ("reference.0", "en"), ("tasks", "task")):
            assert (text / f"{name}.{file}").read_text().splitlines() == [given[suffix][k - 1] for k in numbers]
    align = (folder / "work" / "model" / "alignment").read_text().splitlines()
    assert align == [given["align"][number - 1] for number in lines["train"]]
    run(folder, "seed=4")
    assert (text / "devtest.lines").read_text().split() != list(map(str, lines["devtest"]))


def test_training_shards_leave_out_and_others_do_not(folder):
    run(folder)
    config = load_config(folder / "c.yaml")
    for name, options in (("train", ExtractConfig(leave_one_out=True)), ("dev", ExtractConfig())):
        extractor = Extractor(folder / "work" / "model" / "index", options)
        sentences = source_path(config, name).read_text().splitlines()
        for record in check_folder(folder / "work" / "shards" / name):
            shard = Shard(folder / "work" / "shards" / name / record.name)
            for position, number in enumerate(record.sentences):
                extracted = extractor.extract(sentences[number], number)
                sides = {tuple(line.split(b" ||| ")[:3]) for line in extracted.splitlines()}
                compiled = {tuple(line.split(b" ||| ")[:3]) for line in shard.grammar(position).splitlines()}
                assert compiled == sides
    assert len(Shard(folder / "work" / "shards" / "dev" / "shard.0000.itsh").references(0)) == 2
    assert [one.sentences for one in check_folder(folder / "work" / "shards" / "dev")] == [[0, 1, 2, 3]]


def test_folds_leak_nothing(folder):
    """`extract.folds`: a sentence's rules, their values and its language model are those of a text without its fold."""
    run(folder, "extract={folds: 3, phrase_features: true}", "lm={order: 2}")
    config, work = load_config(folder / "c.yaml"), folder / "work"
    texts = [source_path(config, "train"), work / "text" / "train.reference.0", alignment_path(config)]
    columns = [path.read_text().splitlines() for path in texts]
    model, rules = {}, {}
    for fold in range(3):
        reduced = [folder / f"{fold}.{path.name}" for path in texts]
        for path, lines in zip(reduced, columns, strict=True):
            write(path, [line for number, line in enumerate(lines) if number % 3 != fold])
        build_index(*reduced, folder / f"{fold}.index")
        rules[fold] = Extractor(folder / f"{fold}.index", ExtractConfig(phrase_features=True))
        arguments = ["--text", str(reduced[1]), "--order", "2", "--output", str(folder / f"{fold}.gz")]
        assert main(["lm", *arguments]) == 0
        model[fold] = gzip.decompress((folder / f"{fold}.gz").read_bytes())
    for record in check_folder(work / "shards" / "train"):
        source = ShardSource(Shard(work / "shards" / "train" / record.name))
        for position, number in enumerate(record.sentences):
            fold = fold_of(source, position, 3)
            assert fold == number % 3, "training takes the model of this number"
            expected = parsed(rules[fold].extract(columns[0][number]))
            assert parsed(source.data.grammar(position)) == pytest.approx(expected, abs=1e-6)
            found = work / "model" / f"lm.without-fold.{fold:03}.arpa.gz"
            assert gzip.decompress(found.read_bytes()) == model[fold]


def parsed(grammar: bytes) -> dict[tuple[str, ...], float]:
    """The values of all features, by rule and feature."""
    found = {}
    for line in grammar.decode().splitlines():
        left, source, target, features, *_ = line.split(" ||| ")
        for pair in features.split():
            name, _, value = pair.partition("=")
            found[left, source, target, name] = float(value)
    return found


@pytest.mark.parametrize(
    ("override", "again"),
    [
        ("lm.order=3", {"lm"}),
        ("shards.features=dense", {"shard.train", "shard.devtest", "shard.extra", "shard.dev"}),
        ("extract.leave_one_out=false", {"shard.train"}),
        ("shards.layout=domains", {"shard.train"}),
        ("train.shards=false", set()),
    ],
)
def test_an_option_concerns_its_stages_only(folder, override, again):
    run(folder)
    assert {name for name, skipped in run(folder, override).items() if not skipped} == again


def test_content_counts_and_time_stamps_do_not(folder):
    run(folder)
    for path in folder.glob("t.*"):
        os.utime(path, (1, 1))
    assert all(run(folder).values())
    write(folder / "d.en2", ["other words"] * 4)
    assert {name for name, skipped in run(folder).items() if not skipped} == {"prepare.dev", "shard.dev"}
    # A cleaned text that comes out the same does not go further.
    (folder / "t.de").write_text((folder / "t.de").read_text().replace(" ", "  "))
    assert {name for name, skipped in run(folder).items() if not skipped} == {"prepare.train"}


def test_damaged_outputs_are_named_and_made_again(folder, capsys):
    run(folder)
    before = files_of_build(folder / "work")
    os.truncate(folder / "work" / "shards" / "train" / "shard.0001.itsh", 99)
    (folder / "work" / "model" / "alignment").unlink()
    (folder / "work" / "stages" / "lm.json").write_text("{")
    again = {name for name, skipped in run(folder).items() if not skipped}
    assert again == {"align", "lm", "shard.train"}
    said = capsys.readouterr().err
    assert "shard.0001.itsh: the shard is truncated" in said and "alignment: cannot read" in said
    assert_same_files(files_of_build(folder / "work"), before)


def test_given_language_model(folder):
    run(folder)
    arpa = folder / "work" / "model" / "lm.arpa.gz"
    (folder / "mine.arpa.gz").write_bytes(arpa.read_bytes())
    arpa.unlink()
    made = (folder / "work" / "model" / "lm.bin").read_bytes()
    given = load_config(folder / "c.yaml", [f"lm.given={folder / 'mine.arpa.gz'}"])
    list(build(given))
    assert not arpa.exists()
    assert language_model_path(given).read_bytes() == made  # its binary form, as the build makes it itself
    (folder / "mine.bin").write_bytes(made)
    binary = load_config(folder / "c.yaml", [f"lm.given={folder / 'mine.bin'}"])
    list(build(binary))
    assert language_model_path(binary) == folder / "mine.bin"
    (folder / "mine.arpa.gz").write_text("no model")
    assert main(["build", str(folder / "c.yaml"), "--set", f"lm.given={folder / 'mine.arpa.gz'}"]) == 2


@pytest.mark.parametrize("kind", ["trie", "quantised"])
def test_other_forms_of_the_language_model(folder, kind):
    run(folder)
    model = folder / "work" / "model"
    before = (model / "lm.arpa.gz").read_bytes(), (model / "lm.bin").read_bytes()
    again = run(folder, f"lm.binary={kind}")
    assert {name for name, skipped in again.items() if not skipped} == {"lm"}
    assert (model / "lm.arpa.gz").read_bytes() == before[0] and (model / "lm.bin").read_bytes() != before[1]
    write_binary(model / "lm.arpa.gz", folder / "expected", kind)
    assert (model / "lm.bin").read_bytes() == (folder / "expected").read_bytes()


def test_other_text_for_the_language_model(folder):
    write(folder / "mono", ["A B C", "B C D"])
    results = {one.name: one for one in build(load_config(folder / "c.yaml", [f"lm.text={folder / 'mono'}"]))}
    assert "of 6 words" in results["lm"].what


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("t.en", lambda lines: lines[:-1], r"t.en:40: ends after 39 lines, but .*t.de continues"),
        ("t.de", lambda lines: [*lines[:6], b"a \xff", *lines[7:]], r"t.de:7: invalid UTF-8 at byte 3"),
        ("t.de", lambda lines: [*lines[:6], b"a x|||y", *lines[7:]], r"t.de:7: a token contains |||"),
        ("t.task", lambda lines: lines[:-1], r"t.task:40: has 39 labels"),
        ("t.task", lambda lines: [*lines[:6], b"", *lines[7:]], r"t.task:7: the label is empty"),
        ("t.align", lambda lines: [b"0-99"] * 40, r"t.align:2: link 0-99 points beyond the target sentence"),
        ("t.align", lambda lines: lines[:-1], r"t.align:40: the alignment has 39 lines"),
        ("t.align", lambda lines: [*lines, b""], r"t.align:41: the alignment has 41 lines"),
        ("t.align", lambda lines: [b"0-"] * 40, r"t.align:1: not a link"),
        ("d.en2", lambda lines: lines[:-1], r"d.en2:4: has 3 lines"),
        ("d.en", lambda lines: [*lines[:2], b"", *lines[3:]], r"d.en:3: the line is empty"),
        ("d.de", lambda lines: [*lines[:2], b" ", *lines[3:]], r"d.de:3: the line is empty"),
        ("d.de", lambda lines: [*lines[:2], b"\xc3", *lines[3:]], r"d.de:3: invalid UTF-8"),
        ("d.de", lambda lines: [*lines[:2], b"|||", *lines[3:]], r"d.de:3: a token contains |||"),
    ],
)
def test_bad_input_is_named_with_its_line(folder, capsys, name, change, message):
    lines = (folder / name).read_bytes().splitlines()
    (folder / name).write_bytes(b"".join(line + b"\n" for line in change(lines)))
    assert main(["build", str(folder / "c.yaml")]) == 2
    said = capsys.readouterr().err
    expected = message.replace(".*", str(folder) + "/")
    if name == "t.align" and "0-99" in message:
        expected = expected.replace("t.align:2: ", "")  # the first line that was not held out
    assert expected in said
    stage = {"t": "prepare.train", "d": "prepare.dev"}[name[0]] if name != "t.align" else "align"
    assert not (folder / "work" / "stages" / f"{stage}.json").exists()
    outputs = [
        path.name
        for path in folder.glob("work/**/*")
        if path.is_file() and path.suffix != ".json" and path.name != MARK
    ]
    first = {"prepare.train": "train.source", "prepare.dev": "dev.source", "align": "alignment"}[stage]
    assert first not in outputs and not [path for path in outputs if path.startswith(".")]


def test_an_empty_side_is_dropped_from_training_with_its_partners(folder):
    lines = (folder / "t.en").read_text().splitlines()
    write(folder / "t.en", [*lines[:4], "", *lines[5:]])
    results = {one.name: one for one in build(load_config(folder / "c.yaml"))}
    assert "1 dropped" in results["prepare.train"].what
    kept = (folder / "work" / "text" / "train.lines").read_text().split()
    assert "5" not in kept
    assert len(alignment_path(load_config(folder / "c.yaml")).read_text().splitlines()) == len(kept)


def test_too_much_held_out(folder, capsys):
    assert main(["build", str(folder / "c.yaml"), "--set", "train.held_out.devtest=38"]) == 2
    assert "40 of 40 training pairs are to be held out" in capsys.readouterr().err


def test_a_missing_input(folder, capsys):
    (folder / "d.en").unlink()
    assert main(["build", str(folder / "c.yaml")]) == 2
    assert f"{folder / 'd.en'}: cannot read" in capsys.readouterr().err


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"cannot mount a small disk: {error}")
    if done.returncode:
        pytest.skip(f"cannot mount a small disk: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_full_disk(folder, small_disk, capsys):
    assert main(["build", str(folder / "c.yaml"), "--set", f"work={small_disk / 'work'}"]) == 1
    said = capsys.readouterr().err
    assert "cannot write: No space left on device" in said and str(small_disk) in said
    for path in small_disk.rglob("*"):
        assert path.is_dir() or path.name == MARK or not path.name.startswith(".")
        if path.suffix == ".itsh":
            Shard(path)
        elif path.suffix == ".json":
            json.loads(path.read_text())
    run(folder)
    reference = files_of_build(folder / "work")
    assert all(
        reference[name] == content for name, content in files_of_build(small_disk / "work").items() if name in reference
    )


# stages


def test_a_failed_stage_leaves_no_record(tmp_path):
    (tmp_path / "in").write_text("1")
    made = []

    def make() -> str:
        if (tmp_path / "in").read_text() == "2":
            raise ConfigError("no")
        (tmp_path / "out").write_text("x")
        made.append(1)
        return "x"

    stage = Stage("one", {"in": tmp_path / "in"}, {}, [tmp_path / "out"], make)
    assert [run_stage(stage, tmp_path).skipped for _ in range(2)] == [False, True]
    (tmp_path / "in").write_text("2")
    with pytest.raises(ConfigError):
        run_stage(stage, tmp_path)
    (tmp_path / "in").write_text("1")
    assert not run_stage(stage, tmp_path).skipped
    assert len(made) == 2


def test_a_skipped_stage_knows_what_it_took(tmp_path):
    def make() -> str:
        (tmp_path / "out").write_text("x")
        return "x"

    stage = Stage("one", {}, {}, [tmp_path / "out"], make)
    assert recorded(stage, tmp_path) is None
    first = run_stage(stage, tmp_path)
    assert first.made_seconds == first.seconds and first.peak_megabytes > 0
    place = tmp_path / "stages" / "one.json"
    changed = {"seconds": 1234.5, "peak_megabytes": 678, "cpu_seconds": 1111.5}
    place.write_text(json.dumps(json.loads(place.read_text()) | changed))
    for again in (run_stage(stage, tmp_path), recorded(stage, tmp_path)):
        assert (again.skipped, again.made_seconds, again.peak_megabytes) == (True, 1234.5, 678)
        assert again.seconds != again.made_seconds and again.cpu_seconds == 1111.5
    assert recorded(Stage("one", {}, {"of": (1, 2)}, [tmp_path / "out"], make), tmp_path) is None
    record = json.loads(place.read_text())
    del record["peak_megabytes"], record["cpu_seconds"]  # as in records from before there were any
    place.write_text(json.dumps(record))
    older = run_stage(stage, tmp_path)
    assert older.peak_megabytes is None and older.cpu_seconds is None


def test_a_build_knows_what_it_took_only_as_a_whole(folder):
    config = load_config(folder / "c.yaml")
    assert built(config) == []
    made = list(build(config))
    assert [(one.name, one.made_seconds) for one in built(config)] == [(one.name, one.made_seconds) for one in made]
    other = load_config(folder / "c.yaml", ["lm.order=3"])  # the same folder, another model
    assert built(other) == []
    list(build(other))
    assert len(built(other)) == len(made) and built(config) == []


def test_table():
    shown = table(
        [StageResult("lm", "order 3", 1234, 0.25, True, 99, 1), StageResult("align", "x", 1, 12, False, 12, None)]
    )
    assert shown.splitlines() == [
        "stage  what     bytes  seconds",
        "lm     order 3  1,234      0.2  skipped",
        "align  x            1     12.0  done",
    ]


def test_a_language_model_that_does_not_know_the_shards(folder):
    """`lm.unseen`: the model of the text without the sentences that the manifest says the shards have."""
    run(folder, "shards.first=2", "lm.unseen=true")
    work = folder / "work"
    taken = {n for one in check_folder(work / "shards" / "train") for n in one.sentences}
    targets = (work / "text" / "train.reference.0").read_text().splitlines()
    assert 0 < len(taken) < len(targets)
    write(folder / "rest", [line for number, line in enumerate(targets) if number not in taken])
    arguments = ["--text", str(folder / "rest"), "--order", "2", "--output", str(folder / "by-hand.gz")]
    assert main(["lm", *arguments]) == 0
    assert (work / "model" / "lm.unseen.arpa.gz").read_bytes() == (folder / "by-hand.gz").read_bytes()
    assert run(folder, "shards.first=2", "lm.unseen=true")["lm.unseen"]
    after = run(folder, "shards.first=1", "lm.unseen=true")
    assert after["lm"] and not after["lm.unseen"]


def test_language_models_that_lack_a_fold(folder):
    """`lm.folds`: the models of the text without every third sentence; all else stays."""
    before = run(folder)
    made = run(folder, "lm.folds=3")
    assert [name for name, skipped in made.items() if not skipped] == [f"lm.without-fold.{k}" for k in range(3)]
    assert set(made) - set(before) == {f"lm.without-fold.{k}" for k in range(3)}
    targets = (folder / "work" / "text" / "train.reference.0").read_text().splitlines()
    for k in range(3):
        write(folder / "rest", [line for number, line in enumerate(targets) if number % 3 != k])
        arguments = ["--text", str(folder / "rest"), "--order", "2", "--output", str(folder / f"{k}.gz")]
        assert main(["lm", *arguments]) == 0
        found = folder / "work" / "model" / f"lm.without-fold.00{k}.arpa.gz"
        assert gzip.decompress(found.read_bytes()) == gzip.decompress((folder / f"{k}.gz").read_bytes())


def test_models_of_other_folds_do_not_stay(folder, capsys):
    """`--fold-lm 'model/lm.without-fold.*'` takes all that are there for folds of one cut."""

    def models():
        paths = (folder / "work" / "model").glob("lm.without-fold.*")
        return sorted(path.name for path in paths if path.suffix != ".seen")

    run(folder, "lm.folds=3")
    run(folder, "lm.folds=2")
    assert models() == [f"lm.without-fold.00{k}.{form}" for k in range(2) for form in ("arpa.gz", "bin")]
    run(folder)  # makes none, so there is nothing to confuse them with
    assert len(models()) == 4
    capsys.readouterr()
    again = run(folder, "lm.folds=3")
    assert not any(again[f"lm.without-fold.{k}"] for k in range(3)) and len(models()) == 6
    assert "the stage runs again" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["lm.folds=1"], "lm.folds is 1"),
        (["lm.folds=2", "extract.folds=3", "extract.leave_one_out=false"], "lm.folds is 2, but extract.folds is 3"),
        (["lm.folds=3", "lm.given=x.arpa"], "lm.folds needs a model of the training text"),
        (["lm.unseen=true", "shards.first=1", "lm.folds=2"], "exclude each other"),
        (["lm.unseen=true"], "needs training shards of a part"),
        (["lm.unseen=true", "shards.first=1", "lm.given=x.arpa"], "needs a model of the training text"),
        (["lm.unseen=true", "shards.first=1", "extract.folds=3", "extract.leave_one_out=false"], "exclude each other"),
        (["lm.unseen=true", "shards.first=99"], "leaves no text"),
    ],
)
def test_a_language_model_of_nothing(folder, overrides, message):
    with pytest.raises(ConfigError, match=message):
        run(folder, *overrides)


def test_compounds_of_the_source_side_are_split(folder):
    """By the words of the training text, in every set; the text before that is kept."""
    write(folder / "d.de", ["die hauskatze", "der hund", "katzenhund", "das haus"])
    assert "splitter" not in run(folder)
    references = (folder / "work" / "text" / "dev.reference.0").read_text()
    assert not run(folder, "align.given=null", "text.split_source=true")["split.dev"]
    text = folder / "work" / "text"
    assert (text / "dev.unsplit").read_text() == (folder / "d.de").read_text()
    assert (text / "dev.source").read_text() == "die haus katze\nder hund\nkatzenhund\ndas haus\n"
    assert (text / "devtest.source").read_text() == (text / "devtest.unsplit").read_text()
    assert (text / "dev.reference.0").read_text() == references


def test_splitting_leaves_the_target_side_alone(folder, capsys):
    """The same target text, references and language model; output is plain words, without a sign of the splitting."""
    write(folder / "d.de", ["die hauskatze", "der hund", "das haus", "die katze"])
    kept, said = {}, {}
    for split in ("false", "true"):
        run(folder, "align.given=null", f"text.split_source={split}")
        work = folder / "work"
        files = [*(work / "text").glob("*.target"), *(work / "text").glob("*.reference.*"), work / "model" / "lm.bin"]
        kept[split] = {path.name: path.read_bytes() for path in files}
        weights = str(ROOT / "conf" / "experiments" / "hand-set.weights")
        model = ["--lm", str(work / "model" / "lm.bin"), "--weights", weights]
        capsys.readouterr()
        assert main(["translate", str(work / "shards" / "dev"), *model]) == 0
        said[split] = [Detokenizer("en")(line) for line in capsys.readouterr().out.splitlines()]
    assert kept["true"] == kept["false"] and len(kept["true"]) > 3
    assert said["true"] == ["DIE HAUS KATZE", "DER HUND", "DAS HAUS", "DIE KATZE"]
    assert said["false"] == ["DIE hauskatze", *said["true"][1:]]


def test_splitting_does_not_go_with_given_links(folder, capsys):
    assert main(["build", str(folder / "c.yaml"), "--set", "text.split_source=true"]) == 2
    assert "text.split_source and align.given exclude each other" in capsys.readouterr().err

"""ACL 2014's experiment: which text it takes, what it writes, and its shipped configuration."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from geoquery_outcomes import outcomes
from itersel.base.errors import ConfigError, InputError
from itersel.pipeline import geoquery_experiment
from itersel.pipeline.geoquery_experiment import Acl2014, load_experiment
from itersel.response.geoquery.data import Fold, Splits, read_questions, read_splits
from report_runs import HOSTILE, make_runs

CONF = Path(__file__).resolve().parents[3] / "conf" / "experiments" / "acl2014.yaml"


def test_the_shipped_configuration_is_valid():
    config = load_experiment(CONF, ["seeds=[1, 2]"])
    assert (config.folds, config.seeds) == (3, (1, 2))
    assert len(config.corpora) == 10


def test_variants_are_rows_with_settings_of_their_own():
    variants = "variants={all: {algorithm: rebol, corrections_only: false, references: fixed}}"
    changed = ["train.rebol.corrections_only=true", "train.rebol.scale=1", variants]
    methods = Acl2014(load_experiment(CONF, changed)).methods
    assert methods["rebol"] == ("rebol", {"scale": 1, "corrections_only": True})
    assert methods["all"] == ("rebol", {"scale": 1, "corrections_only": False, "references": "fixed"})
    for bad in ("variants={rebol: {algorithm: rebol}}", "variants={all: {scale: 1}}"):
        with pytest.raises(ConfigError, match="variants"):
            load_experiment(CONF, [bad])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("etas=[0.1, -1]", "etas must be above 0"),
        ("etas=[0.1, 0.1]", "etas has a value twice"),
        (
            "given_etas={rebell: 0.1}",
            "given_etas names 'rebell', which is no method\n  Choose among exec, rampion, rebol.",
        ),
        ("given_etas={rebol: 0}", "given_etas.rebol is 0; give a number greater than 0"),
        ("seeds=[-1]", "seeds must be at least 0"),
        ("seeds=[1, 1]", "seeds has a value twice"),
        ("seeds=[]", "seeds needs at least one value"),
        ("train.epocs=3", "unknown key 'epocs'; did you mean 'epochs'"),
        ("train.rebol.scal=1", "unknown key 'rebol.scal'; did you mean 'rebol.scale'"),
        ("train.response.limt=1", "unknown key 'response.limt'; did you mean 'response.limit'"),
        ("build.lm.ordr=5", "unknown key 'lm.ordr'; did you mean 'lm.order'"),
    ],
)
def test_bad_keys_are_errors_before_anything_is_built(change, words):
    with pytest.raises(ConfigError, match=re.escape(words)):
        load_experiment(CONF, [change])


def test_a_missing_file_is_an_error_before_anything_is_built(tmp_path, shared_data):
    changes = [f"work={tmp_path / 'work'}", f"data={shared_data / 'geoquery'}"]
    for change in (f"start={tmp_path / 'nothing'}", f"corpora=[{tmp_path / 'nothing'}]"):
        with pytest.raises(InputError, match=r"nothing.*: cannot read: No such file"):
            Acl2014(load_experiment(CONF, [*changes, change])).run()
    assert not list((tmp_path / "work").iterdir())


@pytest.mark.slow
def test_it_runs_and_does_nothing_twice(tmp_path, shared_data, monkeypatch):
    """With a few questions: all rows, and as many training runs as there are systems, rates and folds."""
    data, corpus = shared_data / "geoquery", tmp_path / "corpus"
    standard = read_splits(data).standard
    few = Splits(Fold(standard.train[::30], standard.test[::40]), ())
    monkeypatch.setattr(geoquery_experiment, "read_splits", lambda folder: few)
    for side in ("de", "en"):
        texts = [question.text for question in read_questions(data, side)]
        with gzip.open(f"{corpus}.{side}.gz", "wt") as stream:
            stream.writelines(f"{texts[number]}\n" for number in standard.train if number not in few.standard.train)
    changes = {
        "work": tmp_path / "work", "data": data, "corpora": f"[{corpus}]", "etas": "[0.1, 0.01]", "folds": 2,
        "fold_epochs": 1, "seeds": "[1, 2]", "build.lm": "{order: 2}", "train.epochs": 2, "train.epoch.k": 10,
        "train.epoch.decoder.pop_limit": 10, "given_etas": "{exec: 0.5}",
    }  # fmt: skip
    config = load_experiment(CONF, [f"{key}={value}" for key, value in changes.items()])

    def made():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("epoch-*/weights.vec")}

    table = Acl2014(config).run().read_text()
    systems = re.findall(r"^\| (\d [A-Z]+) ", table, re.MULTILINE)
    assert systems[:4] == ["1 BASELINE", "2 EXEC", "3 RAMPION", "4 REBOL"]
    trained = made()
    # Two rates and two folds with one epoch, but EXEC's rate is given; then two seeds with two epochs for each method,
    # and for each parser where it asks one.
    assert len(trained) == 2 * 2 * 2 + (2 + 1 + 2) * 2 * 2
    assert {path.parts[-3].split("-")[2] for path in trained if "exec" in path.parts[-3]} == {"0.5"}
    assert re.findall(r"^\| ([A-Z]+) \|.*\*\*", table.split("## η by")[1], re.MULTILINE) == ["RAMPION", "REBOL"]
    chosen = [json.loads(line) for line in (tmp_path / "work" / "translations.jsonl").read_text().splitlines()]
    assert {line["question"] for line in chosen} == set(range(len(few.standard.test)))
    assert Acl2014(config).run().read_text() == table
    assert made() == trained
    with pytest.raises(InputError, match="from other corpora or questions, or with other keys of `text`"):
        Acl2014(replace(config, text=replace(config.text, every=2))).run()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Four questions; translations, answers and the reference of the last one are harmful."""
    folder = tmp_path_factory.mktemp("acl2014")
    runs = make_runs(folder / "runs")
    experiment = Acl2014(load_experiment(CONF, [f"work={folder}", "seeds=[1]"]))
    references = ["a b c d e", "f g h i j", "k l m n o", f"p q r s {HOSTILE[0]}"]
    for name, lines in {
        "test.de": ["eins", "zwei", "drei", "vier | fünf"],
        "test.en": references,
        "test.gold": ["x", "[]", "y", HOSTILE[1]],
        "train.gold": ["x"] * 6,
        "base.de": ["satz"] * 5,
    }.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    baseline = outcomes(["a b"] * 4, [0, 0, 0, 0], [1, 0, 0, 0])
    rampion = outcomes(["a", "b", "c", "d"], [1, 1, 0, 0], [1, 1, 1, 0])
    rebol = outcomes([references[0], "b", "c x", f"{HOSTILE[0]} | {HOSTILE[1]}"], [1, 0, 1, 1], [1, 1, 1, 1])
    systems = {"baseline": [baseline], "exec": [rampion], "rampion": [rampion], "rebol": [rebol]}
    names = ("sgd", "mix", "select", "silent", "single")
    places = [("exec", "extended"), ("rampion", "extended"), ("rebol", "extended"), ("exec", "original")]
    experiment.folders = {
        place: [runs[name]] for place, name in zip([*places, ("rebol", "original")], names, strict=True)
    }
    etas = {name: {"scores": {0.01: 1.0, 0.001: 2.0}, "chosen": 0.001} for name in ("exec", "rampion", "rebol")}
    experiment.parsed = {"extended": rebol.rows, "original": rampion.rows}
    experiment.write({"extended": systems, "original": systems}, etas)
    return folder


def test_the_page_has_all_tables(written):
    page = (written / "report.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    tables = data["experiment"]
    assert [re.match(r"Parsers|Table \d|η", one["caption"])[0] for one in tables] == [
        *(["Parsers"] + ["Table 1"] * 3 + ["Table 2"] * 3),
        *("Table 3", "Table 4", "Table 5", "η"),
    ]
    questions = {one["caption"][:7]: [row["entries"][0]["text"] for row in one["rows"]] for one in tables}
    assert (questions["Table 3"], questions["Table 4"], questions["Table 5"]) == (["3", "4"], ["3", "4"], ["2"])
    assert tables[8]["rows"][1]["entries"][-1]["text"] == f"{HOSTILE[0]} | {HOSTILE[1]}"
    assert [column["prose"] for column in tables[8]["columns"]] == [False, True, True, True, True]
    assert "3 questions" in tables[2]["caption"]
    assert {one["name"] for one in data["evaluation"]["systems"]} >= {run["name"] for run in data["runs"]}
    assert len(data["runs"]) == 5


def test_nothing_harmful_is_written(written):
    for name in ("report.html", "table.md"):
        text = (written / name).read_text()
        assert HOSTILE[0] not in text and HOSTILE[1] not in text, name
    rows = [line for line in (written / "table.md").read_text().splitlines() if line.startswith("| 4 | vier")]
    harmless = [one.replace("<", "&lt;").replace(">", "&gt;") for one in HOSTILE]
    assert rows[0] == f"| 4 | vier \\| fünf | p q r s {harmless[0]} | {harmless[0]} \\| {harmless[1]} |"


def test_the_table_says_how_it_was_made(written):
    text = (written / "table.md").read_text()
    assert "- seeds: `[1]`" in text and '"pairs": 5' in text and '"pop_limit": 30' in text
    lines = [json.loads(line) for line in (written / "translations.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * 4 * 4
    assert sum(line["success"] for line in lines if line["system"] == "rebol") == 6

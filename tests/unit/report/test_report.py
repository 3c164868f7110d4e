"""The report: what is read from run directories, how it is made safe, and the same bytes for the same runs."""

import base64
import contextlib
import gzip
import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from html.parser import HTMLParser
from importlib import resources
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError, UserError
from itersel.base.figures import FORMS, Choice, Declaration, Figure
from itersel.cli import main
from itersel.evaluation.scoring import EvaluationOptions, System, score_systems
from itersel.learn.mixing import Columns
from itersel.model.features import Weights
from itersel.model.vectors import feature_ids
from itersel.report import write_report
from itersel.report.feature_table import Sentence, feature_table
from itersel.report.gather import gather, short_names
from itersel.report.page import SCRIPTS, render, to_json
from itersel.report.patterns import Side, join, pattern_of
from itersel.report.payload import figure_names, short, spread
from itersel.report.translations import devtest_sets, evenly
from itersel.shards.shard import Shard, ShardWriter
from report_runs import HOSTILE, TOY, make_runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def copy(runs, tmp_path):
    """A run that a test may spoil."""
    return Path(shutil.copytree(runs["select"], tmp_path / "copy"))


class Page(HTMLParser):
    """The page as a browser's parser takes it apart: elements, and their text by id or tag."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.content, self.open = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open = dict(attributes).get("id", tag)

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, text):
        if self.open is not None:
            self.content[self.open] = self.content.get(self.open, "") + text


def read_page(path):
    return Page(Path(path).read_text(encoding="utf-8"))


def data_of(paths, folder, **options):
    return json.loads(read_page(write_report(paths, folder / "page.html", **options)).content["data"])


def lines_of(run):
    return [json.loads(line) for line in (run / "statistics.jsonl").read_text().splitlines()]


def test_figures_are_those_of_the_shards(runs):
    (run,) = gather([runs["mix"]])
    lines = [line for line in lines_of(runs["mix"]) if line["shard"] is not None]
    figures = {figure.key: figure for figure in run.history.declaration.figures}
    for epoch in run.epochs:
        mine = [line for line in lines if line["epoch"] == epoch.number]
        sums = {key: sum(line[key] for line in mine) for key in ("rank_errors", "pairs", "best_metric", "lists")}
        assert epoch.whole.value(figures["pair_error"]) == sums["rank_errors"] / sums["pairs"]
        assert epoch.whole.value(figures["metric"]) == pytest.approx(sums["best_metric"] / sums["lists"])
        assert epoch.whole.total_seconds == pytest.approx(sum(sum(line["seconds"].values()) for line in mine))
        assert [shard.sums["updates"] for shard in epoch.shards] == [line["updates"] for line in mine]
        weights = Weights.read(runs["mix"] / f"epoch-{epoch.number:03d}" / "weights.txt.gz")
        assert epoch.whole.value(figures["features"]) == len(weights)
    scores = [run.history.decisive(epoch) for epoch in run.epochs]
    assert run.best.number == scores.index(max(scores)) + 1
    assert run.finished and run.shard_count == 4


def test_names_of_runs(runs, tmp_path):
    """A run may be called as the system of an evaluation; names are as many as runs, and differ."""
    folders = [runs["sgd"], runs["select"]]
    data = data_of(folders, tmp_path, names=["SGD", "IterSelSGD"])
    assert [run["name"] for run in data["runs"]] == ["SGD", "IterSelSGD"]
    for names in (["SGD"], ["SGD", "SGD"]):
        with pytest.raises(ConfigError, match="2 runs need as many different names"):
            gather(folders, names)


def test_states_of_runs(runs):
    silent, single, unfinished, begun = gather([runs[name] for name in ("silent", "single", "unfinished", "begun")])
    assert silent.finished and silent.best.number == 4 and not silent.translated
    assert len(single.epochs) == 1 and single.finished
    assert not unfinished.finished and len(unfinished.epochs) == 2
    scores = [unfinished.history.decisive(epoch) for epoch in unfinished.epochs]
    assert unfinished.history.decisive(unfinished.best) == max(scores)
    assert not begun.finished and begun.best is None and begun.shard_count == 4


def test_patience_ends_a_run(copy):
    described, manifest = (json.loads((copy / name).read_text()) for name in ("run.json", "manifest.json"))
    described["configuration"] |= {"epochs": 9, "patience": 2}
    (copy / "run.json").write_text(json.dumps(described))
    for scores, finished in (([1, 9, 3, 4], True), ([1, 2, 9, 4], False)):
        for entry, score in zip(manifest["epochs"], scores, strict=True):
            entry["devtest_bleu"] = score
        (copy / "manifest.json").write_text(json.dumps(manifest | {"chosen": scores.index(9) + 1}))
        assert gather([copy])[0].finished == finished


def test_an_algorithm_may_end_its_run(copy):
    described, manifest = (json.loads((copy / name).read_text()) for name in ("run.json", "manifest.json"))
    described["configuration"] |= {"epochs": 9}
    (copy / "run.json").write_text(json.dumps(described))
    assert not gather([copy])[0].finished
    (copy / "manifest.json").write_text(json.dumps(manifest | {"stopped": True}))
    assert gather([copy])[0].finished


def test_any_declared_figures_are_drawn(runs, tmp_path):
    """An algorithm without a single key of the others: its own figure, choice, start and stages."""
    data = data_of([runs["toy"], runs["toy2"]], tmp_path)
    assert [(one["name"], one["form"]) for one in data["figures"]] == [("gap", "number"), ("spread", "number")]
    assert data["figures"][1]["about"] == TOY.figures[0].about and data["apart"] is None
    run, lines = data["runs"][0], lines_of(runs["toy"])
    assert run["algorithm"] == "Median" and run["choice"] == {"figure": "gap", "label": "gap", "largest": False}
    assert run["best"] == 3 and run["finished"] and run["start"] == {} and run["translated"] == []
    for epoch, gap in zip(run["epochs"], (3.0, 1.5, 1.25, 2.0), strict=True):
        (whole,) = [line for line in lines if line["shard"] is None and line["epoch"] == run["epochs"].index(epoch) + 1]
        assert epoch["values"] == {"gap": gap, "spread": pytest.approx(whole["median_gap"] / whole["lists"], rel=1e-5)}
        assert list(epoch["seconds"]) == ["sort", "take_median"] and list(epoch["spread"]) == ["spread"]


def test_the_smallest_may_be_the_best(runs, tmp_path):
    """Before a run has ended, the best so far is by its own criterion; so is patience."""
    copy = Path(shutil.copytree(runs["toy"], tmp_path / "copy"))
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest | {"chosen": None}))
    assert gather([copy])[0].best.number == 3
    described = json.loads((copy / "run.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(manifest))
    for patience, finished in ((1, True), (2, False)):
        described["configuration"] |= {"epochs": 9, "patience": patience}
        (copy / "run.json").write_text(json.dumps(described))
        assert gather([copy])[0].finished == finished


def test_runs_by_different_criteria_are_not_ranked(runs, tmp_path):
    assert data_of([runs["select"], runs["mix"], runs["silent"], runs["begun"]], tmp_path)["apart"] is None
    data = data_of([runs["select"], runs["toy"]], tmp_path)
    assert data["apart"] == "The runs choose their epochs by different criteria: devtest BLEU, gap."
    assert [run["choice"]["figure"] for run in data["runs"]] == ["devtest_bleu", "gap"]


def test_figures_that_share_a_key_are_told_apart():
    one = Declaration("a", "A", figures=(Figure("loss", "loss", "loss"),), choice=Choice("loss", "loss"))
    two = Declaration("b", "B", figures=(Figure("loss", "hinge loss", "loss", "pairs"),), choice=Choice("loss", "loss"))
    plain, hinge = one.figures[0], two.figures[0]
    assert figure_names([one, two, one]) == {plain: "loss", hinge: "loss-2"}


def test_figures_without_a_value_are_left_out(copy, tmp_path):
    """A division by nothing, or a part that an epoch does not have, is no figure and no damage."""
    lines = lines_of(copy)
    for line in lines:
        line["pairs"] = 0
        del line["best_metric"]
    (copy / "statistics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (run,) = data_of([copy], tmp_path)["runs"]
    for epoch in run["epochs"]:
        assert not {"pair_error", "metric"} & epoch["values"].keys() and "updates" in epoch["values"]
        assert not {"pair_error", "metric"} & epoch["spread"].keys()


def test_older_runs_are_refused_with_advice(copy, tmp_path, capsys):
    described = json.loads((copy / "run.json").read_text())
    del described["declaration"]
    (copy / "run.json").write_text(json.dumps(described))
    assert main(["report", str(copy), "--output", str(tmp_path / "page.html")]) == 2
    message = capsys.readouterr().err
    assert f"{copy}/run.json: written by an older version of itersel" in message and "itersel train" in message


def test_start_weights_are_epoch_0(copy, tmp_path):
    manifest = json.loads((copy / "manifest.json").read_text())
    start = {"devtest_bleu": 12.5, "files": {"epoch-000/devtest.txt.gz": ""}}
    (copy / "manifest.json").write_text(json.dumps(manifest | {"start": start}))
    (copy / "epoch-000").mkdir(exist_ok=True)
    shutil.copy(copy / "epoch-002" / "devtest.txt.gz", copy / "epoch-000" / "devtest.txt.gz")
    data = data_of([copy], tmp_path)
    assert data["runs"][0]["start"] == {"devtest_bleu": 12.5} and data["runs"][0]["translated"] == [0, 1, 2, 3, 4]
    for _, _, epochs in data["sets"][0]["outputs"]["0"]:
        assert len(epochs) == 5 and epochs[0] == epochs[2]


def test_names_tell_runs_apart():
    assert short_names([Path("/a/b/run"), Path("/a/c/run"), Path("/a/d/other")]) == ["b/run", "c/run", "other"]
    assert short_names([Path("/a/run/x"), Path("/a/x")]) == ["run/x", "a/x"]


@pytest.mark.parametrize(
    ("file", "content", "place", "message"),
    [
        ("run.json", None, "", "there is no run.json"),
        ("run.json", "{", "/run.json", "damaged"),
        ("run.json", '{"format": 1}', "/run.json", "no configuration"),
        ("run.json", '{"format": 99}', "/run.json", "another version"),
        ("run.json", {"declaration": {"name": "x"}}, "/run.json", "not the declaration of an algorithm"),
        ("run.json", {"declaration": None}, "/run.json", "not the declaration of an algorithm"),
        ("manifest.json", "[]", "/manifest.json", "damaged"),
        ("manifest.json", '{"format": 1, "epochs": 3}', "/manifest.json", "list of epochs"),
        ("manifest.json", '{"format": 1, "epochs": [{"weights": "many"}]}', "/manifest.json", "'weights' is 'many'"),
        ("manifest.json", '{"format": 1, "epochs": [], "chosen": 3}', "/manifest.json", "epoch 3 is chosen"),
        ("statistics.jsonl", '{"shard": 0}\nno', "/statistics.jsonl:1", "'epoch' is None"),
        ("statistics.jsonl", "nothing", "/statistics.jsonl:1", "damaged"),
        ("statistics.jsonl", "", "/statistics.jsonl", "no statistics of epoch 1"),
        ("epoch-002/weights.vec", "xx", "/epoch-002/weights.vec", "vector"),
        ("epoch-003/devtest.txt.gz", "one\n", "/epoch-003/devtest.txt.gz", "1 translations of 15 sentences"),
    ],
)
def test_bad_input_is_named(copy, tmp_path, capsys, file, content, place, message):
    if isinstance(content, dict):  # keys to replace
        content = json.dumps(json.loads((copy / file).read_text()) | content)
    (copy / file).unlink() if content is None else (copy / file).write_text(content)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        write_report([copy], tmp_path / "page.html")
    assert caught.value.where == f"{copy}{place}"
    assert main(["report", str(copy), "--output", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.startswith(f"itersel report: error: {copy}{place}: ")
    assert not (tmp_path / "page.html").exists()


JUNK = st.sampled_from([None, -1, 1.5, "text", [], [1], {}, {"a": [None]}, True, 10**6])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(["run.json", "manifest.json", "statistics.jsonl"]), st.integers(0, 10**6), JUNK)
def test_damaged_values_are_never_a_traceback(runs, file, which, junk):
    """Any value of a run's records replaced by any other: the page is written, or the error is one for users."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(runs["select"], Path(folder) / "copy"))
        lines = (copy / file).read_text().splitlines() if file.endswith("l") else [(copy / file).read_text()]
        values = [json.loads(line) for line in lines]
        places = list(inner_places(values))
        holder, key = places[which % len(places)]
        holder[key] = junk
        (copy / file).write_text("\n".join(map(json.dumps, values)) + "\n")
        with contextlib.suppress(UserError):
            write_report([copy], Path(folder) / "page.html")


def inner_places(values):
    """Every container in a JSON value with each of its keys."""
    for key in values if isinstance(values, dict) else range(len(values)) if isinstance(values, list) else ():
        yield values, key
        yield from inner_places(values[key])


def test_wrong_requests(runs, tmp_path):
    with pytest.raises(ConfigError, match="named twice"):
        write_report([runs["sgd"], runs["mix"], runs["sgd"] / ".." / "sgd"], tmp_path / "page.html")
    with pytest.raises(ConfigError, match="no runs"):
        write_report([], tmp_path / "page.html")
    with pytest.raises(ConfigError, match="features is 0"):
        write_report([runs["sgd"]], tmp_path / "page.html", features=0)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=80))
def test_boxes_are_tukeys(values):
    made = spread(enumerate(values))
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    whiskers = [value for value in values if low - 1.5 * (high - low) <= value <= high + 1.5 * (high - low)]
    if not whiskers:  # the quartiles themselves lie outside by rounding
        return
    assert made["box"] == pytest.approx([min(whiskers), low, median, high, max(whiskers)], rel=1e-4, abs=1e-3)
    dots = values if len(values) <= 60 else [value for value in values if not min(whiskers) <= value <= max(whiskers)]
    assert [value for _, value in made["dots"]] == pytest.approx(dots, rel=1e-4, abs=1e-3)


def test_one_shard_has_no_spread():
    assert spread([(0, 1.0)]) is None and spread([(0, 1.0), (1, None)]) is None


@pytest.mark.parametrize(
    ("name", "kind", "source", "target"),
    [
        ("LanguageModel", "dense", None, None),
        ("R:X:NX_alte_NX:N1_old_N2", "rule", (1, "alte", 2), (1, "old", 2)),
        ("R:X:NX_:_NX:N2_:_N1", "rule", (1, ":", 2), (2, ":", 1)),
        ("R:X:::;", "rule", (":",), (";",)),
        ("R:NP:NNP_hut:N1_hat", "rule", (1, "hut"), (1, "hat")),
        ("R:X:n1_NX:N1_n2", "rule", ("n1", 1), (1, "n2")),
        ("RBS:<r>_ein", "source bigram", ("<r>", "ein"), None),
        ("RBS:X_</r>", "source bigram", (1, "</r>"), None),
        ("RBT:X2_hat", "target bigram", None, (2, "hat")),
        ("Shape_S11010_T01110", "shape", ("…", 1, 2), (1, "…", 2)),
        ("R:odd", "dense", None, None),
        ("R:X:NX:N1_N1", "rule", None, None),
        ("Shape_of_things", "dense", None, None),
    ],
)
def test_names_taken_apart(name, kind, source, target):
    pattern = pattern_of(name)
    assert pattern.kind == kind
    assert (pattern.source and pattern.source.symbols, pattern.target and pattern.target.symbols) == (source, target)


def test_rules_come_back_from_the_kernels_names(runs):
    """Every rule of a grammar is found among the names that the kernel made of it."""
    (folder,) = {run.parent for run in runs.values()}
    shard = Shard(folder / "devtest.itsh")
    rules = {
        tuple(
            tuple(int(word[-2]) if re.fullmatch(r"\[X,\d\]", word) else word for word in side.split())
            for side in line.split(" ||| ")[1:3]
        )
        for line in shard.grammar(0).decode().splitlines()
    }
    # `=` and `;` are written as `_`, so words with them cannot come back as they were.
    plain = {rule for rule in rules if not any(set("=;_") & set(str(symbol)) for side in rule for symbol in side)}
    found = {
        (pattern.source.symbols, pattern.target.symbols)
        for pattern in map(pattern_of, shard.feature_names())
        if pattern.kind == "rule"
    }
    assert len(plain) >= 10 and plain <= found


LETTERS = st.sampled_from("abc")


@given(st.lists(LETTERS, min_size=1, max_size=7), st.lists(LETTERS | st.just(1), min_size=1, max_size=4))
def test_sides_are_found_where_they_stand(sentence, symbols):
    """Against brute force: a gap is at least one word, words between gaps stand together."""
    symbols = [k + 1 if symbol == 1 else symbol for k, symbol in enumerate(symbols)]

    def fits(words, wanted):
        if not wanted or not words:
            return not wanted and not words
        if isinstance(wanted[0], int):
            return any(fits(words[k:], wanted[1:]) for k in range(1, len(words) + 1))
        return words[0] == wanted[0] and fits(words[1:], wanted[1:])

    cuts = combinations(range(len(sentence) + 1), 2)
    expected = any(fits(sentence[begin:end], symbols) for begin, end in cuts)
    text = " ".join(sentence)
    spans = Side(tuple(symbols)).find(join(text))
    words = [symbol for symbol in symbols if isinstance(symbol, str)]
    assert bool(spans) == (expected and bool(words))
    if spans:
        assert " ".join(text[begin:end] for begin, end in spans).split() == words


def test_a_word_that_stays_the_same_stands_in_two_places():
    assert pattern_of("R:X:a:a").find(join("b a"), join("c d a")) == ([(2, 3)], [(4, 5)])


def test_words_with_signs_that_names_replace():
    pattern = pattern_of("R:X:a_____b:c_d")
    assert pattern.find(join("x a = ; b"), join("c=d c d")) is not None
    assert pattern.find(join("x a b"), join("e c d")) is not None
    assert pattern.find(join("xa b"), join("c d")) is None


def test_features_by_weight_and_by_norm(copy):
    (run,) = gather([copy])
    folder = copy / f"epoch-{run.best.number:03d}"
    weights = dict(Weights.read(folder / "weights.txt.gz"))
    assert len(weights) > 12
    # Norms the other way round: the smallest weight has the largest.
    order = sorted(weights, key=lambda name: abs(weights[name]))
    squares = {name: float(len(order) - k) ** 2 for k, name in enumerate(order)}
    ids = feature_ids(list(weights))
    sort = np.argsort(ids)
    names = [list(weights)[k] for k in sort]
    values = np.array([squares[name] for name in names])
    (folder / "norms.vec").write_bytes(Columns(ids[sort], values, np.ones(len(ids))).to_bytes())
    table = feature_table(run, 5, [])
    largest = sorted(weights, key=lambda name: (-abs(weights[name]), name))[:5]
    by_norm = sorted(weights, key=lambda name: (-squares[name], name))[:5]
    assert table.norm == "l2" and table.total == len(weights)
    assert {feature.name for feature in table.features} == {*largest, *by_norm}
    for feature in table.features:
        assert feature.weight == weights[feature.name]
        assert feature.norm == pytest.approx(squares[feature.name] ** 0.5)
        histories = [
            Weights.read(copy / f"epoch-{k:03d}" / "weights.txt.gz").get(feature.name, 0.0) for k in (1, 2, 3, 4)
        ]
        assert list(feature.history) == histories
    kinds = Counter(name.split(":")[0].split("_")[0] for name in weights)
    assert table.kinds.get("rule", 0) == kinds["R"] and table.kinds.get("shape", 0) == kinds["Shape"]


def test_runs_without_norms(copy):
    for place in copy.glob("epoch-*/norms.vec"):
        place.unlink()
    table = feature_table(gather([copy])[0], 5, [])
    assert table.norm is None and all(feature.norm is None for feature in table.features)


def test_damaged_norms_are_named(copy):
    for k in (1, 2, 3, 4):
        (copy / f"epoch-{k:03d}" / "norms.vec").write_bytes(b"no columns at all")
    with pytest.raises(InputError) as caught:
        feature_table(gather([copy])[0], 5, [])
    assert caught.value.where.endswith("norms.vec")


def test_examples_mark_the_features_words(runs):
    sentences = [
        Sentence("devtest", "1", "das haus ist hund", "dog is the house"),
        Sentence("train", "2", "𝔘 ist", "𝔘 is"),
    ]
    table = feature_table(gather([runs["mix"]])[0], 1000, sentences)
    named = {feature.name: feature for feature in table.features}
    marked = 0
    for feature in named.values():
        for example in feature.examples:
            sentence = sentences[example.sentence]
            for side, text, spans in (
                (feature.pattern.source, sentence.source, example.source),
                (feature.pattern.target, sentence.target, example.target),
            ):
                words = [] if side is None else [word for word in side.symbols if isinstance(word, str)]
                words = [word for word in words if word not in ("<r>", "</r>")]
                assert " ".join(text[begin:end] for begin, end in spans).split() == words
                marked += 1
    assert marked > 4


def test_translations_and_scores(runs, tmp_path):
    from sacrebleu.metrics.bleu import BLEU

    found = gather([runs["select"], runs["mix"]])
    (one,) = devtest_sets(found, 1000)
    assert one.total == 15 and not one.note
    shard = Shard(runs["select"].parent / "devtest.itsh")
    assert [source.text for source in one.sources] == [shard.source(k) for k in range(15)]
    # BLEU+1 differs from sacrebleu's add-one smoothing only where a sentence is shorter than four words.
    exact = BLEU(tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False)
    checked = 0
    for number, run in enumerate(found):
        for epoch in range(1, 5):
            lines = gzip.decompress((run.folder(epoch) / "devtest.txt.gz").read_bytes()).decode().splitlines()
            for k, outputs in enumerate(one.outputs[number]):
                which = outputs.epochs[run.translated.index(epoch)]
                text = outputs.texts[which]
                assert text == lines[k]
                reference = one.sources[k].references[0]
                if min(len(text.split()), len(reference.split())) >= 4:
                    value = exact.sentence_score(text, [reference]).score
                    assert outputs.scores[which] == pytest.approx(value)
                    checked += 1
    assert checked > 50


def test_runs_on_other_data_are_apart(runs, tmp_path):
    writer = ShardWriter(groups=("id",))
    writer.add("das haus", ["the house"], b"[X] ||| das haus ||| the house ||| p=1\n")
    other = Path(shutil.copytree(runs["mix"], tmp_path / "other"))
    described = json.loads((other / "run.json").read_text())
    described["identity"]["devtest.0"] = "0" * 16
    (other / "run.json").write_text(json.dumps(described))
    one, two = devtest_sets(gather([runs["select"], other]), 5)
    assert list(one.outputs) == [0] and list(two.outputs) == [1]
    assert "no longer the file of this run" in two.note and two.sources[0].text is None


def test_runs_whose_data_is_gone(copy):
    described = json.loads((copy / "run.json").read_text())
    described["configuration"]["devtest"] = ["gone/*.itsh"]
    (copy / "run.json").write_text(json.dumps(described))
    (one,) = devtest_sets(gather([copy]), 4)
    assert "gone/*.itsh" in one.note and [source.text for source in one.sources] == [None] * 4
    assert len(one.outputs[0]) == 4


@given(st.integers(1, 1000), st.integers(1, 50))
def test_sentences_are_taken_evenly(total, limit):
    chosen = evenly(total, limit)
    assert len(chosen) == min(total, limit) and chosen[0] == 0 and chosen[-1] < total
    gaps = {b - a for a, b in zip([*chosen, total], [*chosen[1:], total], strict=False)} - {0}
    assert max(gaps) - min(gaps) <= 1


@given(st.floats(-1e12, 1e12))
def test_numbers_keep_six_digits(value):
    assert short(value) == pytest.approx(value, rel=1e-5, abs=1e-300)
    assert len(json.dumps(short(value)).strip("-").split("e")[0].replace(".", "").strip("0")) <= 6


@settings(max_examples=30)
@given(st.text() | st.sampled_from(["</script>", "<!--<script>", "]]>", "\u2028", "{{data}}", "&lt;"]))
def test_no_text_ends_the_data(text):
    data = {
        "title": text,
        "figures": [],
        "runs": [],
        "sets": [],
        "configuration": [],
        "evaluation": None,
        "more": [text, {text: text}],
    }
    written = to_json(data)
    assert not set(written) & set("<>&\u2028\u2029")
    assert json.loads(written) == data
    page = Page(render(data))
    assert json.loads(page.content["data"]) == data
    assert Counter(tag for tag, _ in page.elements)["script"] == 2


def test_page_needs_nothing_and_allows_nothing(runs, tmp_path):
    place = write_report(list(runs.values()), tmp_path / "page.html", title=f"A & B {HOSTILE[1]}")
    page = read_page(place)
    assert page.content["title"] == f"A & B {HOSTILE[1]}"
    assert any(
        HOSTILE[0] in text
        for outputs in json.loads(page.content["data"])["sets"][0]["outputs"]["0"]
        for text in outputs[0]
    )
    assert {tag for tag, _ in page.elements} & {"img", "link", "iframe", "object", "i", "b"} == set()
    for tag, attributes in page.elements:
        assert not any(key.startswith("on") or key in ("src", "style") for key in attributes), tag
        assert attributes.get("href", "#").startswith("#")
    (policy,) = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.content[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://(?!www\.w3\.org/2000/svg)",
        page.content["script"],
    )


def test_every_script_is_on_the_page():
    files = {place.name for place in (resources.files("itersel.report") / "page").iterdir()}
    assert files == {"report.html", "report.css", *(f"{name}.js" for name in SCRIPTS)}


def test_the_page_knows_every_form():
    """What base.figures allows, the page can write."""
    script = (resources.files("itersel.report") / "page" / "dom.js").read_text()
    block = script.partition("const FORMS = {")[2].partition("};")[0]
    assert re.findall(r"^  (\w+): \{", block, re.MULTILINE) == list(FORMS)


def test_the_page_knows_no_algorithm():
    """Names of algorithms and of their figures are data, never part of the scripts."""
    words = "pair_error rank_errors updates bleu nonzero best_metric IterSelSGD MixSGD SGD iter_sel_sgd mix_sgd sgd"
    for name in SCRIPTS:
        script = (resources.files("itersel.report") / "page" / f"{name}.js").read_text()
        assert not set(re.findall(r"\w+", script)) & set(words.split()), name


def test_same_runs_same_bytes(runs, tmp_path):
    names = ("sgd", "select", "silent")
    first = write_report([runs[name] for name in names], tmp_path / "1.html").read_bytes()
    here = [os.path.relpath(runs[name], tmp_path) for name in names]
    command = [sys.executable, "-m", "itersel", "report", *here, "--output", "2.html"]
    subprocess.run(command, cwd=tmp_path, check=True, env=os.environ | {"PYTHONHASHSEED": "7"}, capture_output=True)
    assert (tmp_path / "2.html").read_bytes() == first


def test_limits_keep_it_small(runs, tmp_path):
    data = data_of([runs["select"], runs["mix"]], tmp_path, features=3, sentences=2)
    assert all(3 <= len(run["features"]["rows"]) <= 6 for run in data["runs"])
    assert len(data["sets"][0]["sources"]) == 2 and data["sets"][0]["total"] == 15


def test_configuration_shows_differences(runs, tmp_path):
    rows = {row["key"]: row for row in data_of([runs["select"], runs["mix"]], tmp_path)["configuration"]}
    assert rows["algorithm"]["values"] == ["iter_sel_sgd", "iter_mix_sgd"] and not rows["algorithm"]["same"]
    assert rows["epoch.k"]["values"] == ["20", "20"] and rows["epoch.k"]["same"]
    assert rows["shards: files"]["values"] == ["4", "4"]


@pytest.fixture(scope="module")
def evaluation():
    references = [["a b c d e"], ["f g h i j"], ["k l m n o"]]
    good, bad = ["a b c d e", "f g h i j", "k l m n p"], ["a b c x e", "f g y i j", "k l m n p"]
    return score_systems([System("sgd", [good]), System("<b>", [bad, good])], references, EvaluationOptions(trials=50))


def test_evaluation_on_the_page(runs, tmp_path, evaluation, capsys):
    from dataclasses import asdict

    (tmp_path / "test.json").write_text(json.dumps(asdict(evaluation)))
    whole = write_report([runs["sgd"]], tmp_path / "1.html", evaluation=evaluation)
    assert (
        main(
            [
                "report",
                str(runs["sgd"]),
                "--evaluation",
                str(tmp_path / "test.json"),
                "--output",
                str(tmp_path / "2.html"),
            ]
        )
        == 0
    )
    assert (tmp_path / "2.html").read_bytes() == whole.read_bytes()
    assert capsys.readouterr().out == f"{tmp_path / '2.html'}\n"
    shown = json.loads(read_page(whole).content["data"])["evaluation"]
    assert shown["systems"][1]["scores"][0][0] == evaluation.score("<b>", "bleu").mean
    assert shown["comparisons"][0]["p"][0] == evaluation.comparison("sgd", "<b>", "bleu").randomization.p


@pytest.mark.parametrize("content", ["{}", '{"sentences": 3, "systems": 5}', "[]", "no"])
def test_what_is_no_evaluation(runs, tmp_path, capsys, content):
    (tmp_path / "test.json").write_text(content)
    assert main(["report", str(runs["sgd"]), "--evaluation", str(tmp_path / "test.json")]) == 2
    assert f"{tmp_path}/test.json: " in capsys.readouterr().err

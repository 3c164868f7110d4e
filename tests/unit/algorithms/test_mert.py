"""MERT as an algorithm: on its own lists, on lists of others, on forests, with limits; guard rails."""

import json
import math
import random
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from engine_cases import WORDS, assert_same_run, small_data
from itersel.algorithms import line_search_job
from itersel.algorithms.mert import Mert, MertConfig
from itersel.algorithms.mira import MiraConfig
from itersel.algorithms.pro import ProConfig
from itersel.algorithms.section_job import MOST_SECTIONS, SectionJob, section_lines
from itersel.algorithms.tuner import Memory, Tuning, check_weights, largest_change
from itersel.base.errors import ConfigError, InputError
from itersel.engines import RunConfig
from itersel.lists.accumulated import AccumulatedLists, NewList
from itersel.lm.model import LanguageModel
from itersel.mapreduce import side
from itersel.mapreduce.execution import map_item, reduce_range
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem
from itersel.model.features import Weights
from itersel.report.page import write_report
from itersel.run import driver
from itersel.run.config import load_train_config, load_with_algorithm
from itersel.run.devtest import translate_shards
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.run.rerank import train_reranker
from itersel.run.rerank_config import RerankConfig
from itersel.shards.shard import Shard, ShardWriter
from itersel.tune.ascent import random_scales
from itersel.tune.space import Dimension, Lines, SearchSpace
from oracles import line_search as oracle

QUICK = MertConfig(k=10, starts=3)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    data = small_data(tmp_path_factory.mktemp("data"))
    return replace(data, algorithm="mert", layout=LayoutConfig("random", shards=2), devtest=(), run=RunConfig("inline"))


def tuned(data, folder, own, warnings=None):
    """The entries of the rounds, and the weights of the last."""
    train(replace(data, own=own), folder, warn=[].append if warnings is None else warnings.append)
    manifest = json.loads((folder / "manifest.json").read_text())
    last = folder / f"epoch-{len(manifest['epochs']):03d}" / "weights.txt.gz"
    return manifest["epochs"], dict(Weights.read(last))


def test_it_gains_and_its_weights_have_an_absolute_sum_of_one(data, tmp_path):
    entries, weights = tuned(data, tmp_path / "run", QUICK)
    assert max(entry["tune_score"] for entry in entries) > entries[0]["start_score"] + 5
    dense = {name: value for name, value in weights.items() if not name.startswith(("R", "Shape", "elsewhere"))}
    assert math.fsum(map(abs, dense.values())) == pytest.approx(1)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    scores = [entry["tune_score"] for entry in entries]
    assert manifest["chosen"] == 1 + scores.index(max(scores)), "without devtest, the tuning score decides"


@pytest.mark.parametrize("space", ["list", "forest"])
def test_the_tuning_score_is_sacrebleus_of_what_is_decoded(data, tmp_path, space):
    """At the point that the line search chose: the shards translated with the run's weights, by another way."""
    config = replace(data, fold_models=(), epochs=1)
    (entry,), weights = tuned(config, tmp_path / "run", replace(QUICK, space=space, starts=1, steps=2))
    shards = [Shard(path) for path in data.shards]
    model = LanguageModel(data.language_model)
    lines = translate_shards(shards, Weights(weights), model, data.epoch.decoder)
    references = [shard.references(k)[0] for shard in shards for k in range(len(shard))]
    expected = sacrebleu.corpus_bleu(lines, [references], tokenize="none", force=True).score
    assert entry["tune_score"] == pytest.approx(expected, abs=1e-9)


def test_forests_need_no_lists(data, tmp_path):
    entries, _ = tuned(data, tmp_path / "run", replace(QUICK, space="forest", starts=1, steps=3))
    assert max(entry["tune_score"] for entry in entries) > entries[0]["start_score"] + 5
    assert not list((tmp_path / "run").glob("epoch-*/*.state"))


def score_of_lists(folder, weights):
    """BLEU of what the weights rank first on the lists that the shards have collected by a round, the slow way."""
    sums, places = np.zeros(10), sorted((folder / "shards").glob("*.state"))
    assert len(places) == 2
    for place in places:
        lists = AccumulatedLists.from_bytes(place.read_bytes())
        values = np.array([weights.get(name, 0.0) for name in lists.names])
        for begin, end in pairwise(lists.offsets.tolist()):
            scores = []
            for row in range(begin, end):
                inner = slice(lists.starts[row], lists.starts[row + 1])
                scores.append(math.fsum(values[lists.features[inner]] * lists.values[inner]))
            sums += lists.statistics[begin + int(np.argmax(scores))]
    return 100 * oracle.bleu(sums)


def test_no_round_ends_below_its_start_on_what_was_collected(data, tmp_path):
    """Of the lists that all rounds before decoded, a round's weights make no less than those it starts from."""
    last, copy, zstd = None, tmp_path / "copy", b"\x28\xb5\x2f\xfd"
    for number in range(1, 4):
        entries, weights = tuned(replace(data, epochs=number), tmp_path / "run", replace(QUICK, k=3))
        assert len(entries) == number
        if last is not None:
            start, end = score_of_lists(copy, last), score_of_lists(copy, weights)
            assert entries[-1]["list_score"] == pytest.approx(end, abs=1e-9) and end >= start - 1e-9
        last = weights
        shutil.copytree(tmp_path / "run" / f"epoch-{number:03d}", copy, dirs_exist_ok=True)  # lists move on
    assert entries[1]["new_hypotheses"] > 0
    assert all(place.read_bytes().startswith(zstd) for place in copy.glob("shards/*.state")), "compressed"


def test_cross_sections_of_forests_go_through_the_decoders_score(data, tmp_path):
    """In the middle of every section are the round's own weights."""
    own = replace(QUICK, space="forest", starts=1, steps=1)
    (entry,), weights = tuned(replace(data, epochs=1), tmp_path, own)
    sections = json.loads((tmp_path / "epoch-001" / "sections.json").read_text())
    assert {"p", "LanguageModel"} <= sections.keys()
    for name, one in sections.items():
        middle = len(one["weights"]) // 2
        assert one["weights"][middle] == one["at"] == weights.get(name, 0.0)
        assert one["values"][middle] == pytest.approx(entry["tune_score"], abs=1e-4)
        assert name == "q" or len(set(one["values"])) > 1


@pytest.mark.parametrize("space", ["list", "forest"])
def test_named_template_features_are_drawn_and_change_nothing_else(data, tmp_path, space):
    """MERT's lists have no template features; those that are drawn are in them, and no hypothesis is new for that.

    The grammar has derivations that differ in their rules, but neither in the text nor in dense features.
    """
    more = "".join(
        f"[X] ||| {source} [X,1] ||| {each[0]} [X,1] ||| q=1\n[X] ||| [X,1] {source} ||| [X,1] {each[0]} ||| q=1\n"
        for source, each in WORDS.items()
    )
    for number in (0, 2):
        shard, writer = Shard(data.shards[number]), ShardWriter(groups=("id", "shape"))
        for k in range(len(shard)):
            writer.add(shard.source(k), shard.references(k), shard.grammar(k) + more.encode(), id=shard.id(k))
        writer.write(tmp_path / f"{number}.itsh")
    own = replace(QUICK, unique=False, space=space, starts=2, steps=2)
    names = [name for name in Shard(tmp_path / "2.itsh").feature_names() if name.startswith(("R:", "Shape_"))]
    shards, warnings = tuple(str(tmp_path / f"{number}.itsh") for number in (0, 2)), []
    config = replace(data, shards=shards, epochs=2)
    expected = tuned(config, tmp_path / "without", own)
    entries, weights = tuned(config, tmp_path / "run", replace(own, sections=(*names, "p", "R:X:no:where")), warnings)
    compared = ("new_hypotheses", "list_score", "tune_score", "line_searches")
    for one, other in zip(entries, expected[0], strict=True):
        assert [one[key] for key in compared] == [other[key] for key in compared]
    for number in range(1, len(entries) + 1):
        vectors = [tmp_path / run / f"epoch-{number:03d}" / "weights.vec" for run in ("run", "without")]
        assert vectors[0].read_bytes() == vectors[1].read_bytes()
    (warning,) = [text for text in warnings if "cross-section" in text]
    assert warning.endswith("R:X:no:where: does not vary within any list") and warning.startswith("epoch 1")
    last = f"epoch-{len(entries):03d}"
    dense, drawn = (json.loads((tmp_path / run / last / "sections.json").read_text()) for run in ("without", "run"))
    assert dense.items() <= drawn.items() and len(drawn) > len(dense) + 5
    for name in drawn.keys() - dense.keys():
        one = drawn[name]
        assert name in names and one["at"] == one["weights"][80] == 0.0
        assert one["values"][80] == pytest.approx(entries[-1]["tune_score"], abs=1e-4) or space == "list"
        for k in range(0, 161, 40) if space == "list" else ():
            score = score_of_lists(tmp_path / "run" / last, weights | {name: one["weights"][k]})
            assert one["values"][k] == pytest.approx(score, abs=1e-4)
    assert any(len(set(drawn[name]["values"])) > 1 for name in drawn.keys() - dense.keys())
    page = Path(write_report([tmp_path / "run"], tmp_path / "report.html")).read_text()
    (run,) = json.loads(page.split('id="data">')[1].split("</script>")[0])["runs"]
    chosen = json.loads((tmp_path / "run" / f"epoch-{run['best']:03d}" / "sections.json").read_text())
    assert {one["name"] for one in run["sections"]["features"]} == chosen.keys() > dense.keys()


@pytest.mark.parametrize("metric", ["chrf", "ter", "bleu=1 ter=0.5"])
def test_other_metrics_are_maximised(data, tmp_path, metric):
    """The tuning score is that of the translations by sacrebleu; a metric's own run is the best by it."""
    scores = {}
    for tuned_for in ("bleu", metric):
        folder = tmp_path / tuned_for
        config = replace(data, fold_models=(), epochs=1)
        (entry,), weights = tuned(config, folder, replace(QUICK, k=100, metric=tuned_for))
        shards = [Shard(path) for path in data.shards]
        lines = translate_shards(shards, Weights(weights), LanguageModel(data.language_model), data.epoch.decoder)
        references = [shard.references(k)[0] for shard in shards for k in range(len(shard))]
        bleu = sacrebleu.corpus_bleu(lines, [references], tokenize="none", force=True).score
        chrf, ter = (kind().corpus_score(lines, [references]).score for kind in (sacrebleu.CHRF, sacrebleu.TER))
        values = {"bleu": bleu, "chrf": chrf, "ter": 100 - ter, "bleu=1 ter=0.5": bleu + (100 - ter) / 2}
        assert entry["tune_score"] == pytest.approx(values[tuned_for], abs=1e-9)
        scores[tuned_for] = values[metric]
    assert scores[metric] >= scores["bleu"] - 0.5 and scores[metric] > 0


def test_seeds_are_other_searches(tmp_path):
    write_random_lists(tmp_path, 1)
    own = MertConfig(starts=3, steps=2)
    found = [reranked(tmp_path, replace(own, seed=seed), f"{k}")[1] for k, seed in enumerate((1, 1, 2))]
    assert found[0] == found[1] != found[2]


def test_a_run_ends_when_no_weight_moves(data, tmp_path):
    """Weights at an absolute sum of 1 cannot differ by more than 2; two rounds are run if that is asked for."""
    for least_change, rounds in ((2.1, 1), (0.0, 2)):
        own = replace(QUICK, k=3, starts=1, steps=2, least_change=least_change)
        entries, _ = tuned(replace(data, epochs=2), tmp_path / str(rounds), own)
        assert len(entries) == rounds and entries[0]["new_hypotheses"] > 0


class Killed(BaseException):
    """As if the driver's process had ended."""


@pytest.mark.parametrize(
    ("algorithm", "own"),
    [
        ("mert", replace(QUICK, k=3, starts=2, steps=2)),
        ("mert", replace(QUICK, space="forest", starts=1, steps=2)),
        ("pro", ProConfig(k=3, keep=5, gradient="job", iterations=2)),
    ],
    ids=["mert", "forest", "pro"],
)
def test_a_killed_run_resumes_after_each_job(data, tmp_path, monkeypatch, algorithm, own):
    config, inner, ran = replace(data, algorithm=algorithm, own=own, epochs=1), driver.JobRunner._run, []
    allowed = [10**9]

    def counted(self, job, items, side, title):
        if len(ran) >= allowed[0]:
            raise Killed
        ran.append(type(job).__name__)
        return inner(self, job, items, side, title)

    monkeypatch.setattr(driver.JobRunner, "_run", counted)
    train(config, tmp_path / "whole", warn=[].append)
    expected = list(ran)
    assert len(expected) >= 5
    ran.clear()
    for allowed[0] in range(len(expected)):
        with pytest.raises(Killed):
            train(config, tmp_path / "killed", warn=[].append)
    allowed[0] += 1
    train(config, tmp_path / "killed", warn=[].append)
    assert ran == expected, "no job ran twice"
    assert_same_run(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.parametrize("starts", [1, 2, 3, 4, 6, 7, 12])
def test_where_a_round_starts_from(data, tmp_path, starts):
    """The last weights, then other results, the latest first, up to half of all points; the rest are random."""
    weights = {"f": 0.5, "g": -0.5}
    bests = [{"f": 0.25, "g": 0.75}, {"f": 1.0}, {"f": 0.25, "g": 0.75}, {"f": -0.5, "g": 0.5}, weights]
    memory = Memory(10.0, {"f": 1.0, "g": 2.0}, (11.0,) * 5, tuple(bests))
    mert = Mert(replace(data, own=MertConfig(starts=starts)))
    tuning = Tuning(5, weights, [], memory, None, tmp_path)
    space, point = mert.space(tuning)
    scales = random_scales(space, memory.spread)
    found = mert.starting_points(space, point, scales, tuning)
    assert len(found) == starts and len({tuple(one) for one in found}) == starts
    known = [[0.5, -0.5], [-0.5, 0.5], [0.25, 0.75], [1.0, -0.5]][: max(starts // 2, 1)]
    assert [one.tolist() for one in found[: len(known)]] == known, "what a result does not have is as it is now"
    assert [np.abs(one).sum() for one in found[len(known) :]] == pytest.approx([1.0] * (starts - len(known)))
    again = mert.starting_points(space, point, scales, tuning)
    assert [one.tolist() for one in again] == [one.tolist() for one in found]
    other = mert.starting_points(space, point, scales, replace(tuning, number=6))
    assert all(
        one.tolist() != same.tolist() for one, same in zip(other[len(known) :], found[len(known) :], strict=True)
    )


def test_ranges_and_fixed_features(data, tmp_path):
    free = tuned(replace(data, epochs=1), tmp_path / "free", QUICK)[1]
    name = max(free.keys() - {"p", "elsewhere"}, key=lambda one: abs(free[one]))  # these two have start weights
    sign = -1 if free[name] > 0 else 1
    limit = f"{name}=:0" if sign < 0 else f"{name}=0:"
    limited = tuned(replace(data, epochs=1), tmp_path / "limited", replace(QUICK, ranges=(limit,)))[1]
    assert sign * limited.get(name, 0.0) >= 0
    fixed = tuned(replace(data, epochs=1), tmp_path / "fixed", replace(QUICK, fixed=(name, "LanguageModel")))[1]
    assert name not in fixed and "LanguageModel" not in fixed, "their start weights are 0"


def write_random_lists(folder, seed):
    """Twenty lists of eight hypotheses with three features, and start weights."""
    draw = random.Random(seed)
    lines = [
        f"{number} ||| {' '.join(draw.choices('abcdef', k=draw.randint(4, 7)))} ||| f={draw.gauss(0, 1)}"
        f" g={draw.gauss(0, 1)} h={draw.gauss(0, 1)} ||| 0\n"
        for number in range(20)
        for _ in range(8)
    ]
    (folder / "lists").write_text("".join(lines))
    (folder / "references").write_text("a b c d e\n" * 20)
    Weights({name: draw.gauss(0, 1) for name in "fgh"}).write(folder / "start")


def reranked(folder, own, place="run"):
    """The only round's entry and the weights, from the start weights of the folder."""
    config = replace(reranker(folder), start=str(folder / "start"), own=own, epochs=1)
    train_reranker(config, folder / place, warn=[].append)
    (entry,) = json.loads((folder / place / "manifest.json").read_text())["epochs"]
    return entry, dict(Weights.read(folder / place / "weights.txt.gz"))


@pytest.mark.parametrize("seed", range(4))
def test_ranges_hold_for_the_result(tmp_path, seed):
    """Limits are for weights at an absolute sum of 1, which the result has."""
    write_random_lists(tmp_path, seed)
    Weights({"f": 0.3, "g": 0.4, "h": 0.3}).write(tmp_path / "start")
    limits = "f=0.3:0.5", "h=-0.1:0.4"
    entry, weights = reranked(tmp_path, MertConfig(starts=3, ranges=limits))
    assert 0.3 - 1e-9 <= weights["f"] <= 0.5 + 1e-9 and -0.1 - 1e-9 <= weights["h"] <= 0.4 + 1e-9
    assert math.fsum(map(abs, weights.values())) == pytest.approx(1)
    assert entry["start_score"] < entry["tune_score"] == pytest.approx(bleu_of_first(tmp_path / "lists", weights))


def test_fixed_features_keep_their_proportions(tmp_path):
    write_random_lists(tmp_path, 3)
    Weights({"f": 0.3, "g": -0.4, "h": 0.3}).write(tmp_path / "start")
    _, weights = reranked(tmp_path, MertConfig(starts=3, fixed=("f", "g")))
    assert weights["g"] == pytest.approx(-4 / 3 * weights["f"]) and weights["f"] > 0
    assert weights["h"] != pytest.approx(weights["f"]), "the third one has moved"


def test_a_feature_that_never_varies_is_named(data, tmp_path):
    warnings = []
    tuned(replace(data, epochs=1), tmp_path, QUICK, warnings)
    assert any("features that never vary within a list keep their weights: WordPenalty" in text for text in warnings)


@pytest.mark.parametrize("own", [MertConfig(fixed=("f", "F")), MertConfig(ranges=("f=0:", "F=0:"))])
def test_a_name_that_no_feature_has_is_named(tmp_path, own):
    write_random_lists(tmp_path, 3)
    warnings = []
    config = replace(reranker(tmp_path), start=str(tmp_path / "start"), own=own, epochs=1)
    train_reranker(config, tmp_path / "run", warn=warnings.append)
    assert [text for text in warnings if "no list" in text] == [
        "epoch 1: features of fixed or ranges are in no list: F"
    ]


def write_lists(folder, good):
    """Twenty lists of three hypotheses; the feature `good` knows the best one, or nothing differs."""
    lines = []
    for number in range(20):
        for k, text in enumerate(["a b c d e", "a b c x e", "a x y"]):
            features = f"good={2 - k} noise={(number * k) % 3}" if good else "good=1"
            lines.append(f"{number} ||| {text} ||| {features} ||| 0\n")
    (folder / "lists").write_text("".join(lines))
    (folder / "references").write_text("a b c d e\n" * 20)


def reranker(folder):
    values = {"algorithm": "mert", "mert": {"starts": 2}, "epochs": 5, "run": {"runner": "inline"}}
    files = {"lists": [str(folder / "lists")], "references": [str(folder / "references")]}
    return load_with_algorithm(RerankConfig, values | files)


def test_lists_of_any_system(tmp_path):
    write_lists(tmp_path, good=True)
    train_reranker(reranker(tmp_path), tmp_path / "run", warn=[].append)
    (entry,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["epochs"]
    assert entry["tune_score"] == pytest.approx(100) and entry["new_hypotheses"] == 0
    assert Weights.read(tmp_path / "run" / "weights.txt.gz")["good"] > 0


@pytest.mark.parametrize("seed", range(6))
def test_it_never_ends_below_its_start_on_the_lists(tmp_path, seed):
    """The lists stay the same, so what it starts from and what it ends with can be compared."""
    write_random_lists(tmp_path, seed)
    entry, weights = reranked(tmp_path, MertConfig(starts=1, steps=seed + 1))
    assert entry["start_score"] < entry["list_score"] == pytest.approx(entry["tune_score"])
    assert entry["tune_score"] == pytest.approx(bleu_of_first(tmp_path / "lists", weights), abs=1e-9)
    check_sections(tmp_path / "run" / "epoch-001" / "sections.json", tmp_path / "lists", weights)


def bleu_of_first(lists, weights):
    """sacrebleu's score of the hypothesis that each list ranks first; the references are `a b c d e`."""
    best = {}
    for line in lists.read_text().splitlines():
        number, text, features, _ = line.split(" ||| ")
        score = math.fsum(weights.get(name, 0.0) * float(value) for name, value in map(split, features.split()))
        if number not in best or score > best[number][0]:
            best[number] = score, text
    outputs = [text for _, text in best.values()]
    return sacrebleu.corpus_bleu(outputs, [["a b c d e"] * len(outputs)], tokenize="none", force=True).score


def split(pair):
    name, _, value = pair.rpartition("=")
    return name, value


def check_sections(place, lists, weights):
    """Each value is the score with one weight changed; the weight itself is in the middle."""
    sections = json.loads(place.read_text())
    assert sections.keys() == weights.keys()
    for name, one in sections.items():
        middle = len(one["weights"]) // 2
        assert one["at"] == one["weights"][middle] == weights[name]
        assert one["weights"] == sorted(one["weights"])
        for k in range(0, len(one["weights"]), 20):
            expected = bleu_of_first(lists, weights | {name: one["weights"][k]})
            assert one["values"][k] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("own", [MertConfig(starts=2), ProConfig(), MiraConfig()], ids=["mert", "pro", "mira"])
def test_cross_sections_along_named_features(tmp_path, own):
    """Any feature of lists of any system; one that never differs within a list, or is in none, is named."""
    write_random_lists(tmp_path, 5)
    draw, lines = random.Random(5), (tmp_path / "lists").read_text().splitlines()
    for number, line in enumerate(lines):
        rule = f" R:X:a:b={draw.gauss(line.count('c d'), 1)}" if number % 3 else ""
        lines[number] = line.replace(" ||| f=", f" ||| R:X:same=2{rule} f=")
    (tmp_path / "lists").write_text("".join(f"{line}\n" for line in lines))
    algorithm = type(own).__name__.removesuffix("Config").lower()
    Weights({"f": 0.1, "R:X:a:b": -1.0}).write(tmp_path / "start")
    config = replace(reranker(tmp_path), algorithm=algorithm, epochs=1)
    config = config if algorithm == "mert" else replace(config, start=str(tmp_path / "start"))
    said, found = {}, []
    for run, sections in (("without", ()), ("run", ("R:X:a:b", "R:X:same", "f", "no", "R:X:same"))):
        said[run] = []
        train_reranker(replace(config, own=replace(own, sections=sections)), tmp_path / run, warn=said[run].append)
        found.append((tmp_path / run / "weights.txt.gz").read_bytes())
    assert found[0] == found[1]
    assert "epoch 1: no cross-section along R:X:same, no: does not vary within any list" in said["run"]
    assert not any("cross-section" in text for text in said["without"])
    weights = dict.fromkeys(("f", "g", "h", "R:X:a:b"), 0.0) | dict(Weights.read(tmp_path / "run/weights.txt.gz"))
    assert (weights["R:X:a:b"] == 0) == (algorithm == "mert")
    weights.pop("R:X:same", None)  # shifts all scores of a list alike
    check_sections(tmp_path / "run" / "epoch-001" / "sections.json", tmp_path / "lists", weights)


def test_a_named_feature_is_drawn_once_and_beyond_the_limit():
    spread = {f"d{k:02d}": 1.0 for k in range(MOST_SECTIONS + 5)} | {"R:X:a:b": 0.5}
    weights = {name: 1.0 - k / 100 for k, name in enumerate(spread)}
    _, names = section_lines(weights, spread, ["d03", "d64", "R:X:a:b"])
    assert names == [*sorted(spread)[1 : MOST_SECTIONS + 1], "d64", "R:X:a:b"]


def test_lists_without_a_difference_are_an_error(tmp_path):
    write_lists(tmp_path, good=False)
    with pytest.raises(InputError, match="no dense feature differs"):
        train_reranker(reranker(tmp_path), tmp_path / "run", warn=[].append)


def test_tables_have_no_forests(tmp_path):
    write_lists(tmp_path, good=True)
    config = replace(reranker(tmp_path), own=replace(QUICK, space="forest"))
    with pytest.raises(InputError, match="a table of lists has no forests"):
        train_reranker(config, tmp_path / "run", warn=[].append)


def test_weights_that_no_tuner_should_end_with():
    with pytest.raises(InputError, match="all weights became 0"):
        check_weights({"f": 0.0})
    with pytest.raises(InputError, match="the weight of f exploded: inf"):
        check_weights({"f": math.inf})
    assert largest_change({"f": 2.0}, {"f": 4.0}) == 0.0
    assert largest_change({"f": 1.0}, {"g": 1.0}) == 1.0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"space": "woods"}, "mert.space is 'woods'"),
        ({"ranges": ["x"]}, "mert.ranges has 'x'"),
        ({"starts": 0}, "mert.starts is 0"),
        ({"metric": "blue"}, "metric is 'blue'"),
        ({"restarts": 1}, "unknown key 'mert.restarts'"),
    ],
)
def test_settings_that_make_no_sense(values, words):
    with pytest.raises(ConfigError, match=words):
        load_train_config({"algorithm": "mert", "mert": values})


def test_lists_are_projected_once_for_all_steps(monkeypatch):
    """The same lists in the same space: nothing is read again. Other lists or another space are other arrays."""
    read = []

    def lists_of(item):
        read.append(item.values[line_search_job.LISTS])
        rows = np.zeros((2, 10), np.float32)
        new = NewList.of(["a", "b"], [{"f": float(item.number)}, {"g": 2.0}], rows)
        return AccumulatedLists.empty(["s"], 10).extended([new])

    monkeypatch.setattr(line_search_job, "lists_of", lists_of)
    items = [WorkItem(k, str(k), values={line_search_job.LISTS: str(k)}) for k in range(3)]
    both, one = (SearchSpace(tuple(map(Dimension.of_feature, names))) for names in ("fg", "g"))
    kept = line_search_job.Projections()
    for _ in range(3):
        assert kept.of(items[1], both).features.tolist() == [[1.0, 0.0], [0.0, 2.0]]
        assert kept.of(items[2], both).features.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert read == ["1", "2"]
    assert kept.of(items[1], one).features.tolist() == [[0.0, 2.0]] and read == ["1", "2", "1"]
    later = replace(items[2], values={line_search_job.LISTS: "3"})
    for _ in range(2):
        assert kept.of(later, both).features.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert read[3:] == ["3"] and len(kept._known) == 2, "lists of an earlier round are forgotten"
    del read[3:]
    small = line_search_job.Projections(limit=0)
    for item in (items[0], items[1], items[1], items[0]):
        small.of(item, both)
    assert read[3:] == ["0", "1", "0"], "only the newest one is kept"


def test_time_stamps_do_not_matter(data, tmp_path, monkeypatch):
    """Steps follow each other within a tick of a coarse clock, and their lines are of the same size."""
    config = replace(data, fold_models=(), epochs=2, own=MertConfig(k=10, starts=1))
    version = side._version
    for runner in (RunConfig("inline"), RunConfig("local", jobs=2)):
        train(replace(config, run=runner), tmp_path / runner.runner, warn=lambda text: None)
        with monkeypatch.context() as coarse:
            coarse.setattr(side, "_version", lambda path: (version(path)[0], 0))
            train(replace(config, run=runner), tmp_path / f"{runner.runner}-coarse", warn=lambda text: None)
        assert_same_run(tmp_path / runner.runner, tmp_path / f"{runner.runner}-coarse")


def test_processes_do_not_matter(data, tmp_path):
    """Processes keep projections between jobs and share out the ranges of lines; alone, one makes all."""
    config, found = replace(data, epochs=2, fold_models=(), layout=LayoutConfig("random", shards=3)), []
    for run in (RunConfig("inline"), RunConfig("local", jobs=2)):
        folder = tmp_path / run.runner
        entries, weights = tuned(replace(config, run=run), folder, QUICK)
        found.append((entries, weights, (folder / "epoch-001" / "sections.json").read_bytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", [line_search_job.LineSearchJob, SectionJob])
def test_the_mapper_of_one_shard_finds_what_the_reducer_would(kind, tmp_path):
    draw = np.random.default_rng(3)
    new = [
        NewList.of(
            [f"{k}" for k in range(9)],
            [dict(zip("fgh", row, strict=True)) for row in draw.normal(size=(9, 3)).tolist()],
            draw.integers(1, 9, (9, 10)).astype(np.float32),
        )
        for _ in range(20)
    ]
    state = AccumulatedLists.empty(list(map(str, range(20))), 10).extended(new).to_bytes()
    item = WorkItem(0, "lists", state_content=state)
    space = SearchSpace(tuple(map(Dimension.of_feature, "fgh")))
    (tmp_path / "lines").write_bytes(
        replace(
            Lines.of(space, [(draw.normal(size=3), draw.normal(size=3)) for _ in range(5)]),
            ranges=np.array([(-2.0, 1.0)] * 5),
        ).to_bytes()
    )
    side = Side({line_search_job.LINES: str(tmp_path / "lines")})
    made = []
    for one_shard in (False, True):
        job = kind(2, one_shard=one_shard)
        records = list(map_item(job, item, side))
        values = [[one for one in records if one.key == key] for key in range(2)]
        made.append([record for key in range(2) for record in reduce_range(job, key, values[key], 1, side)])
    assert made[0] == made[1] and len(made[0]) == 5 + 2


def test_lists_are_read_once_for_all_jobs_of_a_round():
    def item(number, feature, key):
        new = NewList.of(["a"], [{feature: 1.0}], np.zeros((1, 10), np.float32))
        content = AccumulatedLists.empty(["s"], 10).extended([new]).to_bytes()
        return WorkItem(
            number, feature, values={} if key is None else {line_search_job.LISTS: key}, state_content=content
        )

    kept = line_search_job.LastLists()
    first = kept.of(item(0, "f", "1"))
    assert kept.of(item(0, "other", "1")) is first, "known by their checksum"
    assert kept.of(item(1, "g", "2")).names == ["g"]
    assert kept.of(item(0, "f", "1")).names == ["f"]
    assert kept.of(item(0, "h", None)).names == ["h"]
    with pytest.raises(InputError, match="no lists yet"):
        kept.of(WorkItem(0, "nothing"))


@pytest.mark.parametrize("sparse", ["fixed", "grouped"])
def test_template_features_are_fixed_or_scaled_together(tmp_path, sparse):
    """R: features point the wrong way at first, with weights 2 and −1; turned round, and only so, they are right."""
    lines = []
    for number in range(12):
        name = "R:X:a:b" if number % 2 else "R:X:c:d"
        right = -1 if number % 2 else 2  # of w = (2, −1): the good hypothesis loses by 2
        for text, value in [("a b c d e", right), ("a x y", 0)]:
            lines.append(f"{number} ||| {text} ||| {name}={value} dense={number % 3 * (value == 0) * 0.01} ||| 0\n")
    (tmp_path / "lists").write_text("".join(lines))
    (tmp_path / "references").write_text("a b c d e\n" * 12)
    Weights({"R:X:a:b": 2.0, "R:X:c:d": -1.0, "dense": 0.5}).write(tmp_path / "start")
    config = replace(
        reranker(tmp_path), start=str(tmp_path / "start"), own=MertConfig(starts=2, sparse=sparse), epochs=1
    )
    train_reranker(config, tmp_path / "run", warn=[].append)
    (entry,) = json.loads((tmp_path / "run" / "manifest.json").read_text())["epochs"]
    weights = Weights.read(tmp_path / "run" / "weights.txt.gz")
    # Within a template, the weights keep their proportion.
    assert weights["R:X:a:b"] == pytest.approx(-2 * weights["R:X:c:d"])
    if sparse == "grouped":
        assert weights["R:X:a:b"] < 0
        assert entry["tune_score"] == pytest.approx(100)
    else:
        assert weights["R:X:a:b"] > 0
        assert entry["tune_score"] < 100

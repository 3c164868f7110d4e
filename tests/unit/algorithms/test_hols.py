"""Held-out line search: its gradient job against a twin, which sentences are used, and what a run comes to."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from engine_cases import GRAMMAR, assert_same_run, small_data
from itersel.algorithms.base import Model
from itersel.algorithms.gradient_job import Gradient, GradientJob, collect
from itersel.algorithms.hols import Hols, HolsConfig, places_of, restricted, sentence_of, stored
from itersel.algorithms.mert import Mert, MertConfig
from itersel.algorithms.tuner import named
from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import DecoderConfig
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.lists.source import ListOptions, ShardSource
from itersel.lm.model import LanguageModel
from itersel.mapreduce.execution import assemble, map_item, reduce_range
from itersel.mapreduce.job import DRIVER
from itersel.mapreduce.shard_item import Part, parts_of, shard_item
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import ItemFile
from itersel.metrics.sentence import sentence_values
from itersel.model.features import PREFIXES, Weights, parse_groups, template_of
from itersel.model.vectors import Vector
from itersel.pipeline.experiment.cells import cpu_seconds_of
from itersel.report.page import write_report
from itersel.run import driver
from itersel.run.driver import train
from itersel.run.history import read_history
from itersel.run.job_runner import JobRunner
from itersel.run.layout import LayoutConfig
from itersel.shards.shard import Shard, ShardWriter
from oracles import soft_ramp as oracle

WEIGHTS = {"p": -0.3, "Glue": 0.1, "LanguageModel": 0.4, "Shape_S10000_T10000": 0.2}
QUICK = HolsConfig(passes=1, k=10, iterations=1, line_search=MertConfig(k=10, starts=2, steps=5))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    data = small_data(tmp_path_factory.mktemp("data"))
    layout = LayoutConfig("random", shards=2)
    return replace(data, algorithm="hols", layout=layout, run=RunConfig("inline"), own=QUICK)


def twin(data, groups, conditioning):
    """The gradient of all sentences with the run's one model, from named features."""
    lists = []
    for path in data.shards:
        options = ListOptions(10, decoder=DecoderConfig(), model=LanguageModel(data.language_model))
        source = ShardSource(Shard(path))
        for found in source.lists(Vector.of_names(WEIGHTS), range(len(source)), options):
            quality = sentence_values(
                "stupid_bleu", [text.split() for text in found.texts], [text.split() for text in found.references]
            )
            lists.append([(row, 5 * (1 - q)) for row, q in zip(found.features, quality.tolist(), strict=True)])
    made, counts = oracle.gradient(WEIGHTS, lists), oracle.list_counts(lists)
    return {
        name: value / (counts[name] if conditioning == "lists" else 1)
        for name, value in made.items()
        if name.startswith(groups) and name in counts
    }


def run_job(job, items, side):
    """What the job's records come to, for any number of ranges."""
    mapped = [record for item in items for record in map_item(job, item, side)]
    reduced = []
    for key in range(job.partitions):
        mine = [record for record in mapped if record.key == key]
        reduced += reduce_range(job, key, mine, len(items), side)
    return collect(assemble(job, [record for record in mapped if record.key == DRIVER] + reduced, len(items)))


@pytest.mark.parametrize("conditioning", ["lists", "none"])
@pytest.mark.parametrize("partitions", [1, 3])
def test_the_gradient_job_equals_the_twin(data, tmp_path, conditioning, partitions):
    items = LayoutConfig("random", shards=3).items([ShardSource(Shard(path)) for path in data.shards], 0)
    Vector.of_names(WEIGHTS).write(tmp_path / "start")
    side = Side({"start": str(tmp_path / "start"), "model": data.language_model})
    epoch = EpochConfig(k=10, metric="stupid_bleu")
    job = GradientJob(partitions, 0, epoch, cost_scale=5.0, groups=("id", "shape"), conditioning=conditioning)
    found = run_job(job, items, side)
    expected = twin(data, ("R:", "Shape_"), conditioning)
    assert {name for name, value in expected.items() if abs(value) > 1e-12} <= set(found.components)
    assert found.components == pytest.approx({name: expected[name] for name in found.components}, abs=1e-9)
    assert sum(one["lists"] for one in found.statistics) == 70
    name = found.largest(1)[0]
    source, sentence = sentence_of(items[found.examples[name].item], found.examples[name].sentence)
    alone = run_job(job, [shard_item(0, [Part(ItemFile(source.path, source.checksum), (sentence,))], 1)], side)
    assert alone.components[name] == pytest.approx(found.examples[name].part), "the example's part in the sum"


COUNTED = "[X] ||| das ||| the ||| CountEF={}\n[X] ||| das ||| that ||| CountEF={}\n[X] ||| haus ||| house ||| p=1\n"


def test_conditioning_by_extraction_counts(tmp_path):
    """The rules were extracted 3 and 1 times for the first sentence, 7 and 1 times for the second."""
    writer = ShardWriter(groups=("id",))
    for count in (3, 7):
        values = math.log10(1 + count), math.log10(2)
        writer.add("das haus", ["the house"], COUNTED.format(*values).encode(), id=str(count))
    writer.write(tmp_path / "shard")
    file = ItemFile(str(tmp_path / "shard"), ShardSource(Shard(tmp_path / "shard")).checksum)
    items = [shard_item(k, [Part(file, (k,))], 1) for k in range(2)]
    plain, conditioned = (
        run_job(GradientJob(1, epoch=EpochConfig(k=5), conditioning=kind), items, Side({}))
        for kind in ("none", "extraction")
    )
    the, that = "R:X:das:the", "R:X:das:that"
    assert set(plain.components) == {the, that}, "house is in all hypotheses"
    assert plain.components[the] > 0 > plain.components[that]
    assert conditioned.components == pytest.approx({the: plain.components[the] / 7, that: plain.components[that]})
    with pytest.raises(ConfigError, match="conditioning is 'extraction', which needs groups: id"):
        replace(QUICK, conditioning="extraction", groups="id,ng")


def test_rules_without_counts(data, tmp_path):
    with pytest.raises(InputError, match="do not say how often they were extracted"):
        manifest(data, tmp_path / "run", conditioning="extraction")


def test_gradient_and_search_share_no_sentence(data):
    sources = [ShardSource(Shard(path)) for path in data.shards]
    items = data.layout.items(sources, 0, folds=3)
    places = list(places_of(items, 3))
    assert len(places) == 70
    for item in restricted(items, [place for place, fold in places if fold == 1]):
        for part in parts_of(item):
            assert part.fold == 1
            shard = Shard(part.file.path)
            assert all(int(shard.id(sentence)) % 3 == 1 for sentence in part.sentences)


def manifest(data, folder, **own):
    train(replace(data, own=replace(QUICK, **own)), folder, warn=lambda text: None)
    return json.loads((folder / "manifest.json").read_text())["epochs"]


def test_updates_passes_and_the_development_set(data, tmp_path):
    entries = manifest(data, tmp_path / "run", dev=data.devtest, updates=2)
    assert [entry["search_sentences"] for entry in entries] == [24, 10], "the last search is on dev"
    assert all(entry["tune_score"] >= entry["score_before"] for entry in entries)
    weights = dict(Weights.read(tmp_path / "run" / "epoch-002" / "weights.txt.gz"))
    assert {name[0] for name in weights if name.startswith(("R", "Shape"))} == {"R"}, "rule identities alone"
    rows = (tmp_path / "run" / "epoch-001" / "gradient.tsv").read_text().splitlines()
    sizes = [abs(float(row.split("\t")[1])) for row in rows]
    assert sizes == sorted(sizes, reverse=True) and rows[0].startswith("R:")
    _, _, lists, _, sentence, source, reference = rows[0].split("\t")
    found = [(Shard(path), k) for path in data.shards for k in range(len(Shard(path))) if Shard(path).id(k) == sentence]
    assert [(shard.source(k), shard.references(k)) for shard, k in found] == [(source, [reference])]
    assert 0 < int(lists) <= 70 and int(sentence) % 3 != 0, "of a sentence that is not held out"


def test_one_update_uses_all_sentences(data, tmp_path):
    """A gradient of everything, then MERT on the development set with it as one more feature."""
    entries = manifest(data, tmp_path / "run", dev=data.devtest, updates=1)
    assert [entry["search_sentences"] for entry in entries] == [10]
    lines = map(json.loads, (tmp_path / "run" / "statistics.jsonl").read_text().splitlines())
    assert [line["lists"] for line in lines if "made" in line] == [70]


@pytest.mark.parametrize(("runner", "expected"), [("inline", 7.0), ("mrjob-inline", None)])
def test_processor_time_is_that_of_all_jobs(data, tmp_path, monkeypatch, runner, expected):
    """The gradient's shards report what it took; the searches count, too, where this machine does the work."""
    clock = iter([10.0, 17.0])
    monkeypatch.setattr(driver, "cpu_seconds", lambda: next(clock))
    config = replace(data, epochs=1, devtest=(), own=replace(QUICK, updates=1), run=RunConfig(runner))
    train(config, tmp_path / "run", warn=lambda text: None)
    (epoch,) = read_history(tmp_path / "run").epochs
    assert epoch.made["cpu_seconds"] == expected
    assert cpu_seconds_of(epoch) == (expected or epoch.whole.total_seconds) > 0


def test_repeats_search_from_other_points(data):
    """The seed is that of the sample, and changes the line search's random points, too."""
    lists = {"R:a": 2, "R:b": 1}
    gradient = Gradient({"R:a": 1.0, "R:b": -0.5}, lists, {}, [])
    own = replace(QUICK, line_search=replace(QUICK.line_search, seed=5))
    seeds = [
        Hols(replace(data, own=replace(own, seed=seed))).line_search({}, gradient.components, gradient).config.seed
        for seed in (1, 2, 2**63 - 1)
    ]
    assert len(set(seeds)) == 3
    MertConfig(seed=max(seeds))


SPARSE_RULES = {"R:X:das:the": 0.25, "R:X:hund:dog": -0.25, "R:X:NX_ein:a_N1": 0.125}
GRADIENT_RULES = {"R:X:das:that": 0.75, "R:X:haus:home": -1.0, "R:X:NX_ein:a_N1": 0.375, "R:X:klein:little": 0.5}


class InlineContext:
    """A run of one round, without files of its own."""

    reducers, answers = 1, ""

    def __init__(self, data, shards):
        self.models = {"model": SideFile(data.language_model)}
        files = [ItemFile(path, ShardSource(Shard(path)).checksum) for path in shards]
        self._items = [shard_item(k, [Part(file)], len(Shard(file.path))) for k, file in enumerate(files)]

    def items(self, number):
        return self._items

    def run(self, job, items, side):
        opened = Side({name: file.path for name, file in side.items()})
        mapped = [record for item in items for record in map_item(job, item, opened)]
        reduced = []
        for key in range(job.partitions):
            mine = [record for record in mapped if record.key == key]
            reduced += reduce_range(job, key, mine, len(items), opened) if mine else []
        return assemble(job, [record for record in mapped if record.key == DRIVER] + reduced, len(items))


def with_sums_as_features(grammar):
    """The rules with f1 and f2 as dense features of their own."""
    lines = []
    for line in grammar.decode().splitlines():
        _, source, target, _ = (field.strip() for field in line.split("|||"))
        name = f"R:X:{source.replace('[X,1]', 'NX')}:{target.replace('[X,1]', 'N1')}".replace(" ", "_")
        sums = (SPARSE_RULES.get(name, 0.0), GRADIENT_RULES.get(name, 0.0))
        lines.append(f"{line} SparseModel={sums[0]} SparseGradient={sums[1]}\n")
    return "".join(lines).encode()


def test_the_line_search_is_mert_on_explicitly_combined_features(data, tmp_path):
    """Two rounds, with decoding: the weights are those of MERT where the rules have f1 and f2 as dense features.

    Shards store values in single precision, which has those of the sums exactly.
    """
    shards = []
    for kind, grammar, groups in (("sums", with_sums_as_features(GRAMMAR), ()), ("sparse", GRAMMAR, ("id",))):
        writer, source = ShardWriter(groups=groups), Shard(data.shards[1])
        for number in range(len(source)):
            writer.add(source.source(number), source.references(number), grammar, id=source.id(number))
        writer.write(tmp_path / kind)
        shards.append(str(tmp_path / kind))
    own = MertConfig(k=10, starts=3, steps=5)
    sparse_gradient = Gradient(GRADIENT_RULES, dict.fromkeys(GRADIENT_RULES, 1), {}, [])
    line_search = Hols(replace(data, own=replace(QUICK, line_search=own))).line_search(
        SPARSE_RULES, GRADIENT_RULES, sparse_gradient
    )
    mert = Mert(replace(data, own=line_search.config))
    start = {"p": -0.21, "q": 0.13, "Glue": 0.1, "LanguageModel": 0.42, "SparseModel": 1.0}
    found = []
    for tuner, path in ((mert, shards[0]), (line_search, shards[1])):
        model = Model(Vector.of_names(start), frozenset({*start, "SparseGradient"}))
        for number in range(2):
            made = tuner.round(number, model, InlineContext(data, [path]))
            model = stored(made, tmp_path / f"{Path(path).name}-{number}")
            found.append((named(made.weights, made.names.names), made.facts["tune_score"], made.facts["list_score"]))
    for explicit, projected in zip(found[:2], found[2:], strict=True):
        assert projected[0] == pytest.approx(explicit[0], abs=1e-9)
        assert projected[1:] == pytest.approx(explicit[1:], abs=1e-9)
    assert found[0][0]["SparseGradient"] != 0 and found[0][1] > 0


class Killed(BaseException):
    """As if the driver's process had ended."""


def test_a_killed_run_resumes_after_each_job(data, tmp_path, monkeypatch):
    config = replace(data, devtest=(), epochs=2, own=replace(QUICK, dev=data.devtest, updates=2))
    inner, ran = JobRunner._run, list[str]()
    allowed = [10**9]

    def counted(self, job, items, side, title):
        if len(ran) >= allowed[0]:
            raise Killed
        ran.append(type(job).__name__)
        return inner(self, job, items, side, title)

    monkeypatch.setattr(JobRunner, "_run", counted)
    train(config, tmp_path / "whole", warn=lambda text: None)
    expected = list(ran)
    assert set(expected) == {"GradientJob", "ProjectedKBestJob", "LineSearchJob", "SectionJob"}
    ran.clear()
    for allowed[0] in range(len(expected)):
        with pytest.raises(Killed):
            train(config, tmp_path / "killed", warn=lambda text: None)
    allowed[0] += 1
    train(config, tmp_path / "killed", warn=lambda text: None)
    assert ran == expected, "no job ran twice"
    assert_same_run(tmp_path / "whole", tmp_path / "killed")


def test_sections_and_dense_weights_for_the_report(data, tmp_path):
    """Figure 2 of the paper: the score along single weights, those of frequent and of rare rules among them."""
    manifest(data, tmp_path / "run", updates=1)
    values = data_of([tmp_path / "run"], tmp_path)["runs"][0]
    drawn = {one["name"] for one in values["sections"]["features"]}
    assert {"p", "SparseGradient"} <= drawn and 1 <= sum(name.startswith("R:") for name in drawn) <= 8
    assert "p" in values["weights"]["names"]
    listing = values["listing"]
    assert listing["label"] == "largest gradients" and len(listing["columns"]) == len(listing["epochs"]["1"][0]) == 7


def test_named_features_have_cross_sections_and_change_nothing_else(data, tmp_path):
    """Rules, dense features, and shapes, which no gradient is of."""
    names = [
        "R:X:a:b",
        "absent",
        "LanguageModel",
        *(one for one in Shard(data.shards[1]).feature_names() if template_of(one)),
    ]
    warnings, runs = [], []
    for run, sections in (("without", ()), ("run", tuple(names))):
        own = replace(QUICK, updates=1, iterations=2, line_search=replace(QUICK.line_search, sections=sections, k=3))
        train(replace(data, own=own, epochs=1), tmp_path / run, warn=warnings.append)
        place = tmp_path / run / "epoch-001"
        runs.append([(place / "weights.txt.gz").read_bytes(), json.loads((place / "sections.json").read_text())])
    assert runs[0][0] == runs[1][0]
    before, after = runs[0][1], runs[1][1]
    assert before.items() <= after.items() and after.keys() - before.keys() <= {*names}
    assert {name[0] for name in after.keys() - before.keys()} == {"R", "S"}
    (warning,) = [text for text in warnings if "cross-section" in text]
    assert "R:X:a:b" in warning and "absent" in warning and "LanguageModel" not in warning
    drawn = {one["name"] for one in data_of([tmp_path / "run"], tmp_path)["runs"][0]["sections"]["features"]}
    assert drawn == after.keys()


def test_a_damaged_listing_is_named(data, tmp_path):
    manifest(data, tmp_path / "run", updates=1)
    place = tmp_path / "run" / "epoch-001" / "gradient.tsv"
    for text, message in (
        ("a\tb\n", "a row has 2 cells instead of 7"),
        ("a\tx\t1\t1\t1\t1\t1\n", "'x' is not a number"),
    ):
        place.write_text(text)
        with pytest.raises(InputError, match=message):
            data_of([tmp_path / "run"], tmp_path)


def data_of(paths, folder):
    """What the page of a report gets."""
    page = Path(write_report(paths, folder / "report.html")).read_text()
    return json.loads(page.split('id="data">')[1].split("</script>")[0])


def test_conditioning_off_and_fixed_beta(data, tmp_path):
    entries = manifest(data, tmp_path / "run", updates=2, conditioning="none", fixed_beta=True, passes=2)
    assert len(entries) == 3, "as many as epochs allow"
    assert all(entry["tune_score"] >= entry["score_before"] for entry in entries)


def test_sample_top_and_seen_sentences(data, tmp_path):
    entries = manifest(data, tmp_path / "run", updates=1, search="seen", sample=7, top=3)
    assert [entry["search_sentences"] for entry in entries] == [7]
    assert entries[0]["sparse"] <= 3


def test_a_run_that_ends_early_says_so(data, tmp_path):
    warnings = []
    train(replace(data, epochs=1), tmp_path / "run", warn=warnings.append)
    assert "the run ended after 1 of 2 updates, before the last search: raise epochs" in warnings


def test_bad_settings(data, tmp_path):
    with pytest.raises(ConfigError, match="groups names no sparse features"):
        replace(QUICK, groups="dense")
    with pytest.raises(ConfigError, match=r"hols.folds is 4, but there are 3 fold models"):
        manifest(data, tmp_path / "a", folds=4)
    with pytest.raises(ConfigError, match="folds are numbered 0 to 2"):
        manifest(data, tmp_path / "b", held_out=3)
    with pytest.raises(InputError, match="hols needs dense weights to start from"):
        manifest(replace(data, start=None), tmp_path / "c")


@pytest.mark.parametrize("where", ["shards", "hols.dev"])
def test_shards_without_the_features_are_named_before_anything_is_decoded(data, tmp_path, monkeypatch, where):
    """Else hours of decoding would end with a gradient that no search can use."""
    dense = tmp_path / "dense.itsh"
    writer, source = ShardWriter(groups=("shape",)), Shard(data.devtest[0])
    for number in range(len(source)):
        writer.add(source.source(number), source.references(number), GRAMMAR, id=source.id(number))
    writer.write(dense)
    monkeypatch.setattr(JobRunner, "_run", lambda *_: pytest.fail("a job ran"))
    config = replace(data, shards=(str(dense),)) if where == "shards" else data
    own = {} if where == "shards" else {"dev": (str(dense),)}
    with pytest.raises(InputError, match=f"no sentence of {where} has a feature of hols.groups: id") as caught:
        manifest(config, tmp_path / "run", **own)
    assert caught.value.where == str(dense) and "itersel shard --features" in caught.value.hint


@pytest.mark.parametrize("groups", ["ng", "shape", "all"])
def test_any_sparse_features_without_fold_models(data, tmp_path, groups):
    """The paper's −Folds: one model for all sentences, folds by number. The weights are those of the groups."""
    config = replace(data, fold_models=(), allow_seen_references=True)
    entries = manifest(config, tmp_path / "run", groups=groups, folds=2, held_out=1, updates=1, top=50)
    assert [entry["search_sentences"] for entry in entries] == [
        sum(int(Shard(path).id(k)) % 2 for path in data.shards for k in range(len(Shard(path))))
    ]
    listed = (tmp_path / "run" / "epoch-001" / "gradient.tsv").read_text().splitlines()
    names = {line.split("\t")[0] for line in listed}
    prefixes = {prefix for group in parse_groups(groups) for prefix in PREFIXES[group]}
    assert {template_of(name) for name in names} == prefixes


@pytest.mark.parametrize("algorithm", ["sgd", "iter_mix_sgd", "iter_sel_sgd"])
def test_online_soft_ramp(data, tmp_path, algorithm):
    """The paper's baseline: steps down the same loss, list by list, with ℓ2."""
    learn = LearnConfig("soft_ramp", eta=0.1, batch=True, l2=0.001)
    layout, epoch = LayoutConfig("random", shards=1 if algorithm == "sgd" else 2), EpochConfig(k=10, learn=learn)
    config = replace(data, algorithm=algorithm, own=None, epochs=1, layout=layout, epoch=epoch)
    train(config, tmp_path / "run", warn=lambda text: None)
    lines = list(map(json.loads, (tmp_path / "run" / "statistics.jsonl").read_text().splitlines()))
    assert [(line["updates"], line["pairs"]) for line in lines if "made" in line] == [(70, 0)]
    assert any(name.startswith("R:") for name in Weights.read(tmp_path / "run" / "weights.txt.gz"))

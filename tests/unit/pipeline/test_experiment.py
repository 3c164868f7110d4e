"""Experiments: the grid, cells that equal runs by hand, resuming, and the table's marks."""

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import pytest
import sacrebleu
from experiment_cases import BUILD, GRID, text, write_experiment

from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Choice, Declaration, Figure
from itersel.base.files import read_lines
from itersel.base.paper_table import Entry, Marks
from itersel.cli import main
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.engines import RunConfig
from itersel.evaluation.scoring import Comparison, Evaluation, SystemScore
from itersel.evaluation.significance import Bootstrap, Randomization
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights, parse_groups
from itersel.pipeline.build_paths import language_model_path, shards_path
from itersel.pipeline.experiment import cells, schedule
from itersel.pipeline.experiment.cells import CellPlan, CellResult, finished, plan_cells
from itersel.pipeline.experiment.chosen_shards import chosen_shards
from itersel.pipeline.experiment.config import ExperimentConfig, SignificanceConfig, load_experiment
from itersel.pipeline.experiment.grid_result import GridResult, by_system, evaluate_cells
from itersel.pipeline.experiment.results import Effort, effort, sentence
from itersel.pipeline.experiment.schedule import FailedCell, run_cells
from itersel.pipeline.experiment.table import mark, paper_table
from itersel.pipeline.stages import StageResult
from itersel.run.config import TrainConfig
from itersel.run.devtest import FIGURES
from itersel.run.driver import train
from itersel.run.history import read_history
from itersel.shards.shard import Shard, ShardWriter

NAMES = [
    "given-dense",
    "sgd-dev-dense",
    "sgd-dev-id+shape",
    "iter_sel_sgd-train.2-all-top=20",
    "iter_sel_sgd-train.2-all-top=5",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    write_experiment(folder)
    return folder


@pytest.fixture(scope="module")
def done(folder) -> tuple[ExperimentConfig, list[CellResult]]:
    config = load_experiment(folder / "grid.yaml")
    cells.build_data(config)
    return config, list(run_cells(plan_cells(config)))


def test_the_grid_is_multiplied_out(folder):
    config = load_experiment(folder / "grid.yaml")
    assert [cell.name for cell in config.cells] == NAMES
    assert [cell.training.selection.top for cell in config.cells[3:]] == [20, 5]
    assert all(cell.training.epoch.learn.eta == 0.01 for cell in config.cells[1:])
    assert config.name == "grid"


def test_paths_are_relative_to_the_file_that_names_them(folder, tmp_path, monkeypatch):
    """Also a path of the build that the experiment's file sets."""
    grid = GRID.replace("build: build.yaml", f"build: {folder / 'build.yaml'}\nbuild_set: {{lm.text: more.en}}")
    grid = grid.replace("  epochs: 2\n", "  epochs: 2\n  start: first.weights\n")
    (tmp_path / "grid.yaml").write_text(grid)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    config = load_experiment("../grid.yaml", ["work=here"])
    assert config.build.lm.text == (tmp_path / "more.en",)
    assert config.build.work == tmp_path / "elsewhere" / "here"
    assert config.build.train.source == folder / "t.de"
    assert config.cells[0].weights == "../given.weights"
    assert {cell.training.start for cell in config.cells[1:]} == {"../first.weights"}


def bleu_of_translations(plan: CellPlan, references: list[str]) -> float:
    """Of the test set, by sacrebleu itself."""
    with gzip.open(plan.folder / "test.txt.gz", "rt") as stream:
        return sacrebleu.corpus_bleu(stream.read().splitlines(), [references], tokenize="none", force=True).score


def test_a_cell_is_a_training_run(done, tmp_path):
    """The same training by hand gives the same weights; its translations, scored by sacrebleu, the same BLEU."""
    config, results = done
    assert [one.name for one in results] == NAMES
    shards = sorted(map(str, shards_path(config.build, "train").glob("*.itsh")))
    model = str(language_model_path(config.build))
    devtest = tuple(map(str, shards_path(config.build, "devtest").glob("*.itsh")))
    cell = config.cells[3].training
    by_hand = TrainConfig(
        shards=tuple(shards[:2]),
        devtest=devtest,
        language_model=model,
        algorithm="iter_sel_sgd",
        epochs=2,
        epoch=cell.epoch,
        selection=cell.selection,
        allow_seen_references=True,
    )
    weights = train(by_hand, tmp_path / "run", warn=lambda text: None)
    plan = plan_cells(config)[3]
    assert (plan.run / "weights.txt.gz").read_bytes() == weights.read_bytes()
    assert results[3].weights == len(Weights.read(weights)) <= 20
    outcome = evaluate_cells(config, plan_cells(config))
    references = (config.build.work.parent / "d.en").read_text().splitlines()
    for planned in plan_cells(config):
        bleu = bleu_of_translations(planned, references)
        assert outcome.evaluations["test"].score(planned.cell.name).mean == pytest.approx(bleu, abs=1e-9)


def test_finished_cells_are_not_run_again(done, monkeypatch):
    config, results = done
    monkeypatch.setattr(cells, "train", None)  # calling it would be an error
    assert list(run_cells(plan_cells(config))) == results


def test_cells_side_by_side_give_the_same(folder, done, tmp_path):
    _, results = done
    other = load_experiment(folder / "grid.yaml", [f"work={tmp_path / 'work'}"])
    cells.build_data(other)
    found = list(run_cells(plan_cells(other), jobs=2))
    free = {"cpu_seconds": 0.0, "test_seconds": 0.0, "wall_seconds": 0.0, "peak_megabytes": 0, "side_by_side": 0}
    assert [vars(one) | free for one in found] == [vars(one) | free for one in results]
    assert {one.side_by_side for one in results} == {1} and {one.side_by_side for one in found} == {2}


@pytest.fixture
def taken_up(folder, done, tmp_path):
    """Takes a cell up that was trained elsewhere, its statistics changed; the cell before and after."""
    config, results = done
    before, old = plan_cells(config)[1], results[1]

    def finish(change):
        plan = replace(before, folder=tmp_path / "cell")
        shutil.copytree(before.folder, plan.folder)
        place = plan.run / "statistics.jsonl"
        lines = [json.loads(line) for line in place.read_text().splitlines()]
        for line in lines:
            if line["shard"] is None:
                change(line)
        place.write_text("".join(json.dumps(line) + "\n" for line in lines))
        record = json.loads(plan.record.read_text())
        plan.record.write_text(json.dumps(record | {"format": 1}))  # of another version: not to be taken as it is
        assert finished(plan) is None
        weights = (plan.run / "weights.vec").read_bytes()
        found = cells.run_cell(plan, jobs=2)
        assert (plan.run / "weights.vec").read_bytes() == weights and finished(plan) == found
        return old, found

    return finish


def test_a_cell_knows_what_its_earlier_goes_took(taken_up):
    made = {
        1: {"wall_seconds": 1000.0, "peak_megabytes": 10**6, "jobs": 7, "commit": "early", "cpu_seconds": 99.5},
        2: {"wall_seconds": 500.5, "peak_megabytes": 2, "jobs": 1, "commit": "late", "cpu_seconds": 0.0},
    }
    old, found = taken_up(lambda line: line.update(made=made[line["epoch"]], seconds={"decode": 1.5, "kbest": 0.5}))
    assert found.wall_seconds > 1500.5  # the rest was spent on the test set, just now
    assert (found.peak_megabytes, found.jobs) == (10**6, 7)
    assert found.commit.split(", ")[:2] == ["early", "late"]
    assert found.facts == old.facts and found.test_seconds > 0
    assert found.cpu_seconds == 99.5 + 2.0, "of the second epoch, a part was done before it was resumed"


def test_what_was_not_recorded_is_not_made_up(taken_up, tmp_path):
    _, found = taken_up(lambda line: line.pop("made") if line["epoch"] == 1 else line["made"].pop("cpu_seconds"))
    history = read_history(next((tmp_path / "cell").glob("*/run.json")).parent)
    decoding_and_learning = sum(epoch.whole.total_seconds for epoch in history.epochs)
    assert found.cpu_seconds == pytest.approx(decoding_and_learning) and decoding_and_learning > 0
    assert (found.wall_seconds, found.peak_megabytes, found.jobs) == (None, None, None)
    assert found.commit.startswith("unknown, ")


def test_effort_is_that_of_all_goes(folder):
    made = grid_result(folder, {"a": (1, "dense", 1.0, 1.0), "b": (1, "all", 1.0, 1.0), "c": (4, "all", 1.0, 1.0)}, {})
    one, two, three = made.results
    results = (
        replace(one, wall_seconds=100.0, peak_megabytes=300, side_by_side=2, test_seconds=0.5),
        replace(two, wall_seconds=None, peak_megabytes=None),
        replace(three, wall_seconds=20.5, peak_megabytes=200),
    )
    stages = (StageResult("x", "", 1, 0.5, True, 70.0, 250, 90.0), StageResult("y", "", 3, 0.1, True, 8.0, None))
    made = replace(made, stages=stages, cell_bytes=7)
    assert effort(replace(made, results=results)) == Effort(78.0, 120.5, 1, 93.5, 2, 300, 11)
    made = replace(made, stages=())
    assert effort(replace(made, results=())) == Effort(None, 0.0, 0, 0.0, 1, None)


@pytest.mark.parametrize(
    ("spent", "text"),
    [
        (
            Effort(1278.0, 5700.0, 0, 12_000.0, 2, 2150, 3 * 2**30),
            "Build 21.3 min, cells 95.0 min of wall time in total (2 side by side), 3.3 h of processor time, "
            "peak 2.1 GB per process, 3.0 GB of disk.",
        ),
        (
            Effort(12.34, 36_000.0, 1, 1.0, 1, 640),
            "Build 12.3 s, cells 10.0 h of wall time in total (1 of 6 unknown), 1.0 s of processor time, "
            "peak 640 MB per process.",
        ),
        (
            Effort(None, 60.0, 2, 1.0, 4, None),
            "Cells 60.0 s of wall time in total (4 side by side; 2 of 6 unknown), 1.0 s of processor time.",
        ),
        (Effort(90.0, 0.0, 6, 1.0, 1, None), "Build 1.5 min, cells' wall time unknown, 1.0 s of processor time."),
    ],
)
def test_effort_in_words(spent, text):
    assert sentence(spent, 6) == text


def test_another_setting_is_another_cell(folder, done, tmp_path):
    config, _ = done
    changed = tmp_path / "grid.yaml"
    changed.write_text(
        GRID.replace("eta: 0.01", "eta: 0.02")
        .replace("build.yaml", str(folder / "build.yaml"))
        .replace("given.weights", str(folder / "given.weights"))
    )
    plans = plan_cells(load_experiment(changed))
    assert [finished(plan) is not None for plan in plans] == [True, False, False, False, False]
    assert not {plan.folder for plan in plans[1:]} & {plan.folder for plan in plan_cells(config)}


def test_tests_may_be_translated_by_another_search(folder, done, tmp_path):
    """The same training, with the limits of the search that the experiment gives: as `itersel translate` would."""
    (folder / "limits.yaml").write_text(
        GRID.replace("tests: [test]", "name: grid\ntests: [test]\ndecoder: {pop_limit: 1}")
    )
    config, plans = load_experiment(folder / "limits.yaml"), plan_cells(done[0])
    limited = plan_cells(config)
    assert [plan.folder for plan in limited] == [plan.folder for plan in plans]
    assert finished(plans[1]) is not None and finished(limited[1]) is None
    copy = replace(limited[1], folder=tmp_path)
    shutil.copytree(plans[1].folder, tmp_path, dirs_exist_ok=True)
    before = (copy.run / "manifest.json").read_bytes()
    result = cells.run_cell(copy)
    assert (copy.run / "manifest.json").read_bytes() == before and result.facts == done[1][1].facts
    assert finished(copy) == result and finished(replace(copy, decoder=plans[1].decoder)) is None
    weights, model = Weights.read(copy.run / "weights.txt.gz"), LanguageModel(copy.model)
    decoder = ShardDecoder(Shard(copy.tests["test"][0]), weights, model, DecoderConfig(pop_limit=1))
    expected = [decoder.translate(k) for k in range(15)]
    assert gzip.decompress(copy.translations("test").read_bytes()).decode().splitlines() == expected


def test_given_weights_are_decoded_as_the_others(folder):
    (folder / "quick.yaml").write_text(GRID.replace("{k: 10,", "{k: 10, decoder: {pop_limit: 7},"))
    config = load_experiment(folder / "quick.yaml")
    assert {cell.training.epoch.decoder.pop_limit for cell in config.cells} == {7}


def test_more_epochs_go_on_in_the_same_folder(folder, done, tmp_path):
    config, _ = done
    more = tmp_path / "grid.yaml"
    more.write_text(GRID.replace("epochs: 2", "epochs: 3").replace("build.yaml", str(folder / "build.yaml")))
    (tmp_path / "given.weights").write_bytes((folder / "given.weights").read_bytes())
    plan, before = (plan_cells(one, only=NAMES[2])[0] for one in (load_experiment(more), config))
    assert plan.folder == before.folder
    assert finished(plan) is None


def test_the_command_writes_table_and_results(folder, done, tmp_path, capsys):
    assert done
    output = tmp_path / "results"
    assert main(["experiment", str(folder / "grid.yaml"), "--output", str(output), "--table"]) == 0
    shown = capsys.readouterr().out
    assert "test BLEU" in shown and "top 20" in shown
    results = json.loads((output / "results.json").read_text())
    assert [cell["name"] for cell in results["cells"]] == NAMES
    assert not results["unfinished"]
    assert sum("bleu" in one for one in results["tests"]["test"]["differences"]) == 10  # pairs of five cells
    assert results["configuration"]["train"]["epochs"] == 2
    assert (output / "table.md").read_text().count("\n| ") == 2 + len(NAMES)
    page = (output / "report-test.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    (table,) = data["experiment"]
    assert [row["name"] for row in table["rows"]] == NAMES
    assert {run["name"] for run in data["runs"]} == set(NAMES[1:])
    assert str(folder) not in (output / "results.json").read_text()
    kept = [json.loads(path.read_text()) for path in (folder / "work" / "stages").glob("*.json")]
    assert {one["name"]: one["seconds"] for one in results["stages"]} == {one["stage"]: one["seconds"] for one in kept}
    assert results["effort"]["build_seconds"] == pytest.approx(sum(one["seconds"] for one in kept))
    assert results["effort"]["wall_seconds"] == pytest.approx(sum(cell["wall_seconds"] for cell in results["cells"]))
    assert results["effort"]["unknown"] == 0
    assert "of wall time in total" in shown and "of wall time in total" in (output / "table.md").read_text()


def test_repeats_are_runs_of_one_system(folder, done, tmp_path):
    """Each repeat is a training with the next seed; the table has the means, and the deviation by its definition."""
    assert done
    grid = (
        GRID.replace("epoch: {k: 10", "epoch: {seed: 6, k: 10")
        .replace("shuffle: false", "shuffle: true")
        .replace('features: [dense, "id,shape"]', "features: dense, repeats: 3")
    )
    (folder / "repeats.yaml").write_text(grid)
    config = load_experiment(folder / "repeats.yaml")
    names = ["sgd-dev-dense", "sgd-dev-dense-run=2", "sgd-dev-dense-run=3"]
    assert [cell.name for cell in config.cells[1:4]] == names
    assert [cell.training.epoch.seed for cell in config.cells[1:4]] == [6, 7, 8]
    plans = plan_cells(config, only="sgd-*")
    results = list(run_cells(plans, jobs=2))
    assert [result.name for result in results] == names and [result.run for result in results] == [1, 2, 3]
    references = (folder / "d.en").read_text().splitlines()
    scores = [bleu_of_translations(plan, references) for plan in plans]
    made = evaluate_cells(config, plan_cells(config))
    evaluation = made.evaluations["test"]
    assert evaluation.systems == ("sgd-dev-dense",)
    score = evaluation.score("sgd-dev-dense")
    assert score.runs == pytest.approx(scores)
    (row,) = paper_table(made).rows
    labels = [column.label for column in paper_table(made).columns]
    shown = dict(zip(labels, (entry.plain() for entry in row.entries), strict=True))
    assert (shown["settings"], shown["sentences"]) == ("3 runs", str(len(references)))
    assert (
        shown["devtest BLEU"]
        == f"{fmean(one.facts['devtest_bleu'] for one in results):.2f} @{'/'.join(str(one.chosen) for one in results)}"
    )
    assert shown["BLEU"] == f"{fmean(scores):.2f} ±{stdev(scores):.2f}"
    sent = [epoch["sent"] for epoch in results[0].epochs]
    assert shown["MB sent"] == f"{sum(sent) / 2**20:.0f}" and min(sent) > 16 * min(one.weights for one in results)
    assert "3 of 6 cells are not finished" in paper_table(made).legend[-1]
    (repeats,) = paper_table(made).repeats
    assert (repeats.test, repeats.systems) == ("test", (("sgd-dev-dense", score.runs),))


def test_repeats_of_an_algorithm_with_a_seed_of_its_own(folder):
    grid = GRID.replace('sgd, tuning: dev, features: [dense, "id,shape"]', "mira, tuning: dev, repeats: 3")
    (folder / "tuner.yaml").write_text(grid)
    seeds = [cell.training.own for cell in load_experiment(folder / "tuner.yaml").cells if cell.algorithm == "mira"]
    assert [1 if one is None else one.seed for one in seeds] == [1, 2, 3]


def test_training_sentences_meet_a_model_that_does_not_know_them(folder, tmp_path):
    """With `lm.unseen`, only what is learned from `train` uses the second model; all are tested with the first."""
    overrides = [f"work={tmp_path / 'work'}", "shards.first=2", "lm.unseen=true"]
    config = load_experiment(folder / "grid.yaml", overrides)
    cells.build_data(config)
    full, unseen = (str(language_model_path(config.build, unseen=flag)) for flag in (False, True))
    plans = plan_cells(config)
    assert [plan.training.language_model for plan in plans] == [full] * 3 + [unseen] * 2
    assert {plan.model for plan in plans} == {full}
    assert Path(full).read_bytes() != Path(unseen).read_bytes()


def test_training_sentences_meet_the_models_of_their_folds(folder, tmp_path):
    """With `lm.folds`, too, only what is learned from `train` uses other models."""
    config = load_experiment(folder / "grid.yaml", [f"work={tmp_path / 'work'}", "lm.folds=2"])
    cells.build_data(config)
    plans = plan_cells(config)
    assert [len(plan.training.fold_models) for plan in plans] == [0] * 3 + [2] * 2
    assert {plan.training.language_model for plan in plans} == {str(language_model_path(config.build))}
    assert len({Path(path).read_bytes() for path in plans[-1].training.fold_models}) == 2


def test_a_pattern_without_cells_is_an_error(done):
    with pytest.raises(ConfigError, match="no cell of the grid matches 'mert-"):
        plan_cells(done[0], only="mert-*")


def test_too_few_shards_are_an_error(folder, done, tmp_path):
    assert done
    path = tmp_path / "grid.yaml"
    path.write_text(GRID.replace("train:2", "train:99").replace("build.yaml", str(folder / "build.yaml")))
    with pytest.raises(ConfigError, match="train has 4 shards"):
        plan_cells(load_experiment(path), only="iter*")


@pytest.mark.parametrize("features", ["dense", "id,shape"])
def test_fewer_groups_are_as_if_compiled_so(done, tmp_path, features):
    """A cell with some of the shards' feature groups learns what shards with only these groups teach."""
    config, _ = done
    (path,) = shards_path(config.build, "dev").glob("*.itsh")
    shard, writer = Shard(path), ShardWriter(groups=parse_groups(features))
    for number in range(len(shard)):
        writer.add(shard.source(number), shard.references(number), shard.grammar(number), id=shard.id(number))
    writer.write(tmp_path / "fewer.itsh")
    plan = plan_cells(config, only=f"sgd-dev-{features.replace(',', '+')}")[0]
    whole = replace(plan.training.epoch, leave_out=())
    by_hand = replace(plan.training, shards=(str(tmp_path / "fewer.itsh"),), epoch=whole)
    weights = train(by_hand, tmp_path / "run", warn=lambda text: None)
    assert dict(Weights.read(weights)) == dict(Weights.read(plan.run / "weights.txt.gz"))


def test_groups_that_the_shards_lack_are_an_error(folder, done, tmp_path):
    assert done
    config = load_experiment(folder / "grid.yaml", [f"work={tmp_path / 'work'}", "shards.features=dense"])
    cells.build_data(config)
    with pytest.raises(ConfigError, match="needs the features id, shape, which the shard does not have"):
        plan_cells(config, only="sgd-dev-id*")


ALGORITHMS = [
    Declaration("given", "given weights", 0, figures=FIGURES),
    Declaration("sgd", "SGD", 1, figures=FIGURES),
    Declaration("mix_sgd", "MixSGD", 2, figures=FIGURES),
    Declaration("iter_mix_sgd", "IterMixSGD", 3, figures=FIGURES),
    Declaration("iter_sel_sgd", "IterSelSGD", 4, figures=FIGURES),
    Declaration("mine:Median", "Median", None, (), (), Choice("gap", "gap", largest=False)),
    Declaration("mine:Mode", "Mode", 1, (), (Figure("gap", "gap", "gap", form="ratio"),), Choice("gap", "gap", False)),
]


def grid_result(
    folder: Path, scores: dict[str, tuple[int, str, float, float]], p: dict[tuple[str, str], float]
) -> GridResult:
    """Cells by name with algorithm, features, value of what decides and test BLEU; p of the pairs, 1 if not given."""
    results = tuple(
        CellResult(
            name=name,
            algorithm=ALGORITHMS[number].name,
            declaration=ALGORITHMS[number],
            tuning="set",
            features=features,
            varied={},
            weights=12,
            chosen=1,
            facts={ALGORITHMS[number].choice.key: value},
            epochs=[],
            cpu_seconds=1.0,
            wall_seconds=1.0,
            peak_megabytes=1,
            jobs=1,
            side_by_side=1,
            commit="",
            tests={},
        )
        for name, (number, features, value, _) in scores.items()
    )
    comparisons = []
    for first in scores:
        for second in scores:
            if first < second:
                value = p.get((first, second), p.get((second, first), 1.0))
                test = Randomization(0.0, value, 1, 1, False)
                comparisons.append(Comparison("bleu", first, second, 0.0, test, Bootstrap(0.0, 1.0, (0, 0), 0, 1)))
    values = tuple(
        SystemScore(name, metric, row[3], (row[3],), None, (0.0, 0.0))
        for name, row in scores.items()
        for metric in ("bleu", "chrf")
    )
    ratios = dict.fromkeys(scores, 1.0)
    evaluation = Evaluation(9, tuple(scores), ("bleu", "chrf"), {}, {}, 1, 1, values, ratios, tuple(comparisons))
    config = load_experiment(folder / "grid.yaml")
    config = ExperimentConfig("x", config.build, "devtest", ("test",), config.cells, SignificanceConfig())
    return GridResult(config, results, {"test": evaluation})


def test_marks_follow_the_papers_caption(folder):
    made = grid_result(
        folder,
        {
            "g": (0, "dense", 30.0, 30.0),
            "a": (1, "dense", 31.0, 31.0),
            "b": (1, "all", 32.0, 33.0),
            "c": (4, "all", 34.0, 34.0),  # the best of its algorithm by devtest, so the one that b is compared with
            "d": (4, "all", 33.0, 36.0),
        },
        {("b", "c"): 0.01, ("a", "b"): 0.04, ("c", "g"): 0.001, ("b", "d"): 0.2, ("a", "c"): 0.001},
    )
    marks = mark(made, "test")
    # Given weights meet all features; a and c have different ones.
    assert {name: one.raised for name, one in marks.items()} == {"g": (4,), "a": (), "b": (4,), "c": (0, 1), "d": ()}
    assert [name for name, one in marks.items() if one.best] == ["b"]
    assert [name for name, one in marks.items() if one.dagger] == ["a"]
    lines = paper_table(made).markdown().splitlines()
    assert [line.split(" | ")[5] for line in lines[2:]] == [
        "30.00<sup>4</sup>",
        "31.00†",
        "**33.00**<sup>4</sup>",
        "34.00<sup>01</sup>",
        "36.00",
    ]
    header, *rows = paper_table(made).text().splitlines()
    assert header.endswith("  test BLEU   chrF  length  CPU s")
    assert [row.split()[6] for row in rows] == ["30.00^4", "31.00†", "*33.00^4", "34.00^01", "36.00"]


def test_raised_numbers_can_be_told_apart():
    for raised, shown in (((1, 2), "12"), ((1, 2, 12), "1,2,12"), ((12,), "12")):
        entry = Entry("30.00", 30.0, marks=Marks(raised))
        assert (entry.plain(), entry.markdown()) == (f"30.00^{shown}", f"30.00<sup>{shown}</sup>")


def test_the_table_follows_the_declarations(folder):
    """Numbers, labels and the columns of what decides; the smallest gap is the best of an algorithm."""
    made = grid_result(
        folder,
        {
            "m": (5, "all", 0.5, 30.0),
            "g": (0, "dense", 30.0, 30.0),
            "n": (5, "all", 0.25, 31.0),  # the smaller gap, so the one that others are compared with
            "i": (4, "all", 33.0, 32.0),
            "o": (6, "all", 0.125, 33.0),
        },
        {("i", "n"): 0.01},
    )
    assert made.numbers == {"given": 0, "iter_sel_sgd": 4, "mine:Mode": 1, "mine:Median": 5}
    table = paper_table(made)
    assert [column.label for column in table.columns[:7]] == [
        *("alg.", "tuning set", "features", "#features", "gap", "devtest BLEU", "BLEU")
    ]
    shown = {row.name: [entry.plain() for entry in row.entries] for row in table.rows}
    assert {name: (row[0], *row[4:6]) for name, row in shown.items()} == {
        "m": ("5", "0.5 @1", "–"),
        "g": ("0", "–", "30.00 @1"),
        "n": ("5", "0.25 @1", "–"),
        "i": ("4", "–", "33.00 @1"),
        "o": ("1", "0.125 @1", "–"),
    }
    assert mark(made, "test")["i"].raised == (5,)
    text = table.legend[0]
    assert text.startswith(
        "Algorithms: 0 given weights, 1 Mode, 4 IterSelSGD, 5 Median. @n: epoch chosen by gap or dev"
    )
    assert "devtest BLEU. Raised" in text
    other = replace(made, config=replace(made.config, devtest="val"))
    assert "chosen by gap or devtest BLEU (devtest is val). " in paper_table(other).legend[0]


def test_two_algorithms_of_one_number(folder):
    made = grid_result(folder, {"a": (6, "all", 1.0, 1.0), "b": (1, "all", 1.0, 1.0), "c": (4, "all", 1.0, 1.0)}, {})
    assert made.numbers == {"mine:Mode": 1, "iter_sel_sgd": 4, "sgd": 5}


def test_cells_keep_what_is_declared(done):
    _, results = done
    assert results[0].declaration.label == "given weights"
    facts = {"devtest_bleu", "devtest_length_ratio", "devtest_brevity_penalty"}
    assert results[0].facts.keys() == facts and results[0].epochs == []
    for result in results[1:]:
        assert result.declaration.name == result.algorithm
        assert [one["epoch"] for one in result.epochs] == [1, 2]
        for figure in result.declaration.shown("table"):
            assert figure.value(result.facts) == figure.value(result.epochs[result.chosen - 1]) is not None
    assert list(by_system(results)) == NAMES


@pytest.mark.parametrize("runner", ["inline", "mrjob-inline"])
def test_cells_train_on_any_engine(folder, done, tmp_path, capsys, runner):
    """The same weights and results; on other engines, too, cells run side by side."""
    config, results = done
    options = ["--set", f"work={tmp_path / 'work'}", "--output", str(tmp_path / "out"), "--jobs", "2"]
    assert main(["experiment", str(folder / "grid.yaml"), "-r", runner, *options]) == 0
    assert "sgd-dev-dense: devtest BLEU " in capsys.readouterr().err
    other = load_experiment(folder / "grid.yaml", [f"work={tmp_path / 'work'}"])
    for plan, mine, result in zip(plan_cells(config), plan_cells(other), results, strict=True):
        found = finished(mine)
        assert (found.facts, found.epochs, found.chosen) == (result.facts, result.epochs, result.chosen)
        assert found.side_by_side == 2
        if mine.cell.algorithm != "given":
            assert (mine.run / "weights.vec").read_bytes() == (plan.run / "weights.vec").read_bytes()
            described = json.loads((mine.run / "run.json").read_text())
            assert described["configuration"]["run"]["runner"] == runner


def test_the_engine_of_a_configuration(folder, tmp_path):
    for name in ("build.yaml", "given.weights"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    place = tmp_path / "grid.yaml"
    for store, expected in (("shared", str(tmp_path / "shared")), ("hdfs:///x", "hdfs:///x"), ("/x", "/x")):
        place.write_text(GRID + f"run: {{runner: slurm, jobs: 3, reducers: 2, store: '{store}', options: [--mem=1]}}\n")
        assert load_experiment(place).run == RunConfig("slurm", 3, 2, expected, ("--mem=1",))
    assert load_experiment(folder / "grid.yaml").run == RunConfig()


DOMAINS = ("even", "odd")


@pytest.fixture(scope="module")
def by_domain(folder, done) -> tuple[ExperimentConfig, list[CellPlan]]:
    """The same data with labels, in a work folder of its own; MERT by domain in one training, SGD in one for each."""
    for name, lines in (("t", 60), ("d", 15)):
        text(folder / f"{name}.domains", [DOMAINS[number % 2] for number in range(lines)])
    sets = "references: [d.en], domains: d.domains"
    build = BUILD.replace("work: work", "work: labelled").replace("references: [d.en]", sets)
    (folder / "labelled.yaml").write_text(build.replace("target: t.en", "target: t.en, domains: t.domains"))
    head = GRID.partition("grid:")[0].replace("build.yaml", "labelled.yaml")
    grid = """\
grid:
  - algorithm: sgd
    tuning: dev
    features: dense
    by_domain: [false, true]
  - algorithm: avg_mert
    tuning: dev
    features: dense
    by_domain: [false, true]
    set: {layout.kind: domains, start: given.weights, avg_mert.k: 10, avg_mert.starts: 2}
significance: {trials: 50}
"""
    (folder / "domains.yaml").write_text(head + grid)
    config = load_experiment(folder / "domains.yaml")
    cells.build_data(config)
    plans = plan_cells(config)
    list(run_cells(plans))
    return config, plans


def test_cells_with_the_weights_of_each_domain(by_domain):
    """One system of several trainings, or of one training that has weights for domains: sentence by sentence."""
    config, plans = by_domain
    names = [plan.cell.name for plan in plans]
    assert names == [
        "sgd-dev-dense",
        "sgd-dev-dense-by_domain=True",
        "avg_mert-dev-dense",
        "avg_mert-dev-dense-by_domain=True",
    ]
    assert [len(plan.trainings) for plan in plans] == [1, 2, 1, 1]
    assert list(plans[2].trainings) == list(plans[3].trainings), "both cells share one training"
    shard, model = Shard(plans[0].tests["test"][0]), LanguageModel(plans[0].model)
    for plan in (plans[1], plans[3]):
        runs = list(plan.trainings)
        places = (
            [run / "weights.txt.gz" for run in runs]
            if len(runs) == 2
            else [runs[0] / "domains" / f"domain.{name}.txt" for name in DOMAINS]
        )
        decoders = {
            domain: ShardDecoder(shard, Weights.read(place), model, plan.decoder)
            for domain, place in zip(DOMAINS, places, strict=True)
        }
        expected = [decoders[shard.domain(k)].translate(k) for k in range(len(shard))]
        assert list(read_lines(plan.translations("test"))) == expected
    for domain, run in zip(DOMAINS, plans[1].trainings, strict=True):
        assert json.loads((run / "run.json").read_text())["configuration"]["domain"] == domain
    results = [finished(plan) for plan in plans]
    assert all(result is not None and "devtest_bleu" in result.facts for result in results)
    assert results[1].chosen is None and results[3].chosen == results[2].chosen
    grid = evaluate_cells(config, plans)
    assert len(grid.runs) == 4, "each training once"
    assert "by_domain True" in paper_table(grid).text()


def test_cells_by_domain_run_side_by_side(by_domain, tmp_path):
    plans = by_domain[1]
    again = [replace(plan, folder=tmp_path / plan.folder.name) for plan in plans]
    assert [one.name for one in run_cells(again, jobs=2)] == [plan.cell.name for plan in plans]
    for one, other in zip(plans, again, strict=True):
        assert one.translations("test").read_bytes() == other.translations("test").read_bytes()


def test_sets_without_the_domains_of_a_test_set(folder, by_domain):
    grid = (folder / "domains.yaml").read_text()
    (folder / "wrong.yaml").write_text(grid.replace("labelled.yaml", "build.yaml"))
    with pytest.raises(ConfigError, match="by_domain=True: dev has sentences without a domain"):
        plan_cells(load_experiment(folder / "wrong.yaml"))
    (folder / "wrong.yaml").write_text(grid.replace("algorithm: sgd", "algorithm: given\n    weights: given.weights"))
    with pytest.raises(ConfigError, match="and no `tuning`, `set`, `vary`, `repeats` or `by_domain`"):
        load_experiment(folder / "wrong.yaml")


PARTS_OF_SETS = """\
build: build.yaml
build_set: {sets.seen: {of: train, pairs: 12, size: 4}}
devtest: devtest
tests: [test, "seen:3-3"]
train:
  epochs: 1
  allow_seen_references: true
  epoch: {k: 10, metric: stupid_bleu, learn: {rule: margin_perceptron, eta: 0.01}}
  layout: {kind: sequential}
grid:
  - {algorithm: sgd, name: pass, tuning: ["seen:1", "seen:2"], features: dense}
  - {algorithm: sgd, tuning: dev+devtest, features: dense}
significance: {trials: 10}
"""


def test_shards_of_sets_and_joined_sets(folder, tmp_path):
    """A set of seen sentences, of which cells learn from the first shards and are tested on the last; figure 1 of
    NAACL 2013 is the plot of the scores by sentences."""
    for name in ("t.de", "t.en", "d.de", "d.en", "t.align", "build.yaml"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "grid.yaml").write_text(PARTS_OF_SETS)
    arguments = ["experiment", str(tmp_path / "grid.yaml"), "--output", str(tmp_path / "results")]
    assert main(arguments) == 0
    config = load_experiment(tmp_path / "grid.yaml")
    plans = plan_cells(config)
    names = ["pass-sgd-seen.1-dense", "pass-sgd-seen.2-dense", "sgd-dev+devtest-dense"]
    assert [plan.cell.name for plan in plans] == names
    assert [sum(len(Shard(path)) for path in plan.training.shards) for plan in plans[:2]] == [4, 8]
    joined = [str(path.parent.name) for path in map(Path, plans[2].training.shards)]
    assert joined == ["dev", "devtest"]
    (tested,) = plans[0].tests["seen:3-3"]
    assert len(Shard(tested)) == 4 and tested not in plans[1].training.shards
    known = (tmp_path / "work" / "text" / "train.source").read_text().splitlines()
    assert {Shard(tested).source(number) for number in range(4)} <= set(known)
    grid = evaluate_cells(config, plans)
    table = paper_table(grid)
    settings = [column.label for column in table.columns].index("settings")
    assert [row.entries[settings].text for row in table.rows] == ["pass", "pass", ""], "the names of blocks are shown"
    assert [plot.setting for plot in table.plots] == ["sentences"] * 2, "one for each test set"
    seen = table.plots[1]
    assert seen.caption == "pass-sgd-seen-dense: seen:3-3 BLEU by the number of sentences learned from"
    assert seen.values == ("4", "8")
    assert seen.scores[0][1] == tuple(grid.evaluations["seen:3-3"].score(name).mean for name in names[:2])
    assert seen.scores[1][0] == names[2], "what learned from other sentences, for comparison"
    assert (tmp_path / "results" / "report-seen.3-3.html").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dev+devtest", "dev+nothing", "is 'nothing', but the build has no such set"),
        ("dev+devtest", "dev+train", "'dev\\+train', but train cannot be joined with other sets"),
        ("dev+devtest", "dev+", "several sets, joined by \\+"),
        ('"seen:3-3"', '"seen:0"', "tests.*several sets, joined by \\+"),
    ],
)
def test_wrong_parts_of_sets(folder, tmp_path, old, new, message):
    shutil.copy(folder / "build.yaml", tmp_path)
    (tmp_path / "grid.yaml").write_text(PARTS_OF_SETS.replace(old, new, 1))
    with pytest.raises(ConfigError, match=message):
        load_experiment(tmp_path / "grid.yaml")


def test_shards_that_are_not_there():
    shards = {"a": ("a1", "a2"), "b": ("b1",)}
    assert chosen_shards("b+a:2-2", "tests", shards.__getitem__) == ("b1", "a2")
    with pytest.raises(ConfigError, match="tests is 'a:3', but a has 2 shards"):
        chosen_shards("a:3", "tests", shards.__getitem__)
    with pytest.raises(ConfigError, match=r"'a:1\+a' *, which names a shard twice"):
        chosen_shards("a:1+a", "tuning", shards.__getitem__)


HELD_OUT = """\
build: build.yaml
devtest: devtest
tests: [test]
train:
  epochs: 1
  allow_seen_references: true
  epoch: {k: 10, metric: stupid_bleu, shuffle: true, learn: {rule: margin_perceptron, eta: 0.01}}
grid:
  - algorithm: mert
    name: seen
    tuning: ["train:1-1", "train:2-2"]
    features: dense
    replications: true
    set: {start: given.weights, mert.starts: 1, mert.k: 5, mert.steps: 2}
  - algorithm: hols
    name: held-out
    tuning: train
    features: id
    dev: dev
    start_from: seen-mert-dense
    repeats: 2
    set: {hols.passes: 1, hols.updates: 1, hols.k: 5, hols.iterations: 1, hols.line_search.starts: 1}
  - {algorithm: hols, name: held-in, tuning: train, features: id, start_from: seen-mert-dense,
     set: {hols.passes: 1, hols.updates: 1, hols.k: 5, hols.iterations: 1, hols.line_search.starts: 1,
           hols.search: seen}}
  - {algorithm: sgd, name: softramp3, tuning: dev, features: id, start_from: held-out-hols-train-id,
     set: {epoch.learn.rule: soft_ramp, epoch.learn.batch: true, epoch.learn.schedule: conditioned}}
significance: {trials: 10}
"""


def test_cells_that_start_from_others(folder, done, tmp_path, monkeypatch):
    """The papers' systems start from MERT's weights: run by run, or all from the first."""
    for name in ("t.de", "t.en", "d.de", "d.en", "t.align", "build.yaml", "given.weights"):
        shutil.copy(folder / name, tmp_path / name)
    shutil.copytree(folder / "work", tmp_path / "work")
    (tmp_path / "grid.yaml").write_text(HELD_OUT)
    config = load_experiment(tmp_path / "grid.yaml")
    plans = plan_cells(config)
    assert [plan.cell.name for plan in plans] == [
        "seen-mert-dense", "seen-mert-dense-run=2", "held-out-hols-train-id", "held-out-hols-train-id-run=2",
        "held-in-hols-train-id", "softramp3-sgd-dev-id",
    ]  # fmt: skip
    assert [plan.depth for plan in plans] == [0, 0, 1, 1, 1, 2]
    assert [len(plan.training.shards) for plan in plans[:2]] == [1, 1]
    assert plans[0].training.shards != plans[1].training.shards
    with pytest.raises(ConfigError, match="starts from held-out-hols-train-id, which is not finished"):
        list(run_cells(plans[-1:]))
    results = {one.name: one for one in run_cells(plans, jobs=2)}
    assert len(results) == 6 and all(finished(plan) for plan in plans)
    for later, earlier in ((2, 0), (3, 1), (4, 0), (5, 2)):
        assert plans[later].start == plans[earlier]
        started = Weights.read(plans[later].training.start)
        assert dict(started) == dict(Weights.read(plans[earlier].run / "weights.txt.gz"))
    updates = json.loads((plans[2].run / "manifest.json").read_text())["epochs"]
    assert [one["search_sentences"] for one in updates] == [15], "the development set"
    systems = evaluate_cells(config, plans).evaluations["test"].systems
    assert list(systems) == [*dict.fromkeys(plan.system for plan in plans)], "replications are one system"

    def fail(plan, *args, **options):
        raise InputError("all weights became 0")

    monkeypatch.setattr(schedule, "run_cell", fail)
    for k in (0, 2, 4, 5):
        plans[k].record.unlink()
    found = list(run_cells(plans))
    assert [isinstance(one, FailedCell) for one in found] == [True, False, True, False, True, True]
    assert [one.error.message for one in found if isinstance(one, FailedCell)] == [
        "all weights became 0",
        *["it starts from seen-mert-dense, which failed"] * 2,
        "it starts from held-out-hols-train-id, which failed",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("start_from: seen-mert-dense", "start_from: later", "start_from is 'later', but no earlier block has such"),
        ("dev: dev", "dev: nothing", "dev is 'nothing', but the build has no such set"),
        ('"train:2-2"', '"train:2-"', "train:3-4 for the third and the fourth"),
        ("name: seen\n", "repeats: 2\n", "replications needs a name and one algorithm, and no repeats"),
    ],
)
def test_wrong_starts(folder, tmp_path, old, new, message):
    shutil.copy(folder / "build.yaml", tmp_path)
    (tmp_path / "grid.yaml").write_text(HELD_OUT.replace(old, new, 1))
    with pytest.raises(ConfigError, match=message):
        load_experiment(tmp_path / "grid.yaml")

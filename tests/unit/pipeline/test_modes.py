"""Experiments in the form of WMT 2013: rows by domain, columns by tuning mode; the order in which cells run."""

import json
import os
import re
import shutil
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest
import sacrebleu

from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.base.paper_table import PaperTable
from itersel.base.spare_processes import borrowed, give, share
from itersel.base.workers import ordered_map
from itersel.cli import main
from itersel.evaluation.significance import randomization_test
from itersel.learn.domain_rows import DomainRows
from itersel.learn.mixing import Columns, SelectionConfig, norms
from itersel.metrics.corpus import CorpusMetric
from itersel.model.features import Weights
from itersel.model.vectors import Vector, feature_ids
from itersel.pipeline.experiment import schedule
from itersel.pipeline.experiment.cells import CellPlan, build_data, finished, plan_cells, run_cell
from itersel.pipeline.experiment.config import ExperimentConfig, load_experiment
from itersel.pipeline.experiment.grid_result import GridResult, evaluate_cells
from itersel.pipeline.experiment.mode_tables import mode_tables
from itersel.pipeline.experiment.plots import plots
from itersel.pipeline.experiment.schedule import largest_first, run_cells
from itersel.pipeline.experiment.setting_tables import setting_tables
from itersel.report.experiment import experiment_values
from itersel.report.feature_table import Sentence
from itersel.report.gather import gather
from itersel.report.sharing import sharing, sharing_tables
from itersel.run.driver import train

WORDS = {"der": "the", "hund": "dog", "sieht": "sees", "das": "that", "haus": "house", "und": "and", "katze": "cat"}
OTHERS = {"hund": "hound", "sieht": "saw", "das": "the", "haus": "home"}
BUILD = """\
work: work
train: {parts: {even: {source: even.de, target: even.en}, odd: {source: odd.de, target: odd.en}}, shards: false,
        held_out: {devtest: {each: 5}}}
sets:
  dev: {parts: {odd: {source: odd.de, references: [odd.en]}, even: {source: even.de, references: [even.en]}}, each: 8}
  test: {parts: {odd: {source: odd.de, references: [odd.en]}, even: {source: even.de, references: [even.en]}}}
  pooled: {of: test, each: 5}
  few: {of: dev, each: 4}
align: {given: links}
lm: {order: 2}
"""
GRID = """\
build: build.yaml
devtest: devtest
tests: [pooled, test]
table: {domains: test}
train:
  epochs: 2
  allow_seen_references: true
  epoch: {k: 10, metric: stupid_bleu, shuffle: false, learn: {eta: 0.01}}
grid:
  - {algorithm: sgd, tuning: dev, features: dense, by_domain: true, table: dense, column: indep.}
  - {algorithm: sgd, tuning: dev, by_domain: true, table: all, column: indep.}
  - {algorithm: sgd, tuning: few, table: all, column: pooled}
  - {algorithm: iter_sel_sgd, tuning: dev, table: all, column: domains,
     set: {layout.kind: domains, selection.top: 30}}
  - {algorithm: iter_sel_sgd, tuning: dev, table: all, column: resharding, repeats: 2,
     set: {layout.kind: reshard, layout.shards: 2, selection.top: 30}}
significance: {trials: 200, level: 0.3}
"""


def text(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Two domains of thirty pairs, in which some words have two translations."""
    folder, names = tmp_path_factory.mktemp("modes"), list(WORDS)
    links = []
    for at, domain in enumerate(("even", "odd")):
        sources = [[names[(i * j + i // 7 + at) % 7] for j in range(1, 4 + i % 4)] for i in range(1, 31)]
        targets = [
            [OTHERS.get(word, WORDS[word]) if (i + j + at) % 3 == 0 else WORDS[word] for j, word in enumerate(words)]
            for i, words in enumerate(sources)
        ]
        text(folder / f"{domain}.de", [" ".join(words) for words in sources])
        text(folder / f"{domain}.en", [" ".join(words) for words in targets])
        links += [" ".join(f"{i}-{i}" for i in range(len(words))) for words in sources]
    text(folder / "links", links)
    (folder / "build.yaml").write_text(BUILD)
    (folder / "grid.yaml").write_text(GRID)
    return folder


@pytest.fixture(scope="module")
def done(folder) -> tuple[ExperimentConfig, list[CellPlan], GridResult]:
    config = load_experiment(folder / "grid.yaml")
    build_data(config)
    plans = plan_cells(config)
    list(run_cells(plans))
    return config, plans, evaluate_cells(config, plans)


def outputs(plans: list[CellPlan], table: str, column: str, test: str) -> list[list[str]]:
    """Of every run of a column."""
    chosen = [plan for plan in plans if (plan.cell.table, plan.cell.column) == (table, column)]
    return [list(read_lines(plan.translations(test))) for plan in chosen]


def bleu(lines: list[str], references: list[str]) -> float:
    return sacrebleu.corpus_bleu(lines, [references], tokenize="none", force=True).score


def test_rows_are_test_sets_and_domains_and_columns_are_modes(folder, done):
    """Scores by sacrebleu itself, marks by a test of each pair on its own."""
    _, plans, grid = done
    dense, table = mode_tables(grid)
    assert dense.caption == "BLEU: dense" and [one.label for one in dense.columns] == ["test set", "indep. 0"]
    modes = ["indep.", "pooled", "domains", "resharding"]
    assert [one.label for one in table.columns[1:]] == [f"{mode} {k}" for k, mode in enumerate(modes)]
    labels = ["pooled", "even", "odd", "average", "CPU s", "model size"]
    assert [row.entries[0].text for row in table.rows] == labels
    tasks = (folder / "work" / "text" / "test.tasks").read_text().splitlines()
    texts = {
        name: (folder / "work" / "text" / f"{name}.reference.0").read_text().splitlines() for name in grid.config.tests
    }
    values: dict[str, list[float]] = {}
    for row in table.rows[:3]:
        label = row.entries[0].text
        test = "pooled" if label == "pooled" else "test"
        numbers = [k for k in range(len(texts[test])) if test == "pooled" or tasks[k] == label]
        references = [texts[test][k] for k in numbers]
        runs = {mode: [[run[k] for k in numbers] for run in outputs(plans, "all", mode, test)] for mode in modes}
        assert [len(several) for several in runs.values()] == [1, 1, 1, 2]
        scores = {mode: fmean(bleu(run, references) for run in several) for mode, several in runs.items()}
        assert [entry.value for entry in row.entries[1:]] == pytest.approx(list(scores.values()), abs=1e-9)
        spreads = [f"±{stdev(bleu(run, references) for run in runs['resharding']):.2f}"]
        assert [entry.note for entry in row.entries[1:]] == ["", "", "", *spreads]
        metric = CorpusMetric("bleu", [[one] for one in references])
        statistics = {mode: np.stack([metric.statistics(run) for run in several]) for mode, several in runs.items()}
        better = set()
        for one, other in combinations(range(len(modes)), 2):
            first, second = modes[other], modes[one]
            p = randomization_test(statistics[first], statistics[second], metric.scores, trials=200, seed=1).p
            if p < 0.3 and scores[first] != scores[second]:
                better.add((other, one) if scores[first] > scores[second] else (one, other))
        for k, entry in enumerate(row.entries[1:]):
            assert entry.marks.raised == tuple(sorted(beaten for winner, beaten in better if winner == k))
        values[label] = list(scores.values())
    assert any(entry.marks.raised for row in table.rows[:3] for entry in row.entries), "nothing was tested"
    means = [fmean(pair) for pair in zip(values["even"], values["odd"], strict=True)]
    assert [entry.value for entry in table.rows[3].entries[1:]] == pytest.approx(means)


def test_the_size_of_several_models_is_their_mean(done):
    _, plans, grid = done
    row = mode_tables(grid)[1].rows[-1]
    by_domain = [len(Weights.read(run / "weights.txt.gz")) for run in plans[1].trainings]
    assert len(by_domain) == 2 and row.entries[1].value == fmean(by_domain)
    runs = [len(Weights.read(plan.run / "weights.txt.gz")) for plan in plans if plan.cell.column == "resharding"]
    assert row.entries[4].value == fmean(runs) and len(runs) == 2


def test_only_the_pairs_of_a_table_are_tested(done):
    _, plans, grid = done
    names = list(dict.fromkeys(plan.system for plan in plans if plan.cell.table == "all"))
    for evaluation in grid.evaluations.values():
        found = {frozenset((one.first, one.second)) for one in evaluation.comparisons}
        assert found == {frozenset(pair) for pair in combinations(names, 2)}
    assert list(grid.evaluations) == ["pooled", "test: even", "test: odd"]


def test_repeats_have_other_shards(done):
    _, plans, _ = done
    seeds = [(plan.training.layout.seed, plan.training.epoch.seed) for plan in plans]
    assert seeds[4:] == [(1, 0), (2, 1)] and set(seeds[:4]) == {(1, 0)}


def test_an_unfinished_column_has_no_scores(folder, done):
    config, plans, _ = done
    grid = evaluate_cells(config, [plan for plan in plans if plan.cell.column != "pooled"])
    table = mode_tables(grid)[1]
    assert {row.entries[2].text for row in table.rows} == {"–"}
    assert "1 of 6 cells are not finished" in table.legend[1]


def test_the_command_writes_the_tables(folder, done, tmp_path, capsys):
    _, _, grid = done
    assert main(["experiment", str(folder / "grid.yaml"), "--table", "--output", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    written = (tmp_path / "out" / "table.md").read_text()
    for table in mode_tables(grid):
        assert table.caption in said and f"## {table.caption}\n" in written and table.markdown() in written
    assert written.count("Raised:") == 1
    page = (tmp_path / "out" / "report.html").read_text()
    assert "resharding 3" in page and "BLEU: dense" in page
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert list(document["tests"]) == ["pooled", "test: even", "test: odd"]


def test_what_it_took_is_that_of_the_stages_and_the_cells(folder, done, tmp_path):
    """Processor time and memory by the records on disk, disk space by the files themselves."""
    _, plans, _ = done
    assert main(["experiment", str(folder / "grid.yaml"), "--table", "--output", str(tmp_path / "out")]) == 0
    work = folder / "work"
    stages = [json.loads(place.read_text()) for place in (work / "stages").iterdir()]
    cells = [json.loads(plan.record.read_text()) for plan in plans]
    effort = json.loads((tmp_path / "out" / "results.json").read_text())["effort"]
    seconds = [one["cpu_seconds"] for one in (*stages, *cells)] + [one["test_seconds"] for one in cells]
    assert effort["cpu_seconds"] == pytest.approx(sum(seconds), abs=0.001) and effort["cpu_seconds"] > 0
    assert effort["peak_megabytes"] == max(one["peak_megabytes"] for one in (*stages, *cells)) > 0
    made = [path for part in ("text", "model", "shards") for path in (work / part).rglob("*") if path.name[0] != "."]
    made += [path for plan in plans for path in plan.folder.rglob("*")]
    assert effort["disk_bytes"] == sum(path.stat().st_size for path in made if path.is_file())
    said = (tmp_path / "out" / "table.md").read_text()
    peak, megabytes = effort["peak_megabytes"], round(effort["disk_bytes"] / 2**20)
    # Of this process, too, which forks the others: how much depends on the tests before.
    memory = f"{peak} MB" if peak < 1000 else f"{peak / 1024:.1f} GB"
    assert f"of processor time, peak {memory} per process, {megabytes} MB of disk." in said


# settings that devtest chooses


BEFORE_GRID = GRID[: GRID.index("grid:\n")]
VARIED = f"""\
{BEFORE_GRID}grid:
  - {{algorithm: sgd, tuning: few, table: l1, column: pooled, vary: {{epoch.learn.l1: [0.02, 0, 1000]}}}}
  - {{algorithm: sgd, tuning: dev, by_domain: true, table: l1, column: indep., vary: {{epoch.learn.l1: [0, 0.02]}}}}
  - {{algorithm: sgd, tuning: few, features: dense, table: l1, column: dense}}
significance: {{trials: 100}}
"""


@pytest.fixture(scope="module")
def varied(folder, done) -> tuple[list[CellPlan], GridResult]:
    (folder / "varied.yaml").write_text(VARIED)
    config = load_experiment(folder / "varied.yaml")
    plans = plan_cells(config)
    list(run_cells(plans))
    return plans, evaluate_cells(config, plans)


def test_devtest_chooses_among_the_settings_of_a_column(varied, tmp_path, capsys, folder):
    """One column for all values of λ: the best by devtest. The others are in a table and a plot of their own."""
    plans, grid = varied
    (table,) = mode_tables(grid)
    assert [one.label for one in table.columns[1:]] == ["pooled 0", "indep. 1", "dense 2"]
    values = {plan.cell.system: finished(plan).facts["devtest_bleu"] for plan in plans}
    pooled, indep = ([plan.cell.system for plan in plans if plan.cell.column == one] for one in ("pooled", "indep."))
    assert len({values[name] for name in pooled}) > 1, "a penalty of 1000 leaves nothing"
    best = [max(names, key=lambda name: values[name]) for names in (pooled, indep)]
    for row, evaluation in zip(table.rows, grid.evaluations.values(), strict=False):
        assert [row.entries[1].value, row.entries[2].value] == [evaluation.score(name).mean for name in best]
        tested = {frozenset((one.first, one.second)) for one in evaluation.comparisons}
        assert tested == {frozenset(pair) for pair in combinations([*best, plans[-1].cell.system], 2)}
    first, second = setting_tables(grid)
    assert first.caption == "l1, pooled: settings" and second.caption == "l1, indep.: settings"
    labels = ["epoch.learn.l1", "devtest BLEU", "pooled BLEU", "average BLEU", "model size"]
    assert [one.label for one in first.columns] == labels and [row.name for row in first.rows] == pooled
    assert [row.entries[1].value for row in first.rows] == [values[name] for name in pooled]
    assert [row.name for row in (*first.rows, *second.rows) if row.entries[1].marks.best] == best
    sizes = [len(Weights.read(plan.run / "weights.txt.gz")) for plan in plans[:3]]
    assert [row.entries[4].value for row in first.rows] == sizes and sizes[2] == 0 < sizes[0] <= sizes[1]
    (plot,) = first.plots
    assert plot.values == ("0", "0.02", "1,000") and plot.sizes == (sizes[1], sizes[0], 0)
    assert plot.caption == "l1, pooled: by epoch.learn.l1"
    assert second.plots[0].sizes[0] == second.rows[0].entries[4].value  # the mean of two models
    shown = {path.name for path in grid.runs}
    assert shown == {best[0], plans[-1].cell.system}, "the report has the chosen trainings"
    assert main(["experiment", str(folder / "varied.yaml"), "--table", "--output", str(tmp_path / "out")]) == 0
    said, written = capsys.readouterr().out, (tmp_path / "out" / "table.md").read_text()
    for one in (first, second):
        assert one.caption in said and one.markdown() in written and one.legend[0] in written
    assert "l1, pooled: by epoch.learn.l1" in (tmp_path / "out" / "report.html").read_text()


def test_the_choice_is_among_what_is_finished(varied):
    plans, grid = varied
    left = evaluate_cells(grid.config, plans[2:])
    (table,) = mode_tables(left)
    assert table.rows[0].entries[1].value == left.evaluations["pooled"].score(plans[2].cell.system).mean
    assert [one.caption for one in setting_tables(left)] == ["l1, indep.: settings"]


# what domains share


def test_what_each_domain_learned_is_kept(done):
    """The rows of the kept columns: their mean is the model, their norm is what the columns were chosen by."""
    plan = next(plan for plan in done[1] if plan.cell.column == "domains")
    epochs = sorted(plan.run.glob("epoch-00[12]"))
    assert len(epochs) == 2
    for epoch in epochs:
        rows = DomainRows.read(epoch)
        assert rows.domains == ("even", "odd")
        columns = Columns.from_bytes((epoch / "norms.vec").read_bytes())
        matrix = rows.matrix(columns.ids)
        assert matrix.mean(axis=1) == pytest.approx(columns.means)
        assert np.sqrt((matrix**2).sum(axis=1)) == pytest.approx(norms(columns))
        assert 0 < len(columns) <= 30 and set(rows.rows[0].ids) <= set(columns.ids)
    other = next(plan for plan in done[1] if plan.cell.column == "resharding")
    assert DomainRows.read(other.run / "epoch-001") is None


def test_features_whose_weights_cancel_out_are_known(done, tmp_path):
    """Such as 1/128 and -1/128: the model lacks the feature, but it is one that domains differ on."""
    plan = next(plan for plan in done[1] if plan.cell.column == "domains")
    epoch = plan.training.epoch
    learn = replace(epoch.learn, rule="perceptron", eta=2**-7, pairs=replace(epoch.learn.pairs, kind="multipartite"))
    epoch = replace(epoch, k=50, learn=learn)
    train(replace(plan.training, epochs=1, epoch=epoch, selection=SelectionConfig()), tmp_path / "run")
    folder = tmp_path / "run" / "epoch-001"
    columns = Columns.from_bytes((folder / "norms.vec").read_bytes())
    names = list(Weights.read(folder / "weights.txt.gz"))
    cancelled = DomainRows.read(folder).cancelled
    assert cancelled and not set(cancelled) & set(names)
    assert sorted(feature_ids([*names, *cancelled]).tolist()) == columns.ids.tolist(), "each kept column has a name"
    found = sharing(gather([tmp_path / "run"])[0])
    assert len(found.names) == len(columns)
    for name in cancelled:
        even, odd = found.weights[found.names.index(name)]
        assert even == -odd != 0


def test_rows_of_domains_as_files(tmp_path):
    ids = feature_ids(["a", "b", "c"])
    rows = DomainRows(("x/y", "z"), (Vector.of(ids[:2], [1.0, -2.0]), Vector.of([], [])), ("d e", "f"))
    for name, content in rows.files().items():
        (tmp_path / name).write_bytes(content)
    again = DomainRows.read(tmp_path)
    assert (again.domains, again.cancelled) == (rows.domains, rows.cancelled)
    assert (again.matrix(ids) == rows.matrix(ids)).all()
    assert sorted(rows.matrix(ids)[:, 0].tolist()) == [-2.0, 0.0, 1.0] and not rows.matrix(ids)[:, 1].any()


# the order


def test_cells_side_by_side_give_the_same(done, tmp_path):
    """With more processes than cells, too: the idle ones are borrowed."""
    plans = done[1]
    for jobs in (2, 9):
        again = [replace(plan, folder=tmp_path / str(jobs) / plan.folder.name) for plan in plans]
        found = list(run_cells(again, jobs=jobs))
        assert [one.name for one in found] == [plan.cell.name for plan in plans]
        for one, other in zip(plans, again, strict=True):
            for test in ("pooled", "test"):
                assert one.translations(test).read_bytes() == other.translations(test).read_bytes()
        assert all(finished(plan) is not None for plan in again)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_fails_does_not_stop_the_others(folder, done, tmp_path, monkeypatch, capsys, jobs):
    """Its error ends the command after the table of the others is written."""

    def fail(plan: CellPlan, *args, **options):
        if plan.cell.column == "domains":
            raise InputError("no round reached the tuning score", where="run", hint="Allow more rounds.")
        return run_cell(plan, *args, **options)

    monkeypatch.setattr(schedule, "run_cell", fail)
    command = ["experiment", str(folder / "grid.yaml"), "--jobs", str(jobs), "--output", str(tmp_path / "out")]
    kept = shutil.copytree(folder / "work" / "experiments", tmp_path / "kept")
    for plan in done[1]:
        if plan.cell.column in ("domains", "resharding"):
            plan.record.unlink()
    try:
        assert main(command) == 2
    finally:
        shutil.copytree(kept, folder / "work" / "experiments", dirs_exist_ok=True)
    said = capsys.readouterr()
    name = next(plan.cell.name for plan in done[1] if plan.cell.column == "domains")
    assert f"error: run: a cell failed ({name}): no round reached the tuning score" in said.err
    assert f"Allow more rounds. {tmp_path / 'out'} has the other cells." in said.err
    table = (tmp_path / "out" / "table.md").read_text()
    assert "1 of 6 cells are not finished" in table and "resharding 3" in table and "BLEU: all" in said.out


def test_the_largest_cells_come_first(done):
    plans = done[1]
    groups = largest_first(plans)
    sizes = [sum(plan.sentences for plan in group) for group in groups]
    assert sizes == sorted(sizes, reverse=True) and sum(map(len, groups)) == len(plans)
    by_column = {plan.cell.column: plan.sentences for plan in plans if plan.cell.table == "all"}
    assert by_column["indep."] == 2 * (16 + 10) + 10 + 60 and by_column["pooled"] == 2 * (8 + 10) + 10 + 60


def test_the_largest_cell_begins_and_gets_idle_processes(done, tmp_path, monkeypatch):
    """The other process does all others, one after the other; then it is idle."""
    plans = [replace(plan, folder=tmp_path / plan.folder.name) for plan in done[1]]
    order = [group[0].cell.name for group in largest_first(plans)]

    def work(plan: CellPlan, *args, **options) -> tuple[str, int]:
        with (tmp_path / str(os.getpid())).open("a") as begun:
            begun.write(plan.cell.name + "\n")
        for _ in range(1000 if plan.cell.name == order[0] else 0):
            with borrowed(9) as count:
                if count:
                    return plan.cell.name, count
            time.sleep(0.01)
        return plan.cell.name, 0

    monkeypatch.setattr(schedule, "run_cell", work)
    assert dict(run_cells(plans, jobs=2)) == {name: int(name == order[0]) for name in order}
    begun = sorted((place.read_text().split() for place in tmp_path.iterdir() if place.is_file()), key=len)
    assert begun == [order[:1], order[1:]]


def test_forests_are_decoded_in_every_step_of_a_search(folder, done):
    """Three steps, the cross-sections and the new weights: five times in each of two rounds."""
    blocks = [
        f"  - {{algorithm: mert, tuning: dev, features: dense, table: MERT, column: {space},\n"
        f"     set: {{epochs: 2, mert.starts: 1, mert.steps: 3, mert.space: {space}}}}}\n"
        for space in ("list", "forest")
    ]
    (folder / "mert.yaml").write_text(BEFORE_GRID + "grid:\n" + "".join(blocks))
    plans = plan_cells(load_experiment(folder / "mert.yaml"))
    assert [plan.sentences for plan in plans] == [2 * (16 + 10) + 10 + 60, 2 * (5 * 16 + 10) + 10 + 60]
    assert [group[0].cell.column for group in largest_first(plans)] == ["forest", "list"]


def test_spare_processes():
    with borrowed(3) as count:
        assert count == 0  # none are shared
    with share(2):
        with borrowed(5) as count:
            assert count == 2
            give()
            with borrowed(1) as another, borrowed(1) as nothing:
                assert (another, nothing) == (1, 0)
        with borrowed(9) as count:
            assert count == 3


def test_a_process_that_ends_leaves_its_place_to_another(tmp_path):
    """The second item waits until the first has given its process, then borrows it."""

    def work(item: int) -> int:
        if item == 0:
            give()
            return 0
        for _ in range(1000):
            with borrowed(4) as count:
                if count:
                    return sum(ordered_map(lambda n: os.getpid() and n, [1, 2, 3], 1 + count))
            time.sleep(0.01)
        return -1

    with share():
        assert list(ordered_map(work, [0, 1], 2, nested=True)) == [0, 6]


BAD = [
    ("table: {domains: test}\n", "", "grid.yaml:9: a block has a column, but the file has no `table`"),
    ("{domains: test}", "{domains: dev}", "grid.yaml:4: table.domains is 'dev', which is not among the tests"),
    (", table: all, column: pooled}", "}", "grid.yaml:12: a block has no table or no column"),
    ("tuning: few, table", "tuning: [few, dev], table", "grid.yaml:12: 2 systems are the column 'pooled' of 'all'"),
    ("column: pooled}", "column: indep.}", "grid.yaml:12: 2 systems are the column 'indep.' of 'all'"),
    ("column: pooled}", "column: pooled, vary: {epoch.learn.l1: []}}", "grid.yaml:12: vary.epoch.learn.l1 is []; give"),
    (
        "tests: [pooled, test]\ntable: {domains: test}",
        "build_set: {sets.plain: {source: odd.de, references: [odd.en]}}\ntests: [plain:1]\ntable: {domains: plain:1}",
        "grid.yaml:5: table.domains is 'plain:1', whose sentences have no domains",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_what_is_wrong_and_where(folder, old, new, message):
    assert old in GRID
    (folder / "bad").mkdir(exist_ok=True)
    (folder / "bad" / "build.yaml").write_text(BUILD)
    (folder / "bad" / "grid.yaml").write_text(GRID.replace(old, new, 1))
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_experiment(folder / "bad" / "grid.yaml")


@pytest.mark.parametrize(
    ("devtest", "test", "tuning", "message"),
    [
        ("devtest", "test", "only", "test has the domain 'odd', but only has not"),
        ("devtest", "only", "only", "devtest has the domain 'odd', but only has not"),
        ("only", "test", "dev", "dev has the domain 'odd', but devtest has not"),
    ],
)
def test_domains_that_a_set_lacks(one_domain, devtest, test, tuning, message):
    """Known before anything is trained."""
    grid = BEFORE_GRID.replace("devtest: devtest", f"devtest: {devtest}").replace("[pooled, test]", f"[{test}]")
    grid = grid.replace("table: {domains: test}\n", "")
    block = f"grid: [{{algorithm: sgd, tuning: {tuning}, features: dense, by_domain: true}}]\n"
    (one_domain / "grid.yaml").write_text(grid + block)
    with pytest.raises(ConfigError, match=f"sgd-{tuning}-dense-by_domain=True: {message}"):
        plan_cells(load_experiment(one_domain / "grid.yaml"))


@pytest.fixture(scope="module")
def one_domain(folder, tmp_path_factory) -> Path:
    """The same data, and a set of sentences of one domain."""
    place = tmp_path_factory.mktemp("one_domain")
    for path in folder.iterdir():
        if path.is_file():
            shutil.copy(path, place)
    only = "  only: {parts: {even: {source: even.de, references: [even.en]}}}\n"
    (place / "build.yaml").write_text(BUILD.replace("align:", only + "align:"))
    build_data(load_experiment(place / "grid.yaml"))
    return place


# what the report shows


def test_what_domains_share_in_a_report(done):
    """Counts and signs by hand, from the files of the epoch."""
    plan = next(plan for plan in done[1] if plan.cell.column == "domains")
    (run,) = gather([plan.run])
    found = sharing(run)
    folder = run.folder(run.best.number)
    assert found.names == tuple(Weights.read(folder / "weights.txt.gz")) and found.domains == ("even", "odd")
    rows = [dict(zip(vector.ids.tolist(), vector.values, strict=True)) for vector in DomainRows.read(folder).rows]
    before = {}
    if run.best.number > 1:
        vector = Vector.read(run.folder(run.best.number - 1) / "weights.vec")
        before = dict(zip(vector.ids.tolist(), vector.values, strict=True))
    rule = next(name for name in found.names if re.fullmatch("R:X:[a-z_]+:[a-z_]+", name))
    _, _, source, target = rule.replace("_", " ").split(":")
    sentences = [Sentence("devtest", "1", f"x {source}", f"{target} y")]
    counts, largest, apart = sharing_tables(found, "name", 1000, sentences)
    ids = dict(zip(found.names, feature_ids(list(found.names)).tolist(), strict=True))
    expected = {name: [row.get(id, 0.0) for row in rows] for name, id in ids.items()}
    starts = {name: before.get(id, 0.0) for name, id in ids.items()}
    for number, row in enumerate(counts.rows):
        chosen = [weights for weights in expected.values() if sum(w != 0 for w in weights) == number]
        signs = [weights for weights in chosen if min(weights) < 0 < max(weights)]
        changed = [n for n, weights in expected.items() if sum(w != starts[n] for w in weights) == number]
        assert [entry.value for entry in row.entries[:4]] == [number, len(chosen), len(signs), len(changed)]
    assert {row.name for row in largest.rows} == set(found.names)
    norms_shown = [row.entries[1].value for row in largest.rows]
    assert norms_shown == sorted(norms_shown, reverse=True)
    for row in largest.rows:
        assert [entry.value for entry in row.entries[7:9]] == pytest.approx(expected[row.name])
    differing = {n for n, weights in expected.items() if min(weights) < 0 < max(weights)}
    assert differing == {row.name for row in apart.rows[: len(differing)]}
    examples = {row.name: row.entries[-1].text for row in largest.rows}
    assert examples[rule] == f"x {source} → {target} y" and examples["LanguageModel"] == ""
    other = next(plan for plan in done[1] if plan.cell.column == "resharding")
    assert sharing(gather([other.run])[0]) is None


def test_plots_of_one_setting(done):
    """Cells that differ in one number make a plot, in the order of its values; others do not."""
    _, _, grid = done
    names = list(grid.evaluations["pooled"].systems)
    one = grid.results[0]
    values = {names[1]: {"selection.top": None}, names[2]: {"selection.top": 100}, names[3]: {"selection.top": 20}}
    settings = {"models": 1, "epochs": []}
    systems = [replace(one, name=name, varied=values[name], weights=k, **settings) for k, name in enumerate(values)]
    systems.append(replace(one, name=names[0], varied={"start": "x"}))
    (plot,) = plots(grid, systems)
    assert plot.setting == "selection.top" and plot.values == ("20", "100", "none") and plot.sizes == (2, 1, 0)
    scores = dict(plot.scores)
    assert list(scores) == ["devtest BLEU", "pooled BLEU", "average BLEU"]
    assert scores["pooled BLEU"] == tuple(grid.evaluations["pooled"].score(names[k]).mean for k in (3, 2, 1))
    halves = [[grid.evaluations[f"test: {d}"].score(names[k]).mean for d in ("even", "odd")] for k in (3, 2, 1)]
    assert scores["average BLEU"] == pytest.approx([fmean(pair) for pair in halves])
    apart = [replace(system, varied=system.varied | {"epoch.k": k}) for k, system in enumerate(systems[:3])]
    assert plots(grid, apart) == ()
    blocks = [replace(system, label=label) for system, label in zip(systems, ("one", "two", "one"), strict=False)]
    (plot,) = plots(grid, blocks)
    assert plot.values == ("20", "none") and plot.caption.startswith("one, "), "a block is an experiment of its own"


def test_plots_by_the_number_of_sentences(done):
    """Cells that differ in the number of shards only make a curve for each test set, beside the best other system."""
    _, _, grid = done
    names = list(grid.evaluations["pooled"].systems)
    one = replace(grid.results[0], models=1, epochs=[], varied={})
    key = one.declaration.choice.key
    grid = replace(grid, evaluations={test: _renamed(scores, names) for test, scores in grid.evaluations.items()})
    curve = [
        replace(one, name="x-train-all", tuning="train", sentences=300, weights=7, facts={key: 10.0}),
        replace(one, name="x-train.2-all", tuning="train:2", sentences=200, weights=5, facts={key: 10.0}),
    ]
    others = [
        replace(one, name="y-dev", tuning="dev", sentences=50, facts={key: 20.0}),
        replace(one, name="z-dev", tuning="dev", sentences=50, facts={key: 19.0}),
    ]
    made = plots(grid, [*curve, *others])
    assert [plot.setting for plot in made] == ["sentences"] * len(grid.evaluations)
    for plot, evaluation in zip(made, grid.evaluations.values(), strict=True):
        assert plot.values == ("200", "300") and plot.sizes == (5, 7)
        expected = [evaluation.score(name) for name in ("x-train.2-all", "x-train-all")]
        best = evaluation.score("y-dev")
        assert plot.scores[0][1] == tuple(score.mean for score in expected)
        assert plot.scores[1] == ("y-dev", (best.mean, best.mean))
        assert plot.intervals == (tuple(score.interval for score in expected), (best.interval, best.interval))
        values = experiment_values(PaperTable((), (), (), plots=(plot,)))["plots"][0]["scores"]
        assert values[1]["intervals"] == [list(best.interval)] * 2
    assert plots(grid, [curve[0], *others]) == ()
    named = [replace(curve[0], name="other-x-train-all"), curve[1]]
    assert plots(grid, named) == (), "blocks with different names are different experiments"


def _renamed(evaluation, names):
    """The same scores under the names of the test's systems."""
    new = dict(zip(names, ("x-train-all", "x-train.2-all", "y-dev", "z-dev"), strict=False))
    scores = tuple(replace(one, system=new[one.system]) for one in evaluation.scores if one.system in new)
    return replace(evaluation, scores=scores)

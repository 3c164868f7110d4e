"""The experiment of WMT 2013 on the sample corpus: from text to the tables, in one command."""

import json
import re
from pathlib import Path

import pytest

from itersel.cli import main
from itersel.pipeline.build_config import load_config
from itersel.pipeline.experiment.config import load_experiment

ROOT = Path(__file__).resolve().parents[2]
MODES = ["indep.", "pooled", "pooled-cat", "domains", "sharding", "resharding"]
LEARNERS = {
    "MERT": MODES[:3],
    "perceptron + l1": MODES[:3],
    "perceptron": MODES,
    "margin perceptron": MODES,
    "margin perceptron by K": ["domains"],
}
VARIED = {"perceptron + l1": "epoch.learn.l1", "margin perceptron by K": "selection.top"}


def test_all_modes_on_the_sample(tmp_path, capsys):
    links = ROOT / "tests" / "data" / "sample.align.gz"
    options = ["--set", f"work={tmp_path / 'work'}", "--set", f"align.given={links}", "--output", str(tmp_path / "out")]
    assert main(["experiment", str(ROOT / "conf/experiments/wmt2013-sample.yaml"), "--jobs", "2", *options]) == 0
    said = capsys.readouterr().out
    rows = ["test_pooled", "garden", "kitchen", "office", "street", "average", "CPU s", "model size"]
    table = said.partition("BLEU: margin perceptron\n")[2].splitlines()
    assert table[0].split() == ["test", "set", *(word for k, mode in enumerate(MODES) for word in (mode, str(k)))]
    assert [line.partition("  ")[0] for line in table[1:9]] == rows
    document = json.loads((tmp_path / "out" / "results.json").read_text())
    assert not document["unfinished"] and len(document["cells"]) == 13
    assert {cell["models"] for cell in document["cells"]} == {1, 4}
    assert "BLEU: perceptron + l1" in said and "perceptron + l1, pooled: settings" in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "resharding 5" in page
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    plots = {plot["caption"]: plot for table in data["experiment"] for plot in table["plots"]}
    for name, column, key, values in (
        ("perceptron + l1", "pooled", "epoch.learn.l1", ["0.001", "0.01"]),
        ("margin perceptron by K", "domains", "selection.top", ["100", "1,000"]),
    ):
        plot = plots.pop(f"{name}, {column}: by {key}")
        cells = [cell for cell in document["cells"] if key in cell["varied"] and cell["label"].startswith(name)]
        assert plot["values"] == values and plot["sizes"] == [cell["weights"] for cell in cells]
        assert [one["label"] for one in plot["scores"]] == ["devtest BLEU", "test_pooled BLEU", "average BLEU"]
        assert plot["scores"][0]["values"] == [cell["facts"]["devtest_bleu"] for cell in cells]
    assert not plots
    counts, largest, apart = [table for table in data["sharing"] if table["caption"].startswith("margin_perceptron-d")]
    assert counts["caption"].endswith("what domains share") and len(counts["rows"]) == 5, "of 0 to 4 domains"
    assert len(largest["rows"]) == len(apart["rows"]) == 50


def test_tuners_for_several_domains_on_the_sample(tmp_path, capsys):
    """Table 4 of PBML 2011: the domains' own weights and their mean come from one training."""
    links = ROOT / "tests" / "data" / "sample.align.gz"
    options = ["--set", f"work={tmp_path / 'work'}", "--set", f"align.given={links}", "--output", str(tmp_path / "out")]
    assert main(["experiment", str(ROOT / "conf/experiments/pbml2011-sample.yaml"), *options]) == 0
    said = capsys.readouterr().out.splitlines()
    head = next(line for line in said if line.startswith("test set"))
    assert head.split()[2::2] == ["ind.", "pooled", "AvgMERT", "MMERT", "w_avg"]
    runs = sorted(path.parent.name for path in (tmp_path / "work" / "experiments").rglob("run.json"))
    assert len(runs) == 6, "two seeds each of avg_mert, mert and multitask_mert"


@pytest.mark.parametrize(
    "name",
    [
        *("wmt2013", "wmt2013-sizes", "wmt2013-sample", "perceptron"),
        *("pbml2011", "pbml2011-lambda", "tuners", "tuners-seeds"),
    ],
)
def test_the_configurations_are_valid(name):
    config = load_experiment(ROOT / "conf" / "experiments" / f"{name}.yaml")
    assert config.cells
    if name != "wmt2013":
        return
    columns = {}
    for cell in config.cells:
        columns.setdefault(cell.table, {}).setdefault(cell.column, []).append(cell)
    assert {table: list(found) for table, found in columns.items()} == LEARNERS
    for table, found in columns.items():
        for column, cells in found.items():
            random = column in ("sharding", "resharding")
            assert len({cell.run for cell in cells}) == (3 if random else 1)
            assert {cell.by_domain for cell in cells} == {column == "indep."}
            varied = {key for cell in cells for key in cell.varied if key != "by_domain"}
            assert varied == ({VARIED[table]} if table in VARIED else set())
            assert (len(cells) > len({cell.run for cell in cells})) == bool(varied)
    build = load_config(ROOT / "conf" / "wmt2013.yaml")
    assert len(build.train.parts) == 8 and build.text.split_source
    assert {tuple(build.sets[name].parts) for name in ("dev", "test")} == {tuple(build.train.parts)}

"""Several experiments under one name."""

from pathlib import Path

import pytest
from experiment_cases import GRID, write_experiment

from itersel.base.errors import ConfigError
from itersel.cli import main
from itersel.pipeline.experiment.suite import load_suite

ROOT = Path(__file__).resolve().parents[3]
SMALL = GRID.partition("grid:\n")[0] + "grid:\n"
PARTS = {
    "first": "  - {algorithm: given, weights: given.weights, features: dense}\n",
    "second": "  - {algorithm: sgd, tuning: dev, features: dense}\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    write_experiment(folder)
    for name, block in PARTS.items():
        (folder / f"{name}.yaml").write_text(SMALL + block)
    (folder / "both.yaml").write_text("experiments: [first.yaml, second.yaml]\n")
    return folder


def test_every_experiment_runs_and_all_tables_are_on_one_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = folder / "results"
    command = ["experiment", str(folder / "both.yaml"), "--output", str(output)]
    assert main([*command, "--table"]) == 2
    assert "no cell is finished yet" in capsys.readouterr().err
    assert not output.exists()
    assert main([*command, "--only", "given-*"]) == 0
    assert [path.parent.name for path in output.glob("*/results.json")] == ["first"]
    assert "second: no cell is finished yet" in capsys.readouterr().err
    assert main([*command, "--only", "sgd-*"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("first:\n") < shown.index("second:\n") < shown.index(f"results: {output}\n")
    page = (output / "table.md").read_text()
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        "# Experiments both",
        "## Experiment first",
        "## Experiment second",
    ]
    for name in PARTS:
        alone = (output / name / "table.md").read_text()
        assert alone.removeprefix("# ") in page
        assert main(["experiment", str(folder / f"{name}.yaml"), "--output", str(folder / name)]) == 0
        assert (folder / name / "table.md").read_text() == alone, "the same as by itself"
    assert main([*command, "--only", "nothing"]) == 2
    assert "no cell of these experiments matches 'nothing'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("experiments: []", r"experiments is \[\]; give at least one"),
        ("experiments: [first.yaml, first.yaml]", "two experiments are called first"),
        ("experiments: [first.yaml]\ngrid: []", "unknown key 'grid'"),
        ("experiments: [nowhere.yaml]", "nowhere.yaml"),
        ("experiments: [both.yaml]", "unknown key 'experiments'"),
        ("experiments: [first.yaml]\nname: a/b", "name is 'a/b'"),
    ],
)
def test_wrong_suites(folder: Path, content: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "wrong.yaml").write_text(content)
    assert main(["experiment", str(folder / "wrong.yaml"), "--output", str(folder / "wrong")]) == 2
    error = capsys.readouterr().err
    assert message.replace("\\", "") in error
    assert "Traceback" not in error
    assert not (folder / "wrong").exists()


def test_an_experiment_is_no_suite(folder: Path) -> None:
    assert load_suite(folder / "grid.yaml") is None
    with pytest.raises(ConfigError, match="two experiments are called"):
        (folder / "twice.yaml").write_text("experiments: [first.yaml, again.yaml]")
        (folder / "again.yaml").write_text("name: first\n" + SMALL + PARTS["second"])
        load_suite(folder / "twice.yaml")


def test_the_experiments_of_naacl_2013() -> None:
    suite = load_suite(ROOT / "conf" / "experiments" / "naacl2013.yaml")
    assert suite is not None and suite.name == "naacl2013"
    by_name = {one.name.removeprefix("naacl2013-"): one for one in suite.experiments}
    assert list(by_name) == ["table1", "figure1", "table3", "table4", "ende", "europarl"]
    systems = {name: list(dict.fromkeys(cell.system for cell in one.cells)) for name, one in by_name.items()}
    assert {name: len(several) for name, several in systems.items()} == {
        "table1": 3, "figure1": 6, "table3": 7, "table4": 7, "ende": 3, "europarl": 4,
    }  # fmt: skip
    assert by_name["table1"].build == by_name["figure1"].build, "which is built once"
    works = {one.build.work for one in suite.experiments}
    assert len(works) == 5, "no experiment changes what another one was built for"
    replications = [cell.tuning for cell in by_name["table1"].cells if cell.replication]
    assert len(replications) == len(set(replications)) == 10
    assert "seen:6-6" in by_name["table1"].tests and "seen:6-6" not in replications
    for name in ("table4", "ende", "europarl"):
        build = by_name[name].build
        assert build.extract.folds == build.lm_folds == 5 and not build.extract.leave_one_out
    (german,) = by_name["ende"].build.sets["val"].references
    assert german.name == "val.tok.lc.de.gz" and by_name["ende"].build.train.source.name == "train.tok.lc.en.gz"

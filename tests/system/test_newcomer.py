"""The README's three commands, to the letter, on a small corpus: what benchmarks/newcomer.py runs on a real one."""

import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import newcomer  # noqa: E402

SIZES = {"dev": 40, "test": 40}
QUICK = {"train": ("--epochs", "2", "--set", "epoch.decoder.pop_limit=20"), "evaluate": ("--trials", "100")}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    folder = tmp_path_factory.mktemp("newcomer")
    pairs = newcomer.read_pairs(str(ROOT / "data" / "demo" / "train"))[:380]
    newcomer.write_corpus(pairs, folder, SIZES)
    configuration = yaml.safe_load(newcomer.readme_steps()[0])
    configuration["train"]["held_out"] = {"devtest": 40}  # the README's 1,000 would leave nothing
    configuration |= {"align": {"effort": 0.1}, "shards": {"size": 100}}
    configuration["extract"]["max_samples"] = 20
    evaluation = newcomer.follow(folder, options=QUICK, configuration=yaml.safe_dump(configuration))
    return newcomer.figures(evaluation)


def test_the_readme_leads_to_scores(figures: dict[str, float]) -> None:
    """All three systems are scored, and both differences to IterSelSGD are those of the scores."""
    assert {"hand-set_bleu", "sgd_bleu", "select_bleu"} <= figures.keys()
    for other in ("sgd", "hand-set"):
        assert figures[f"select_minus_{other}"] == pytest.approx(figures["select_bleu"] - figures[f"{other}_bleu"])
        assert 0 < figures[f"p_select_{other}"] <= 1


def test_default_settings_learn(figures: dict[str, float]) -> None:
    """Neither training ends far below weights that a person would guess, even on so little text."""
    assert min(figures["sgd_bleu"], figures["select_bleu"]) > figures["hand-set_bleu"] - 5


def test_a_corpus_is_divided_without_overlap(tmp_path: Path) -> None:
    pairs = [(f"a{number}", f"b{number}") for number in range(30)]
    newcomer.write_corpus(pairs, tmp_path, {"dev": 5, "test": 7})
    found = [newcomer.read_pairs(str(tmp_path / name)) for name in ("train", "dev", "test")]
    assert [len(part) for part in found] == [18, 5, 7]
    assert sorted(pair for part in found for pair in part) == sorted(pairs)

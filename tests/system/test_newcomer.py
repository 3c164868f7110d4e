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
    newcomer.write_corpus([[pair] for pair in pairs], folder, SIZES)
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
    """Documents stay together; only the last one of a set is cut."""
    documents = [[(f"a{number}.{line}", f"b{number}.{line}") for line in range(3)] for number in range(10)]
    newcomer.write_corpus(documents, tmp_path, {"dev": 5, "test": 7})
    found = {name: newcomer.read_pairs(str(tmp_path / name)) for name in ("train", "dev", "test")}
    assert {name: len(part) for name, part in found.items()} == {"train": 15, "dev": 5, "test": 7}
    homes = {name: {source.split(".")[0] for source, _ in part} for name, part in found.items()}
    assert sum(map(len, homes.values())) == len(set().union(*homes.values())) == len(documents)


def test_a_corpus_that_is_too_small(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="12 pairs are too few: the sets alone take 12"):
        newcomer.write_corpus([[("a", "b")] * 3] * 4, tmp_path, {"dev": 5, "test": 7})
    assert not list(tmp_path.iterdir())


def test_sentences_of_a_description() -> None:
    """Sentences are paired by paragraph; lists, equal sides and paragraphs with other numbers of sentences are not."""
    german = "Ein Spiel\n Eins. Zwei geht\n weiter.\n .\n Liste:\n  * a\n .\n Nur einer.\n .\n GPL"
    english = "A game\n One. Two goes on.\n .\n List:\n  * a\n .\n Two. Of them.\n .\n GPL"
    assert newcomer.description_pairs(german, english) == [
        ("Ein Spiel", "A game"),
        ("Eins.", "One."),
        ("Zwei geht weiter.", "Two goes on."),
    ]


def test_paragraphs_that_do_not_match_leave_the_first_line() -> None:
    assert newcomer.description_pairs("Ein Spiel\n Eins.", "A game\n One.\n .\n Two.") == [("Ein Spiel", "A game")]

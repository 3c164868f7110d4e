"""Parity with KenLM's lmplz: its trigram model of Multi30k, and what its reader makes of ours."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import kenlm
import pytest

from itersel.base.files import read_lines
from itersel.cli import main
from oracles.arpa import parse_arpa

TOLERANCE = 1e-4
# lmplz and its reader compute in single precision, so figures agree to six or seven digits.


@pytest.fixture(scope="module")
def models(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Models of orders 2 to 6 on Multi30k's English side."""
    folder = tmp_path_factory.mktemp("lm")
    text = shared_data / "multi30k" / "train.tok.lc.en.gz"
    paths = {order: folder / f"lm{order}.arpa" for order in range(2, 7)}
    for order, path in paths.items():
        assert main(["lm", "--text", str(text), "--order", str(order), "--output", str(path)]) == 0
    return paths


def test_every_ngram_of_the_trigram_model(shared_data: Path, models: dict[int, Path]) -> None:
    expected = parse_arpa(read_lines(shared_data / "cdec-m30k" / "lm3.arpa.gz"))
    found = parse_arpa(read_lines(models[3]))
    assert list(found) == list(expected)  # the same n-grams in the same order
    for column in (0, 1):
        deviation = max(abs(found[gram][column] - expected[gram][column]) for gram in expected)
        assert deviation < TOLERANCE


def test_perplexity(shared_data: Path, models: dict[int, Path]) -> None:
    """Longer histories help up to order 4, as interpolated Kneser-Ney never gets much worse beyond."""
    sentences = list(read_lines(shared_data / "multi30k" / "val.tok.lc.en.gz"))
    words = sum(len(sentence.split(" ")) + 1 for sentence in sentences)

    def perplexity(path: Path) -> float:
        reader = kenlm.Model(str(path))
        return 10 ** (-sum(reader.score(sentence) for sentence in sentences) / words)

    found = {order: perplexity(path) for order, path in models.items()}
    reference = perplexity(shared_data / "cdec-m30k" / "lm3.arpa.gz")
    assert found[3] == pytest.approx(reference, rel=1e-5)
    assert found[2] > found[3] > found[4]
    assert found[5] < 1.01 * found[4] and found[6] < 1.01 * found[5]


def test_sums_to_one(shared_data: Path, models: dict[int, Path]) -> None:
    sentences = list(read_lines(shared_data / "multi30k" / "val.tok.lc.en.gz"))[::101]
    for order, path in models.items():
        reader = kenlm.Model(str(path))
        entries = (line.split("\t") for line in takewhile(lambda line: line != "\\2-grams:", read_lines(path)))
        words = [fields[1] for fields in entries if len(fields) > 1 and fields[1] != "<s>"]
        for sentence in sentences:
            state, following = kenlm.State(), kenlm.State()
            reader.BeginSentenceWrite(state)
            for word in sentence.split(" ")[:order]:
                reader.BaseScore(state, word, following)
                state, following = following, state
            total = sum(10 ** reader.BaseScore(state, word, following) for word in words)
            assert total == pytest.approx(1, abs=1e-5)

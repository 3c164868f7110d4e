"""Which sentences a language model has seen: against sets, for whole texts and samples of them."""

from pathlib import Path

import pytest

from itersel.base.errors import InputError
from itersel.cli import main
from itersel.lm.corpus import Fold
from itersel.lm.seen import SeenSentences, SeenWriter, find_seen, seen_path

TEXT = [f"sentence {number % 70} of  the text" for number in range(300)]


def seen_of(lines: list[str], **options) -> SeenSentences:
    writer = SeenWriter(**options)
    assert list(writer.watch(lines)) == lines
    return writer.result()


def test_a_text_and_its_folds_know_their_sentences(tmp_path: Path) -> None:
    fold = Fold(7, 3)
    for without in (None, fold):
        kept = {" ".join(line.split()) for number, line in enumerate(TEXT) if without is None or number not in fold}
        seen_of(TEXT, without=without).write(tmp_path / "lm.seen")
        known = SeenSentences.read(tmp_path / "lm.seen")
        asked = [*TEXT, "sentence 70 of the text", "", "sentence 1 of the"]
        assert known.find(asked) == [" ".join(line.split()) in kept for line in asked]
        assert known.sentences == sum(without is None or number not in fold for number in range(300))


def test_a_sample_answers_for_its_part_and_says_so() -> None:
    whole, sample = seen_of(TEXT), seen_of(TEXT, most=20)
    assert len(sample.hashes) == 20 and set(sample.hashes) <= set(whole.hashes)
    for text, answer in zip(TEXT, sample.find(TEXT), strict=True):
        assert answer in (True, None), text
    others = [f"another {number}" for number in range(500)]
    answers = sample.find(others)
    assert True not in answers and 50 < answers.count(False) < 250  # about 20 in 70 are below the limit


@pytest.mark.parametrize("name", ["lm.arpa.gz", "lm.arpa", "lm.bin", "lm.binary", "lm"])
def test_all_forms_of_a_model_share_the_file(name: str) -> None:
    assert seen_path(Path("model") / name) == Path("model/lm.seen")
    assert seen_path("lm.without-fold.003.arpa.gz") == Path("lm.without-fold.003.seen")


def test_lm_writes_what_each_model_has_seen(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("".join(f"{line}\n" for line in TEXT))
    place = tmp_path / "lm.{fold}.arpa.gz"
    assert main(["lm", "--text", str(tmp_path / "t"), "--order", "2", "--folds", "3", "--output", str(place)]) == 0
    found = find_seen(tmp_path / "lm.1.arpa.gz")
    assert found is not None
    kept = {line for number, line in enumerate(TEXT) if number % 3 != 1}
    assert found.find(TEXT) == [line in kept for line in TEXT]
    assert find_seen(tmp_path / "other.arpa") is None


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "lm.seen").write_bytes(b'{"format": 1, "limit": "x"}\n1234')
    with pytest.raises(InputError, match="damaged"):
        find_seen(tmp_path / "lm.arpa")

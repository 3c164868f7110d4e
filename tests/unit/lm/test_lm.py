"""Language models: one by hand, the textbook oracle, sums in KenLM, the command's errors."""

from __future__ import annotations

import gzip
import io
import random
from math import log10
from pathlib import Path

import kenlm
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.cli import main
from itersel.lm.arpa import write_arpa
from itersel.lm.corpus import Fold
from itersel.lm.estimate import Model, Settings, estimate
from oracles import kneser_ney
from oracles.arpa import Entries, parse_arpa


def entries_of(model: Model) -> Entries:
    stream = io.BytesIO()
    write_arpa(model, stream)
    return parse_arpa(stream.getvalue().decode().split("\n"))


def random_text(seed: int, sentences: int = 300, types: int = 25) -> list[list[str]]:
    """Sentences with a skewed word distribution, long enough for 6-grams."""
    source = random.Random(seed)
    words = [f"w{number}" for number in range(types)]
    weights = [1 / (rank + 1) for rank in range(types)]
    return [source.choices(words, weights, k=source.randint(1, 12)) for _ in range(sentences)]


# By hand, order 2, on the sentences `a b`, `a b`, `a c`.
#
# Bigrams: <s> a 3, a b 2, b </s> 2, a c 1, c </s> 1. n1 = 2, n2 = 2, n3 = 1, n4 = 0, so Y = 2/(2 + 4) = 1/3,
# D1 = 1 − 2·Y·2/2 = 1/3, D2 = 2 − 3·Y·1/2 = 3/2, D3+ = 3 − 4·Y·0/1 = 3.
# Unigrams by distinct predecessors: a 1 (<s>), b 1 (a), c 1 (a), </s> 2 (b, c). n3 = 0: fallback 1/2, 1, 3/2.
# Uniform over <unk> </s> a b c: 1/5. Total 5, freed 3·1/2 + 1 = 5/2, so the uniform's weight is 1/2:
# <unk> and <s> 1/10; a, b, c (1 − 1/2)/5 + 1/10 = 1/5; </s> (2 − 1)/5 + 1/10 = 3/10. All but <s> sum to 1.
# After <s>: total 3, freed 3, backoff 1; a: 0 + 1·1/5.
# After a: total 3, freed 3/2 + 1/3 = 11/6, backoff 11/18; b: (1/2)/3 + 11/90 = 13/45;
# c: (2/3)/3 + 11/90 = 31/90.
# After b: total 2, freed 3/2, backoff 3/4; </s>: (1/2)/2 + 3/4·3/10 = 19/40.
# After c: total 1, freed 1/3, backoff 1/3; </s>: 2/3 + 1/3·3/10 = 23/30.
HAND_TEXT = ["a b", "a b", "a c"]
HAND_UNIGRAMS = {"<unk>": (1 / 10, 1), "<s>": (1 / 10, 1), "</s>": (3 / 10, 1)}
HAND_FULL = {
    **HAND_UNIGRAMS,
    "a": (1 / 5, 11 / 18),
    "b": (1 / 5, 3 / 4),
    "c": (1 / 5, 1 / 3),
    "b </s>": (19 / 40, 1),
    "c </s>": (23 / 30, 1),
    "<s> a": (1 / 5, 1),
    "a b": (13 / 45, 1),
    "a c": (31 / 90, 1),
}
# Without the bigrams that occur once, their whole counts are freed, the discounts stay:
# after a 3/2 + 1 of 3, backoff 5/6, b: (1/2)/3 + 5/6·1/5 = 1/3; after c 1 of 1, backoff 1.
HAND_PRUNED = {
    **HAND_UNIGRAMS,
    "a": (1 / 5, 5 / 6),
    "b": (1 / 5, 3 / 4),
    "c": (1 / 5, 1),
    "b </s>": (19 / 40, 1),
    "<s> a": (1 / 5, 1),
    "a b": (1 / 3, 1),
}


@pytest.mark.parametrize(("prune", "expected"), [((), HAND_FULL), ((0, 1), HAND_PRUNED)])
def test_model_by_hand(prune: tuple[int, ...], expected: dict[str, tuple[float, float]]) -> None:
    model = estimate(HAND_TEXT, Settings(order=2, prune=prune))
    found = entries_of(model)
    assert [" ".join(gram) for gram in found] == list(expected)  # the order of the file, too
    for gram, (probability, backoff) in expected.items():
        wanted = (log10(probability), log10(backoff))
        assert found[tuple(gram.split())] == pytest.approx(wanted, abs=1e-7), gram
    assert model.discounts[0] == (0.5, 1, 1.5)
    assert model.discounts[1] == pytest.approx((1 / 3, 3 / 2, 3))
    assert model.fallbacks == ["no Kneser-Ney discounts for the 1-grams: none of them has the count 3"]
    assert (model.sentences, model.tokens) == (3, 6)


def test_layout_of_the_file() -> None:
    stream = io.BytesIO()
    write_arpa(estimate(HAND_TEXT, Settings(order=2)), stream)
    lines = stream.getvalue().decode().split("\n")
    assert lines[:7] == [
        "\\data\\",
        "ngram 1=6",
        "ngram 2=5",
        "",
        "\\1-grams:",
        "-1.0000000\t<unk>\t0.0000000",
        "-1.0000000\t<s>\t0.0000000",
    ]
    assert lines[11:14] == ["", "\\2-grams:", "-0.3233064\tb </s>"]
    assert lines[-3:] == ["", "\\end\\", ""]


@settings(deadline=None, max_examples=300)
@given(
    text=st.lists(st.lists(st.sampled_from("aaaabbbccde"), max_size=9), min_size=1, max_size=40),
    order=st.integers(2, 6),
    prune=st.sampled_from([(), (0,), (1,), (0, 1), (0, 0, 1), (1, 1, 2), (0, 0, 0, 2)]),
    vocabulary=st.sampled_from([None, 1, 3, frozenset("ace"), frozenset("xyz")]),
)
def test_agrees_with_the_textbook(
    text: list[list[str]], order: int, prune: tuple[int, ...], vocabulary: int | frozenset[str] | None
) -> None:
    assume(max(map(len, text)) >= max(order - 2, 1) and len(prune) <= order)
    given_vocabulary = set(vocabulary) if isinstance(vocabulary, frozenset) else vocabulary
    expected = kneser_ney.estimate(text, order, prune, given_vocabulary)
    found = entries_of(estimate(text, Settings(order=order, prune=prune, vocabulary=vocabulary)))
    assert found.keys() == expected.keys()
    for gram, wanted in expected.items():
        assert found[gram] == pytest.approx(wanted, abs=2e-7), gram


def test_oracle_also_estimates_its_discounts() -> None:
    """Larger texts have all counts of counts, so that both sides use the closed form."""
    text = random_text(1, sentences=200, types=150)
    model = estimate(text, Settings(order=3, prune=(0, 1)))
    assert not model.fallbacks
    found, expected = entries_of(model), kneser_ney.estimate(text, 3, (0, 1))
    assert found.keys() == expected.keys()
    assert max(abs(found[gram][0] - expected[gram][0]) for gram in expected) < 2e-7
    assert max(abs(found[gram][1] - expected[gram][1]) for gram in expected) < 2e-7


@pytest.mark.parametrize("order", [2, 3, 4, 5, 6])
@pytest.mark.parametrize(("prune", "vocabulary"), [((), None), ((0, 0, 1), None), ((2, 3), None), ((), 12)])
def test_sums_to_one_in_kenlm(tmp_path: Path, order: int, prune: tuple[int, ...], vocabulary: int | None) -> None:
    chosen = Settings(order=order, prune=prune[:order], vocabulary=vocabulary)
    model = estimate(random_text(order), chosen)
    path = tmp_path / "lm.arpa"
    with path.open("wb") as stream:
        write_arpa(model, stream)
    reader = kenlm.Model(str(path))
    assert reader.order == order
    words = [model.words[number] for number in model.tables[0].first]
    source = random.Random(order)
    for _ in range(30):
        state, following = kenlm.State(), kenlm.State()
        if source.random() < 0.5:
            reader.BeginSentenceWrite(state)
        else:
            reader.NullContextWrite(state)
        for word in source.choices([*words[3:], "unseen"], k=source.randint(0, order)):
            reader.BaseScore(state, word, following)
            state, following = following, state
        total = sum(10 ** reader.BaseScore(state, word, following) for word in words if word != "<s>")
        assert total == pytest.approx(1, abs=1e-5)


def test_lines_and_token_lists_and_folds() -> None:
    text = random_text(3)
    whole = entries_of(estimate(text))
    assert entries_of(estimate(" ".join(sentence) for sentence in text)) == whole
    # Runs of separators are one; a no-break space is part of a word.
    assert entries_of(estimate("\t" + " \r ".join(sentence) + "  " for sentence in text)) == whole
    assert ("a\u00a0b",) in entries_of(estimate(["a\u00a0b c d"]))
    without = entries_of(estimate(sentence for number, sentence in enumerate(text) if number % 5))
    assert without != whole


def test_limited_vocabulary_breaks_ties_by_first_occurrence() -> None:
    model = estimate(["x b a", "b a x", "c x b a c"], Settings(vocabulary=2))
    assert model.words == ["<unk>", "<s>", "</s>", "x", "b"]
    assert ("b", "<unk>") in entries_of(model)
    chosen = estimate(["x b a", "b a x"], Settings(vocabulary=frozenset({"a", "x", "not there"})))
    assert chosen.words == ["<unk>", "<s>", "</s>", "x", "a"]


def test_empty_lines_are_sentences() -> None:
    assert ("<s>", "</s>") in entries_of(estimate(["a b", ""], Settings(order=2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 1}, "order 1 is out of range"),
        ({"order": 7}, "order 7 is out of range"),
        ({"order": 2, "prune": (0, 0, 1)}, "3 pruning thresholds"),
        ({"prune": (0, 2, 1)}, "decrease or are negative"),
        ({"prune": (-1,)}, "decrease or are negative"),
        ({"vocabulary": 0}, "a vocabulary of 0 words"),
    ],
)
def test_impossible_settings(arguments: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Settings(**arguments)


@pytest.mark.parametrize("word", ["<s>", "</s>", "<unk>", "<UNK>"])
def test_reserved_words(word: str) -> None:
    with pytest.raises(InputError, match=f"^corpus.en:2: the word '{word}' is reserved"):
        estimate(["a b", f"c {word} d", word], source="corpus.en")


def test_tokens_that_are_not_words() -> None:
    with pytest.raises(InputError, match=r"^sentence 2: 'b c' is not a word"):
        estimate([["a"], ["a", "b c"]])


def test_fallback_can_be_refused() -> None:
    with pytest.raises(InputError, match="no Kneser-Ney discounts for the 1-grams"):
        estimate(HAND_TEXT, Settings(order=2, discount_fallback=False))


def test_sentences_too_short_for_the_order() -> None:
    with pytest.raises(InputError, match=r"order 5\n  Lower the order to 4"):
        estimate(["a b", "a"], Settings(order=6))


def run(*arguments: object) -> int:
    return main(["lm", *map(str, arguments)])


def test_command_writes_the_same_bytes_plain_and_compressed(tmp_path: Path) -> None:
    lines = "".join(" ".join(sentence) + "\n" for sentence in random_text(4))
    text, packed = tmp_path / "text", tmp_path / "text.gz"
    text.write_text(lines)
    packed.write_bytes(gzip.compress(lines.encode()))
    plain, compressed, again = (tmp_path / name for name in ("lm.arpa", "lm.arpa.gz", "again.arpa.gz"))
    assert run("--text", text, "--order", 4, "--output", plain) == 0
    assert run("--text", packed, "--order", 4, "--output", compressed) == 0
    assert run("--text", packed, "--order", 4, "--output", again) == 0
    assert gzip.decompress(compressed.read_bytes()) == plain.read_bytes()
    assert again.read_bytes() == compressed.read_bytes()


def test_command_with_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words, output = tmp_path / "text", tmp_path / "words", tmp_path / "lm.arpa"
    text.write_text("a b c d\na b c e\n")
    words.write_text("a b\nc <unk>\n")
    arguments = ("--text", text, "--output", output, "--vocabulary-file", words, "--prune", 0, 0, 1)
    assert run(*arguments) == 0
    found = parse_arpa(output.read_text().split("\n"))
    assert ("c", "<unk>") in found and ("d",) not in found
    assert "warning: no Kneser-Ney discounts for the 3-grams" in capsys.readouterr().err
    assert run(*arguments, "--no-discount-fallback") == 2


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", [], "{text}: the text has no words"),
        (b"\n\n", [], "{text}: the text has no words"),
        (b"a b c\nd \xff e\n", [], "{text}:2: invalid UTF-8 at byte 3"),
        (b"a b c\nd <s> e\n", [], "{text}:2: the word '<s>' is reserved"),
        (b"\x1f\x8b\x08damaged", [], "{text}: damaged gzip data"),
        (b"a b c\n", ["--order", 9], "order 9 is out of range"),
        (b"a b c\n", ["--vocabulary-file", "absent"], "absent: cannot read"),
    ],
)
def test_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, options: list, message: str
) -> None:
    text, folder = tmp_path / "text", tmp_path / "out"
    folder.mkdir()
    text.write_bytes(content)
    assert run("--text", text, "--output", folder / "lm.arpa", *options) == 2
    assert message.format(text=text) in capsys.readouterr().err
    assert list(folder.iterdir()) == []


def test_missing_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--text", tmp_path / "absent", "--output", tmp_path / "lm.arpa") == 2
    assert f"{tmp_path / 'absent'}: cannot read" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", ["text/lm.arpa", "."])
def test_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str) -> None:
    text = tmp_path / "text"  # a file where a folder would be needed
    text.write_text("a b c\n")
    assert run("--text", text, "--output", tmp_path / output) == 2
    assert "cannot write" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [text]


def test_a_fold_left_out_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    lines = [
        f"{word} b {word} c{number % 4} d"
        for number, word in enumerate(["a", "e", "f", "a", "g", "a", "h", "e", "a", "f"])
    ]
    text = tmp_path / "text"
    text.write_text("\n".join(lines) + "\n")
    assert main(["lm", "--text", str(text), "--order", "2", "--folds", "3", "--output", f"{tmp_path}/lm.{{fold}}"]) == 0
    for fold in range(3):
        rest = tmp_path / "rest"
        rest.write_text("".join(line + "\n" for number, line in enumerate(lines) if number % 3 != fold))
        assert main(["lm", "--text", str(rest), "--order", "2", "--output", str(tmp_path / "expected")]) == 0
        assert (tmp_path / f"lm.{fold}").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize(("folds", "output"), [("3", "lm"), ("1", "lm.{fold}"), ("-2", "lm.{fold}")])
def test_wrong_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str], folds: str, output: str) -> None:
    (tmp_path / "text").write_text("a b\n")
    assert main(["lm", "--text", str(tmp_path / "text"), "--folds", folds, "--output", str(tmp_path / output)]) == 2
    assert "fold" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_a_line_is_named_by_its_number_in_the_whole_text() -> None:
    with pytest.raises(InputError, match="text:4: "):
        estimate(["a b", "a b", "a b", "a <s>"], source="text", without=Fold(2, 0))

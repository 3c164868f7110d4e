"""Compound splitting, against brute force, the paper's examples, and German words that a person has split."""

import gzip
import io
import itertools
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.cli import main
from itersel.text.compounds import CompoundSplitter, SplitConfig
from oracles.compounds import best_mean

DATA = Path(__file__).resolve().parents[2] / "data"


def splitter(counts, **options):
    return CompoundSplitter(counts, {}, SplitConfig(**options))


def test_examples_of_the_paper():
    """Koehn & Knight (2003), section 4.2, with their frequencies. The last shows what frequencies cannot know."""
    counts = {"aktionsplan": 852, "aktion": 960, "plan": 710, "aktions": 5, "akt": 224, "ion": 1}
    paper = splitter(counts, min_length=3, min_count=1)
    assert paper.split("aktionsplan") == ("aktionsplan",)  # 852 against 825.6, 59.6 and 54.2
    del counts["aktionsplan"]
    assert paper.split("Aktionsplan") == ("aktion", "plan")
    assert splitter({"freitag": 556, "frei": 885, "tag": 1864}, min_length=3).split("freitag") == ("frei", "tag")


letters = st.text("abs", min_size=1, max_size=9)


@example("a" * 9, {"a": 1}, 1, 1, ())  # nine parts are one too many
@given(
    letters,
    st.dictionaries(st.text("abs", min_size=1, max_size=4), st.integers(1, 6), max_size=12),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from([(), ("s",), ("s", "as")]),
)
def test_equals_brute_force(word, counts, min_length, min_count, links):
    split = splitter(counts, min_length=min_length, min_count=min_count, links=links).split(word)
    _, best = best_mean(word, counts, min_length, min_count, links)
    if (word,) in best:  # a split must be better than the word
        assert split == (word,)
    else:
        assert split in best
        assert len(split) == min(map(len, best))


def test_spelling_and_what_is_left_alone():
    trained = CompoundSplitter.train(["Der Haus Haus haus Boot", "Boot boot Boot 1984 99"] * 2)
    assert trained.counts == {"der": 2, "haus": 6, "boot": 8}
    assert trained("das Hausboot , HAUSBOOT 19841984 haus-boot x\u00a0y") == (
        "das Haus Boot , Haus Boot 19841984 haus-boot x\u00a0y"
    )


def test_written_and_read_again(tmp_path):
    trained = CompoundSplitter.train(["Haus Boot"] * 3, SplitConfig(3, 2, ("s", "er")))
    stream = io.BytesIO()
    trained.write(stream)
    (tmp_path / "splitter").write_bytes(stream.getvalue())
    again = CompoundSplitter.read(tmp_path / "splitter")
    assert (again.counts, again.forms, again.config) == (trained.counts, trained.forms, trained.config)


@pytest.mark.parametrize(
    ("content", "where"),
    [(b"", ":1"), (b"haus 3\n", ":1"), (b"itersel compound splitter 1 min_length=x min_count=1 links=\n", ":1")],
)
def test_not_a_splitter(tmp_path, content, where):
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(InputError, match="not a compound splitter") as raised:
        CompoundSplitter.read(tmp_path / "bad")
    assert str(raised.value.where).endswith(where)


def test_verb(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.de").write_text("das haus\nein boot\n" * 3)
    assert main(["split", "train", "--text", "train.de", "--output", "splitter.gz"]) == 0
    (tmp_path / "in").write_text("ein hausboot\n\n")
    capsys.readouterr()
    assert main(["split", "apply", "in", "--model", "splitter.gz", "--output", "out.gz"]) == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == b"ein haus boot\n\n"
    for line in ("haus", "haus x", f"haus {'9' * 5000}", " 3", "haus 3 Haus 3"):
        shutil.copy("splitter.gz", "bad.gz")
        with gzip.open("bad.gz", "ab") as stream:
            stream.write(f"{line}\n".encode())
        assert main(["split", "apply", "in", "--model", "bad.gz", "--output", "out.gz"]) == 2
        assert "bad.gz:6: expected a word, its count" in capsys.readouterr().err
        assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == b"ein haus boot\n\n"


def test_linking_elements_in_upper_case_are_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.de").write_text("bund tag\n" * 3)
    options = ["--min-length", "3", "--links", "ES"]
    assert main(["split", "train", "--text", "train.de", "--output", "splitter", *options]) == 0
    (tmp_path / "in").write_text("Bundestag\n")
    capsys.readouterr()
    assert main(["split", "apply", "in", "--model", "splitter"]) == 0
    assert capsys.readouterr().out == "bund tag\n"


BY_HAND = """
kompromisslösung: kompromiss lösung; umweltausschuss: umwelt ausschuss; entschließungsantrag: entschließung antrag
fischereiabkommen: fischerei abkommen; verkehrsinfrastruktur: verkehr infrastruktur; energieeffizienz: energie effizienz
wahlergebnisse: wahl ergebnisse; altersversorgung: alter versorgung; minderheitensprache: minderheiten sprache
haushaltskontrolle: haushalt kontrolle; parlamentsmitglied: parlament mitglied; zuckerproduktion: zucker produktion
subsidiaritätsprinzip: subsidiarität prinzip; kriegsmaterial: krieg material; jahresbericht: jahr bericht
demokratie: demokratie; kommission: kommission; parlament: parlament; europäische: europäische; menschen: menschen
"""


HAND_PAIRS = dict(one.split(": ") for line in BY_HAND.strip().splitlines() for one in line.split("; "))


def test_german_words_split_by_hand():
    """With the frequencies of all their parts of four letters or more in 50,000 sentences of Europarl."""
    counted = CompoundSplitter.read(DATA / "compounds.splitter")
    assert {word: " ".join(counted.split(word)) for word in HAND_PAIRS} == HAND_PAIRS


def test_a_splitter_of_german_text(shared_data):
    with gzip.open(shared_data / "europarl" / "train.tok.lc.de.gz", "rt", encoding="utf-8") as lines:
        trained = CompoundSplitter.train(itertools.islice(lines, 50_000))
    assert {word: " ".join(trained.split(word)) for word in HAND_PAIRS} == HAND_PAIRS
    counted = CompoundSplitter.read(DATA / "compounds.splitter")
    assert {word: trained.counts[word] for word in counted.counts} == counted.counts

"""Bitext reading, cleaning and filtering."""

import gzip
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.text.bitext import Bitext, Cleaning, Limits, Pair, Summary, prepare, words


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def collect(bitext, source=None, target=None, limits=None):
    summary = Summary()
    pairs = list(prepare(bitext, source or Cleaning(), target or Cleaning(), limits or Limits(), summary))
    return pairs, summary


def test_two_files_and_gzip_by_content(tmp_path):
    source = write(tmp_path / "de", gzip.compress(b"\xef\xbb\xbfein haus\nja\n"))
    target = write(tmp_path / "en", "a house\nyes")
    bitext = Bitext(source, target)
    assert list(bitext) == [Pair(1, "ein haus", "a house"), Pair(2, "ja", "yes")]
    assert list(bitext) == list(bitext)


def test_joint_file(tmp_path):
    bitext = Bitext(write(tmp_path / "joint", "ein haus ||| a house\nja ||| yes\n"))
    assert [pair[1:] for pair in bitext] == [("ein haus", "a house"), ("ja", "yes")]


@pytest.mark.parametrize(
    ("source", "target", "where", "message"),
    [
        ("a\nb\n", "a\n", "en:2", "ends after 1 lines"),
        ("a\n", "a\nb\nc\n", "de:2", "ends after 1 lines"),
        (b"a\nb\xff\n", "a\nb\n", "de:2", "invalid UTF-8"),
        ("", "a\n", "de", "empty"),
        ("a\n", "", "en", "empty"),
        ("a ||| b\n", "a\n", "de:1", "a token contains |||"),
        ("x\na\n", "x\nb|||c\n", "en:2", "a token contains |||"),
        ("\n\n", "a\n\n", "de", "no pair is left"),
    ],
)
def test_bad_input(tmp_path, source, target, where, message):
    bitext = Bitext(write(tmp_path / "de", source), write(tmp_path / "en", target))
    with pytest.raises(InputError, match=message.replace("|", r"\|")) as caught:
        collect(bitext)
    assert caught.value.where == str(tmp_path / where)


@pytest.mark.parametrize("line", ["a b", "a ||| b ||| c"])
def test_bad_joint_line(tmp_path, line):
    with pytest.raises(InputError, match=r"expected one \|\|\|") as caught:
        list(Bitext(write(tmp_path / "joint", f"a ||| b\n{line}\n")))
    assert caught.value.where == str(tmp_path / "joint:2")


def test_drops_are_counted(tmp_path):
    source = write(tmp_path / "de", "a b\n\na\na a a\na|||\na b\n")
    target = write(tmp_path / "en", "a b\nb\na b c\na a a\nb\n \t\n")
    pairs, summary = collect(Bitext(source, target), limits=Limits(2, 2.0, drop_separator=True))
    assert pairs == [Pair(1, "a b", "a b")]
    assert summary.dropped == {"empty": 2, "too long": 2, "length ratio": 0, "separator": 1}
    assert (summary.read, summary.kept, summary.source_tokens, summary.target_tokens) == (6, 1, 2, 2)
    pairs, summary = collect(Bitext(source, target), limits=Limits(0, 2.0, drop_separator=True))
    assert [pair.number for pair in pairs] == [1, 4]
    assert summary.dropped["length ratio"] == 1
    assert "1 length ratio" in str(summary)


@pytest.mark.parametrize(
    ("cleaning", "line", "expected"),
    [
        (Cleaning(), "a , \u00a0b\r", "a , b"),
        (Cleaning(), "a\x00b\u2028c", "a b c"),
        (Cleaning(), "u\u0308ber", "über"),
        (Cleaning("none"), "u\u0308ber", "u\u0308ber"),
        (Cleaning("nfc"), "ﬁne", "ﬁne"),
        (Cleaning("nfkc"), "ﬁne", "fine"),
        (Cleaning(), "It's raw.", "It's raw."),
        (Cleaning(language="en", lowercase=True, escape=True), "It's [raw].", "it &apos;s &#91; raw &#93; ."),
        (Cleaning(language="de", punctuation=True), "„Ja“ – gut", '" Ja " - gut'),
        (Cleaning(lowercase=True), "ÄÖ İ", "äö i\u0307"),
        (Cleaning(escape=True), "a ||| b", "a &#124;&#124;&#124; b"),
    ],
)
def test_cleaning(cleaning, line, expected):
    assert cleaning.compile()(line) == expected


@settings(deadline=None)
@given(st.text(), st.sampled_from(["nfc", "nfkc"]), st.sampled_from([None, "de", "en"]), st.booleans())
def test_clean_lines_are_single_spaced_and_normal(line, form, language, lowercase):
    cleaned = Cleaning(form, language, lowercase=lowercase).compile()(line)
    assert words(cleaned) == cleaned.split() == ([] if not cleaned else cleaned.split(" "))
    assert unicodedata.is_normalized(form.upper(), cleaned)


def test_words_split_at_ascii_blanks_only():
    assert words(" a\tb  c\u00a0d\r") == ["a", "b", "c\u00a0d"]


def test_impossible_options():
    with pytest.raises(ConfigError, match="nfd"):
        Cleaning("nfd")
    with pytest.raises(ConfigError, match="ratio"):
        Limits(max_ratio=0.5)
    with pytest.raises(ConfigError, match="length"):
        Limits(max_length=-1)

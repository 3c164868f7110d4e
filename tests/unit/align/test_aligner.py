"""Links, symmetrisation, the aligner and lexical tables."""

import errno
import os
import re
import stat
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.align import aligner as align
from itersel.align.aligner import AlignerConfig, eflomal_links, given_links, symmetrize
from itersel.align.lexicon import NULL, LexicalEntry, LexiconCounter, format_entry, read_lexicon
from itersel.align.links import SYMMETRIZATIONS, format_links, parse_links, read_links
from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.text.bitext import Bitext
from oracles import symmetrization

NOUNS = {"haus": "house", "hund": "dog", "mann": "man", "ball": "ball", "baum": "tree", "tisch": "table"}
ADJECTIVES = {"roter": "red", "kleiner": "small", "alter": "old", "guter": "good"}


@pytest.fixture
def toy(tmp_path):
    """Noun and adjective change places: `haus roter` is `red house`."""
    phrases = [
        (f"{noun} {adjective}", f"{other} {word}")
        for noun, word in NOUNS.items()
        for adjective, other in ADJECTIVES.items()
    ]
    (tmp_path / "de").write_text("".join(f"{source} .\n" for source, _ in phrases))
    (tmp_path / "en").write_text("".join(f"{target} .\n" for _, target in phrases))
    return Bitext(tmp_path / "de", tmp_path / "en")


@st.composite
def two_directions(draw):
    source_length, target_length = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    link = st.tuples(st.integers(0, source_length - 1), st.integers(0, target_length - 1))
    return draw(st.lists(link)), draw(st.lists(link)), source_length, target_length


@settings(deadline=None)
@given(two_directions())
def test_symmetrisation_is_the_textbook_one(drawn):
    forward, reverse, *_ = drawn
    assert SYMMETRIZATIONS["grow-diag"](forward, reverse) == sorted(symmetrization.grow_diag(*drawn))
    assert SYMMETRIZATIONS["grow-diag-final-and"](forward, reverse) == sorted(
        symmetrization.grow_diag_final_and(*drawn)
    )
    assert SYMMETRIZATIONS["intersection"](forward, reverse) == sorted(set(forward) & set(reverse))
    assert SYMMETRIZATIONS["union"](forward, reverse) == sorted(set(forward) | set(reverse))
    assert SYMMETRIZATIONS["forward"](forward, reverse) == sorted(set(forward))
    assert SYMMETRIZATIONS["reverse"](forward, reverse) == sorted(set(reverse))


def test_symmetrisation_by_hand():
    forward, reverse = [(0, 0), (1, 1), (3, 3)], [(0, 0), (0, 1), (5, 5)]
    assert SYMMETRIZATIONS["grow-diag"](forward, reverse) == [(0, 0), (0, 1), (1, 1)]
    assert SYMMETRIZATIONS["grow-diag-final-and"](forward, reverse) == [
        (0, 0),
        (0, 1),
        (1, 1),
        (3, 3),
        (5, 5),
    ]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 2000))))
def test_pharaoh_lines_are_read_as_written(links):
    assert parse_links(format_links(links), "here") == sorted(set(links))


@pytest.mark.parametrize("line", ["0-0 1", "0-0-0", "a-b", "-1-0", "0–0", "1-2,3-4", "0 - 0", "٣-٣"])
def test_bad_links(line):
    with pytest.raises(InputError, match="not a link") as caught:
        parse_links(line, "file:3")
    assert caught.value.where == "file:3"


def test_toy_is_aligned_obviously(toy):
    with eflomal_links(toy, AlignerConfig()) as directed:
        aligned = list(symmetrize(toy, directed.forward, directed.reverse))
        folder = directed.forward.parent
    assert {format_links(pair.links) for pair in aligned} == {"0-1 1-0 2-2"}
    assert not folder.exists()


def test_alignment_is_a_function_of_the_seed(toy):
    def content(seed):
        with eflomal_links(toy, AlignerConfig(seed=seed, samplers=1, effort=0.002)) as directed:
            if not directed.deterministic:
                pytest.skip("this eflomal cannot be given a seed")
            return directed.forward.read_bytes(), directed.reverse.read_bytes()

    assert content(1) == content(1)
    assert len({content(seed) for seed in range(4)}) > 1


def test_empty_and_overlong_pairs_get_no_links(tmp_path):
    long = " ".join(["x"] * (align.LONGEST_SENTENCE + 1))
    (tmp_path / "de").write_text(f"a b\n\n{long}\na\n")
    (tmp_path / "en").write_text("A B\nc\ny\na\n")
    bitext = Bitext(tmp_path / "de", tmp_path / "en")
    with eflomal_links(bitext, AlignerConfig()) as directed:
        assert directed.skipped == 2
        links = [pair.links for pair in symmetrize(bitext, directed.forward, directed.reverse)]
    assert len(links) == 4
    assert links[1:3] == [[], []]
    (tmp_path / "de").write_text("\n" * 4)
    with eflomal_links(bitext, AlignerConfig()) as directed:
        assert list(read_links(directed.forward)) == [[]] * 4


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo out of luck >&2; exit 3", "status 3: out of luck"),
        ("kill -9 $$", "killed by SIGKILL in the forward direction"),
        ("for last; do :; done; echo 0-0 > $last", "wrote 1 of 24 lines"),
        ("for last; do :; done; yes 0-0 | head -n 24 | head -c 95 > $last", "wrote 23 of 24 lines"),
    ],
)
def test_failures_of_the_program_are_noticed(toy, tmp_path, monkeypatch, script, message):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(stat.S_IRWXU)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(align, "_find_program", lambda: program)
    with pytest.raises(UserError, match=re.escape(message)), eflomal_links(toy, AlignerConfig()):
        pass
    assert os.listdir(temporary) == []


def test_a_program_without_the_name_is_not_called_deterministic(tmp_path):
    (tmp_path / "program").write_bytes(b"\x7fELF nothing here")
    assert not align._seeded_copy(tmp_path / "program", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert len(align.SEED_NAME) == len(align.ENTROPY_NAME)


def test_no_space_for_temporary_files(toy, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(align, "_write_indexed", full)
    with pytest.raises(ResourceError, match="No space left") as caught, eflomal_links(toy, AlignerConfig()):
        pass
    assert (caught.value.exit_code, caught.value.where) == (1, tempfile.gettempdir())
    assert "Set TMPDIR" in caught.value.hint


def test_missing_aligner(toy, monkeypatch):
    monkeypatch.setattr(align.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="not installed"), eflomal_links(toy, AlignerConfig()):
        pass


@pytest.mark.parametrize("options", [{"samplers": 0}, {"effort": 0.0}, {"effort": float("nan")}, {"null_prior": 1.0}])
def test_impossible_options(options):
    with pytest.raises(ConfigError):
        AlignerConfig(**options)


@pytest.mark.parametrize(
    ("content", "where", "message"),
    [
        ("0-0\n2-0\n", ":2", "link 2-0 points beyond the source sentence, which has 2 tokens"),
        ("0-0\n0-1\n", ":2", "link 0-1 points beyond the target sentence, which has 1 tokens"),
        ("0-0\n", ":2", "ends after 1 lines"),
        ("0-0\n0-0\n\n", ":3", "continues after 2 lines"),
    ],
)
def test_links_that_do_not_fit_the_text(tmp_path, content, where, message):
    (tmp_path / "joint").write_text("a ||| b\na b ||| c\n")
    (tmp_path / "links").write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        list(given_links(Bitext(tmp_path / "joint"), tmp_path / "links"))
    assert caught.value.where == str(tmp_path / "links") + where


def test_lexicon_by_hand(tmp_path):
    counter = LexiconCounter()
    counter.add(["das", "haus"], ["the", "house"], [(0, 0), (1, 1)])
    counter.add(["das", "das"], ["the"], [(0, 0)])
    counter.add(["haus"], ["a", "house"], [(0, 1)])
    entries = list(counter.entries())
    assert entries == [
        LexicalEntry(NULL, "a", 1.0, 1.0),
        LexicalEntry("das", NULL, 1 / 3, 1.0),
        LexicalEntry("das", "the", 2 / 3, 1.0),
        LexicalEntry("haus", "house", 1.0, 1.0),
    ]
    assert format_entry(entries[1]) == "das __NULL__ 0.333333333333 1"
    (tmp_path / "lexicon").write_text("".join(format_entry(entry) + "\n" for entry in entries))
    assert [entry[:2] for entry in read_lexicon(tmp_path / "lexicon")] == [entry[:2] for entry in entries]


@pytest.mark.parametrize("line", ["a b 0.5", "a b 0.5 x", "a b 0.5 1.5", "a b 0 1", "a b nan 1", "a b c 1 1"])
def test_bad_lexicon(tmp_path, line):
    (tmp_path / "lexicon").write_text(f"a b 1 1\n{line}\n")
    with pytest.raises(InputError, match="not a row") as caught:
        list(read_lexicon(tmp_path / "lexicon"))
    assert caught.value.where == str(tmp_path / "lexicon:2")


@settings(deadline=None)
@given(st.lists(two_directions(), min_size=1))
def test_lexicon_sums_to_one(sentences):
    counter = LexiconCounter()
    for links, _, source_length, target_length in sentences:
        source, target = (
            [f"f{i % 3}" for i in range(source_length)],
            [f"e{i % 4}" for i in range(target_length)],
        )
        counter.add(source, target, set(links))
    entries = list(counter.entries())
    for word in {entry.source for entry in entries}:
        assert sum(entry[2] for entry in entries if entry.source == word) == pytest.approx(1)
    for word in {entry.target for entry in entries}:
        assert sum(entry[3] for entry in entries if entry.target == word) == pytest.approx(1)
    assert entries == sorted(entries)

"""Language models of every order and kind against the `kenlm` module, for whole sentences and for any bracketing."""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import kenlm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import Decoder, DecoderConfig
from itersel.grammar.grammar import Grammar
from itersel.inspect import recognize, view
from itersel.inspect.options import ViewOptions
from itersel.lm.arpa import write_arpa
from itersel.lm.estimate import Settings, estimate
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from oracles.random_arpa import write_random_arpa

ROOT = Path(__file__).resolve().parents[3]
WORDS = ("x", "y", "z", "v", "ü")
NEAR = 1e-5
ORDERS = range(2, 7)
KINDS = ("probing", "rest", "trie", "quantised", "array", "quantised-array")

sentences = st.lists(st.sampled_from((*WORDS, "unseen")), max_size=12)


@pytest.fixture(scope="module")
def arpa(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By name: one estimated and one random model of each order."""
    folder = tmp_path_factory.mktemp("arpa")
    source = random.Random(7)
    text = [source.choices(WORDS, (5, 3, 2, 1, 1), k=source.randint(1, 12)) for _ in range(60)]
    paths = {}
    for order in ORDERS:
        paths[f"estimated {order}"] = folder / f"estimated{order}.arpa"
        with paths[f"estimated {order}"].open("wb") as stream:
            write_arpa(estimate(text, Settings(order=order)), stream)
        paths[f"random {order}"] = folder / f"random{order}.arpa"
        write_random_arpa(paths[f"random {order}"], order, WORDS, seed=order, sentences=40)
    return paths


@pytest.fixture(scope="module")
def build_binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """KenLM's program for binary files, in the few lines of oracles/build_binary.cc."""
    compiler = shutil.which(os.environ.get("CXX", "c++").split()[0])
    archive = ROOT / "build" / "kernel" / "libkenlm.a"
    sources = [Path(given)] if (given := os.environ.get("KENLM_SOURCE")) else [*ROOT.glob("build/sources/kenlm-*")]
    if compiler is None or not archive.is_file() or not sources:
        pytest.skip("no compiler, or no archive of KenLM: build the kernel here with setup.py build_ext --inplace")
    program = tmp_path_factory.mktemp("build") / "build_binary"
    command = [compiler, "-std=c++17", "-w", "-DKENLM_MAX_ORDER=6", f"-I{sources[0]}", "-o", str(program)]
    command += [str(ROOT / "tests" / "oracles" / "build_binary.cc"), str(archive), "-lrt", "-lpthread"]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(command, check=True, env=environment)
    return program


@pytest.fixture(scope="module")
def binaries(
    arpa: dict[str, Path], build_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[int, Path]]:
    folder = tmp_path_factory.mktemp("binary")
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    paths: dict[str, dict[int, Path]] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        for order in ORDERS:
            path = paths[kind][order] = folder / f"{kind}{order}"
            command = [str(build_binary), kind, str(arpa[f"random {order}"]), str(path)]
            subprocess.run(command, check=True, env=environment)
    return paths


@pytest.fixture(scope="module")
def pairs(arpa: dict[str, Path]) -> list[tuple[LanguageModel, kenlm.Model]]:
    return [(LanguageModel(path), kenlm.Model(str(path))) for path in arpa.values()]


@pytest.fixture(scope="module")
def binary_pairs(binaries: dict[str, dict[int, Path]]) -> list[tuple[LanguageModel, kenlm.Model]]:
    return [(LanguageModel(p), kenlm.Model(str(p))) for by_order in binaries.values() for p in by_order.values()]


def expected_score(model: kenlm.Model, words: list[str]) -> float:
    return sum(log10 for log10, _, _ in model.full_scores(" ".join(words)))


@given(data=st.data())
def test_whole_sentences(pairs: list[tuple[LanguageModel, kenlm.Model]], data: st.DataObject) -> None:
    words = data.draw(sentences)
    for ours, theirs in pairs:
        assert ours.score(" ".join(words)) == pytest.approx(expected_score(theirs, words), abs=NEAR)


def test_order_and_words(pairs: list[tuple[LanguageModel, kenlm.Model]]) -> None:
    for ours, theirs in pairs:
        assert ours.order == theirs.order
        assert all(word in ours for word in (*WORDS, "<s>", "</s>"))
        assert "unseen" not in ours
        assert "<unk>" not in ours
        assert ours.score(" x \t y\n") == ours.score("x y")


@st.composite
def bracketings(draw: st.DrawFn, words: list[str]) -> tuple[list[str], str]:
    """A grammar with one derivation of `words` besides word-by-word copying, and the sentence it translates.

    Each constituent has a label of its own, so the bracketing is forced. A constituent is words and up to two smaller
    ones, in either order on the source side; some constituents have no words at all.
    """
    lines: list[str] = []

    def constituent(part: list[str]) -> tuple[str, list[str]]:
        label = f"C{len(lines)}"
        lines.append("")
        place = len(lines) - 1
        cuts = sorted(draw(st.lists(st.integers(0, len(part)), min_size=4, max_size=4)))
        whole = cuts[0] == 0 and cuts[1] == len(part)
        target: list[str] = part[: cuts[0]]
        gaps: list[tuple[str, list[str]]] = []
        for begin, end, after in ((cuts[0], cuts[1], cuts[2]), (cuts[2], cuts[3], len(part))):
            if (begin < end and not whole) or (draw(st.integers(0, 9)) == 0 and len(lines) < 30):
                gaps.append(constituent(part[begin:end]))
                target.append(f"[{gaps[-1][0]},{len(gaps)}]")
            else:
                target += part[begin:end]
            target += part[end:after]
        source: list[tuple[str, list[str]]] = [(f"s{place}", [f"s{place}"])]
        source += [(f"[{name},{index}]", below) for index, (name, below) in enumerate(gaps, 1)]
        source = draw(st.permutations(source))
        lines[place] = f"[{label}] ||| {' '.join(symbol for symbol, _ in source)} ||| {' '.join(target)} ||| used=1"
        return label, [word for _, below in source for word in below]

    top, sentence = constituent(words)
    return [*lines, f"[S] ||| [{top},1] ||| [1] ||| used=100"], " ".join(sentence)


def check_bracketing(ours: LanguageModel, theirs: kenlm.Model, words: list[str], drawn: tuple[list[str], str]) -> None:
    lines, sentence = drawn
    decoder = Decoder(Weights({"used": 1000, "LanguageModel": 1}), ours, DecoderConfig(span_limit=0, pop_limit=0))
    found = decoder.kbest(sentence, Grammar("\n".join(lines).encode()), 1)[0]
    assert found.features["used"] == 99 + len(lines)
    assert found.text == " ".join(words)
    assert found.features["LanguageModel"] == pytest.approx(expected_score(theirs, words), abs=NEAR)
    assert found.features.get("LanguageModel_OOV", 0) == words.count("unseen")


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_any_bracketing(pairs: list[tuple[LanguageModel, kenlm.Model]], data: st.DataObject) -> None:
    words = data.draw(sentences)
    drawn = data.draw(bracketings(words))
    for ours, theirs in pairs:
        check_bracketing(ours, theirs, words, drawn)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_binary_files(binary_pairs: list[tuple[LanguageModel, kenlm.Model]], data: st.DataObject) -> None:
    """Every kind that KenLM writes, whole sentences and any bracketing."""
    words = data.draw(sentences)
    drawn = data.draw(bracketings(words))
    for ours, theirs in binary_pairs:
        assert ours.order == theirs.order
        assert ours.score(" ".join(words)) == pytest.approx(expected_score(theirs, words), abs=NEAR)
        check_bracketing(ours, theirs, words, drawn)


def test_gzip(arpa: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "packed"
    path.write_bytes(gzip.compress(arpa["random 3"].read_bytes()))
    packed, plain = LanguageModel(path), LanguageModel(arpa["random 3"])
    assert packed.score("x y unseen z") == plain.score("x y unseen z")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="packed: damaged gzip"):
        LanguageModel(path)


def refuse(path: Path, content: bytes) -> InputError:
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        LanguageModel(path)
    assert caught.value.where == str(path)
    return caught.value


@pytest.mark.parametrize("content", [b"", b"\n", b"words", bytes(range(256)) * 40, b"\\data\\\n", b"\x00" * 5000])
def test_files_of_another_kind(tmp_path: Path, content: bytes) -> None:
    assert "not a readable ARPA or KenLM binary file" in refuse(tmp_path / "lm", content).message


def test_truncated_arpa(arpa: dict[str, Path], tmp_path: Path) -> None:
    content = arpa["random 3"].read_bytes()
    lines = content.splitlines(keepends=True)
    for kept in range(0, len(lines) - 1, 7):
        refuse(tmp_path / "lm", b"".join(lines[:kept]))


@pytest.mark.parametrize("order", [1, 7])
def test_orders_that_cannot_be_used(tmp_path: Path, order: int) -> None:
    write_random_arpa(tmp_path / "random", order, WORDS, seed=1)
    message = refuse(tmp_path / "lm", (tmp_path / "random").read_bytes()).message
    assert "order 2 to 6" in message


def test_truncated_binaries(binaries: dict[str, dict[int, Path]], tmp_path: Path) -> None:
    for by_order in binaries.values():
        content = by_order[3].read_bytes()
        for share in (0.02, 0.5, 0.95):
            refuse(tmp_path / "lm", content[: int(share * len(content))])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match="cannot read") as caught:
            LanguageModel(path)
        assert caught.value.where == str(path)


def test_binary_files_can_be_looked_at(binaries: dict[str, dict[int, Path]]) -> None:
    for by_order in binaries.values():
        for order, path in by_order.items():
            assert recognize(path) == "kenlm"
            assert f"order {order}, KenLM's binary format" in "\n".join(view(path))
            with pytest.raises(ConfigError, match="no text to search"):
                list(view(path, ViewOptions(grep="a")))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x7fELF\x02\x01\xff\xfe\x00\x80 garbage\n", r"it does not begin with \data\ "),
        (b"\\data\\\nngram 1=3\n\n", "assumes at least a bigram model"),
        (b"\\data\\\nngram 1=\xc3x\xff\n", "Bad count ?x?"),
        (b"\\data\\\nngram 1=1\nngram 2=1\n\n\\1-grams:\nabc\t<s>\t0\n", 'Could not parse "abc" into a float'),
    ],
    ids=["binary", "unigrams", "count", "number"],
)
def test_errors_of_kenlm_are_for_people(tmp_path, content, reason):
    (tmp_path / "lm").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(reason.strip())) as caught:
        LanguageModel(tmp_path / "lm")
    said = caught.value.message
    assert said.isascii() and said.isprintable()
    assert not re.search(r"\.(cc|hh):\d|threw|lm::|because", said)

"""Extraction against brute force, and what it says about bad input."""

import gzip
import math
import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.cli import main
from itersel.grammar.extraction import (
    FEATURES,
    PHRASE_FEATURES,
    ExtractConfig,
    Extractor,
    build_index,
    extract_grammars,
    open_index,
)
from itersel.grammar.grammar import Grammar
from itersel.model.features import GROUPS
from itersel.shards.shard import ShardWriter
from oracles.hiero_extraction import Limits, Pair, extract

SAMPLE = Path(__file__).resolve().parents[3] / "data" / "sample"


def write_bitext(folder: Path, pairs: list[Pair]) -> list[Path]:
    paths = [folder / "train.f", folder / "train.e", folder / "train.a"]
    paths[0].write_text("".join(" ".join(p.source) + "\n" for p in pairs))
    paths[1].write_text("".join(" ".join(p.target) + "\n" for p in pairs))
    paths[2].write_text("".join(" ".join(f"{i}-{j}" for i, j in sorted(p.links)) + "\n" for p in pairs))
    return paths


def make_index(folder: Path, pairs: list[Pair]) -> Path:
    build_index(*write_bitext(folder, pairs), folder / "index")
    return folder / "index"


def parse(grammar: bytes) -> dict:
    result = {}
    for line in grammar.decode().splitlines():
        fields = re.fullmatch(r"\[X\] \|\|\| (.+?) \|\|\| (.+?) \|\|\| (.+?) \|\|\| (.+)", line)
        assert fields, line
        source, target, features, links = fields.groups()
        values = dict(item.split("=") for item in features.split())
        assert tuple(values) in (FEATURES, FEATURES + PHRASE_FEATURES)
        rule = (tuple(source.split()), tuple(target.split()))
        assert rule not in result
        links = tuple(tuple(map(int, link.split("-"))) for link in links.split())
        result[rule] = ({name: float(value) for name, value in values.items()}, links)
    return result


@st.composite
def pairs(draw: st.DrawFn, longest: int = 6) -> Pair:
    source = tuple(draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=longest)))
    target = tuple(draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=longest)))
    link = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return Pair(source, target, frozenset(draw(st.lists(link, max_size=7))))


def assert_same(found: dict, expected: dict) -> None:
    assert found.keys() == expected.keys()
    for rule, (features, links) in expected.items():
        wanted = {name: features[name] for name in found[rule][0]}
        assert found[rule][0] == pytest.approx(wanted, abs=1e-9), rule
        assert found[rule][1] == links, rule


@settings(max_examples=examples(150), deadline=None)
@given(
    bitext=st.lists(pairs(), min_size=1, max_size=5),
    tight=st.booleans(),
    phrase_features=st.booleans(),
    mode=st.sampled_from(["all", "leave_one_out", "folds"]),
    max_span=st.sampled_from([3, 5, 15]),
    max_symbols=st.sampled_from([2, 3, 5]),
    max_nonterminals=st.sampled_from([0, 1, 2, 2]),
)
def test_same_as_brute_force(
    tmp_path_factory, bitext, tight, phrase_features, mode, max_span, max_symbols, max_nonterminals
) -> None:
    folder = tmp_path_factory.mktemp("bitext")
    index = make_index(folder, bitext)
    options = ExtractConfig(
        max_span=max_span,
        max_symbols=max_symbols,
        max_nonterminals=max_nonterminals,
        max_samples=0,
        tight=tight,
        phrase_features=phrase_features,
        leave_one_out=mode == "leave_one_out",
        folds=2 if mode == "folds" else 0,
    )
    limits = Limits(max_span, max_symbols, max_nonterminals, tight)
    extractor = Extractor(index, options)
    for number, pair in enumerate(bitext):
        allowed = {
            "all": lambda _: True,
            "leave_one_out": lambda other, number=number: other != number,
            "folds": lambda other, number=number: other % 2 != number % 2,
        }[mode]
        text = extractor.extract(" ".join(pair.source), number)
        found = parse(text)
        assert_same(found, extract(bitext, pair.source, limits, allowed))
        assert all(("PhrasePenalty" in features) == phrase_features for features, _ in found.values())
        # Without text in between, the grammar is the one that is read from the text.
        assert extractor.grammar(" ".join(pair.source), number).text() == Grammar(text).text()


def random_bitext(size: int, words: str = "abcdefgh", lengths: tuple[int, int] = (3, 12)) -> list[Pair]:
    generator = random.Random(1)
    result = []
    for _ in range(size):
        source = tuple(generator.choices(words, k=generator.randint(*lengths)))
        target = tuple(word.upper() for word in source)
        links = {(i, i) for i in range(len(source)) if generator.random() < 0.9}
        links |= {(i, max(i - 1, 0)) for i in range(len(source)) if generator.random() < 0.1}
        result.append(Pair(source, target, frozenset(links)))
    return result


def assert_no_leak(folder: Path, bitext: list[Pair], folds: int, sentences: Iterable[int], **options: int) -> None:
    """With folds, each of the sentences gets what an index without its fold gives, values and all."""
    whole = Extractor(make_index(folder, bitext), ExtractConfig(folds=folds, **options))
    for fold in range(folds):
        (folder / str(fold)).mkdir()
        others = make_index(folder / str(fold), [pair for i, pair in enumerate(bitext) if i % folds != fold])
        reduced = Extractor(others, ExtractConfig(**options))
        for number in sentences:
            if number % folds == fold:
                sentence = " ".join(bitext[number].source)
                assert parse(whole.extract(sentence, number)) == parse(reduced.extract(sentence))


@pytest.mark.parametrize(("size", "folds"), [(40, 2), (60, 5), (7, 7)])
def test_folds_equal_a_bitext_without_the_fold(tmp_path: Path, size: int, folds: int) -> None:
    assert_no_leak(tmp_path, random_bitext(size), folds, range(min(size, 15)), max_samples=0, phrase_features=True)


def test_folds_of_the_sample_corpus(tmp_path: Path) -> None:
    """Every fifth link is missing, and some are wrong, so that lexical weights are not all alike."""
    sides = [
        [tuple(line.split()) for line in read_lines(SAMPLE / f"train.{language}")][:300] for language in ("de", "en")
    ]
    bitext = []
    for source, target in zip(*sides, strict=True):
        links = {(i, min(i + i // 4, len(target) - 1)) for i in range(len(source)) if i % 5 != 3}
        bitext.append(Pair(source, target, frozenset(links)))
    assert_no_leak(tmp_path, bitext, 5, range(0, 300, 23), max_samples=0)


def test_the_joint_count_of_a_phrase_pair_is_scaled_up_from_the_sample(tmp_path: Path) -> None:
    """Forty times a is A, ten times b is A: p(a|A) = 40/50, whatever the sample."""
    pairs = [Pair(("a",), ("A",), frozenset({(0, 0)}))] * 40 + [Pair(("b",), ("A",), frozenset({(0, 0)}))] * 10
    index = make_index(tmp_path, pairs)
    for samples in (0, 20):
        options = ExtractConfig(max_samples=samples, phrase_features=True)
        found = parse(Extractor(index, options).extract("a b"))
        assert found[("a",), ("A",)][0]["FgivenECoherent"] == pytest.approx(-math.log10(0.8), abs=1e-9)
        assert found[("b",), ("A",)][0]["FgivenECoherent"] == pytest.approx(-math.log10(0.2), abs=1e-9)


def test_fold_tables_are_made_again_if_memory_is_short(tmp_path: Path) -> None:
    bitext = random_bitext(30)
    index = make_index(tmp_path, bitext)
    roomy, narrow = (Extractor(index, ExtractConfig(folds=3), cache_bytes=size) for size in (1 << 20, 0))
    for number, pair in enumerate(bitext[:9]):
        sentence = " ".join(pair.source)
        assert roomy.extract(sentence, number) == narrow.extract(sentence, number)


def counts(features: dict[str, float]) -> tuple[int, int]:
    return round(10 ** features["SampleCountF"]) - 1, round(10 ** features["CountEF"]) - 1


@pytest.mark.parametrize("folds", [0, 3])
def test_sampling_is_bounded_and_repeatable(tmp_path: Path, folds: int) -> None:
    bitext = random_bitext(300)
    index = make_index(tmp_path, bitext)
    sentence = "a b c d e f"
    everything = parse(Extractor(index, ExtractConfig(max_samples=0, folds=folds)).extract(sentence))
    options = ExtractConfig(max_samples=20, folds=folds)
    text = Extractor(index, options).extract(sentence)
    assert text == Extractor(index, options, cache_bytes=0).extract(sentence)
    for rule, (features, _) in parse(text).items():
        all_samples, all_count = counts(everything[rule][0])
        samples, count = counts(features)
        assert samples == min(20, all_samples)
        assert count <= min(samples, all_count)
        if all_samples <= 20:
            assert features == everything[rule][0]


def test_leave_one_out_takes_the_sentence_out_of_the_sample(tmp_path: Path) -> None:
    """Against extractions that neither sample nor, in the other case, leave anything out."""
    bitext = random_bitext(300)
    index = make_index(tmp_path, bitext)
    left_out = ExtractConfig(max_samples=20, leave_one_out=True)
    extractor, everything = Extractor(index, left_out), Extractor(index, ExtractConfig(max_samples=0))
    others, sampled = (
        Extractor(index, ExtractConfig(max_samples=0, leave_one_out=True)),
        Extractor(index, ExtractConfig(max_samples=20)),
    )
    whole = reduced = 0
    for number in range(0, 300, 10):
        sentence = " ".join(bitext[number].source)
        found = parse(extractor.extract(sentence, number))
        supported = parse(others.extract(sentence, number))
        with_own, in_sample = parse(everything.extract(sentence)), parse(sampled.extract(sentence))
        assert found.keys() <= supported.keys()
        for rule, (features, links) in found.items():
            samples, count = counts(features)
            all_samples, _ = counts(with_own[rule][0])
            other_samples, other_count = counts(supported[rule][0])
            assert count <= other_count
            if all_samples <= 20:  # all occurrences are looked at, but the sentence's own
                assert features == supported[rule][0]
            elif samples == 20:  # none of them was the sentence's own
                whole += 1
                assert (features, links) == in_sample[rule]
            else:
                reduced += 1
                assert 20 - (all_samples - other_samples) <= samples < 20
    assert whole and reduced


def test_results_do_not_depend_on_cache_jobs_or_order(tmp_path: Path) -> None:
    bitext = random_bitext(120)
    index = make_index(tmp_path, bitext)
    sentences = [(i, " ".join(pair.source)) for i, pair in enumerate(bitext[:40])]
    for options in (ExtractConfig(max_samples=10), ExtractConfig(max_samples=10, leave_one_out=True)):
        serial = list(extract_grammars(index, sentences, options))
        assert [number for number, _ in serial] == list(range(40))
        assert serial == list(extract_grammars(index, sentences, options, jobs=2))
        backwards = dict(extract_grammars(index, reversed(sentences), options))
        assert dict(serial) == backwards
        small = Extractor(index, options, cache_bytes=20_000)
        assert serial == [(i, small.extract(sentence, i)) for i, sentence in sentences]


@pytest.mark.parametrize("tight", [True, False])
def test_leaving_a_sentence_out_of_counts_that_are_kept(tmp_path: Path, tight: bool) -> None:
    """Patterns that occur often are counted once for all sentences; what a sentence adds is taken out again."""
    bitext = random_bitext(30, words="ab", lengths=(3, 5))
    extractor = Extractor(
        make_index(tmp_path, bitext), ExtractConfig(max_symbols=3, max_samples=0, tight=tight, leave_one_out=True)
    )
    for number in (3, 17, 4, 17):
        found = parse(extractor.extract(" ".join(bitext[number].source), number))
        assert max(counts(features)[0] for features, _ in found.values()) > 20
        limits = Limits(max_symbols=3, tight=tight)
        allowed = [other != number for other in range(len(bitext))]
        assert_same(found, extract(bitext, bitext[number].source, limits, allowed.__getitem__))


def test_shards_need_no_text(tmp_path: Path) -> None:
    """The shard of extracted rules equals, byte for byte, the one of their text form."""
    bitext = random_bitext(60)
    extractor = Extractor(make_index(tmp_path, bitext), ExtractConfig(leave_one_out=True))
    writers = [ShardWriter(groups=GROUPS, goal="TOP", nonterminal="X") for _ in range(2)]
    for number, pair in enumerate(bitext[:20]):
        sentence, references = " ".join(pair.source) + " new", [" ".join(pair.target)]
        text = Extractor(tmp_path / "index").extract(sentence)
        writers[0].add(sentence, references, text)
        writers[1].add(sentence, references, Extractor(tmp_path / "index").grammar(sentence, goal="TOP"))
        left_out = " ".join(pair.source)
        writers[0].add(left_out, references, extractor.extract(left_out, number))
        writers[1].add(left_out, references, extractor.grammar(left_out, number, goal="TOP"))
    assert writers[0].to_bytes() == writers[1].to_bytes()


def test_frequent_phrases_have_the_same_rules(tmp_path: Path) -> None:
    """From 1,000 occurrences on a phrase is frequent; patterns of frequent phrases are found another way."""
    bitext = 10 * random_bitext(45, words="ab", lengths=(5, 6))
    index = make_index(tmp_path, bitext)
    found = parse(Extractor(index, ExtractConfig(max_samples=0)).extract("a b a b a"))
    assert any(len(source) == 5 and source[1::2] == ("[X,1]", "[X,2]") for source, _ in found)
    assert_same(found, extract(bitext, tuple("ababa"), Limits(), lambda _: True))


@pytest.mark.parametrize("max_span", [15, 63, 64, 65, 100, 200])
def test_frequent_phrases_far_apart_are_counted(tmp_path: Path, max_span: int) -> None:
    bitext = random_bitext(85, lengths=(60, 150))
    options = ExtractConfig(max_samples=0, max_span=max_span)
    found = parse(Extractor(make_index(tmp_path, bitext), options).extract("a b c d e"))
    samples = {source: round(10 ** features["SampleCountF"]) - 1 for (source, _), (features, _) in found.items()}

    def places(pair: Pair, word: str, begin: int, end: int) -> list[int]:
        return [i for i in range(begin, min(end, len(pair.source))) if pair.source[i] == word]

    pairs = triples = 0
    assert all(sum(pair.source.count(word) for pair in bitext) >= 1000 for word in "ace")
    for pair in bitext:
        for a in places(pair, "a", 0, len(pair.source)):
            for c in places(pair, "c", a + 2, a + max_span):
                pairs += 1
                triples += len(places(pair, "e", c + 2, a + max_span))
    assert samples["a", "[X,1]", "c"] == pairs
    assert samples["a", "[X,1]", "c", "[X,2]", "e"] == triples


def test_leave_one_out_drops_what_only_the_sentence_itself_supports(tmp_path: Path) -> None:
    diagonal = frozenset({(0, 0), (1, 1)})
    bitext = [Pair(("a", "b"), ("x", "y"), diagonal), Pair(("a", "c"), ("x", "z"), diagonal)]
    index = make_index(tmp_path, bitext)
    kept = parse(Extractor(index).extract("a b", 0))
    left = parse(Extractor(index, ExtractConfig(leave_one_out=True)).extract("a b", 0))
    assert (("b",), ("y",)) in kept and (("b",), ("y",)) not in left
    assert counts(kept[("a",), ("x",)][0]) == (2, 2)
    assert counts(left[("a",), ("x",)][0]) == (1, 1)
    with pytest.raises(InputError, match="is not the source side of training sentence 2"):
        Extractor(index, ExtractConfig(leave_one_out=True)).extract("a b", 1)


def test_at_most_the_most_probable_rules_per_source(tmp_path: Path) -> None:
    link = frozenset({(0, 0)})
    bitext = [Pair(("a",), (word,), link) for word in "xyyzzzw"]
    index = make_index(tmp_path, bitext)
    found = parse(Extractor(index, ExtractConfig(max_rules_per_source=3)).extract("a"))
    assert [target for _, (target,) in found] == ["x", "y", "z"]


def test_unknown_and_absent_words(tmp_path: Path) -> None:
    index = make_index(tmp_path, [Pair(("a",), ("x",), frozenset({(0, 0)}))])
    extractor = Extractor(index)
    assert extractor.extract("b c") == extractor.extract("") == b""
    assert len(parse(extractor.extract("b a b"))) == 1


@pytest.mark.parametrize(
    ("changed", "text", "message"),
    [
        ("f", "a b\n", r"train\.f:1: ends after 1 lines, but .*train\.e continues"),
        ("e", "x y\nx y\nx\n", r"train\.f:2: ends after 2 lines"),
        ("a", "0-0\n", r"train\.a:1: ends after 1 lines"),
        ("f", b"a b\na \xff\n", r"train\.f:2: invalid UTF-8 at byte 3"),
        ("e", b"x y\nx \xed\xa0\x80\n", r"train\.e:2: invalid UTF-8"),
        ("a", "0-0\n0-2\n", r"train\.a:2: link 0-2 is out of range: the sentences have 2 and 2 words"),
        ("a", "0-0\n0:1\n", r"train\.a:2: expected links such as 0-0 1-2, found '0:1'"),
        ("a", "0-0\n-1-0\n", r"train\.a:2: expected links"),
        ("f", "a |||\na b\n", r"train\.f:1: '\|\|\|' inside a word"),
        ("e", "x y\nx [X,1]\n", r"train\.e:2: word '\[X,1\]' looks like a non-terminal"),
        ("e", "x y\n\n", r"train\.e:2: empty sentence"),
        ("f", " \na b\n", r"train\.f:1: empty sentence"),
    ],
)
def test_bad_bitext(tmp_path: Path, changed: str, text: str | bytes, message: str) -> None:
    pair = Pair(("a", "b"), ("x", "y"), frozenset({(0, 0)}))
    write_bitext(tmp_path, [pair, pair])
    (tmp_path / f"train.{changed}").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        build_index(tmp_path / "train.f", tmp_path / "train.e", tmp_path / "train.a", tmp_path / "index")
    assert not (tmp_path / "index").exists()


def test_empty_bitext(tmp_path: Path) -> None:
    write_bitext(tmp_path, [])
    with pytest.raises(InputError, match=r"train\.f: no sentences"):
        make_index(tmp_path, [])


def test_gzip_and_plain_give_the_same_index(tmp_path: Path) -> None:
    bitext = random_bitext(20)
    plain = make_index(tmp_path, bitext).read_bytes()
    for path in write_bitext(tmp_path, bitext):
        path.write_bytes(gzip.compress(path.read_bytes()))
    build_index(tmp_path / "train.f", tmp_path / "train.e", tmp_path / "train.a", tmp_path / "index")
    assert (tmp_path / "index").read_bytes() == plain


def test_repetitive_text(tmp_path: Path) -> None:
    pair = Pair(("a", "a", "b"), ("x", "x", "y"), frozenset({(0, 0), (1, 1), (2, 2)}))
    found = parse(Extractor(make_index(tmp_path, [pair] * 5000), ExtractConfig(max_samples=0)).extract("a a b"))
    assert counts(found[("a", "a", "b"), ("x", "x", "y")][0]) == (5000, 5000)
    assert counts(found[("a",), ("x",)][0]) == (10000, 10000)


def test_damaged_index(tmp_path: Path) -> None:
    index = make_index(tmp_path, random_bitext(20))
    content = index.read_bytes()
    assert open_index(index).sentences == 20
    damaged = tmp_path / "damaged"
    for bad in (content[:-8], content[:100], content + b"\0", b"text\n", b""):
        damaged.write_bytes(bad)
        with pytest.raises(InputError, match="damaged: "):
            open_index(damaged)
    for place in (9, 30, 200, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(InputError, match="damaged: "):
            open_index(damaged)
    with pytest.raises(InputError, match="cannot read"):
        open_index(tmp_path / "absent")


@pytest.mark.parametrize(
    "options",
    [{"max_span": 0}, {"max_nonterminals": 3}, {"folds": 1}, {"folds": 2, "leave_one_out": True}],
)
def test_bad_options(options: dict) -> None:
    with pytest.raises(ConfigError):
        ExtractConfig(**options)


def test_bad_sentence(tmp_path: Path) -> None:
    index = make_index(tmp_path, random_bitext(3))
    with pytest.raises(InputError, match=r"test\.f:2: '\|\|\|' inside a word"):
        list(extract_grammars(index, [(0, "a"), (1, "a ||| b")], name="test.f"))
    with pytest.raises(InputError, match=r"test\.f:2: '\|\|\|' inside a word"):
        list(extract_grammars(index, [(0, "a"), (1, "a ||| b")], name="test.f", jobs=2))


def test_command_writes_a_folder_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bitext = random_bitext(30)
    source, target, alignment = write_bitext(tmp_path, bitext)
    sentences, output = tmp_path / "test.f", tmp_path / "grammars"
    sentences.write_text("a b <&> c\nb c d e\nh g\n")
    build = ["--source", source, "--target", target, "--alignment", alignment]
    common = ["--index", tmp_path / "index", "--sentences", sentences, "--output", output]

    def run(*extra: object) -> str:
        assert main(["extract", *map(str, [*common, *extra])]) == 0
        return capsys.readouterr().err

    def content() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in output.iterdir() if path.name != ".itersel-folder"}

    run(*build)
    first = content()
    assert sorted(first) == ["grammar.0.gz", "grammar.1.gz", "grammar.2.gz", "input.sgm", "manifest.jsonl"]
    assert first["input.sgm"].startswith(b'<seg grammar="grammar.0.gz" id="0"> a b <&> c </seg>\n')
    expected = Extractor(tmp_path / "index").extract("b c d e")
    assert gzip.decompress(first["grammar.1.gz"]) == expected

    assert "3 kept" in run("--jobs", 2)
    (output / "grammar.1.gz").write_bytes(b"torn")
    (output / "grammar.2.gz").unlink()
    for name in ("grammar.2.gz", "input.sgm", "manifest.jsonl"):
        (output / f".{name}.x1y2z3.tmp").write_bytes(b"left by a kill")
    (output / "manifest.jsonl").write_bytes(first["manifest.jsonl"][:-5])
    assert "1 kept" in run()
    assert content() == first

    assert "kept" not in run("--max-samples", 5)
    sentences.write_text("a b <&> c\nchanged\n")
    assert "1 kept" in run("--max-samples", 5)
    assert "grammar.2.gz" not in content()


def test_command_names_the_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "--index", str(tmp_path / "index"), "--source", "x"]) == 2
    assert "belong together" in capsys.readouterr().err
    assert main(["extract", "--index", "no", "--sentences", "no", "--output", str(tmp_path)]) == 2
    assert "no: cannot read" in capsys.readouterr().err

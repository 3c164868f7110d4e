"""Shards: what goes in comes out, decoding equals decoding from text, damage is found and named."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from itersel import _kernel
from itersel.algorithms.kbest_job import is_left_out
from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import Decoder, DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import GROUPS
from itersel.model.vectors import feature_ids
from itersel.shards.shard import Shard, ShardWriter
from oracles.random_arpa import write_random_arpa
from oracles.small_shards import TARGET, WEIGHTS, random_grammar, random_sentence, small_shard

HEADER = struct.Struct("<8sIIQQ")  # magic, version, pieces, file size, checksum of the table of pieces
PIECE = struct.Struct("<QIIQ")  # offset, bytes in the file, bytes of the content, checksum of the former
SECTIONS = 19


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    path = tmp_path_factory.mktemp("lm") / "lm.arpa"
    write_random_arpa(path, 3, TARGET, seed=5)
    return LanguageModel(path)


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    small_shard(tmp_path / "shard")
    shard = Shard(tmp_path / "shard")
    assert len(shard) == 3 and shard.groups == frozenset(GROUPS)
    assert [shard.id(at) for at in range(3)] == ["7", "1", "2"]
    assert [shard.domain(at) for at in range(3)] == ["sport", "news", ""]
    assert [shard.source(at) for at in range(3)] == ["ein größe", "", "größe und größe"]
    assert [shard.references(at) for at in range(3)] == [["a size", "one size"], [], ["x"]]
    assert shard.grammar(0) == b"[X] ||| ein ||| a ||| f=1 ||| 0-0\n" and shard.grammar(1) == b""
    names = shard.feature_names()
    assert {"f", "g", "Glue", "PassThrough", "WordPenalty", "R:X:ein:a", "R:X:größe:größe"} <= set(names)
    assert len(set(names)) == len(names)
    assert list(shard.feature_hashes()) == list(feature_ids(names))
    with pytest.raises(IndexError):
        shard.source(3)


def test_features_by_number_and_by_pattern(tmp_path: Path) -> None:
    small_shard(tmp_path / "shard")
    shard = Shard(tmp_path / "shard")
    names = shard.feature_names()
    some = np.array([len(names) - 1, 0, 0], dtype=np.uint32)
    assert shard.feature_names_of(some) == [names[-1], names[0], names[0]]
    with pytest.raises(IndexError, match="no feature of this number"):
        shard.feature_names_of(np.array([len(names)], dtype=np.uint32))
    for patterns in ([], ["R:*"], ["f"], ["R:X:ein", "Gl*", ""], ["*"]):
        expected = [is_left_out(name, patterns) for name in names]
        assert shard.features_matching(patterns).tolist() == expected
    assert 0 < sum(shard.features_matching(["R:*"])) < len(names)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), groups=st.sampled_from(((), GROUPS)), copies=st.sampled_from(("unknown", "all")))
def test_decoding_equals_decoding_from_text(
    tmp_path: Path, model: LanguageModel, seed: int, groups: tuple[str, ...], copies: str
) -> None:
    generator = random.Random(seed)
    work = [(random_sentence(generator), random_grammar(generator)) for _ in range(3)]
    writer = ShardWriter(groups=groups, pass_through=copies)
    for sentence, grammar in work:
        writer.add(sentence, [], grammar)
    writer.write(tmp_path / "shard")
    options = DecoderConfig(pop_limit=0, pass_through=copies)
    for language_model in (None, model):
        text = Decoder(WEIGHTS, language_model, options)
        shard = ShardDecoder(Shard(tmp_path / "shard"), WEIGHTS, language_model, options)
        for at, (sentence, grammar) in enumerate(work):
            expected = text.kbest(sentence, Grammar(grammar, groups=groups), 20)
            found = shard.kbest(at, 20)
            assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-9)
            least = found[-1].score + 1e-6  # at the end of a cut list, ties may be broken differently
            above = [{one.text for one in some if one.score > least} for some in (found, expected)]
            assert above[0] == above[1]
            assert shard.translate(at) == found[0].text
            for one in found:
                score = sum(WEIGHTS.get(name, 0.0) * value for name, value in one.features.items())
                assert score == pytest.approx(one.score, abs=1e-6)


def test_rules_that_sentences_share_are_stored_once(tmp_path: Path) -> None:
    rules = b"".join(b"[X] ||| w%d ||| v%d ||| f=%d\n" % (n, n, n) for n in range(50))
    sizes = []
    for copies in (1, 10):
        writer = ShardWriter()
        for _ in range(copies):
            writer.add("w1 w2", [], rules)
        writer.write(tmp_path / "shard")
        sizes.append(Shard(tmp_path / "shard").rule_count)
    assert sizes[0] == sizes[1] == 50 + 2  # and the glue rules


def test_same_input_same_bytes(tmp_path: Path) -> None:
    assert small_shard(tmp_path / "one") == small_shard(tmp_path / "two")


@pytest.mark.parametrize("keep", [0, 5, 40, 500, -8])
def test_truncated(tmp_path: Path, keep: int) -> None:
    content = small_shard(tmp_path / "shard")
    (tmp_path / "cut").write_bytes(content[:keep])
    with pytest.raises(InputError, match=r"truncated|not a shard|with content") as caught:
        Shard(tmp_path / "cut")
    assert str(tmp_path / "cut") in str(caught.value)


def test_every_altered_byte_is_found(tmp_path: Path) -> None:
    content = small_shard(tmp_path / "shard")
    for at in range(0, len(content), 7):
        changed = bytearray(content)
        changed[at] ^= 0x10
        (tmp_path / "changed").write_bytes(changed)
        with pytest.raises(InputError, match="changed: "):
            Shard(tmp_path / "changed")


@pytest.mark.parametrize("version", [1, 2, 99])
def test_other_version(tmp_path: Path, version: int) -> None:
    content = bytearray(small_shard(tmp_path / "shard"))
    content[8] = version
    (tmp_path / "shard").write_bytes(content)
    with pytest.raises(InputError, match=rf"format version {version};.*reads version 3: compile it again"):
        Shard(tmp_path / "shard")


def pieces(content: bytes) -> list[tuple[int, int, int, int]]:
    """Offset, stored size, size and checksum of each piece."""
    count = HEADER.unpack_from(content)[2]
    return [PIECE.unpack_from(content, HEADER.size + PIECE.size * number) for number in range(count)]


def with_checksums(content: bytearray) -> bytes:
    """The content with right checksums, whatever else is wrong."""
    magic, version, count, size, _ = HEADER.unpack_from(content)
    end = HEADER.size + PIECE.size * count
    for number, (offset, stored, length, _) in enumerate(pieces(bytes(content)) if end <= len(content) else ()):
        checksum = _kernel.checksum(bytes(content[offset : offset + stored]))
        PIECE.pack_into(content, HEADER.size + PIECE.size * number, offset, stored, length, checksum)
    HEADER.pack_into(content, 0, magic, version, count, size, _kernel.checksum(bytes(content[HEADER.size : end])))
    return bytes(content)


def many_rules(path: Path) -> None:
    """A shard whose blocks are large enough to be compressed: 40 sentences with 400 rules each."""
    writer = ShardWriter(groups=GROUPS)
    for number in range(40):
        rules = [f"[X] ||| w{n} [X,1] ||| v{n} v{n + 1} [1] ||| f={n / 7 + number} g={n % 3} h={n}" for n in range(400)]
        writer.add("w1 w2", ["v1"], "\n".join(rules), id=f"s{number}")
    writer.write(path)


@pytest.mark.parametrize("where", ["first", "middle", "last"])
@pytest.mark.parametrize("sentence", [0, 17, 39])
def test_a_flipped_bit_in_a_block_names_file_and_sentence(tmp_path: Path, sentence: int, where: str) -> None:
    many_rules(tmp_path / "shard")
    content = bytearray((tmp_path / "shard").read_bytes())
    offset, stored, size, _ = pieces(content)[SECTIONS + sentence]
    assert stored < size  # compressed
    content[offset + {"first": 0, "middle": stored // 2, "last": stored - 1}[where]] ^= 4
    (tmp_path / "shard").write_bytes(content)
    with pytest.raises(InputError, match=rf"shard: the block of sentence {sentence + 1} was altered"):
        Shard(tmp_path / "shard")


@pytest.mark.parametrize("damage", ["short", "longer", "other", "noise"])
def test_a_wrong_block_under_right_checksums_names_file_and_sentence(tmp_path: Path, damage: str) -> None:
    """Opening does not read the blocks; reading the sentence does, and other sentences are not affected."""
    many_rules(tmp_path / "shard")
    grammar = Shard(tmp_path / "shard").grammar(3)
    content = bytearray((tmp_path / "shard").read_bytes())
    offset, stored, size, checksum = pieces(content)[SECTIONS + 17]
    if damage == "short":
        record = (offset, stored - 9, size, checksum)
    elif damage == "longer":
        record = (offset, stored, size + 1, checksum)
    elif damage == "other":  # a section instead of a block
        record = pieces(content)[1]
    else:
        record = (offset, stored, size, checksum)
        content[offset + 20 : offset + stored] = bytes(stored - 20)
    PIECE.pack_into(content, HEADER.size + PIECE.size * (SECTIONS + 17), *record)
    (tmp_path / "shard").write_bytes(with_checksums(content))
    shard = Shard(tmp_path / "shard")
    assert shard.grammar(3) == grammar
    with pytest.raises(InputError, match=r"shard: the block of sentence 18 (cannot be decompressed|does not fit)"):
        shard.grammar(17)
    with pytest.raises(InputError, match=r"shard: the block of sentence 18 "):
        ShardDecoder(shard, WEIGHTS).translate(17)


def test_repacked_shards_hold_the_same(tmp_path: Path) -> None:
    many_rules(tmp_path / "shard")
    (tmp_path / "plain").write_bytes(_kernel.repack_shard(str(tmp_path / "shard"), False))
    packed, plain = Shard(tmp_path / "shard"), Shard(tmp_path / "plain")
    assert (tmp_path / "plain").stat().st_size > 2 * (tmp_path / "shard").stat().st_size
    assert all(stored == size for _, stored, size, _ in pieces((tmp_path / "plain").read_bytes()))
    assert [packed.grammar(at) for at in range(40)] == [plain.grammar(at) for at in range(40)]
    assert packed.feature_names() == plain.feature_names()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), many=st.booleans())
def test_values_come_back_bit_by_bit(tmp_path: Path, seed: int, many: bool) -> None:
    """Rules with zero to five values, few different ones or many, with and without repeated words and counts."""
    generator = random.Random(seed)
    different = [generator.uniform(-9, 9) for _ in range(700 if many else 3)]
    expected = []
    writer = ShardWriter()
    for _ in range(3):
        lines = set()
        for _ in range(generator.randrange(900 if many else 20)):
            source, target = (generator.choice("abcdef") for _ in range(2))
            side = generator.choice((f"{source} ||| {target}", f"{source} [X,1] ||| {target} [1]"))
            values = [f"v{n}={generator.choice(different):.6g}" for n in range(generator.choice((0, 1, 2, 5, 5, 5)))]
            lines.add(f"[X] ||| {side} ||| {' '.join(values)}")
        expected.append(sorted(lines))
        writer.add("a", [], "\n".join(sorted(lines)))
    writer.write(tmp_path / "shard")
    shard = Shard(tmp_path / "shard")
    for number, lines in enumerate(expected):
        plain = Grammar("\n".join(lines)).text().splitlines()
        assert sorted(shard.grammar(number).splitlines()) == sorted(set(plain))


def varints(content: bytes, at: int, count: int) -> tuple[list[int], int]:
    """So many variable-length numbers, and where they end."""
    numbers = []
    for _ in range(count):
        value = shift = 0
        while True:
            value |= (content[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if content[at - 1] < 0x80:
                break
        numbers.append(value)
    return numbers, at


def test_chunks_of_a_compressed_piece_add_up(tmp_path: Path) -> None:
    """As described in compression.hh: sizes first, chunks as they are or as zstd frames, both kinds in each block."""
    many_rules(tmp_path / "shard")
    content = (tmp_path / "shard").read_bytes()
    for offset, stored, size, _ in pieces(content)[SECTIONS:]:
        (count,), at = varints(content, offset, 1)
        sizes, at = varints(content, at, 2 * count)
        assert sum(sizes[1::2]) == size and at + sum(sizes[::2]) == offset + stored
        frames = []
        for chunk_stored, chunk_size in zip(sizes[::2], sizes[1::2], strict=True):
            frames.append(chunk_stored < chunk_size)
            assert not frames[-1] or content[at : at + 4] == b"\x28\xb5\x2f\xfd"
            at += chunk_stored
        assert True in frames and False in frames


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), begin=st.booleans())
def test_damaged_chunks_under_right_checksums(tmp_path: Path, seed: int, begin: bool) -> None:
    """Bits of compressed blocks and sections, in the sizes of chunks (`begin`) or anywhere: refused, or other rules,
    but nothing is read or written out of bounds, and nothing is allocated for sizes that cannot be right."""
    if not (tmp_path / "good").exists():
        many_rules(tmp_path / "good")
    generator = random.Random(seed)
    content = bytearray((tmp_path / "good").read_bytes())
    table = [(number, piece) for number, piece in enumerate(pieces(content)) if piece[1] < piece[2]]
    for _ in range(generator.randrange(1, 3)):
        number, (offset, stored, _, _) = generator.choice(table)
        content[offset + generator.randrange(min(stored, 40) if begin else stored)] ^= 1 << generator.randrange(8)
    (tmp_path / "shard").write_bytes(with_checksums(content))
    try:
        shard = Shard(tmp_path / "shard")
        shard.feature_names()
        for sentence in {max(0, number - SECTIONS), 3}:
            shard.grammar(sentence)
    except InputError as error:
        assert str(tmp_path / "shard") in str(error)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            Shard(path)


def test_wrong_options() -> None:
    with pytest.raises(ConfigError, match="pass_through"):
        ShardWriter(pass_through="some")
    with pytest.raises(InputError, match=r"g\.gz:2: "):
        ShardWriter().add("a", [], b"[X] ||| a ||| b\n[X] ||| a", path="g.gz")
    with pytest.raises(InputError, match="32001 words"):
        ShardWriter().add("w " * 32_001, [], b"")


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), compressed=st.booleans())
@example(seed=0, compressed=True)
def test_contents_that_do_not_fit_together(tmp_path: Path, seed: int, compressed: bool) -> None:
    """Changed numbers under right checksums: refused, or decoded, but never followed out of bounds."""
    generator = random.Random(seed)
    small_shard(tmp_path / "shard")
    content = bytearray(_kernel.repack_shard(str(tmp_path / "shard"), compressed))
    for _ in range(generator.randrange(1, 4)):
        at = generator.randrange(HEADER.size, len(content))
        content[at] = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))
    (tmp_path / "shard").write_bytes(with_checksums(content))
    try:
        shard = Shard(tmp_path / "shard")
        shard.feature_names()
        decoder = ShardDecoder(shard, WEIGHTS)
        for sentence in range(min(len(shard), 5)):
            shard.grammar(sentence), shard.source(sentence), shard.references(sentence)
            if len(shard.source(sentence).split()) < 30:
                decoder.kbest(sentence, 5)
    except InputError:
        pass

"""Shards: what goes in comes out, decoding equals decoding from text, damage is found and named."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from itersel import _kernel
from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import Decoder, DecoderOptions
from itersel.decode.shard_decoder import ShardDecoder
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import GROUPS
from itersel.model.vectors import feature_ids
from itersel.shards.shard import Shard, ShardWriter
from oracles.random_arpa import write_random_arpa
from oracles.small_shards import TARGET, WEIGHTS, random_grammar, random_sentence, small_shard

HEADER = struct.Struct("<8sIIQQ")  # magic, version, sections, file size, checksum


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
    assert [shard.task(at) for at in range(3)] == ["sport", "news", ""]
    assert [shard.source(at) for at in range(3)] == ["ein größe", "", "größe und größe"]
    assert [shard.references(at) for at in range(3)] == [["a size", "one size"], [], ["x"]]
    assert shard.grammar(0) == b"[X] ||| ein ||| a ||| f=1 ||| 0-0\n" and shard.grammar(1) == b""
    names = shard.feature_names()
    assert {"f", "g", "Glue", "PassThrough", "WordPenalty", "R:X:ein:a", "R:X:größe:größe"} <= set(names)
    assert len(set(names)) == len(names)
    assert list(shard.feature_hashes()) == list(feature_ids(names))
    with pytest.raises(IndexError):
        shard.source(3)


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
    options = DecoderOptions(pop_limit=0, pass_through=copies)
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
    with pytest.raises(InputError, match=r"truncated|not a shard") as caught:
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


def test_other_version(tmp_path: Path) -> None:
    content = bytearray(small_shard(tmp_path / "shard"))
    content[8] = 99
    (tmp_path / "shard").write_bytes(content)
    with pytest.raises(InputError, match=r"format version 99.*reads version 1"):
        Shard(tmp_path / "shard")


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
@given(seed=st.integers(0, 2**32))
@example(seed=0)
def test_contents_that_do_not_fit_together(tmp_path: Path, seed: int) -> None:
    """Changed numbers under a right checksum: refused, or decoded, but never followed out of bounds."""
    generator = random.Random(seed)
    content = bytearray(small_shard(tmp_path / "shard"))
    for _ in range(generator.randrange(1, 4)):
        at = generator.randrange(HEADER.size, len(content))
        content[at] = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))
    magic, version, sections, size, _ = HEADER.unpack_from(content)
    HEADER.pack_into(content, 0, magic, version, sections, size, _kernel.checksum(bytes(content[HEADER.size :])))
    (tmp_path / "shard").write_bytes(content)
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

"""Random and mutated bytes for every reader: whatever comes in, only InputError comes out.

A new reader joins by one entry in READERS: a function of a file's path, and contents it accepts.
"""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from itersel.base.errors import InputError
from itersel.decode.decoder import Decoder, DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import GROUPS, Weights
from itersel.shards.shard import Shard, ShardWriter
from oracles.random_arpa import write_random_arpa

GRAMMAR = """[X] ||| ein [X,1] ||| a [1] ||| f=0.5 g=-1e-3 ||| 0-0
[X] ||| [X,2] und [Y,1] ||| [Y,1] and [X,2] ||| 1 2.25 .5
[Y] ||| größe |||
[S] ||| [Y,1] ||| [1] ||| f=1
"""
WEIGHTS = "# comment\nf 0.5\nR:X:größe:x\t-1e-3\nGlue 1\n"


def use_grammar(path: Path) -> None:
    grammar = Grammar.read(path, groups=GROUPS)
    assert Grammar(grammar.text()).text() == grammar.text()
    Decoder(Weights({"f": 1}), None, DecoderConfig(pop_limit=10)).kbest("ein größe und ein größe", grammar, 10)


def use_weights(path: Path) -> None:
    weights = Weights.read(path)
    assert len(dict(weights)) == len(weights)


def use_language_model(path: Path) -> None:
    model = LanguageModel(path)
    model.score("x y unseen")


def use_shard(path: Path) -> None:
    shard = Shard(path)
    ShardDecoder(shard, Weights({"f": 1})).kbest(0, 10)


def shard() -> bytes:
    writer = ShardWriter(groups=GROUPS)
    writer.add("ein größe und ein größe", ["a size and a size"], GRAMMAR.encode())
    return writer.to_bytes()


@dataclass(frozen=True)
class Reader:
    use: Callable[[Path], None]
    contents: tuple[bytes, ...]
    tokens: tuple[bytes, ...]  # what mutations insert


def arpa(order: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lm.arpa"
        write_random_arpa(path, order, ("x", "y"), seed=order, sentences=3)
        return path.read_bytes()


READERS = {
    "grammar": Reader(
        use_grammar,
        (GRAMMAR.encode(), b""),
        (b"|||", b" ||| ", b"[X,1]", b"[1]", b"[", b"]", b",", b"=", b"0-0", b"-", b"9" * 30, b"e", b"inf", b"nan"),
    ),
    "weights": Reader(
        use_weights, (WEIGHTS.encode(), b""), (b"#", b"\t", b"e", b"-", b"9" * 30, b"inf", b"nan", b"f 1")
    ),
    "language model": Reader(
        use_language_model,
        (arpa(2), arpa(3)),
        (b"\\data\\", b"ngram 1=", b"ngram 2=99999999999", b"\\1-grams:", b"-1.5", b"0.5", b"<unk>", b"<s>", b"\\end\\",
         b"mmap lm http://kheafield.com/code format version 5\n\0", b"nan", b"inf", b"-"),
    ),
    "shard": Reader(use_shard, (shard(),), (b"ITSHARD\n", b"\0" * 8, b"\xff" * 8, b"\3\0\0\0", b"\x28\xb5\x2f\xfd")),
}  # fmt: skip


def mutated(reader: Reader, choice: Random) -> bytes:
    """A good content with pieces cut, doubled, overwritten or put in; sometimes packed, sometimes then cut."""
    content = choice.choice(reader.contents)
    for _ in range(choice.randint(0, 6)):
        begin = choice.randint(0, len(content))
        end = min(len(content), begin + choice.choice((0, 0, 1, 2, 9, 60)))
        kinds = (
            choice.choice((*reader.tokens, b"\n", b"\r", b" ", b"\0", "ü".encode(), b"\xff", b"\xc3")),
            choice.randbytes(choice.randint(0, 4)),
            content[begin:end] * 2,
            b"x" * 70,
            "ü".encode() * 40,
        )
        content = content[:begin] + choice.choice(kinds) + content[end:]
    if choice.randint(0, 7) == 0:
        content = gzip.compress(content, mtime=0)
        if choice.randint(0, 1):
            content = content[: choice.randint(0, len(content))]
    return content


def check(reader: Reader, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        path.write_bytes(content)
        try:
            reader.use(path)
        except InputError as error:
            assert str(path) in str(error)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150, deadline=None)
@given(content=st.binary(max_size=300))
@example(content=b"\x1f\x8b")
@example(content=b"\x1f\x8b\x08\0\0\0\0\0\0\0")
def test_random_bytes(name: str, content: bytes) -> None:
    check(READERS[name], content)


@pytest.mark.parametrize("name", READERS)
def test_mutated_files(name: str) -> None:
    for number in range(400):  # a hypothesis strategy takes ten times as long as the readers
        with note(f"mutation {number}"):
            check(READERS[name], mutated(READERS[name], Random(f"{name} {number}")))


@contextmanager
def note(text: str) -> Iterator[None]:
    """Any exception says it, too."""
    try:
        yield
    except BaseException as error:
        error.add_note(text)
        raise

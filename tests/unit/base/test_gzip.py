"""The kernel's gzip files, read by Python's own module."""

import gzip
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel._kernel import gzip_compress

RANDOM = random.Random(1)
WORDS = [RANDOM.randbytes(RANDOM.randint(1, 12)) for _ in range(200)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.binary(max_size=20)), max_size=300), st.integers(1, 40))
def test_is_read_back(parts: list[bytes], times: int) -> None:
    content = b"".join(parts) * times
    assert gzip.decompress(gzip_compress(content)) == content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a",
        b"abcdefgh" * 50_000,
        bytes(range(256)) * 300,
        RANDOM.randbytes(300_000),
        RANDOM.randbytes(32_768) * 3,  # the farthest distance
        RANDOM.randbytes(32_769) * 3,
        # Counts like Fibonacci's numbers want words that are longer than deflate allows.
        b"".join(bytes([i]) * round(1.618**i) for i in range(25)),
        b"".join(RANDOM.choices(WORDS, k=100_000)),
    ],
    ids=["empty", "one", "period", "bytes", "noise", "far", "farther", "skewed", "words"],
)
def test_kinds_of_content(content: bytes) -> None:
    packed = gzip_compress(content)
    assert gzip.decompress(packed) == content
    assert packed == gzip_compress(content)
    assert packed[4:8] == bytes(4)  # no time stamp
    assert len(packed) <= len(content) * 1.01 + 200


def test_text_takes_fewer_bytes_than_the_fastest_level() -> None:
    line = "[X] ||| {} [X,1] {} ||| {} [X,1] ||| EgivenFCoherent={} SampleCountF={} ||| 0-0 2-1\n"
    numbers = [f"{RANDOM.random():.6f}" for _ in range(50)]
    words = [word.hex()[:7] for word in WORDS]
    rules = [line.format(*RANDOM.choices(words, k=3), *RANDOM.choices(numbers, k=2)) for _ in range(5000)]
    text = "".join(sorted(rules)).encode()
    assert len(gzip_compress(text)) < len(gzip.compress(text, 1))

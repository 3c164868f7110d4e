"""The kernel's zstd frames: what goes in comes out, and damage is noticed."""

import random

import pytest

from itersel._kernel import zstd_compress, zstd_decompress

MAGIC = bytes.fromhex("28b52ffd")  # RFC 8878
CONTENTS = [b"", b"a", b"ab" * 50_000, random.Random(1).randbytes(5_000), "größe ".encode() * 99]


@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_there_and_back(content: bytes) -> None:
    frame = zstd_compress(content)
    assert frame.startswith(MAGIC) and frame == zstd_compress(content)
    assert zstd_decompress(frame) == content == zstd_decompress(memoryview(frame))


def test_repetition_is_compressed() -> None:
    assert len(zstd_compress(b"ab" * 50_000)) < 100


def test_damage_is_noticed() -> None:
    content = b" ".join(b"%d" % (number * number) for number in range(60))
    frame = zstd_compress(content)
    for cut in range(len(frame)):
        with pytest.raises(ValueError, match="damaged or cut off"):
            zstd_decompress(frame[:cut])
    for place in range(len(frame)):
        altered = bytearray(frame)
        altered[place] ^= 16
        try:  # a bit of the header may have no meaning
            assert zstd_decompress(bytes(altered)) == content
        except ValueError as error:
            assert "damaged or cut off" in str(error)


def test_a_size_that_cannot_be() -> None:
    """A header that claims nearly 2⁶⁴ bytes."""
    with pytest.raises(ValueError, match="damaged or cut off"):
        zstd_decompress(MAGIC + bytes([0xC0, 0x00]) + b"\xfe" * 8 + b"\0" * 8)

"""Content is checked to be UTF-8 in parts: the same verdict and the same place as of the whole."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base import files
from itersel.base.errors import InputError

PIECES = st.sampled_from(["a", "\n", "ß", "語", "\U0001f600"]).map(str.encode)
BROKEN = st.sampled_from([b"\x80", b"\xbf\xbf\xbf\xbf", b"\xc3", b"\xe8\xaa", b"\xf0\x9f\x98", b"\xff"])


@given(st.lists(PIECES | BROKEN, max_size=30).map(b"".join), st.integers(4, 12))
def test_parts_give_the_verdict_of_the_whole(content: bytes, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHECKED_BYTES", size)
        try:
            content.decode()
        except UnicodeDecodeError as error:
            before = content[: error.start]
            line, byte = before.count(b"\n") + 1, len(before.split(b"\n")[-1]) + 1
            with pytest.raises(InputError, match=re.escape(f"invalid UTF-8 at byte {byte} of the line")) as found:
                files.check_utf8(content, "text")
            assert found.value.where == f"text:{line}"
        else:
            files.check_utf8(content, "text")

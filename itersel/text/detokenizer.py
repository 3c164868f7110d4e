"""The way back from tokens to text, as far as tokens show it: punctuation joins its words, addresses stay as they are.

In: a line of `Tokenizer`, or a translation in the same conventions, and its language. Out: text as people write it.
What tokens do not show (`5 %` or `5%`) gets the usual form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from itersel.text.languages import check_language
from itersel.text.tokenizer import APOSTROPHE_CLOSES_LEFT, APOSTROPHE_OPENS_RIGHT, CJK, unescape

JOINS_LEFT = frozenset([*".,;:!?)]}%…»”›。、，！？；：）」』】", "...", ".."])
"""Tokens without a blank before them."""
JOINS_RIGHT = frozenset("([{«„‚‹$£€¿¡#（「『【")
"""Tokens without a blank after them."""
JOINS_BOTH = frozenset("_/@")
_SUFFIX = re.compile(r"['’]\w+\Z")
_PREFIX = re.compile(r"\w+['’]\Z")
_SCRIPT = f"{CJK}ー。、，！？；：「」『』（）"
_BETWEEN_CHARACTERS = re.compile(rf"(?<=[{_SCRIPT}]) (?=[{_SCRIPT}])")


@dataclass(frozen=True)
class Detokenizer:
    """Joins the tokens of lines of one language (an ISO 639-1 code)."""

    language: str

    def __post_init__(self) -> None:
        check_language(self.language)

    def __call__(self, line: str) -> str:
        """The line as text; entities of `escape` become characters again."""
        text, glue, quoted = "", True, False
        for token in unescape(line).split():
            opens = token == '"' and not quoted
            closes = token == '"' and quoted
            quoted ^= token == '"'
            left = token in JOINS_LEFT or token in JOINS_BOTH or closes
            left |= self.language in APOSTROPHE_OPENS_RIGHT and _SUFFIX.match(token) is not None
            text += token if glue or left else f" {token}"
            glue = token in JOINS_RIGHT or token in JOINS_BOTH or opens
            glue |= self.language in APOSTROPHE_CLOSES_LEFT and _PREFIX.match(token) is not None
        return _BETWEEN_CHARACTERS.sub("", text)

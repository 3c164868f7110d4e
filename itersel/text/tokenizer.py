"""A tokeniser with rules: it separates punctuation and keeps abbreviations, numbers and hyphenated words whole.

In: one line of untokenised text and its language. Out: the same line with blanks between tokens, in the
conventions of most statistical systems' training data: `It's 3.5 % of "the U.S." market.` becomes
`It 's 3.5 % of " the U.S. " market .` Addresses (URLs, e-mail) are one token; Chinese and Japanese are cut into
characters. Optional steps map typographic punctuation to ASCII and escape the characters that text formats of
translation systems reserve (`|` among them).
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from dataclasses import dataclass, field

from itersel.text.languages import BY_CHARACTER, check_language

# Words whose final full stop belongs to them, unless the line ends there.
_ABBREVIATIONS = {
    "en": """
        Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl Dr Ens Esq Gen Gov Hon
        Hosp Insp Lt Maj Messrs Mlle Mme Mr Mrs Ms Msgr Mt Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt
        Sen Sens Sgt Sr Jr St Supt Surg vs etc eg ie cf Inc Ltd Co Jan Feb Mar Apr Jun Jul Aug Sep Sept
        Oct Nov Dec
    """,
    "de": """
        Abb Abs Abt Allg Anm Art Aufl Az Bd Bsp Dipl Dr Eigtl Evtl Fa Fam Frl Geb Gest Ggf Hl Hr Hrsg
        Inkl Ing Jh Jr Kap Max Min Mio Mr Mrd Mrs Ms Prof Rd Sr St Std Str Tel Univ Verf Vgl Vol allg
        bspw bzgl bzw ca dgl eigtl etc evtl exkl geb gegr ggf inkl insb jr max min mind mtl resp sog sr
        std str usw vgl zzgl Jan Feb Aug Sept Okt Nov Dez
    """,
}
ABBREVIATIONS = {language: frozenset(text.split()) for language, text in _ABBREVIATIONS.items()}
# Words that keep the full stop only before a number: `No. 5`, but `He said no.`
NUMERIC_ABBREVIATIONS: dict[str, frozenset[str]] = {
    "en": frozenset(["No", "Nos", "Art", "Nr", "pp", "p", "Fig", "Vol", "Sec"]),
    "de": frozenset(["Nr", "Nrn", "Art", "Ziff", "Bd", "S"]),
}
# Where an apostrophe between letters goes: to the right word (it 's), to the left one (l' eau), or neither.
APOSTROPHE_OPENS_RIGHT = frozenset(["en"])
APOSTROPHE_CLOSES_LEFT = frozenset(["fr", "it", "ca"])
# German writes ordinals and dates with a full stop: `am 3. Mai`.
ORDINAL_FULL_STOP = frozenset(["de", "da", "no", "nb", "nn", "fi", "cs", "sk", "hu"])

TYPOGRAPHIC = {
    **dict.fromkeys("„“”‟«»″", '"'),
    **dict.fromkeys("‘’‚‛´`ʼ′", "'"),
    **dict.fromkeys("‐‑", "-"),
    "–": " - ",
    "—": " - ",
    "…": "...",
    "\u00ad": "",
}
ESCAPES = {
    "&": "&amp;",
    "|": "&#124;",
    "<": "&lt;",
    ">": "&gt;",
    "'": "&apos;",
    '"': "&quot;",
    "[": "&#91;",
    "]": "&#93;",
}
UNESCAPES = {escape: character for character, escape in ESCAPES.items()}
_TYPOGRAPHIC_TABLE = str.maketrans(TYPOGRAPHIC)
_ESCAPE_TABLE = str.maketrans(ESCAPES)
_UNESCAPE = re.compile("|".join(map(re.escape, UNESCAPES)))
_ELLIPSIS = re.compile(r"\.{2,}")
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
_LETTER = r"[^\W\d_]"
_APOSTROPHE = re.compile("['’]")
_APOSTROPHE_INSIDE = re.compile(rf"(?<={_LETTER})['’](?={_LETTER})|(?<=\d)['’](?=s\b)")
# Addresses are one token, without the punctuation that follows them; a bracket belongs to them if it opens there, too.
_ADDRESS = re.compile(
    r"""(?:\b[a-z][a-z0-9+.-]*://|\bwww\.|\bmailto:)(?:\([^\s()<>"]*\)|[^\s()<>"])+(?<![.,;:!?'’\]}])"""
    r"""|\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+""",
    re.IGNORECASE,
)
# Characters of Chinese and Japanese: Han, Hiragana, Katakana, but no punctuation, which is separated anyway.
CJK = "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
CJK += "\U00020000-\U0003ffff"
_CJK = re.compile(f"[{CJK}][\u3099\u309a\u30fc\ufe00-\ufe0f]*")
_INITIAL = re.compile(rf"{_LETTER}\Z")


@functools.lru_cache(maxsize=1)
def _separable() -> re.Pattern[str]:
    """One character that always stands alone: no letter, digit, combining mark, blank, nor one of . , ' ’ ` -

    Python's word class lacks the combining marks, which are parts of words in Indic scripts, so they are
    listed here. Built at the first call only: it looks at every code point.
    """
    marks = [code for code in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"]
    ranges: list[list[int]] = []
    for code in marks:
        if ranges and code == ranges[-1][1] + 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    joined = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
    return re.compile(rf"[^\w\s.,'’`\-\u200c\u200d{joined}]|_")


def ascii_punctuation(line: str) -> str:
    """Map typographic quotes, apostrophes, dashes and ellipses to ASCII; long dashes get blanks around them."""
    return line.translate(_TYPOGRAPHIC_TABLE)


def escape(line: str) -> str:
    """Replace the characters `& | < > ' " [ ]` by entities, as Moses and its corpora do."""
    return line.translate(_ESCAPE_TABLE)


def unescape(line: str) -> str:
    """The inverse of `escape`; other entities stay as they are."""
    return _UNESCAPE.sub(lambda match: UNESCAPES[match.group()], line)


@dataclass(frozen=True)
class Tokenizer:
    """Tokenises lines of one language (an ISO 639-1 code); another code is a ConfigError."""

    language: str
    _abbreviations: frozenset[str] = field(init=False, repr=False, compare=False)
    _numeric: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_language(self.language)
        object.__setattr__(self, "_abbreviations", ABBREVIATIONS.get(self.language, frozenset()))
        object.__setattr__(self, "_numeric", NUMERIC_ABBREVIATIONS.get(self.language, frozenset()))

    def __call__(self, line: str) -> str:
        """The line's tokens, one blank between them."""
        words, end = list[str](), 0
        for address in _ADDRESS.finditer(line):
            words += [*self._split(line[end : address.start()]), address.group()]
            end = address.end()
        return " ".join(self._split_full_stops(words + self._split(line[end:])))

    def _split(self, line: str) -> list[str]:
        """Words of a part without addresses, which may have a full stop at their end."""
        if self.language in BY_CHARACTER:
            line = _CJK.sub(r" \g<0> ", line)
        line = _separable().sub(r" \g<0> ", line)
        line = _ELLIPSIS.sub(r" \g<0> ", line)
        line = _COMMA.sub(" , ", line)
        return self._split_apostrophes(line).split()

    def _split_apostrophes(self, line: str) -> str:
        """Separate apostrophes; between two letters, the language decides which word keeps it, if any."""
        right = " " if self.language in APOSTROPHE_OPENS_RIGHT else ""
        left = " " if self.language in APOSTROPHE_CLOSES_LEFT else ""
        if not right and not left:
            return _APOSTROPHE.sub(r" \g<0> ", line)
        pieces, end = [], 0
        for inside in _APOSTROPHE_INSIDE.finditer(line):
            pieces += [_APOSTROPHE.sub(r" \g<0> ", line[end : inside.start()]), right, inside.group(), left]
            end = inside.end()
        return "".join(pieces) + _APOSTROPHE.sub(r" \g<0> ", line[end:])

    def _split_full_stops(self, words: list[str]) -> list[str]:
        tokens: list[str] = []
        for position, word in enumerate(words):
            following = words[position + 1] if position + 1 < len(words) else ""
            if len(word) > 1 and word[-1] == "." and word[-2] != "." and not self._keeps_stop(word[:-1], following):
                tokens += [word[:-1], "."]
            else:
                tokens.append(word)
        return tokens

    def _keeps_stop(self, stem: str, following: str) -> bool:
        """Whether a word's final full stop is part of it, judged by the word and the one after it."""
        if following[:1].islower():
            return True  # no sentence ends here
        if "." in stem and any(map(str.isalpha, stem)):
            return True  # U.S., z.B.
        if not following:
            return False  # the line ends, and so does its sentence
        if stem in self._abbreviations or (_INITIAL.match(stem) and (stem.isupper() or self.language == "de")):
            return True  # Dr., J. Smith, z. B.
        if stem.isdigit() and len(stem) <= 2 and self.language in ORDINAL_FULL_STOP:
            return following[0].isalpha()
        return stem in self._numeric and following[:1].isdigit()

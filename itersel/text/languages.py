"""Languages that text can be tokenised in, by their codes of ISO 639-1."""

from __future__ import annotations

import difflib

from itersel.base.errors import ConfigError

# Codes of all languages that put blanks between words, and of those that are cut into characters.
_CODES = """
    aa ab ae af ak am an ar as av ay az ba be bg bi bm bn br bs ca ce ch co cr cs cu cv cy da de dv ee el en eo es et eu
    fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk
    kl kn ko kr ks ku kv kw ky la lb lg li ln lt lu lv mg mh mi mk ml mn mr ms mt na nb nd ne ng nl nn no nr nv ny oc oj
    om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg ti tk tl
    tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_CODES.split())
BY_CHARACTER = frozenset(["ja", "zh"])
"""Written without blanks, and cut into characters, as is usual where there are no words."""
UNSEGMENTED = {"bo": "Tibetan", "dz": "Dzongkha", "km": "Khmer", "lo": "Lao", "my": "Burmese", "th": "Thai"}
"""Written without blanks in scripts whose characters are too small to be tokens."""


def check_language(code: str) -> None:
    """ConfigError unless lines of this language can be tokenised."""
    if code in UNSEGMENTED:
        raise ConfigError(
            f"{UNSEGMENTED[code]} ({code}) has no blanks between words, and there are no rules for it here",
            hint="Segment the text with another program first, and leave out the language.",
        )
    if code not in LANGUAGES:
        near = difflib.get_close_matches(code.lower().split("-")[0].split("_")[0][:2], sorted(LANGUAGES), 1, 1.0)
        hint = f"Did you mean {near[0]}?" if near else "Give a code of ISO 639-1, such as de, en, fr or zh."
        raise ConfigError(f"{code!r} is not the code of a language", hint=hint)

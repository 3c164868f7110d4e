"""K-best lists as text: one line per hypothesis, best first, fields separated by `|||`.

    cdec:   0 ||| a man ||| Glue=1 LanguageModel=-2.5 ||| -3.25
    moses:  0 ||| a man ||| Glue= 1 LanguageModel= -2.5 ||| -3.25

Features are sorted by name. A name may contain `=` (the identity of a rule with that word): in cdec's form the last `=`
of a token ends the name.
"""

from __future__ import annotations

from collections.abc import Iterable

from itersel.base.errors import ConfigError
from itersel.decode.decoder import Hypothesis

ASSIGNMENTS = {"cdec": "=", "moses": "= "}
FORMATS = tuple(ASSIGNMENTS)


def format_number(value: float) -> str:
    """Up to ten significant digits, without trailing zeros."""
    return f"{value + 0.0:.10g}"  # + 0.0: no negative zero


def format_kbest(name: str, hypotheses: Iterable[Hypothesis], form: str = "cdec") -> str:
    """The lines of one sentence's list, each with a line feed at the end; `name` is the sentence's id."""
    if form not in ASSIGNMENTS:
        raise ConfigError(f"unknown k-best format {form!r}", hint=f"Choose one of {', '.join(FORMATS)}.")
    between = ASSIGNMENTS[form]
    lines = []
    for one in hypotheses:
        features = " ".join(
            f"{feature}{between}{format_number(one.features[feature])}" for feature in sorted(one.features)
        )
        lines.append(f"{name} ||| {one.text} ||| {features} ||| {format_number(one.score)}\n")
    return "".join(lines)

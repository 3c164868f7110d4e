"""Grammars of Joshua (Thrax), from and to our text form, line by line.

Joshua's form is ours, except for the sign: it negates values without a name, which are costs, and calls them
`tm_OWNER_0`, `tm_OWNER_1` … Named values are as they are. So `0.5 Lex=2` of the owner pt means `tm_pt_0=-0.5 Lex=2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from itersel.base.errors import InputError
from itersel.grammar.text_rule import BARS, number, parse_text_rule

MARKS = ("<s>", "</s>")


def rules_from_joshua(lines: Iterable[str], path: str, owner: str) -> Iterator[str]:
    """Lines in our form; `owner` is the second word of the grammar's `tm =` line in joshua.config, mostly pt."""
    for count, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{count}"
        fields = [field.strip() for field in BARS.split(line)]
        if not 3 <= len(fields) <= 5 or not re.fullmatch(r"\[\S+\]", fields[0]):
            raise InputError("expected `[X] ||| source ||| target ||| values`", where=where)
        if any(mark in fields[1].split() for mark in MARKS):
            raise InputError("a glue rule with <s> or </s>", where=where, hint="Leave the glue grammar out.")
        features, unnamed = [], 0
        for token in fields[3].split() if len(fields) > 3 else []:
            name, equals, text = token.rpartition("=")
            value = number(text)
            if value is None or (equals and not name):
                raise InputError(f"expected a number or name=number, found {token!r}", where=where)
            if not equals:
                name, value, unnamed = f"tm_{owner}_{unnamed}", -value, unnamed + 1
            features.append(f"{name}={value + 0.0:.9g}")
        if len({one.rpartition("=")[0] for one in features}) < len(features):
            raise InputError("a feature is given twice", where=where)
        yield " ||| ".join([*fields[:3], " ".join(features), *fields[4:]]).replace("|||  |||", "||| |||").rstrip()


def rules_to_joshua(lines: Iterable[str], path: str, owner: str) -> Iterator[str]:
    """Lines of Joshua's form: `tm_OWNER_0`, `tm_OWNER_1` … lose their names and change their signs."""
    for count, line in enumerate(lines, 1):
        if not line.strip():
            continue
        rule = parse_text_rule(line, f"{path}:{count}")
        features, values = dict(rule.features), list[str]()
        while (name := f"tm_{owner}_{len(values)}") in features:
            values.append(f"{0.0 - features.pop(name):.9g}")
        values += [f"{name}={value:.9g}" for name, value in features.items()]
        fields = [f"[{rule.lhs}]", " ".join(rule.source), " ".join(rule.target), " ".join(values)]
        fields += [" ".join(f"{i}-{j}" for i, j in rule.alignment)] if rule.alignment else []
        yield " ||| ".join(fields).replace("|||  |||", "||| |||").rstrip()

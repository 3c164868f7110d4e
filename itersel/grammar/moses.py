"""Rule tables of Moses, from and to our text form, line by line.

    haus [X][X] [X] ||| house [X][X] [X] ||| 0.5 0.25 ||| 0-0 1-1 ||| 4 8 4
    [X] ||| haus [X,1] ||| house [X,1] ||| TM_0=-0.693147 TM_1=-1.38629 PhrasePenalty=1 ||| 0-0

Moses' scores are probabilities, of which its decoder takes the logarithm, at least −100. Counts and further fields are
dropped. A phrase table, whose sides end without a label, gives rules of the label X.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from itersel.base.errors import InputError
from itersel.grammar.text_rule import TextRule, number, parse_text_rule

LOWEST_LOG = -100.0
PENALTY = "PhrasePenalty"
LABEL = re.compile(r"\[([^\s\[\]]+)\]")
PAIR = re.compile(r"\[([^\s\[\]]+)\]\[([^\s\[\]]+)\]")
BARS = re.compile(r"(?:^|(?<=\s))\|\|\|(?=\s|$)")
FORM = "expected `source [X] ||| target [X] ||| scores ||| alignment`"


def rules_from_moses(lines: Iterable[str], path: str, name: str) -> Iterator[str]:
    """Lines in our form. The scores are called NAME_0, NAME_1 …, or NAME if there is one."""
    for count, line in enumerate(lines, 1):
        if line.strip():
            yield _from_moses(line, f"{path}:{count}", name)


def _from_moses(line: str, where: str, name: str) -> str:
    fields = [field.split() for field in BARS.split(line)]
    if len(fields) < 3 or not fields[0]:
        raise InputError(f"{FORM}, found {line.strip()[:60]!r}", where=where)
    source, target = fields[0], fields[1]
    lhs = "X"
    if len(source) > 1 and LABEL.fullmatch(source[-1]) and target and LABEL.fullmatch(target[-1]):
        lhs = target.pop()[1:-1]
        source = source[:-1]
    for mark in ("<s>", "</s>"):
        if mark in source:
            raise InputError(
                f"a glue rule with {mark}", where=where, hint="Leave the glue grammar out: itersel has glue rules."
            )
    links = _links(fields[3] if len(fields) > 3 else [], len(source), len(target), where)
    partners = {i: j for i, j in links if PAIR.fullmatch(source[i]) and PAIR.fullmatch(target[j])}
    places = [at for at, token in enumerate(source) if PAIR.fullmatch(token)]
    if sorted(partners.values()) != [at for at, token in enumerate(target) if PAIR.fullmatch(token)] or (
        sorted(partners) != places
    ):
        raise InputError("the alignment does not pair the non-terminals", where=where, hint=FORM)
    sides = [list(source), list(target)]
    for index, at in enumerate(places, 1):
        own, other = PAIR.fullmatch(source[at]), PAIR.fullmatch(target[partners[at]])
        assert own and other
        if own[1] != "X":
            raise InputError(
                f"the source label {own[1]}", where=where, hint="Rules with source syntax cannot be used here."
            )
        sides[0][at] = sides[1][partners[at]] = f"[{other[2]},{index}]"
    scores = [_log(text, where) for text in fields[2]]
    names = [name] if len(scores) == 1 else [f"{name}_{k}" for k in range(len(scores))]
    features = dict(zip(names, scores, strict=True)) | {PENALTY: 1.0}
    words = [(i, j) for i, j in links if i not in partners]
    return TextRule(lhs, sides[0], sides[1], features, words).text()


def _links(tokens: list[str], source: int, target: int, where: str) -> list[tuple[int, int]]:
    links = []
    for token in tokens:
        left, dash, right = token.partition("-")
        if not (dash and left.isdigit() and right.isdigit() and int(left) < source and int(right) < target):
            raise InputError(f"expected alignment links such as 0-1, found {token!r}", where=where)
        links.append((int(left), int(right)))
    return links


def _log(text: str, where: str) -> float:
    value = number(text)
    if value is None or value < 0:
        raise InputError(f"expected a probability, found {text!r}", where=where, hint=FORM)
    return max(math.log(value), LOWEST_LOG) if value > 0 else LOWEST_LOG


def rules_to_moses(lines: Iterable[str], path: str, name: str) -> Iterator[str]:
    """Lines of Moses' form. Its scores are the features NAME, or NAME_0, NAME_1 …; besides, only PhrasePenalty=1."""
    for count, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{count}"
        rule = parse_text_rule(line, where)
        features = dict(rule.features)
        if features.pop(PENALTY, 1.0) != 1.0:
            raise InputError(f"{PENALTY} is not 1", where=where, hint="Moses counts every rule once.")
        names = [name] if name in features else [f"{name}_{k}" for k in range(len(features))]
        if set(names) != set(features):
            raise InputError(
                f"the features are {', '.join(features) or 'none'}; expected {name}, or {name}_0, {name}_1 …",
                where=where,
                hint="Name the table with --name; Moses' tables have no other features.",
            )
        yield _to_moses(rule, [features[one] for one in names])


def _to_moses(rule: TextRule, logs: list[float]) -> str:
    partners = rule.partners()
    links = sorted({*rule.alignment, *partners.items()})
    sides = [
        " ".join([f"[X][{rule.label(token)}]" if rule.label(token) else token for token in side] + [f"[{label}]"])
        for side, label in ((rule.source, "X"), (rule.target, rule.lhs))
    ]
    scores = " ".join(f"{math.exp(value):.9g}" for value in logs)
    return f"{sides[0]} ||| {sides[1]} ||| {scores} ||| {' '.join(f'{i}-{j}' for i, j in links)} |||".replace("  ", " ")

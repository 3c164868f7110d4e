"""Weights of Moses (moses.ini) and Joshua (joshua.config, or its weights file), from and to ours.

The features of the three decoders differ in scale, so a weight changes with its name:

    ours                        Moses                                        Joshua
    LanguageModel (log10)       the language model's (natural log)           lm_0 (log10)
    WordPenalty (−0.434)        WordPenalty0 (−1 per word)                   WordPenalty (−0.434 per word)
    PassThrough (1 per word)    UnknownWordPenalty0 (−100 per word)          OOVPenalty (−100 per word)
    Glue (1 per rule)           the glue grammar's and PhrasePenalty0        tm_glue_0
    PhrasePenalty               PhrasePenalty0                               –
    TranslationModel0_0 …       TranslationModel0= …                         tm_pt_0 … keep their names
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from itersel.base.errors import InputError
from itersel.model.features import is_feature_name

LN10 = math.log(10)
UNKNOWN_WORD = -100.0
"""What Moses and Joshua give an unknown word."""
LANGUAGE_MODELS = ("KENLM", "SRILM", "IRSTLM", "RANDLM", "DALM", "NPLM", "LazyKen")
NAMES = ("decoder", "lists")
"""Names and scales of itersel's decoder, or those that the system's own n-best lists have."""


@dataclass(frozen=True)
class _Line:
    name: str
    values: list[float]
    where: str


def weights_from_moses(lines: Iterable[str], path: str, names: str = "decoder") -> dict[str, float]:
    """The `[weight]` section of a moses.ini."""
    weights, types = _moses_sections(lines, path)
    if not weights:
        raise InputError("there is no [weight] section", where=path, hint="Give Moses' moses.ini.")
    found: dict[str, float] = {}
    tables = 0
    for line in weights:
        kind, file = types.get(line.name, (re.sub(r"\d+$", "", line.name), ""))
        several = [(f"{line.name}_{k}", value) for k, value in enumerate(line.values)]
        plain = [(line.name, line.values[0])] if len(line.values) == 1 else several
        if names == "lists":
            new = plain
        elif kind in LANGUAGE_MODELS or kind == "LM":
            if "LanguageModel" in found:
                raise InputError("a second language model", where=line.where, hint="itersel decodes with one.")
            new = [("LanguageModel", line.values[0] * LN10)]
        elif kind == "WordPenalty":
            new = [("WordPenalty", line.values[0] * LN10)]
        elif kind == "UnknownWordPenalty":
            new = [("PassThrough", line.values[0] * UNKNOWN_WORD)]
        elif kind == "PhrasePenalty":
            new = [("PhrasePenalty", line.values[0]), ("Glue", line.values[0])]
        elif kind.startswith(("PhraseDictionary", "RuleTable", "TranslationModel", "ProbingPT")):
            tables += 1
            glue = "glue" in file or (tables > 1 and len(line.values) == 1)
            new = [("Glue", line.values[0])] if glue else plain
        else:
            raise InputError(
                f"{line.name} has no counterpart in itersel's decoder",
                where=line.where,
                hint="Only hierarchical models can be decoded here; --names lists keeps all for itersel rerank.",
            )
        for name, value in new:
            found[name] = found.get(name, 0.0) + value if name == "Glue" else value
    return found


def _moses_sections(lines: Iterable[str], path: str) -> tuple[list[_Line], dict[str, tuple[str, str]]]:
    """The weights, and the type and file of each named feature."""
    section, weights, counts = "", list[_Line](), dict[str, int]()
    types: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(lines, 1):
        where, text = f"{path}:{number}", line.partition("#")[0].strip()
        if header := re.fullmatch(r"\[([\w-]+)\]", text):
            section = header[1]
            if section.startswith("weight-"):
                raise InputError(
                    f"the section [{section}] of old versions of Moses",
                    where=where,
                    hint="Write a [weight] section with lines such as `LM0= 0.5` and `TranslationModel0= 0.2 0.1`.",
                )
        elif text and section == "feature":
            kind, *options = text.split()
            given = dict(option.split("=", 1) for option in options if "=" in option)
            default = f"{kind}{counts.get(kind, 0)}"
            counts[kind] = counts.get(kind, 0) + 1
            types[given.get("name", default)] = kind, given.get("path", "")
        elif text and section == "weight":
            name, *values = text.split()
            if name[-1] != "=" or len(name) < 2 or not values:
                raise InputError(f"expected `Name= value …`, found {text[:60]!r}", where=where)
            weights.append(_Line(name[:-1], [_number(value, where) for value in values], where))
    return weights, types


def weights_to_moses(weights: Mapping[str, float]) -> Iterator[str]:
    """The lines of a `[weight]` section, from weights with the names of our decoder."""
    penalty = weights.get("PhrasePenalty", 0.0)
    single = {
        "LanguageModel": ("LM0", 1 / LN10),
        "WordPenalty": ("WordPenalty0", 1 / LN10),
        "PassThrough": ("UnknownWordPenalty0", 1 / UNKNOWN_WORD),
        "PhrasePenalty": ("PhrasePenalty0", 1.0),
    }
    groups: dict[str, dict[int, float]] = {}
    yield "[weight]"
    for name in sorted(weights):
        if name in single:
            other, scale = single[name]
            yield f"{other}= {weights[name] * scale:.10g}"
        elif found := re.fullmatch(r"(TranslationModel\d+)(?:_(\d+))?", name):
            groups.setdefault(found[1], {})[int(found[2] or 0)] = weights[name]
        elif name != "Glue":
            raise InputError(f"{name} has no counterpart in Moses", hint="Leave it out.")
    for name in sorted(groups):
        values = [groups[name].get(k, 0.0) for k in range(max(groups[name]) + 1)]
        yield f"{name}= {' '.join(f'{value:.10g}' for value in values)}"
    if "Glue" in weights:
        yield f"TranslationModel{len(groups)}= {weights['Glue'] - penalty:.10g}"


JOSHUA = {"lm_0": "LanguageModel", "WordPenalty": "WordPenalty", "tm_glue_0": "Glue"}
OLD_JOSHUA = {"lm": "lm_0", "wordpenalty": "WordPenalty", "oovpenalty": "OOVPenalty"}


def weights_from_joshua(lines: Iterable[str], path: str, names: str = "decoder") -> dict[str, float]:
    """Weights of a joshua.config or of a file of weights. Parameters (`name = value`) are passed over."""
    found: dict[str, float] = {}
    elsewhere = ""
    for count, line in enumerate(lines, 1):
        where, text = f"{path}:{count}", line.partition("#")[0].strip()
        if "=" in text:
            key, _, value = text.partition("=")
            elsewhere = value.strip() if re.sub("[-_]", "", key.strip().lower()) == "weightsfile" else elsewhere
            continue
        if not text:
            continue
        *words, value = text.split()
        if len(words) == 3 and words[0] == "phrasemodel":
            words = [f"tm_{words[1]}_{words[2]}"]
        elif len(words) == 2 and words[0] == "lm":
            words = [f"lm_{words[1]}"]
        if len(words) != 1 or not is_feature_name(words[0]):
            raise InputError(f"expected `name value`, found {text[:60]!r}", where=where)
        name, weight = OLD_JOSHUA.get(words[0], words[0]), _number(value, where)
        if names == "decoder":
            if re.fullmatch(r"lm_[1-9]\d*", name):
                raise InputError("a second language model", where=where, hint="itersel decodes with one.")
            if name == "OOVPenalty":  # a word counts −100 in version 6, and 1 in older ones, whose weights are negative
                name, weight = "PassThrough", weight * UNKNOWN_WORD if weight > 0 else weight
            name = JOSHUA.get(name, name)
        if name in found:
            raise InputError(f"the weight of {name} is given twice", where=where)
        found[name] = weight
    if not found:
        hint = f"The weights are in {elsewhere}." if elsewhere else "Lines are `name value`."
        raise InputError("there are no weights", where=path, hint=hint)
    return found


def weights_to_joshua(weights: Mapping[str, float]) -> Iterator[str]:
    """Lines of Joshua 6, from weights with the names of our decoder."""
    names = {ours: theirs for theirs, ours in JOSHUA.items()}
    for name in sorted(weights):
        if name == "PassThrough":
            yield f"OOVPenalty {weights[name] / UNKNOWN_WORD:.10g}"
        else:
            yield f"{names.get(name, name)} {weights[name]:.10g}"


def _number(text: str, where: str) -> float:
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"expected a finite number, found {text!r}", where=where)
    return value

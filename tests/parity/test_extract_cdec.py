"""Grammars of 200 sentences against cdec's own, made from the same bitext and alignment.

The figures asserted here are explained in docs/extraction.md.
"""

import gzip
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from itersel.grammar.extraction import Extractor, build_index

TOLERANCE = 1e-3
MAX_SAMPLES_LOG = 2.4785  # log10(1 + 300), a little less: at least 300 occurrences, so some may be left out
SEGMENT = re.compile(r'<seg grammar="(?P<grammar>[^"]+)" id="\d+"> (?P<sentence>.*) </seg>\s*')

Rules = dict[tuple[str, str], tuple[dict[str, float], str]]


def parse(grammar: bytes) -> Rules:
    result: Rules = {}
    for line in grammar.decode().splitlines():
        _, source, target, features, links = line.split(" ||| ")
        result[source, target] = (dict(map(named_value, features.split())), links)
    return result


@cache
def named_value(item: str) -> tuple[str, float]:
    name, value = item.split("=")
    return name, float(value)


def input_span(source: str, sentence: str, longest: int) -> bool:
    """Whether the words of a source side fit into `longest` words of the sentence."""
    words = sentence.split()
    symbols = re.sub(r"^\[X,\d\] | \[X,\d\]$", "", source).split()

    def match(position: int, i: int, limit: int) -> bool:
        if i == len(symbols):
            return True
        if symbols[i].startswith("[X,"):
            return any(match(p, i + 1, limit) for p in range(position + 1, limit))
        return position < limit and words[position] == symbols[i] and match(position + 1, i + 1, limit)

    return any(match(start, 0, min(start + longest, len(words))) for start in range(len(words)))


@pytest.fixture(scope="module")
def extractor(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Extractor:
    index = tmp_path_factory.mktemp("index") / "index"
    corpus = shared_data / "multi30k"
    alignment = shared_data / "cdec-m30k" / "train.alignment.gz"
    build_index(corpus / "train.tok.lc.de.gz", corpus / "train.tok.lc.en.gz", alignment, index)
    return Extractor(index)


@pytest.mark.slow
def test_rules_and_values_of_cdec(shared_data: Path, extractor: Extractor) -> None:
    folder = shared_data / "cdec-m30k"
    seen: Counter[str] = Counter()
    for line in (folder / "input.sgm").read_text().splitlines():
        segment = SEGMENT.fullmatch(line)
        assert segment
        sentence = segment["sentence"]
        reference = parse(gzip.decompress((folder / segment["grammar"]).read_bytes()))
        found = parse(extractor.extract(sentence))
        seen["cdec"] += len(reference)
        seen["ours"] += len(found)
        seen["extra"] += len(found.keys() - reference.keys())
        for rule, (features, links) in reference.items():
            sampled = features["SampleCountF"] > MAX_SAMPLES_LOG
            kind = "sampled" if sampled else "complete"
            if rule not in found:
                too_wide = not input_span(rule[0], sentence, extractor.options.max_span)
                seen[f"missing {kind}, {'too wide' if too_wide else 'other'}"] += 1
                continue
            seen[f"covered {kind}"] += 1
            ours, our_links = found[rule]
            equal = all(abs(ours[name] - value) <= TOLERANCE for name, value in features.items())
            seen[f"{'equal' if equal else 'different'} {kind}"] += 1
            seen[f"other links, {kind}"] += links != our_links
    print(dict(sorted(seen.items())))

    assert seen["covered complete"] + seen["covered sampled"] >= 0.985 * seen["cdec"]
    for difference in ("different", "other links,"):
        assert seen[f"{difference} complete"] == seen[f"{difference} sampled"] == 0
    assert seen["missing complete, other"] == seen["missing sampled, other"] == 0
    assert seen["extra"] == 0

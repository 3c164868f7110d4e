"""Our alignment against fast_align's, and our lexical probabilities against those in cdec's grammars."""

import math

import pytest

from itersel.align.aligner import AlignerConfig, eflomal_links, given_links, symmetrize
from itersel.align.lexicon import NULL, LexiconCounter
from itersel.align.links import read_links
from itersel.base.files import read_lines
from itersel.text.bitext import Bitext


def agreement(first, second):
    """F1 of two alignments of the same text."""
    common = total = 0
    for ours, theirs in zip(first, second, strict=True):
        common += 2 * len(set(ours) & set(theirs))
        total += len(ours) + len(theirs)
    return common / total


def align_subset(shared_data, tmp_path, pairs):
    sides = []
    for language in ("de", "en"):
        lines = list(read_lines(shared_data / f"multi30k/train.tok.lc.{language}.gz"))[:pairs]
        sides.append(tmp_path / language)
        sides[-1].write_text("".join(line + "\n" for line in lines))
    reference = list(read_links(shared_data / "cdec-m30k/train.alignment.gz"))[:pairs]
    bitext = Bitext(*sides)
    with eflomal_links(bitext, AlignerConfig(samplers=1, effort=0.5)) as directed:
        ours = [pair.links for pair in symmetrize(bitext, directed.forward, directed.reverse)]
    return ours, reference


def test_subset_agrees_with_fast_align(shared_data, tmp_path):
    # fast_align saw all 29,000 pairs, so even a perfect aligner of these alone would differ.
    assert agreement(*align_subset(shared_data, tmp_path, 2000)) > 0.70


@pytest.mark.slow
def test_all_agrees_with_fast_align(shared_data, tmp_path):
    assert agreement(*align_subset(shared_data, tmp_path, 29000)) > 0.80


def negative_log(probabilities):
    best = max(probabilities, default=0.0)
    return -math.log10(best) if best else 99.0


def test_lexical_features_are_those_of_cdec(shared_data):
    counter = LexiconCounter()
    text = [shared_data / f"multi30k/train.tok.lc.{language}.gz" for language in ("de", "en")]
    for pair in given_links(Bitext(*text), shared_data / "cdec-m30k/train.alignment.gz"):
        counter.add(pair.source, pair.target, pair.links)
    table = {(entry.source, entry.target): entry for entry in counter.entries()}
    rules = 0
    for line in read_lines(shared_data / "cdec-m30k/grammars/grammar.0.gz"):
        _, left, right, features, *_ = line.split(" ||| ")
        source, target = ([word for word in side.split() if not word.startswith("[X,")] for side in (left, right))
        values = dict(feature.split("=") for feature in features.split())
        source_given_target = sum(
            negative_log([table[f, e].source_given_target for e in [*target, NULL] if (f, e) in table]) for f in source
        )
        target_given_source = sum(
            negative_log([table[f, e].target_given_source for f in [*source, NULL] if (f, e) in table]) for e in target
        )
        assert source_given_target == pytest.approx(float(values["MaxLexFgivenE"]), abs=1e-9)
        assert target_given_source == pytest.approx(float(values["MaxLexEgivenF"]), abs=1e-9)
        rules += 1
    assert rules > 1000

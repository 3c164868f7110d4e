"""Corpus metrics by sacrebleu: BLEU, chrF and TER of whole outputs, with their signatures.

Texts come in; sacrebleu gives each sentence's sufficient statistics, a row of counts, except TER's, which the kernel
counts as sacrebleu does, many times faster. A corpus's score is a function of the column sums alone, so significance
tests need the texts only once: `scores` computes many sums' scores in one sweep (by itersel.metrics.sentence, which
hands out the same rows), and `score` asks sacrebleu itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from itersel.base.errors import ConfigError, InputError
from itersel.metrics.sentence import ORDER as BLEU_ORDER
from itersel.metrics.sentence import corpus_scores, sentence_statistics

Statistics = npt.NDArray[np.float64]
"""One row per sentence; or one row per corpus, where sentences have been summed up."""
Scores = npt.NDArray[np.float64]

TOKENIZERS = ("none", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab")
"""sacrebleu's tokenisers that need no download; the last two need packages of their own."""
CASES = ("mixed", "lower")


@dataclass(frozen=True)
class MetricOptions:
    """What is compared: `tokenize` is BLEU's (the text is tokenised: none), `case` holds for every metric."""

    tokenize: str = "none"
    case: str = "mixed"

    def __post_init__(self) -> None:
        for name, known in (("tokenize", TOKENIZERS), ("case", CASES)):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} is {getattr(self, name)!r}", hint=f"Choose one of {', '.join(known)}.")


class CorpusMetric:
    """A metric with the references it compares to. `references` has a list of one or more texts a sentence."""

    def __init__(self, name: str, references: Sequence[Sequence[str]], options: MetricOptions | None = None):
        if name not in _KINDS:
            raise ConfigError(f"unknown metric {name!r}", hint=f"Known metrics: {', '.join(METRICS)}.")
        if not references or not all(references):
            raise InputError("every sentence needs a reference, and there must be a sentence")
        self.name, self.sentences, self.options = name, len(references), options or MetricOptions()
        self.label = _KINDS[name].label
        self._references = references
        try:
            self._sacrebleu = _KINDS[name].make(self.options, _streams(references))
        except (RuntimeError, ImportError) as error:  # a tokeniser whose package is missing
            raise ConfigError(f"tokenize {self.options.tokenize}: {error}") from None

    @property
    def signature(self) -> str:
        """sacrebleu's signature: number of references, case, tokeniser, version …"""
        return self._sacrebleu.get_signature().format()

    def words(self, text: str) -> list[str]:
        """The text's words as the metric sees them: tokenised, and lower-cased where case does not count."""
        return str(self._sacrebleu._preprocess_segment(text)).split()

    def statistics(self, hypotheses: Sequence[str]) -> Statistics:
        """The sufficient statistics of each sentence, as sacrebleu's own paired tests take them."""
        if len(hypotheses) != self.sentences:
            raise InputError(f"{len(hypotheses)} translations, but {self.sentences} sentences with references")
        if self.name == "ter":
            pairs = zip(hypotheses, self._references, strict=True)
            return np.array([self._ter_row(*pair) for pair in pairs], dtype=np.float64)
        return np.array(self._sacrebleu._extract_corpus_statistics(list(hypotheses), None), dtype=np.float64)

    def _ter_row(self, hypothesis: str, references: Sequence[str]) -> tuple[float, float]:
        """Edits and the references' mean length; an empty reference, too, takes part, as in sacrebleu."""
        words, others = self.words(hypothesis), [self.words(reference) for reference in references]
        edits = float(sentence_statistics("ter", [words], others)[0, 0])
        return min([edits, *(len(words) for other in others if not other)]), sum(map(len, others)) / len(others)

    def score(self, statistics: Statistics) -> float:
        """sacrebleu's score (0 to 100; a TER may be higher) of a corpus with these rows."""
        sums = statistics.sum(axis=0)
        whole = sums.astype(np.int64)
        exact = whole if (whole == sums).all() else sums  # TER's length of several references is a mean
        return float(self._sacrebleu._compute_score_from_stats(exact.tolist()).score)

    def scores(self, sums: Statistics) -> Scores:
        """The scores of many corpora, one per row of sums; equal to `score` except for rounding errors."""
        return 100 * corpus_scores(self.name, sums, order=BLEU_ORDER)


def direction(name: str) -> int:
    """1 if higher values of the metric are better, -1 if lower ones are."""
    return _KINDS[name].direction


def bleu_length_ratio(statistics: Statistics) -> float:
    """Length of the output over that of the closest references, from rows of BLEU's statistics."""
    output, references = statistics[:, :2].sum(axis=0).tolist()
    return output / references if references else 0.0


def bleu_brevity_penalty(statistics: Statistics) -> float:
    """BLEU's factor for output that is shorter than its closest references; 1 for output that is not."""
    ratio = bleu_length_ratio(statistics)
    return math.exp(min(0.0, 1 - 1 / ratio)) if ratio else 0.0


def _streams(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """References as sacrebleu takes them: a stream for each, None where a sentence has fewer."""
    most = max(map(len, references))
    return [[given[k] if k < len(given) else None for given in references] for k in range(most)]


# sacrebleu is imported when a metric is made: it takes a third of a second, and most commands need none.


def _make_bleu(options: MetricOptions, streams: Any) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(tokenize=options.tokenize, lowercase=options.case == "lower", force=True, references=streams)


def _make_chrf(options: MetricOptions, streams: Any) -> Any:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(lowercase=options.case == "lower", references=streams)


def _make_ter(options: MetricOptions, streams: Any) -> Any:
    from sacrebleu.metrics.ter import TER

    return TER(case_sensitive=options.case == "mixed", references=streams)


@dataclass(frozen=True)
class _Kind:
    label: str
    direction: int
    make: Callable[[MetricOptions, Any], Any]


_KINDS = {
    "bleu": _Kind("BLEU", 1, _make_bleu),
    "chrf": _Kind("chrF2", 1, _make_chrf),
    "ter": _Kind("TER", -1, _make_ter),
}
METRICS = tuple(_KINDS)

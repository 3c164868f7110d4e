"""Type stubs of the native kernel."""

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

@final
class TemplateOptions:
    def __init__(
        self, *, identity: bool = ..., source_bigrams: bool = ..., target_bigrams: bool = ..., shape: bool = ...
    ) -> None: ...

@final
class Grammar:
    @staticmethod
    def parse(
        text: bytes, path: str, templates: TemplateOptions, goal: str = ..., default_nonterminal: str = ...
    ) -> Grammar: ...
    def text(self) -> bytes: ...
    def __len__(self) -> int: ...

@final
class LanguageModel:
    @staticmethod
    def load(path: str, name: str) -> LanguageModel: ...
    @property
    def order(self) -> int: ...
    def score(self, line: str) -> float: ...
    def knows(self, word: str) -> bool: ...

@final
class Weights:
    @staticmethod
    def parse(text: bytes, path: str) -> Weights: ...
    def text(self) -> bytes: ...
    def set(self, name: str, value: float) -> None: ...
    def find(self, name: str) -> float | None: ...
    def items(self) -> list[tuple[str, float]]: ...
    def __len__(self) -> int: ...

@final
class DecoderOptions:
    def __init__(self, *, span_limit: int, pop_limit: int, pass_through_all: bool) -> None: ...

@final
class Translation:
    text: str
    score: float
    features: dict[str, float]

@final
class Decoder:
    def __init__(self, language_model: LanguageModel | None, weights: Weights, options: DecoderOptions) -> None: ...
    def translate(self, grammar: Grammar, line: str) -> str: ...
    def kbest(self, grammar: Grammar, line: str, k: int, unique: bool) -> list[Translation]: ...

# learn: feature ids, metrics, pairs, updates (bindings_learn.cc)

def feature_hash(name: str) -> int: ...
def feature_hashes(names: Sequence[str]) -> npt.NDArray[np.uint64]: ...
def column_sums(
    ids: npt.NDArray[np.uint64], values: npt.NDArray[np.float64], norm: str
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.uint32]]: ...
def metric_values(
    metric: str, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]], order: int = 4
) -> npt.NDArray[np.float64]: ...
def bleu_statistics(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]], order: int = 4
) -> npt.NDArray[np.int64]: ...

class PairOptions:
    def __init__(
        self,
        *,
        kind: str = "multipartite",
        share: float = 0.1,
        dtrain: bool = False,
        samples: int = 5000,
        threshold: float = 0.05,
        keep: int = 50,
        seed: int = 0,
    ) -> None: ...

def make_pairs(values: Sequence[float], options: PairOptions, sentence: int = 0) -> npt.NDArray[np.uint32]: ...

class LearnOptions:
    def __init__(
        self,
        *,
        rule: str = "perceptron",
        margin: float = 1.0,
        eta: float = 0.0001,
        schedule: str = "constant",
        l1: float = 0.0,
        batch: bool = False,
        pairs: PairOptions = ...,
    ) -> None: ...

class Learner:
    def __init__(self, weights: Sequence[float], options: LearnOptions, lists_before: int = 0) -> None: ...
    def learn(
        self,
        offsets: npt.NDArray[np.int64],
        features: npt.NDArray[np.uint32],
        values: npt.NDArray[np.float64],
        scores: npt.NDArray[np.float64],
        metric: Sequence[float],
        sentence: int = 0,
    ) -> None: ...
    @property
    def weights(self) -> npt.NDArray[np.float64]: ...
    @property
    def changed(self) -> npt.NDArray[np.uint32]: ...
    @property
    def statistics(self) -> dict[str, float]: ...

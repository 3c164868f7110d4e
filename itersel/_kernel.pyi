"""Type stubs of the native kernel, room by room (kernel/bindings/)."""

from collections.abc import Callable, Sequence
from typing import TypedDict, final

import numpy as np
import numpy.typing as npt

build_id: str

class BuildDetails(TypedDict):
    compiler: str
    flags: str
    kenlm: str
    max_order: int
    pybind11: str

def build_details() -> BuildDetails: ...

# base

def checksum(content: bytes) -> int: ...
def feature_hash(name: str) -> int: ...
def feature_hashes(names: Sequence[str]) -> npt.NDArray[np.uint64]: ...
def gzip_compress(content: bytes) -> bytes: ...
def zstd_compress(content: bytes) -> bytes: ...
def zstd_decompress(frame: bytes | memoryview) -> bytes: ...
def sync_file_system(descriptor: int) -> int: ...

# lm

@final
class LanguageModel:
    @staticmethod
    def load(path: str, name: str) -> LanguageModel: ...
    @staticmethod
    def convert(arpa: str, output: str, kind: str, name: str) -> None: ...
    @property
    def order(self) -> int: ...
    def score(self, line: str) -> float: ...
    def knows(self, word: str) -> bool: ...

# model

@final
class Weights:
    @staticmethod
    def parse(text: bytes, path: str) -> Weights: ...
    def text(self) -> bytes: ...
    def set(self, name: str, value: float) -> None: ...
    def find(self, name: str) -> float | None: ...
    def items(self) -> list[tuple[str, float]]: ...
    def __len__(self) -> int: ...

# grammar

@final
class TemplateOptions:
    def __init__(self, *, identity: bool, source_bigrams: bool, target_bigrams: bool, shape: bool) -> None: ...

@final
class Grammar:
    @staticmethod
    def parse(text: bytes, path: str, templates: TemplateOptions, goal: str, default_nonterminal: str) -> Grammar: ...
    def text(self) -> bytes: ...
    def __len__(self) -> int: ...

def build_bitext_index(
    source: bytes, target: bytes, alignment: bytes, source_name: str, target_name: str, alignment_name: str
) -> bytes: ...

@final
class BitextIndex:
    def __init__(self, path: str) -> None: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def sentences(self) -> int: ...
    @property
    def source_words(self) -> int: ...
    @property
    def target_words(self) -> int: ...
    def is_training_sentence(self, number: int, sentence: str) -> bool: ...

@final
class GrammarExtractor:
    def __init__(
        self,
        index: BitextIndex,
        max_span: int,
        max_symbols: int,
        max_nonterminals: int,
        max_samples: int,
        tight: bool,
        max_rules_per_source: int,
        phrase_features: bool,
        cache_bytes: int,
    ) -> None: ...
    def extract_text(self, sentence: str, modulus: int, remainder: int, where: str) -> bytes: ...
    def extract_gzip(self, sentence: str, modulus: int, remainder: int, where: str) -> bytes: ...
    def extract(
        self, sentence: str, modulus: int, remainder: int, where: str, goal: str, default_nonterminal: str
    ) -> Grammar: ...

# metrics

@final
class Metric:
    def __init__(self, name: str, order: int) -> None: ...
    @property
    def width(self) -> int: ...
    def statistics(
        self, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
    ) -> npt.NDArray[np.float32]: ...
    def sentence_scores(self, rows: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]: ...
    def corpus_scores(self, sums: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]: ...

# shards

@final
class ShardBuilder:
    def __init__(
        self, templates: TemplateOptions, goal: str, default_nonterminal: str, pass_through_all: bool
    ) -> None: ...
    def add(self, id: str, domain: str, source: str, references: list[str], grammar: Grammar) -> None: ...
    def finish(self) -> bytes: ...

def repack_shard(path: str, compressed: bool) -> bytes: ...

@final
class Shard:
    @staticmethod
    def open(path: str) -> Shard: ...
    def __len__(self) -> int: ...
    @property
    def checksum(self) -> int: ...
    @property
    def rule_count(self) -> int: ...
    @property
    def templates(self) -> int: ...
    def id(self, sentence: int) -> str: ...
    def domain(self, sentence: int) -> str: ...
    def source(self, sentence: int) -> str: ...
    def references(self, sentence: int) -> list[str]: ...
    def grammar(self, sentence: int) -> bytes: ...
    def feature_names(self) -> list[str]: ...
    def feature_names_of(self, features: npt.NDArray[np.uint32]) -> list[str]: ...
    def features_matching(self, patterns: Sequence[str]) -> npt.NDArray[np.bool_]: ...
    def feature_hashes(self) -> npt.NDArray[np.uint64]: ...

# decode

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

@final
class ShardDecoder:
    def __init__(
        self, shard: Shard, language_model: LanguageModel | None, *, span_limit: int, pop_limit: int
    ) -> None: ...
    def set_weights(self, weights: Weights) -> None: ...
    def set_dense_weights(self, values: npt.NDArray[np.float64]) -> None: ...
    def translate(self, sentence: int) -> str: ...
    def kbest(self, sentence: int, k: int, unique: bool) -> list[Translation]: ...
    def derivation(
        self, sentence: int, rank: int, unique: bool
    ) -> tuple[Translation, list[tuple[str, list[tuple[str, float]], list[int]]]]: ...

# lists

@final
class ListTable:
    def __init__(
        self,
        data: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.uint64],
        keys: npt.NDArray[np.uint64],
        features: int,
    ) -> None: ...
    def best(self, weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...
    def scores(self, number: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float32]]: ...

# learn

def column_sums(
    ids: npt.NDArray[np.uint64], values: npt.NDArray[np.float64], norm: str
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.uint32]]: ...

@final
class PairOptions:
    def __init__(
        self, *, kind: str, share: float, dtrain: bool, samples: int, threshold: float, keep: int, seed: int
    ) -> None: ...

def make_pairs(values: Sequence[float], options: PairOptions, key: int) -> npt.NDArray[np.uint32]: ...

@final
class LearnOptions:
    def __init__(
        self,
        *,
        rule: str,
        margin: float,
        eta: float,
        schedule: str,
        l1: float,
        l2: float,
        cost_scale: float,
        batch: bool,
        average: bool,
        pairs: PairOptions,
    ) -> None: ...

@final
class Learner:
    def __init__(
        self, weights: Sequence[float] | npt.NDArray[np.float64], options: LearnOptions, lists_before: int
    ) -> None: ...
    def read_list(self, table: ListTable, number: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
    def learn_pair(self, pair: tuple[int, int] | None) -> None: ...
    def learn_lists(self, table: ListTable, lists: npt.NDArray[np.uint32], epoch: int) -> tuple[float, float]: ...
    def learn(
        self,
        offsets: npt.NDArray[np.int64],
        features: npt.NDArray[np.uint32],
        values: npt.NDArray[np.float64],
        scores: npt.NDArray[np.float64],
        metric: Sequence[float],
        key: int,
    ) -> None: ...
    @property
    def weights(self) -> npt.NDArray[np.float64]: ...
    @property
    def average(self) -> npt.NDArray[np.float64]: ...
    @property
    def changed(self) -> npt.NDArray[np.uint32]: ...
    @property
    def statistics(self) -> dict[str, float]: ...

@final
class EpochOptions:
    def __init__(
        self,
        *,
        span_limit: int,
        pop_limit: int,
        k: int,
        unique: bool,
        metric: Metric,
        learn: LearnOptions,
        leave_out: list[str],
        rates: list[tuple[str, float]],
        background: float,
        shuffle: bool,
        seed: int,
        number: int,
        lists_before: int,
    ) -> None: ...

_EpochResult = tuple[
    npt.NDArray[np.uint64],
    npt.NDArray[np.float64],
    tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]] | None,
    bytes,
    dict[str, float],
    dict[str, float],
    tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]],
]

@final
class ShardEpoch:
    def __init__(
        self,
        shard: Shard,
        language_model: LanguageModel | None,
        options: EpochOptions,
        hashes: npt.NDArray[np.uint64],
        values: npt.NDArray[np.float64],
    ) -> None: ...
    def use(self, language_model: LanguageModel | None) -> None: ...
    def decode(self, sentence: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
    def score(self, references: Sequence[str]) -> npt.NDArray[np.float64]: ...
    def text(self, hypothesis: int) -> str: ...
    def learn_pair(self, pair: tuple[int, int] | None) -> None: ...
    def finish(self) -> _EpochResult: ...
    @property
    def statistics(self) -> dict[str, float]: ...

def run_epoch(
    shard: Shard,
    parts: Sequence[tuple[LanguageModel | None, Sequence[int] | None]],
    options: EpochOptions,
    hashes: npt.NDArray[np.uint64],
    values: npt.NDArray[np.float64],
    account_hashes: npt.NDArray[np.uint64],
    account_values: npt.NDArray[np.float64],
    progress: Callable[[dict[str, float]], object] | None,
) -> _EpochResult: ...
def epoch_order(sentences: int, options: EpochOptions) -> list[int]: ...

# tune

@final
class Objective:
    def __init__(self, terms: Sequence[tuple[str, float, int]]) -> None: ...
    @property
    def width(self) -> int: ...
    def score(self, sums: npt.NDArray[np.float64]) -> float: ...

_SurfaceArrays = tuple[
    npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64] | npt.NDArray[np.int16]
]

def use_wide_registers(wanted: bool) -> bool: ...
def list_surfaces(
    features: npt.NDArray[np.float64],
    offsets: npt.NDArray[np.int64],
    statistics: npt.NDArray[np.float32],
    origins: npt.NDArray[np.float64],
    directions: npt.NDArray[np.float64],
) -> list[_SurfaceArrays]: ...
def merge_surfaces(surfaces: Sequence[_SurfaceArrays]) -> _SurfaceArrays: ...
def best_step(
    surface: _SurfaceArrays, objective: Objective, low: float, high: float, least_width: float, reach: float
) -> tuple[float, float, float, npt.NDArray[np.float64]]: ...
def forest_envelopes(
    decoder: ShardDecoder, sentence: int, origins: npt.NDArray[np.float64], directions: npt.NDArray[np.float64]
) -> tuple[list[str], list[tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32]]]]: ...
def kbest_arrays(
    decoder: ShardDecoder, sentence: int, k: int, unique: bool
) -> tuple[list[str], npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.float64]]: ...

@final
class GradientOptions:
    def __init__(
        self, *, cost_scale: float, score_scale: float, prefixes: Sequence[str], extraction_counts: bool
    ) -> None: ...

@final
class GradientSums:
    def __init__(self, width: int, cost_scale: float, score_scale: float) -> None: ...
    def add(
        self,
        offsets: npt.NDArray[np.int64],
        features: npt.NDArray[np.uint32],
        values: npt.NDArray[np.float64],
        scores: npt.NDArray[np.float64],
        metric: Sequence[float],
    ) -> None: ...
    @property
    def loss(self) -> float: ...
    @property
    def gradient(self) -> npt.NDArray[np.float64]: ...
    @property
    def lists(self) -> npt.NDArray[np.float64]: ...
    @property
    def largest(self) -> npt.NDArray[np.float64]: ...
    @property
    def largest_list(self) -> npt.NDArray[np.uint32]: ...

def shard_gradient(
    shard: Shard,
    parts: Sequence[tuple[LanguageModel | None, Sequence[int] | None]],
    epoch: EpochOptions,
    options: GradientOptions,
    hashes: npt.NDArray[np.uint64],
    values: npt.NDArray[np.float64],
    progress: Callable[[dict[str, float]], object] | None,
) -> tuple[
    npt.NDArray[np.uint64],
    bytes,
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint32],
    dict[str, float],
    dict[str, float],
]: ...

@final
class MiraLists:
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        starts: npt.NDArray[np.int64],
        features: npt.NDArray[np.uint32],
        values: npt.NDArray[np.float64],
        statistics: npt.NDArray[np.float32],
    ) -> None: ...

@final
class Mira:
    def __init__(self, weights: npt.NDArray[np.float64], order: int, c: float, decay: float) -> None: ...
    def run(self, lists: MiraLists, order: npt.NDArray[np.uint32]) -> dict[str, float]: ...
    @property
    def weights(self) -> npt.NDArray[np.float64]: ...
    @property
    def average(self) -> npt.NDArray[np.float64]: ...

"""Types of the native kernel, room by room."""

# extract

def build_bitext_index(
    source: bytes, target: bytes, alignment: bytes, source_name: str, target_name: str, alignment_name: str
) -> bytes: ...

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
        cache_bytes: int,
    ) -> None: ...
    def extract(self, sentence: str, modulus: int = 0, remainder: int = 0, where: str = "") -> bytes: ...

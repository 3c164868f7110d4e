"""N-gram language models for decoding: any ARPA file or KenLM binary (probing, trie) of order 2 to 6.

A KenLM binary is memory-mapped and shared between processes; an ARPA file is loaded into memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile

from itersel import _kernel
from itersel.files import gzip_errors, open_bytes


class LanguageModel:
    """A model to decode with. Probabilities are log10."""

    def __init__(self, path: str | os.PathLike[str]):
        with open_bytes(path) as stream:
            if not stream.compressed:
                self.native = _kernel.LanguageModel.load(os.fspath(path), os.fspath(path))
                return
            with tempfile.NamedTemporaryFile(prefix="itersel-", suffix=".arpa") as plain:
                with gzip_errors(path):
                    shutil.copyfileobj(stream, plain)
                    plain.flush()
                self.native = _kernel.LanguageModel.load(plain.name, os.fspath(path))

    @property
    def order(self) -> int:
        return self.native.order

    def score(self, sentence: str) -> float:
        """log10 p(sentence </s> | <s>) of blank-separated words."""
        return self.native.score(sentence)

    def __contains__(self, word: str) -> bool:
        return self.native.knows(word)

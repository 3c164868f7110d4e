"""N-gram language models for decoding: any ARPA file or KenLM binary (probing, trie) of order 2 to 6.

A KenLM binary is memory-mapped and shared between processes; an ARPA file is loaded into memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence

from itersel import _kernel
from itersel.base.errors import ConfigError
from itersel.base.files import gzip_errors, open_bytes


class LanguageModel:
    """A model to decode with. Probabilities are log10."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
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

    def __repr__(self) -> str:
        return f"<LanguageModel {self.path}: order {self.order}>"


class LanguageModels:
    """A run's model, and those that each lack one fold of the training sentences; opened when first asked for."""

    def __init__(
        self,
        main: str | os.PathLike[str] | None = None,
        folds: Sequence[str | os.PathLike[str]] = (),
        *,
        load: Callable[[str | os.PathLike[str]], LanguageModel] | None = None,
    ):
        """`load` opens a file where not LanguageModel itself does, such as from a cache."""
        self._load = load
        self._paths: dict[int | None, str | os.PathLike[str] | None] = {None: main, **dict(enumerate(folds))}
        self._opened: dict[int | None, LanguageModel | None] = {}

    def open(self, fold: int | None = None) -> LanguageModel | None:
        """The model for a fold's sentences; for None, the run's own, if it has one."""
        if fold not in self._paths:
            raise ConfigError(f"there is no language model for fold {fold}", hint="Give one for each fold.")
        if fold not in self._opened:
            path = self._paths[fold]
            load = self._load or LanguageModel
            self._opened[fold] = None if path is None else load(path)
        return self._opened[fold]

    def open_all(self) -> None:
        """Open every model now, before processes that are to share them are made."""
        for fold in self._paths:
            self.open(fold)

"""N-gram language models for decoding: any ARPA file or KenLM binary (probing, trie) of order 2 to 6.

A KenLM binary is mapped, and processes share its pages. An ARPA file is converted once, into a cache
(itersel.lm.binary), and its binary form is mapped; a small one is read into memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from itersel import _kernel
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import read_lines
from itersel.lm.binary import cached_binary, forget_cached, is_binary, plain_arpa
from itersel.lm.sentence_marks import lacks_sentence_marks

KENLM_MISSES_MARKS = "ARPA file is missing <"
CACHED_FROM_BYTES = 1 << 18
"""Reading a smaller ARPA file costs less than looking for its binary form."""


class LanguageModel:
    """A model to decode with. Probabilities are log10."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self.native = _map(self.path) or _read(self.path)

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


def _map(path: str) -> _kernel.LanguageModel | None:
    """A binary file, or the binary form of a large ARPA file, if there is a place for it."""
    if is_binary(path):
        return _kernel.LanguageModel.load(path, path)
    if not os.path.isfile(path) or os.path.getsize(path) < CACHED_FROM_BYTES:
        return None
    binary = cached_binary(path)
    try:
        return None if binary is None else _kernel.LanguageModel.load(binary, path)
    except InputError:
        forget_cached(path)
        return None


def _read(path: str) -> _kernel.LanguageModel:
    with plain_arpa(path) as plain:
        try:
            return _kernel.LanguageModel.load(plain, path)
        except InputError as error:
            if KENLM_MISSES_MARKS not in error.message:
                raise
            missing = lacks_sentence_marks(read_lines(path))
    raise InputError(
        f"the model has no {' and no '.join(missing)}: it was estimated without sentence ends",
        where=path,
        hint="Estimate it with them (itersel lm, or SRILM without -no-sos and -no-eos), or add them:"
        f" itersel convert {path} --output lm.arpa.gz",
    )


class LanguageModels:
    """A run's model, and models that each lack one fold of the training sentences; opened on first use."""

    def __init__(
        self,
        main: str | os.PathLike[str] | None = None,
        folds: Sequence[str | os.PathLike[str]] = (),
        *,
        load: Callable[[str | os.PathLike[str]], LanguageModel] | None = None,
    ):
        """`load` opens a file instead of LanguageModel, for example from a cache."""
        self._load = load
        self._paths: dict[int | None, str | os.PathLike[str] | None] = {None: main, **dict(enumerate(folds))}
        self._opened: dict[int | None, LanguageModel | None] = {}

    def open(self, fold: int | None = None) -> LanguageModel | None:
        """The model for a fold's sentences; for None, the run's own, if it has one."""
        if fold not in self._paths:
            raise ConfigError(f"there is no language model for fold {fold}", hint="Give one model per fold.")
        if fold not in self._opened:
            path = self._paths[fold]
            load = self._load or LanguageModel
            self._opened[fold] = None if path is None else load(path)
        return self._opened[fold]

    def open_all(self) -> None:
        """Open every model now, before the processes start that share them."""
        for fold in self._paths:
            self.open(fold)

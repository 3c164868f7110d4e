"""Answers that a response has given, on disk: nothing is asked twice, by a resumed run, a repeated one, or another.

An answer is found by the response's checksum, the sentence's id and the text; the answers of different responses lie
side by side in one file. Several processes may use the file at the same time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from itersel.base.errors import InputError
from itersel.response.protocol import Response

FILE = ".answers.sqlite"
"""The file in a run's directory, hidden: its bytes depend on the order in which answers came."""
PATIENCE = 60.0
"""Seconds to wait for another process's writing."""


class AnswerCache:
    """The file of answers. A connection belongs to one process: a fork opens its own."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._owner = 0
        self._connection: sqlite3.Connection | None = None

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bool]:
        """The known answers among these keys."""
        found: dict[bytes, bool] = {}
        with self._explained():
            for key in keys:
                row = self._open().execute("SELECT success FROM answers WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = bool(row[0])
        return found

    def put(self, answers: dict[bytes, bool]) -> None:
        """Keep answers; they are in the file when this returns."""
        with self._explained(), self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", list(answers.items()))

    def __len__(self) -> int:
        with self._explained():
            return int(self._open().execute("SELECT count(*) FROM answers").fetchone()[0])

    def _open(self) -> sqlite3.Connection:
        if self._connection is None or self._owner != os.getpid():
            self._connection, self._owner = sqlite3.connect(self.path, timeout=PATIENCE), os.getpid()
            self._connection.execute("PRAGMA synchronous = OFF")  # a killed process loses nothing; a power cut may
            self._connection.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, success INTEGER)")
        return self._connection

    def _explained(self) -> _Explained:
        return _Explained(self.path)


class _Explained:
    """Turns errors of the database into those a user can act on."""

    def __init__(self, path: str):
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise InputError(
                f"the cache of answers cannot be used: {error}",
                where=self.path,
                hint="Remove the file, or name another with response.cache; answers are then asked for again.",
            ) from None


class CachedResponse:
    """A response that is asked about each text once, with the answers kept in a file or, without one, in memory."""

    def __init__(self, response: Response, path: str | os.PathLike[str] | None = None):
        self.response, self.checksum = response, response.checksum
        self.cache = AnswerCache(path) if path is not None and Path(path).absolute().parent.is_dir() else None
        self.memory: dict[bytes, bool] = {}

    def __call__(self, sentence_id: str, hypotheses: Sequence[str]) -> list[bool]:
        keys = [self.key(sentence_id, text) for text in hypotheses]
        unknown = [key for key in keys if key not in self.memory]
        if unknown and self.cache is not None:
            self.memory |= self.cache.get(unknown)
        asked = {key: text for key, text in zip(keys, hypotheses, strict=True) if key not in self.memory}
        if asked:
            answers = self._answers(sentence_id, list(asked.values()))
            new = dict(zip(asked, answers, strict=True))
            if self.cache is not None:
                self.cache.put(new)
            self.memory |= new
        return [self.memory[key] for key in keys]

    def _answers(self, sentence_id: str, texts: list[str]) -> list[bool]:
        """The response's answers; InputError if an object gives none that can be understood."""
        given: object = self.response(sentence_id, texts)
        answers = list(given) if isinstance(given, Iterable) else []
        if len(answers) != len(texts) or not all(isinstance(one, bool | np.bool_) for one in answers):
            raise InputError(
                f"the response answered {str(given)[:200]} on sentence {sentence_id}, hypotheses {texts}",
                hint="A Python object must return a list with True or False for each hypothesis.",
            )
        return [bool(one) for one in answers]

    def key(self, sentence_id: str, text: str) -> bytes:
        """A hash that stands for the question."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.checksum, sentence_id, text):
            content = part.encode()
            digest.update(len(content).to_bytes(8, "little") + content)
        return digest.digest()

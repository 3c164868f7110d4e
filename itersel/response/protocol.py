"""What response-based learning asks of a task (ACL 2014): was this translation good enough to do the job with?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Response(Protocol):
    """Task feedback: a Python object, or a program behind one.

    It is a function of the sentence and the text alone, so answers may be cached and shared between runs.
    """

    @property
    def checksum(self) -> str:
        """Stands for everything the answers depend on besides the question: code, models, data."""

    def __call__(self, sentence_id: str, hypotheses: Sequence[str]) -> Sequence[bool]:
        """For each hypothesis, whether the task succeeded with it."""

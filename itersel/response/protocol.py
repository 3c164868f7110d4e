"""What response-based learning asks of a task (ACL 2014): was this translation good enough to do the job with?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Response(Protocol):
    """Task feedback: a Python object, or a program behind one.

    It is a function of the sentence and the text alone, so answers may be cached and shared between runs.
    """

    @property
    def checksum(self) -> str:
        """Stands for everything the answers depend on besides the question: code, models, data."""

    def __call__(self, sentence_id: str, hypotheses: Sequence[str]) -> Sequence[bool]:
        """For each hypothesis, whether the task succeeded with it."""


class Outcome(NamedTuple):
    """What the task has on record about a translation. Precision counts successes among the attempts."""

    success: bool
    attempted: bool
    """Whether the task could begin at all: a question that has no parse is never answered."""
    detail: str = ""
    """The answer for people, or why there is none."""


@runtime_checkable
class RecordedResponse(Protocol):
    """A response that also says how far it came."""

    def outcomes(self, sentence_id: str, hypotheses: Sequence[str]) -> Sequence[Outcome]:
        """The record of each hypothesis."""


def outcomes(response: Response, sentence_id: str, hypotheses: Sequence[str]) -> list[Outcome]:
    """The response's own record; where it keeps none, every translation counts as an attempt."""
    if isinstance(response, RecordedResponse):
        return list(response.outcomes(sentence_id, hypotheses))
    return [Outcome(bool(success), True) for success in response(sentence_id, hypotheses)]

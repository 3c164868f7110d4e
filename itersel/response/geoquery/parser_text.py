"""The parallel text a semantic parser is trained on: questions on one side, linearised FunQL on the other.

Questions and noun phrases come in. Two files go out, of which each line i belongs to line i of the other, ready for
word alignment, rule extraction and a language model like any other pair of languages (Andreas et al. 2013).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from itersel.base.errors import ConfigError
from itersel.base.outputs import atomic_group
from itersel.response.geoquery.data import Question
from itersel.response.geoquery.funql import to_tokens
from itersel.response.geoquery.phrases import Phrase


class Line(NamedTuple):
    """A question or phrase, and its linearised FunQL; tokens are separated by single blanks."""

    question: str
    form: str


def parser_lines(
    questions: Iterable[Question], phrases: Iterable[Phrase] = (), *, repetitions: int = 1
) -> Iterator[Line]:
    """Lines of the questions, then those of the phrases, each phrase `repetitions` times (50 in Andreas et al.)."""
    if repetitions < 0:
        raise ConfigError(
            f"repetitions is {repetitions}", hint="Give how often each phrase is listed, such as 1 or 50."
        )
    for question in questions:
        yield Line(question.text, " ".join(to_tokens(question.form)))
    for phrase in phrases:
        line = Line(phrase.text, " ".join(phrase.tokens))
        for _ in range(repetitions):
            yield line


def write_parser_text(
    lines: Iterable[Line], questions_path: str | os.PathLike[str], forms_path: str | os.PathLike[str]
) -> int:
    """Write both sides, and return the number of lines. The files appear together, when both are complete."""
    count = 0
    with atomic_group([questions_path, forms_path]) as (questions, forms):
        for line in lines:
            questions.write(f"{line.question}\n".encode())
            forms.write(f"{line.form}\n".encode())
            count += 1
    return count

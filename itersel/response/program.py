"""A response that is an external program: questions on its standard input, answers on its standard output.

Both are lines of JSON, one answer line for each question line, in order:

    {"sentence": "17", "hypothesis": "on 3 may 2004"}
    {"success": true, "attempted": true, "detail": "…"}        or only   true

A program that ends, takes too long or answers anything else stops the run with its own words; that is never a "no".
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from typing import IO, Any

from itersel.base.errors import ConfigError, InputError
from itersel.base.processes import end_with
from itersel.response.protocol import Outcome

LAST_WORDS = 1000
"""Characters of the program's standard error that a message quotes."""
LONGEST_ANSWER = 1 << 20


class ProgramResponse:
    """Some copies of a program, started when first asked. Hypotheses of one call are asked about side by side."""

    def __init__(
        self, command: Sequence[str], checksum: str, *, processes: int = 1, timeout: float = 60.0, restarts: int = 1
    ):
        if not command:
            raise ConfigError("the program is an empty command", hint="Give the command and its arguments.")
        self.command, self.checksum = list(command), checksum
        self.processes, self.timeout, self.restarts = processes, timeout, restarts
        self.copies: list[_Copy] = []
        self.owner = os.getpid()
        atexit.register(self.close)

    def __call__(self, sentence_id: str, hypotheses: Sequence[str]) -> list[bool]:
        return [outcome.success for outcome in self.outcomes(sentence_id, hypotheses)]

    def outcomes(self, sentence_id: str, hypotheses: Sequence[str]) -> list[Outcome]:
        """The program's record of each hypothesis; InputError if there is none."""
        if self.owner != os.getpid():  # forked: these are another process's copies
            self.copies, self.owner = [], os.getpid()
        made: list[Outcome] = []
        try:
            for begin in range(0, len(hypotheses), self.processes):
                made += self._block(sentence_id, hypotheses[begin : begin + self.processes])
        except BaseException:  # an interrupt, too: the answers to come would be taken for those of other questions
            self.close()
            raise
        return made

    def close(self) -> None:
        """End all copies. The next question starts new ones."""
        if self.owner == os.getpid():
            for copy in self.copies:
                copy.end()
        self.copies = []

    def _block(self, sentence_id: str, hypotheses: Sequence[str]) -> list[Outcome]:
        while len(self.copies) < len(hypotheses):
            self.copies.append(_Copy(self.command))
        for copy, text in zip(self.copies, hypotheses, strict=False):
            copy.send(sentence_id, text)
        return [self._outcome(number, sentence_id, text) for number, text in enumerate(hypotheses)]

    def _outcome(self, number: int, sentence_id: str, text: str) -> Outcome:
        for attempt in range(self.restarts + 1):
            copy = self.copies[number]
            try:
                return _parsed(copy.receive(self.timeout))
            except _NoAnswerError as trouble:
                words = copy.end()
                if trouble.final or attempt == self.restarts:
                    raise self._error(f"{trouble}{_times(attempt + 1)}", sentence_id, text, words) from None
                self.copies[number] = _Copy(self.command)
                self.copies[number].send(sentence_id, text)
        raise AssertionError("unreachable")

    def _error(self, trouble: str, sentence_id: str, text: str, words: str) -> InputError:
        said = f"; it said: {words}" if words else ""
        return InputError(
            f"the response program {trouble} on sentence {sentence_id}, hypothesis {text!r}{said}",
            where=" ".join(self.command),
            hint="Mend the program, then run the same command again: answers so far are kept. Standard output is for"
            " answers only, one line each.",
        )


class _NoAnswerError(Exception):
    """What the program did instead of answering. `final`: it would do it again."""

    def __init__(self, trouble: str, *, final: bool = False):
        super().__init__(trouble)
        self.final = final


class _Copy:
    """One running program."""

    def __init__(self, command: Sequence[str]):
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        self.buffer = self.unasked = b""
        try:
            self.process = subprocess.Popen(  # noqa: S603 (an argument list of the configuration)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                start_new_session=True,
                preexec_fn=functools.partial(end_with, os.getpid()),
            )
        except OSError as error:
            self.errors.close()
            words = command[0].split()
            hint = "Is it installed on every worker? Scripts travel if response.files names them."
            if len(command) == 1 and len(words) > 1:
                hint = f"Give command and arguments as a list: [{', '.join(words)}]."
            raise InputError(
                f"the response program cannot be started: {error.strerror}", where=command[0], hint=hint
            ) from None

    def send(self, sentence_id: str, text: str) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        if select.select([self.process.stdout], [], [], 0)[0]:  # more than it was asked for, or its end
            self.unasked = os.read(self.process.stdout.fileno(), 1 << 16)
        with contextlib.suppress(BrokenPipeError):  # `receive` says what happened
            self.process.stdin.write(json.dumps({"sentence": sentence_id, "hypothesis": text}).encode() + b"\n")
            self.process.stdin.flush()

    def receive(self, timeout: float) -> bytes:
        """The next line of the output."""
        assert self.process.stdout is not None
        if self.unasked:
            raise _NoAnswerError(f"wrote {_shown(self.unasked)} before it was asked", final=True)
        stream, end = self.process.stdout.fileno(), time.monotonic() + timeout
        while b"\n" not in self.buffer:
            if len(self.buffer) > LONGEST_ANSWER:
                raise _NoAnswerError("answered with an endless line", final=True)
            if not select.select([stream], [], [], max(0.0, end - time.monotonic()))[0]:
                raise _NoAnswerError(f"did not answer within {timeout:g} seconds")
            read = os.read(stream, 1 << 16)
            if not read:
                raise _NoAnswerError(self._ending(end - time.monotonic()))
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\n")
        if self.buffer:
            raise _NoAnswerError(
                f"answered more than one line, {line[:200].decode(errors='replace')!r} first", final=True
            )
        return line

    def _ending(self, seconds: float) -> str:
        """What became of a program without further output."""
        try:
            return f"ended with {_status(self.process.wait(max(0.0, seconds)))}"
        except subprocess.TimeoutExpired:
            return "closed its output"

    def end(self) -> str:
        """Kill it; what it last wrote to standard error."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self.errors.closed:
            return ""
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - LAST_WORDS))
        words = self.errors.read().decode(errors="replace").strip()
        self.errors.close()
        return words


def _parsed(line: bytes) -> Outcome:
    try:
        answer: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise _NoAnswerError(f"answered {_shown(line)}, which is not JSON", final=True) from None
    if isinstance(answer, bool):
        return Outcome(answer, True)
    if isinstance(answer, dict) and isinstance(answer.get("success"), bool):
        attempted = answer.get("attempted", True)
        if isinstance(attempted, bool) and (attempted or not answer["success"]):
            return Outcome(answer["success"], attempted, str(answer.get("detail", "")))
    wanted = "neither true, false nor an object whose `success` is one of them"
    raise _NoAnswerError(f"answered {_shown(line)}, {wanted}", final=True)


def _shown(line: bytes) -> str:
    return repr(line[:200].decode(errors="replace"))


def _status(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def _times(attempts: int) -> str:
    return "" if attempts == 1 else f" ({attempts} times)"

"""What the failed tasks of a job wrote to their logs, as the error that the user sees."""

from __future__ import annotations

from collections.abc import Sequence

from itersel.base.errors import ResourceError, UserError
from itersel.mapreduce.failure import FINISHED, Failure

LAST_LINES = 20


def is_telling(text: str) -> bool:
    """Whether a task's log ends with an error, and does not just break off."""
    return "Traceback" in text


def describe(logs: Sequence[str], hint: str, name: str, failures: Sequence[str] = ()) -> UserError:
    """The error of the job of that name: `logs` are those of its tasks, `failures` what the engine said of them.

    A task that ends with an error of ours has said all. Of any other, the last lines are shown; one that was killed
    has said only which work item it had.
    """
    logs = [text for text in (one.strip() for one in logs) if text and not text.endswith(FINISHED)]
    for text in logs:
        failure = Failure.find(text)
        if failure is not None:
            error = failure.error()
            hints = [one for one in (error.hint, hint) if one]
            return type(error)(error.message, where=error.where, hint="\n  ".join(hints) or None)
    told = [text for text in logs if is_telling(text)][:1] or logs
    lines = [line for text in told for line in text.splitlines()[-LAST_LINES:]]
    return ResourceError("\n  ".join([f"a task of the job {name} failed:", *lines, *failures[-1:]]), hint=hint)

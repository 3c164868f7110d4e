"""Processes that end together: what a command starts does not outlive it, even if the command is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>


def end_with(parent: int) -> None:
    """Have the kernel kill this process when the thread of `parent` that forked it ends, in whatever way.

    Call it in the new process. Outside Linux it does nothing.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before that call
        os._exit(1)

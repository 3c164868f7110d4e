"""A table of numbers in memory that forked processes share: each writes its own line, and the parent reads all."""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray


def shared_table(lines: int, columns: int = 1) -> NDArray[np.float64]:
    """Zeros. Made before the processes are forked; no lock, so no two of them may write the same line."""
    memory = mmap.mmap(-1, max(lines, 1) * columns * 8)
    return np.frombuffer(memory, dtype=np.float64).reshape(-1, columns)

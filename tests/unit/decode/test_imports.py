"""Decoding does without numpy, which would be a quarter of the process's memory."""

from __future__ import annotations

import subprocess
import sys


def test_decoding_imports_no_numpy() -> None:
    script = "import sys, itersel.decode.decoder, itersel.decode.shard_decoder; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)

"""What a tool does when the reader of its output has left, as in `tiree-opt --help | head`."""

from __future__ import annotations

import os
import sys


def reader_left() -> int:
    """Writes nothing more, not even at exit, and complains about nothing. Returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1

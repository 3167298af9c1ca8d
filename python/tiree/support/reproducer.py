"""Saving the input of a compilation that failed by a fault of the compiler. Assumes nothing of the rest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from tiree.support.sources import Data


def save_reproducer(source: Data, culprit: str, flags: Sequence[str], compile_from: str) -> str | None:
    """Writes `tiree-crash-<digest>.mlir` into the current folder; its path, or None if that cannot be written.

    The first lines are comments that say what failed and with which flags; bytecode (`.mlirbc`) has no comments.
    """
    hashed = hashlib.sha256(source)
    hashed.update(culprit.encode())
    digest = hashed.hexdigest()[:12]
    is_bytecode = source[:4] == b"ML\xefR"
    path = f"tiree-crash-{digest}.mlir{'bc' if is_bytecode else ''}"
    head = f"// failed in: {culprit}\n// flags: {' '.join(flags) or '(none)'}\n// from phase: {compile_from}\n"
    try:
        with open(path, "wb") as file:
            file.write(b"" if is_bytecode else head.encode())
            file.write(source)
    except OSError:
        return None
    return os.path.relpath(path)

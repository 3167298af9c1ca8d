"""Where the tools read a module from: a file, standard input for `-`, or a pipe."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import BinaryIO


@contextlib.contextmanager
def module_file(path: str) -> Generator[str]:
    """A file that can be mapped: `path`, or a temporary one with what `-` or a pipe gives, gone at the end."""
    source: BinaryIO
    if path == "-":
        source = sys.stdin.buffer
    elif os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        source = open(path, "rb")  # noqa: SIM115
    else:
        yield path
        return
    import shutil
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".vmfb") as file:
        with source:
            shutil.copyfileobj(source, file)
        file.flush()
        yield file.name

"""Runs Tiree's commands as a user does: the console scripts beside the interpreter, in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str


def run(folder: Path, name: str, *arguments: str | Path, stdin: bytes = b"", **environment: str) -> Done:
    """Runs `name` (such as `tiree-compile`) in `folder`; `environment` is added to this process's."""
    script = Path(sys.executable).with_name(name)
    done = subprocess.run(
        [str(script), *map(str, arguments)],
        cwd=folder,
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def ok(done: Done) -> str:
    """The output of a command that must succeed without a word of complaint."""
    assert done.code == 0, f"exit code {done.code}\n{done.err[:3000]}"
    return done.out

"""Runs the runtime's tools: Tiree's in this process, IREE's as the programs that its wheel installs."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = Path(sysconfig.get_path("scripts"))
needs_iree = pytest.mark.skipif(
    not (SCRIPTS / "iree-run-module").exists(), reason="iree-base-runtime is a development dependency"
)


@dataclass
class Done:
    """What a run printed and how it ended."""

    code: int
    out: str
    err: str
    raw: bytes = b""


class _Stream(io.TextIOWrapper):
    """Text that also takes bytes, as `sys.stdout` does."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    def content(self) -> bytes:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue()


@contextlib.contextmanager
def _captured() -> Iterator[tuple[_Stream, _Stream]]:
    out, err = _Stream(), _Stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err


def ours(tool: str, *arguments: object) -> Done:
    """`tiree-<tool>` in this process."""
    main = import_module(f"tiree.tools.{tool.replace('-', '_')}").main
    with _captured() as (out, err):
        code = main([str(a) for a in arguments])
    return Done(code, out.content().decode(errors="replace"), err.content().decode(), out.content())


def theirs(tool: str, *arguments: object) -> Done:
    """`iree-<tool>`."""
    command = [SCRIPTS / f"iree-{tool}", *(str(a) for a in arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    return Done(
        done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), done.stdout
    )


def same(tool: str, *arguments: object) -> str:
    """Both tools, which must succeed and print the same; returns what they print."""
    found, wanted = ours(tool, *arguments), theirs(tool, *arguments)
    assert wanted.code == 0, wanted.err
    assert found.code == 0, found.err
    assert found.raw == wanted.raw
    return found.out


def refused(tool: str, *arguments: object, kind: str = "") -> str:
    """Tiree's tool must end with code 1 and say why on stderr, without a traceback; returns what it says."""
    done = ours(tool, *arguments)
    assert done.code == 1, done.out
    assert done.err.strip(), "no message"
    assert "Traceback" not in done.err
    assert kind in done.err
    return done.err

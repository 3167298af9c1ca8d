"""`InputFormat`: programs that are not MLIR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tiree.plugins.guard import blame
from tiree.support.extensions import Origin


@dataclass(frozen=True)
class InputFormat:
    """A kind of file. It is taken for names that end in one of `suffixes`, and with `--iree-input-type=<name>`.

    `read(data, filename)` makes the program: MLIR text in any dialect that is known, or a module.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, str], str | ModuleOp]


class GuardedFormat:
    """A format whose faults are reported with the plugin and the file."""

    def __init__(self, inner: InputFormat, origin: Origin) -> None:
        self.name, self.suffixes = inner.name, tuple(inner.suffixes)
        self._inner, self._origin = inner, origin

    def read(self, data: bytes, filename: str) -> str | ModuleOp:
        with blame(f"input format {self.name} of {self._origin}", self._origin, filename):
            result: Any = self._inner.read(data, filename)
            if not isinstance(result, (str, ModuleOp)):
                raise TypeError(f"read() returns {type(result).__name__}, not MLIR text or a module")
            return result

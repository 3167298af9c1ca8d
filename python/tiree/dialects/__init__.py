"""The IR: dialects, their context, and modules as text.

Everything is imported on first use, so that `import tiree.dialects.dense` costs nothing else.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tiree.support.extensions import NONE

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from tiree.support.extensions import Extensions
    from tiree.support.sources import Data


def get_context(*, allow_unregistered: bool = False, extensions: Extensions = NONE) -> Context:
    """A context that knows every dialect of Tiree, the ones of xDSL that programs use, and those of plugins."""
    from tiree.dialects.registry import get_context as make

    return make(allow_unregistered=allow_unregistered, extensions=extensions)


def read_module(source: str | Data | os.PathLike[str], ctx: Context | None = None, filename: str = "") -> ModuleOp:
    """The module that `source` holds: MLIR text (`str` with a newline, bytes, a mapped file) or bytecode, or a path.

    Raises `CompileError` with `file:line:column` for text that is not a module, with the offset of the byte for
    bytecode, and `OSError` for a missing file.
    """
    from tiree.dialects.syntax.files import read_module as read

    return read(source, ctx, filename)


def print_module(
    module: Operation, generic: bool = True, *, debuginfo: bool = False, elide_larger_than: int | None = None
) -> str:
    """`module` as text; `generic` text is what `iree-opt` and every other MLIR tool reads."""
    from tiree.dialects.syntax.printer import print_module as write

    return write(module, generic, debuginfo=debuginfo, elide_larger_than=elide_larger_than)

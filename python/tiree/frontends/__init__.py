"""What users bring, as MLIR text or bytecode: these, files, JAX functions and lowered or exported JAX programs.

Frameworks are imported only when one of their objects is given.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tiree.support.errors import CompileError, Diagnostic
from tiree.support.sources import Data, open_source


def load_program(program: Any, example_arguments: Sequence[Any] = ()) -> tuple[Data, str]:
    """The MLIR text or bytecode of `program` and the name to use for it in messages.

    `program` is text or bytecode (`bytes`, or text as a `str` with a line break or a brace that names no file), a path,
    a `jax.stages.Lowered`, a `jax.export.Exported`, or a function that `jax.jit` can lower for `example_arguments`
    (arrays or `jax.ShapeDtypeStruct`s). Raises `CompileError` for a missing file, `TypeError` for anything else.
    """
    if isinstance(program, bytes):
        return program, "<input>"
    if isinstance(program, str) and _is_text(program):
        return program.encode(), "<input>"
    if isinstance(program, (str, os.PathLike)):
        return _read_file(os.fspath(program))
    module = type(program).__module__
    if callable(program) or module.partition(".")[0] == "jax":
        from tiree.frontends.jax import load_jax_program

        return load_jax_program(program, example_arguments)
    raise TypeError(
        f"cannot compile a {type(program).__name__}; give MLIR text or bytecode, a path, a function for JAX with "
        "example arguments, or what jax.jit(f).lower(...) or jax.export.export(...) returns"
    )


def _is_text(program: str) -> bool:
    """A path has no line break; with a brace, or without a name, it is one if there is such a file."""
    return "\n" in program or (("{" in program or not program.strip()) and not os.path.exists(program))


def _read_file(path: str) -> tuple[Data, str]:
    try:
        return open_source(path), path
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise CompileError(Diagnostic(reason or str(error), path[:200])) from None

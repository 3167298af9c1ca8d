"""JAX programs as MLIR bytecode, with the source locations that JAX records.

Bytecode holds constants as they are in memory; as text they would take several times as much. It goes through a file
without a name, which is mapped when it is large.

Needs JAX to be installed only for functions; lowered and exported programs bring it themselves.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

from tiree.support.errors import CompileError, Diagnostic
from tiree.support.sources import Data, contents_of


def load_jax_program(program: Any, example_arguments: Sequence[Any]) -> tuple[Data, str]:
    """Bytecode and name of a function, `Lowered` or `Exported`.

    A function is lowered for `example_arguments`. Raises `CompileError` when JAX is not installed, and lets JAX's own
    errors through.
    """
    if hasattr(program, "mlir_module_serialized"):
        return program.mlir_module_serialized, f"<jax {getattr(program, 'fun_name', 'export')}>"
    name = getattr(program, "__name__", "function")
    if not hasattr(program, "compiler_ir"):
        program = _lower(program, example_arguments)
    with tempfile.TemporaryFile() as file:
        program.compiler_ir("stablehlo").operation.write_bytecode(file)
        file.flush()
        return contents_of(file), f"<jax {name}>"


def _lower(function: Any, example_arguments: Sequence[Any]) -> Any:
    try:
        import jax
    except ImportError:
        hint = "pip install jax, or give MLIR text"
        raise CompileError(Diagnostic("compiling a function needs JAX, which is not installed", hint=hint)) from None
    # JAX drops arguments that the function does not use, unless it is told to keep them: callers pass what they wrote.
    keeping: Any = jax.jit(function, keep_unused=True)  # pyright: ignore[reportUnknownMemberType]: JAX leaves it open
    if not hasattr(function, "lower"):
        return keeping.lower(*example_arguments)
    lowered = function.lower(*example_arguments)
    given = len(jax.tree.leaves(lowered.args_info))
    kept = _argument_count(lowered)
    if kept == given:
        return lowered
    try:
        return keeping.lower(*example_arguments)
    except (TypeError, ValueError):  # static arguments cannot go through a second jit
        hint = "give jax.jit the argument keep_unused=True"
        message = f"JAX drops {given - kept} of the {given} arguments, which the function does not use"
        raise CompileError(Diagnostic(message, hint=hint)) from None


def _argument_count(lowered: Any) -> int:
    """How many arguments the lowered program takes."""
    operations = lowered.compiler_ir("stablehlo").body.operations
    (main,) = [op for op in operations if "sym_name" in op.attributes and op.attributes["sym_name"].value == "main"]
    return len(main.regions[0].blocks[0].arguments)

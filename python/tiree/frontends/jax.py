"""JAX programs as StableHLO text, with the source locations that JAX records.

Needs JAX to be installed only for functions; lowered and exported programs bring it themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiree.support.errors import CompileError, Diagnostic


def load_jax_program(program: Any, example_arguments: Sequence[Any]) -> tuple[bytes, str]:
    """Text and name of a function, `Lowered` or `Exported`.

    A function is lowered for `example_arguments`. Raises `CompileError` when JAX is not installed, and lets JAX's own
    errors through.
    """
    if hasattr(program, "mlir_module"):
        text = program.mlir_module()
        return (text if isinstance(text, bytes) else text.encode()), f"<jax {getattr(program, 'fun_name', 'export')}>"
    name = getattr(program, "__name__", "function")
    if not hasattr(program, "compiler_ir"):
        program = _lower(program, example_arguments)
    module = program.compiler_ir("stablehlo")
    text = module.operation.get_asm(enable_debug_info=True, large_elements_limit=None)
    return text.encode(), f"<jax {name}>"


def _lower(function: Any, example_arguments: Sequence[Any]) -> Any:
    try:
        import jax
    except ImportError:
        hint = "pip install jax, or give MLIR text"
        raise CompileError(Diagnostic("compiling a function needs JAX, which is not installed", hint=hint)) from None
    if not hasattr(function, "lower"):
        function = jax.jit(function)  # pyright: ignore[reportUnknownMemberType]: JAX leaves the function's type open
    return function.lower(*example_arguments)

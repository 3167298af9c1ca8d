"""The table of all ops that have a lowering to LLVM: op name -> handler."""

from __future__ import annotations

from functools import cache

from tiree.codegen.llvm.emitter import Handler


@cache
def all_handlers() -> dict[str, Handler]:
    """Every handler by op name."""
    from tiree.codegen.llvm import arith, convert, interface, kernel_ops, math, memref, scf, vector, vector_memory

    table: dict[str, Handler] = {}
    for module in (arith, convert, math, vector, vector_memory, memref, scf, interface, kernel_ops):
        table.update(module.HANDLERS)
    return table

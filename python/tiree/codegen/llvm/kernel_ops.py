"""Handlers of `kernel` ops: `kernel.pair_dot` as x86's instructions or plain arithmetic, and calls of LLVM code."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.codegen.llvm.emitter import Emitter, Handler
from tiree.codegen.llvm.library import quote_symbol
from tiree.codegen.llvm.types import LType, lower_type
from tiree.support.typed import is_memref_type, string_of

_MADD = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd", 4: "llvm.x86.sse2.pmadd.wd"}
"""Instructions by the lanes of the sum; LLVM joins them with the addition where the target has VNNI."""


def pair_dot(e: Emitter, op: Operation) -> None:
    total, pair = lower_type(op.operands[0].type), lower_type(op.operands[1].type)
    acc, a, b = (e.values[operand] for operand in op.operands)
    name, target = _MADD.get(total.lanes), e.target
    if target.arch == "x86_64" and name is not None and target.vector_bytes >= 4 * total.lanes:
        products = e.pure(f"call {total.text} @{name}({pair.text} {a}, {pair.text} {b})")
        e.values[op.results[0]] = e.pure(f"add {total.text} {acc}, {products}")
        return
    for half in range(2):
        x, y = (e.pure(f"sext <{total.lanes} x i16> {_half(e, pair, v, half)} to {total.text}") for v in (a, b))
        acc = e.pure(f"add {total.text} {acc}, {e.pure(f'mul {total.text} {x}, {y}')}")
    e.values[op.results[0]] = acc


def _half(e: Emitter, pair: LType, value: str, half: int) -> str:
    """The even (0) or odd (1) elements."""
    picks = ", ".join(f"i32 {i}" for i in range(half, pair.lanes, 2))
    count = pair.lanes // 2
    return e.pure(f"shufflevector {pair.text} {value}, {pair.text} poison, <{count} x i32> <{picks}>")


def call(e: Emitter, op: Operation) -> None:
    """A call of a function whose module is linked to the kernel's."""
    callee, code = string_of(op.properties["callee"]), string_of(op.properties["code"])
    types: list[str] = []
    arguments: list[str] = []
    for value in op.operands:
        memref = is_memref_type(value.type)
        types.append("ptr" if memref else "i64")
        arguments.append(f"ptr {e.memref(value).pointer}" if memref else f"i64 {e.values[value]}")
    symbol = e.module.link(callee, f"declare void @{quote_symbol(callee)}({', '.join(types)})", code)
    e.do(f"call void {symbol}({', '.join(arguments)})")


HANDLERS: dict[str, Handler] = {"kernel.pair_dot": pair_dot, "kernel.call": call}

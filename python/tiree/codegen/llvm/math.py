"""Handlers of `math`: what the hardware or a few bit operations do here, the rest in `tiree.codegen.math`."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.codegen.llvm.emitter import Emitter, Handler
from tiree.codegen.llvm.types import lower_type


def absf(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    value = e.values[op.operands[0]]
    if type.is_small_float:
        e.values[op.results[0]] = e.pure(f"and {type.text} {value}, {e.number(type.with_elem('i', 16), 0x7FFF)}")
    else:
        e.values[op.results[0]] = e.intrinsic("fabs", type, (type, value))


HANDLERS: dict[str, Handler] = {"math.absf": absf}

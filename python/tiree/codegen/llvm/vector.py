"""Handlers of `vector` ops on registers: broadcast, shuffle, extract, insert, fma, reduction.

Reductions fold halves together, in an order that depends on the number of lanes only: the result is the same on every
target. StableHLO leaves the order of a reduction open.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Operation, SSAValue

from tiree.codegen.llvm import constants, convert
from tiree.codegen.llvm.arith import float_minmax
from tiree.codegen.llvm.emitter import Emitter, Handler
from tiree.codegen.llvm.types import LType, lower_type
from tiree.support.typed import ints_of


def broadcast(e: Emitter, op: Operation) -> None:
    source = lower_type(op.operands[0].type)
    result = lower_type(op.results[0].type)
    value = e.values[op.operands[0]]
    if source.lanes == result.lanes:
        e.values[op.results[0]] = value
        return
    if source.lanes == 1:
        value = e.pure(f"extractelement {source.text} {value}, i64 0")
    elif source.lanes:
        raise e.error(f"broadcasts {source.lanes} lanes to {result.lanes}", "broadcast a scalar, or use vector.shuffle")
    e.values[op.results[0]] = e.splat(value, result)


def shuffle(e: Emitter, op: Operation) -> None:
    mask = ints_of(op.properties["mask"])
    first, second = (lower_type(o.type) for o in op.operands)
    a, b = (e.values[o] for o in op.operands)
    if first is not second:
        # LLVM wants both sides of one width: the narrower one is padded, and indices into the second side move.
        lanes = max(first.lanes, second.lanes)
        a, b = _pad(e, first, a, lanes), _pad(e, second, b, lanes)
        mask = [i if i < first.lanes else i - first.lanes + lanes for i in mask]
        first = first.vector(lanes)
    picks = ", ".join("i32 poison" if i < 0 else f"i32 {i}" for i in mask)
    e.values[op.results[0]] = e.pure(f"shufflevector {first.text} {a}, {first.text} {b}, <{len(mask)} x i32> <{picks}>")


def _pad(e: Emitter, type: LType, value: str, lanes: int) -> str:
    if type.lanes == lanes:
        return value
    picks = ", ".join(f"i32 {i}" if i < type.lanes else "i32 poison" for i in range(lanes))
    return e.pure(f"shufflevector {type.text} {value}, {type.text} poison, <{lanes} x i32> <{picks}>")


def _position(e: Emitter, op: Operation, dynamic: tuple[SSAValue, ...]) -> str:
    static = ints_of(op.properties["static_position"])
    if len(static) != 1:
        raise e.error(f"has {len(static)} positions", "kernels hold 1-D vectors, which have one")
    return e.values[dynamic[0]] if static[0] == DYNAMIC_INDEX else str(static[0])


def extract(e: Emitter, op: Operation) -> None:
    vector, *dynamic = op.operands
    type = lower_type(vector.type)
    at = _position(e, op, tuple(dynamic))
    e.values[op.results[0]] = e.pure(f"extractelement {type.text} {e.values[vector]}, i64 {at}")


def insert(e: Emitter, op: Operation) -> None:
    source, vector, *dynamic = op.operands
    type = lower_type(vector.type)
    at = _position(e, op, tuple(dynamic))
    e.values[op.results[0]] = e.pure(
        f"insertelement {type.text} {e.values[vector]}, {type.elem} {e.values[source]}, i64 {at}"
    )


def from_elements(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    texts = [e.values[o] for o in op.operands]
    if all(text == texts[0] for text in texts):
        e.values[op.results[0]] = e.splat(texts[0], type)
        return
    fixed = [text if text[0] != "%" else "poison" for text in texts]
    vector = constants.vector_text(type, fixed)
    for i, text in enumerate(texts):
        if text[0] == "%":
            vector = e.pure(f"insertelement {type.text} {vector}, {type.elem} {text}, i64 {i}")
    e.values[op.results[0]] = vector


def step(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    e.values[op.results[0]] = constants.vector_text(type, [str(i) for i in range(type.lanes)])


def fused_multiply_add(e: Emitter, type: LType, a: str, b: str, c: str) -> str:
    """a * b + c of a compute type: fused where the target can, otherwise rounded twice."""
    if e.target.has_fma:
        return e.intrinsic("fma", type, (type, a), (type, b), (type, c))
    product = e.pure(f"fmul {type.text} {a}, {b}")
    return e.pure(f"fadd {type.text} {product}, {c}")


def fma(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    if type.kind == "i":
        a, b, c = (e.values[o] for o in op.operands)
        product = e.pure(f"mul {type.text} {a}, {b}")
        e.values[op.results[0]] = e.pure(f"add {type.text} {product}, {c}")
        return
    work = convert.compute_type(type)
    a, b, c = (convert.widen(e, type, e.values[o]) for o in op.operands)
    e.values[op.results[0]] = convert.narrow(e, type, fused_multiply_add(e, work, a, b, c), arithmetic=True)


# --- reductions ---------------------------------------------------------------------------------------------------

_INT_KINDS = {
    "add": "add",
    "mul": "mul",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "minsi": "@smin",
    "maxsi": "@smax",
    "minui": "@umin",
    "maxui": "@umax",
}
_FLOAT_KINDS = {
    "add": "fadd",
    "mul": "fmul",
    "minimumf": "@minimum",
    "maximumf": "@maximum",
    "minnumf": "@minnum",
    "maxnumf": "@maxnum",
}


def combine(e: Emitter, kind: str, type: LType, a: str, b: str) -> str:
    """One step of a reduction of `kind` on a compute type."""
    opcode = (_INT_KINDS if type.kind == "i" else _FLOAT_KINDS).get(kind)
    if opcode is None:
        raise e.error(f"reduction kind {kind} does not fit elements of type {type.elem}", "")
    if opcode[0] != "@":
        return e.pure(f"{opcode} {type.text} {a}, {b}")
    if type.kind == "f":
        return float_minmax(e, opcode[1:], type, a, b)
    if type.bits == 1:
        return e.pure(f"{'or' if opcode in ('@smin', '@umax') else 'and'} {type.text} {a}, {b}")
    return e.intrinsic(opcode[1:], type, (type, a), (type, b))


def reduce_lanes(e: Emitter, kind: str, type: LType, vector: str) -> str:
    """All lanes of a vector of a compute type combined into a scalar."""
    lanes = type.lanes
    extra: list[str] = []
    while lanes > 1:
        current = type.vector(lanes)
        if lanes % 2:
            extra.append(e.pure(f"extractelement {current.text} {vector}, i64 {lanes - 1}"))
        half = lanes // 2
        low, high = (
            e.pure(
                f"shufflevector {current.text} {vector}, {current.text} poison, <{half} x i32> <"
                + ", ".join(f"i32 {i}" for i in range(start, start + half))
                + ">"
            )
            for start in (0, half)
        )
        vector = combine(e, kind, type.vector(half), low, high)
        lanes = half
    result = e.pure(f"extractelement {type.vector(1).text} {vector}, i64 0")
    for scalar in extra:
        result = combine(e, kind, type.scalar, result, scalar)
    return result


def reduction(e: Emitter, op: Operation) -> None:
    attr = op.properties["kind"]
    assert isinstance(attr, CombiningKindAttr)
    kind = str(attr.data.value)
    type = lower_type(op.operands[0].type)
    work = convert.compute_type(type)
    if type.bits == 1 and kind in ("or", "and", "xor"):
        result = _reduce_mask(e, kind, type, e.values[op.operands[0]])
    else:
        result = reduce_lanes(e, kind, work, convert.widen(e, type, e.values[op.operands[0]]))
    if len(op.operands) > 1:
        accumulator = convert.widen(e, type.scalar, e.values[op.operands[1]])
        result = combine(e, kind, work.scalar, accumulator, result)
    e.values[op.results[0]] = convert.narrow(e, type.scalar, result, arithmetic=True)


def _reduce_mask(e: Emitter, kind: str, type: LType, value: str) -> str:
    """Masks are reduced as one integer, which is what mask registers and movmsk give."""
    bits = e.pure(f"bitcast {type.text} {value} to i{type.lanes}")
    if kind == "or":
        return e.pure(f"icmp ne i{type.lanes} {bits}, 0")
    if kind == "and":
        return e.pure(f"icmp eq i{type.lanes} {bits}, -1")
    wide = e.pure(f"call i{type.lanes} @llvm.ctpop.i{type.lanes}(i{type.lanes} {bits})")
    return e.pure(f"trunc i{type.lanes} {wide} to i1") if type.lanes > 1 else bits


HANDLERS: dict[str, Handler] = {
    "vector.broadcast": broadcast,
    "vector.splat": broadcast,
    "vector.shuffle": shuffle,
    "vector.extract": extract,
    "vector.insert": insert,
    "vector.from_elements": from_elements,
    "vector.step": step,
    "vector.fma": fma,
    "vector.reduction": reduction,
}

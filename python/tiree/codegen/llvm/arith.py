"""Handlers of `arith`: integers, floats, compares, selects.

Integer division never traps: a divisor that would (0, or -1 under the least value) is replaced first, because
vector code divides whole registers, masked lanes included. The result of such a lane is unspecified, as in MLIR.
"""

from __future__ import annotations

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Operation

from tiree.codegen.llvm import constants, convert
from tiree.codegen.llvm.emitter import Emitter, Handler, is_literal
from tiree.codegen.llvm.types import I64, LType, lower_type
from tiree.dialects.arith_ext import CMPF_PREDICATES, CMPI_PREDICATES
from tiree.dialects.dense import DenseAttr
from tiree.support.typed import int_of

_FLAG_NAMES = {"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast"}


def fast_math(op: Operation) -> str:
    """The op's fast-math flags as LLVM writes them after the opcode, with a leading space; empty for none."""
    flags = op.properties.get("fastmath")
    if not isinstance(flags, FastMathFlagsAttr) or not flags.data:
        return ""
    return "".join(f" {flag}" for flag in sorted(f.value for f in flags.data) if flag in _FLAG_NAMES)


def constant(e: Emitter, op: Operation) -> None:
    attr = op.properties["value"]
    result = op.results[0]
    type = lower_type(result.type)
    match attr:
        case IntegerAttr():
            text = constants.element_text(type, attr.value.data)
        case FloatAttr():
            text = constants.element_text(type, constants.float_bits(type, attr.value.data))
        case DenseAttr():
            text = constants.buffer_text(type, attr.buffer, attr.is_splat)
        case DenseIntOrFPElementsAttr():
            text = _dense_text(type, attr)
        case _:
            raise e.error(f"constant {attr} is not a number or a dense vector", "")
    e.values[result] = text


def _dense_text(type: LType, attr: DenseIntOrFPElementsAttr) -> str:
    """xDSL's own dense attribute, as its parser makes it."""
    numbers = [value for value in attr.get_values() if isinstance(value, int | float)]
    if type.kind == "i":
        texts = [constants.element_text(type, int(value)) for value in numbers]
    else:
        texts = [constants.element_text(type, constants.float_bits(type, float(value))) for value in numbers]
    return constants.vector_text(type, texts if len(texts) > 1 else texts * max(1, type.lanes))


# --- integers -----------------------------------------------------------------------------------------------------


def _int_binary(opcode: str) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        a, b = e.values[op.operands[0]], e.values[op.operands[1]]
        type = lower_type(op.results[0].type)
        e.values[op.results[0]] = e.pure(f"{opcode} {type.text} {a}, {b}")

    return handler


def addi(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    a, b = e.values[op.operands[0]], e.values[op.operands[1]]
    if type is I64:
        e.values[op.results[0]] = _fold_index(e, "add", a, b)
    else:
        e.values[op.results[0]] = e.pure(f"add {type.text} {a}, {b}")


def subi(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    a, b = e.values[op.operands[0]], e.values[op.operands[1]]
    if type is I64 and is_literal(b):
        e.values[op.results[0]] = _fold_index(e, "add", a, str(-int(b)))
    else:
        e.values[op.results[0]] = e.pure(f"sub {type.text} {a}, {b}")


def muli(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    a, b = e.values[op.operands[0]], e.values[op.operands[1]]
    if type is I64:
        e.values[op.results[0]] = _fold_index(e, "mul", a, b)
    else:
        e.values[op.results[0]] = e.pure(f"mul {type.text} {a}, {b}")


def _wrap64(value: int) -> str:
    value &= (1 << 64) - 1
    return str(value - (1 << 64) if value >> 63 else value)


def _fold_index(e: Emitter, opcode: str, a: str, b: str) -> str:
    """A 64-bit add or mul, folded when both are numbers or one is neutral; wraps, as MLIR's ops do."""
    if is_literal(a):
        if is_literal(b):
            return _wrap64(int(a) + int(b) if opcode == "add" else int(a) * int(b))
        a, b = b, a
    if opcode == "add" and is_literal(b):
        return e.add_constant(a, int(b))
    if b == "1":
        return a
    if b == "0":
        return "0"
    return e.pure(f"{opcode} i64 {a}, {b}")


def _int_minmax(name: str) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        a, b = e.values[op.operands[0]], e.values[op.operands[1]]
        if type.bits == 1:
            # No target has a minimum of bits: of signed i1, true is -1 and so the smaller.
            opcode = "or" if name in ("smin", "umax") else "and"
            e.values[op.results[0]] = e.pure(f"{opcode} {type.text} {a}, {b}")
        else:
            e.values[op.results[0]] = e.intrinsic(name, type, (type, a), (type, b))

    return handler


def safe_divisor(e: Emitter, type: LType, a: str, b: str, signed: bool) -> str:
    """`b`, or 1 in the lanes where dividing `a` by `b` would trap."""
    literal = b.removeprefix(f"splat ({type.elem} ").removesuffix(")")
    if is_literal(literal) and int(literal) not in (0, -1):
        return b
    mask = type.with_elem("i", 1)
    bad = e.pure(f"icmp eq {type.text} {b}, {e.number(type, 0)}")
    if signed:
        least = e.pure(f"icmp eq {type.text} {a}, {e.number(type, 1 << (type.bits - 1))}")
        minus = e.pure(f"icmp eq {type.text} {b}, {e.number(type, -1)}")
        both = e.pure(f"and {mask.text} {least}, {minus}")
        bad = e.pure(f"or {mask.text} {bad}, {both}")
    return e.pure(f"select {mask.text} {bad}, {type.text} {e.number(type, 1)}, {type.text} {b}")


def _division(opcode: str) -> Handler:
    signed = opcode[0] == "s"

    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        a, b = e.values[op.operands[0]], e.values[op.operands[1]]
        if type is I64 and is_literal(a) and is_literal(b) and int(b) > 0 and int(a) >= 0:
            e.values[op.results[0]] = str(int(a) // int(b) if opcode.endswith("div") else int(a) % int(b))
            return
        if type.bits == 1:
            # The divisor can only be 1 (or trap): the quotient is the dividend, the remainder 0.
            e.values[op.results[0]] = a if opcode.endswith("div") else e.number(type, 0)
            return
        e.values[op.results[0]] = e.pure(f"{opcode} {type.text} {a}, {safe_divisor(e, type, a, b, signed)}")

    return handler


def _rounding_division(up: bool, signed: bool) -> Handler:
    """floordivsi, ceildivsi, ceildivui: truncating division, corrected where the remainder has the wrong sign."""

    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        a, b = e.values[op.operands[0]], e.values[op.operands[1]]
        divisor = safe_divisor(e, type, a, b, signed)
        zero = e.number(type, 0)
        mask = type.with_elem("i", 1)
        prefix = "s" if signed else "u"
        quotient = e.pure(f"{prefix}div {type.text} {a}, {divisor}")
        rest = e.pure(f"{prefix}rem {type.text} {a}, {divisor}")
        step = e.pure(f"icmp ne {type.text} {rest}, {zero}")
        if signed:
            signs = e.pure(f"xor {type.text} {rest}, {divisor}")
            differ = e.pure(f"icmp {'sge' if up else 'slt'} {type.text} {signs}, {zero}")
            step = e.pure(f"and {mask.text} {step}, {differ}")
        one = e.pure(f"zext {mask.text} {step} to {type.text}")
        e.values[op.results[0]] = e.pure(f"{'add' if up else 'sub'} {type.text} {quotient}, {one}")

    return handler


def addui_extended(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    a, b = e.values[op.operands[0]], e.values[op.operands[1]]
    total = e.pure(f"add {type.text} {a}, {b}")
    e.values[op.results[0]] = total
    e.values[op.results[1]] = e.pure(f"icmp ult {type.text} {total}, {a}")


def _mul_extended(extension: str) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        wide = type.with_elem("i", type.bits * 2)
        a, b = (e.pure(f"{extension} {type.text} {e.values[o]} to {wide.text}") for o in op.operands)
        product = e.pure(f"mul {wide.text} {a}, {b}")
        high = e.pure(f"lshr {wide.text} {product}, {e.number(wide, type.bits)}")
        e.values[op.results[0]] = e.pure(f"trunc {wide.text} {product} to {type.text}")
        e.values[op.results[1]] = e.pure(f"trunc {wide.text} {high} to {type.text}")

    return handler


def cmpi(e: Emitter, op: Operation) -> None:
    predicate = CMPI_PREDICATES[int_of(op.properties["predicate"])]
    type = lower_type(op.operands[0].type)
    e.values[op.results[0]] = e.pure(
        f"icmp {predicate} {type.text} {e.values[op.operands[0]]}, {e.values[op.operands[1]]}"
    )


# --- floats -------------------------------------------------------------------------------------------------------


def _float_binary(opcode: str) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        flags = fast_math(op)
        work = convert.compute_type(type)
        a, b = (convert.widen(e, type, e.values[o]) for o in op.operands)
        result = e.pure(f"{opcode}{flags} {work.text} {a}, {b}")
        e.values[op.results[0]] = convert.narrow(e, type, result, arithmetic=True)

    return handler


def negf(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    value = e.values[op.operands[0]]
    if type.is_small_float:
        e.values[op.results[0]] = e.pure(f"xor {type.text} {value}, {e.number(type.with_elem('i', 16), 0x8000)}")
    else:
        e.values[op.results[0]] = e.pure(f"fneg{fast_math(op)} {type.text} {value}")


def float_minmax(e: Emitter, name: str, type: LType, a: str, b: str) -> str:
    """`maximum`, `minimum` (NaN wins, -0 < +0) or `maxnum`, `minnum` (numbers win) of f32 or f64 operands."""
    if name in ("maxnum", "minnum") and e.target.arch in ("x86_64", "i386"):
        # LLVM calls the C library here. The compare and select are one instruction, which yields b beside a NaN.
        mask = type.with_elem("i", 1)
        compare = e.pure(f"fcmp {'ogt' if name == 'maxnum' else 'olt'} {type.text} {a}, {b}")
        chosen = e.pure(f"select {mask.text} {compare}, {type.text} {a}, {type.text} {b}")
        lost = e.pure(f"fcmp uno {type.text} {b}, {b}")
        return e.pure(f"select {mask.text} {lost}, {type.text} {a}, {type.text} {chosen}")
    zero = e.number(type, 0.0)
    if name == "maximum" and zero in (a, b) and e.target.arch in ("x86_64", "i386"):
        # Two instructions instead of four: adding +0 makes +0 of -0, and beside a NaN the compare and select yield it.
        other = e.pure(f"fadd {type.text} {b if a == zero else a}, {zero}")
        compare = e.pure(f"fcmp ogt {type.text} {zero}, {other}")
        return e.pure(f"select {type.with_elem('i', 1).text} {compare}, {type.text} {zero}, {type.text} {other}")
    if name in ("maximum", "minimum") and type.lanes and e.target.has_avx512 and a[0] == b[0] == "%":
        predicate, join = ("ogt", "and") if name == "maximum" else ("olt", "or")
        return _masked_minmax(e, predicate, join, type, a, b)
    return e.intrinsic(name, type, (type, a), (type, b))


def _masked_minmax(e: Emitter, predicate: str, join: str, type: LType, a: str, b: str) -> str:
    """Five instructions where LLVM has six: both orders of the operands yield the same but for zeros, whose signs are
    joined, and NaN, where a sum makes one."""
    mask, bits = type.with_elem("i", 1), type.with_elem("i", type.bits)
    both: list[str] = []
    for one, other in ((a, b), (b, a)):
        compare = e.pure(f"fcmp {predicate} {type.text} {one}, {other}")
        chosen = e.pure(f"select {mask.text} {compare}, {type.text} {one}, {type.text} {other}")
        both.append(e.pure(f"bitcast {type.text} {chosen} to {bits.text}"))
    joined = e.pure(f"bitcast {bits.text} {e.pure(f'{join} {bits.text} {both[0]}, {both[1]}')} to {type.text}")
    lost = e.pure(f"fcmp uno {type.text} {a}, {b}")
    total = e.pure(f"fadd {type.text} {a}, {b}")
    return e.pure(f"select {mask.text} {lost}, {type.text} {total}, {type.text} {joined}")


def _float_minmax(name: str) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        work = convert.compute_type(type)
        a, b = (convert.widen(e, type, e.values[o]) for o in op.operands)
        e.values[op.results[0]] = convert.narrow_exact(e, type, float_minmax(e, name, work, a, b))

    return handler


def cmpf(e: Emitter, op: Operation) -> None:
    predicate = CMPF_PREDICATES[int_of(op.properties["predicate"])]
    type = lower_type(op.operands[0].type)
    work = convert.compute_type(type)
    a, b = (convert.widen(e, type, e.values[o]) for o in op.operands)
    e.values[op.results[0]] = e.pure(f"fcmp{fast_math(op)} {predicate} {work.text} {a}, {b}")


def select(e: Emitter, op: Operation) -> None:
    condition, a, b = op.operands
    if a in e.memrefs:
        raise e.error("selects a memref", "select the index instead")
    type = lower_type(a.type)
    mask = lower_type(condition.type)
    e.values[op.results[0]] = e.pure(
        f"select {mask.text} {e.values[condition]}, {type.text} {e.values[a]}, {type.text} {e.values[b]}"
    )


def remf(e: Emitter, op: Operation) -> None:
    from tiree.codegen.math.remainder import fmod

    type = lower_type(op.results[0].type)
    a, b = (convert.widen(e, type, e.values[o]) for o in op.operands)
    e.values[op.results[0]] = convert.narrow(e, type, fmod(e, convert.compute_type(type), a, b))


HANDLERS: dict[str, Handler] = {
    "arith.constant": constant,
    "arith.addi": addi,
    "arith.subi": subi,
    "arith.muli": muli,
    "arith.andi": _int_binary("and"),
    "arith.ori": _int_binary("or"),
    "arith.xori": _int_binary("xor"),
    "arith.shli": _int_binary("shl"),
    "arith.shrsi": _int_binary("ashr"),
    "arith.shrui": _int_binary("lshr"),
    "arith.divsi": _division("sdiv"),
    "arith.divui": _division("udiv"),
    "arith.remsi": _division("srem"),
    "arith.remui": _division("urem"),
    "arith.floordivsi": _rounding_division(up=False, signed=True),
    "arith.ceildivsi": _rounding_division(up=True, signed=True),
    "arith.ceildivui": _rounding_division(up=True, signed=False),
    "arith.minsi": _int_minmax("smin"),
    "arith.maxsi": _int_minmax("smax"),
    "arith.minui": _int_minmax("umin"),
    "arith.maxui": _int_minmax("umax"),
    "arith.addui_extended": addui_extended,
    "arith.mului_extended": _mul_extended("zext"),
    "arith.mulsi_extended": _mul_extended("sext"),
    "arith.cmpi": cmpi,
    "arith.addf": _float_binary("fadd"),
    "arith.subf": _float_binary("fsub"),
    "arith.mulf": _float_binary("fmul"),
    "arith.divf": _float_binary("fdiv"),
    "arith.remf": remf,
    "arith.negf": negf,
    "arith.maximumf": _float_minmax("maximum"),
    "arith.minimumf": _float_minmax("minimum"),
    "arith.maxnumf": _float_minmax("maxnum"),
    "arith.minnumf": _float_minmax("minnum"),
    "arith.cmpf": cmpf,
    "arith.select": select,
}
